select
    value,
    number
from cell_values
where column_id = $column_id
