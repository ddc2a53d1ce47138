-- Absent values stay: every subset of these slots is added up from the cube.
select
    ${slots},
    count(*) as count
from records
group by ${slots}
