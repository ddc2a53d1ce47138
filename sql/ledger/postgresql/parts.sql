select
    path,
    part
from measurements
where name = %(name)s
order by path, part
