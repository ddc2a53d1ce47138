select count(*) as files
from measurements
where name = %(name)s
