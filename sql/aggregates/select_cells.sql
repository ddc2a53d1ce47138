-- The cells are made first and filtered afterwards: filtering the records costs half as much again.
with cells as materialized (
    select counted.* from ${cells} as counted
)

select
    combination_id,
    ${codes},
    count
from cells
where ${present}
order by ${codes}
