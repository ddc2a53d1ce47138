-- Several choices of slots stand for one combination wherever a column is multi-valued.
with cells as materialized (
    select counted.* from ${cells} as counted
)

select
    combination_id,
    ${codes},
    sum(count)::bigint as count
from cells
where ${present}
group by combination_id, ${codes}
order by ${codes}
