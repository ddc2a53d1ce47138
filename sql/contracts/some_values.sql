select value
from cell_values
where column_id = $column_id
order by list_contains($allowed, value), value
limit $most
