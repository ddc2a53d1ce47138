create or replace temp table cell_values as
select
    column_id,
    value,
    sum(number) as number
from (
    select
        column_id,
        value,
        number
    from cells
    where subject is null
    union all
    select
        column_id,
        value,
        1 as number
    from cells
    where subject is not null
    group by column_id, subject, value
) as counted
group by column_id, value
