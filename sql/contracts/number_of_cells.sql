select
    column_id,
    sum(number) as number
from cell_values
group by column_id
