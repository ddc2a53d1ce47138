select value
from cell_values
where column_id = $column_id and number >= $least
order by value
