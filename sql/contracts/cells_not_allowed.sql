select coalesce(sum(number), 0) as number
from cell_values
where column_id = $column_id and not list_contains($allowed, value)
