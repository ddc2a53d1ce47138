select count(*) as number
from cell_values
where column_id is not distinct from $column_id
