-- Absent values stay: every subset of these slots is added up from the cube.
select
    ${slots},
    count(*)::${count_type} as count
from records
group by all
