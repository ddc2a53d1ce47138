insert into cell_values
select
    $column_id,
    value,
    count(*) as number
from items
group by value
