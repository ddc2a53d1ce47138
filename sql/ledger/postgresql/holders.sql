select locks.pid
from pg_catalog.pg_locks as locks
inner join pg_catalog.pg_database as databases on locks.database = databases.oid
where
    locks.locktype = 'advisory'
    and locks.granted
    and databases.datname = current_database()
    and locks.classid::bigint = %(high)s
    and locks.objid::bigint = %(low)s
    and locks.objsubid = 1
