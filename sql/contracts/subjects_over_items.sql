select count(*) as number
from (
    select subject
    from (
        select distinct
            subject,
            value
        from cells
        where column_id = $column_id
    ) as items
    group by subject
    having count(*) > cast($most as integer)
) as over
