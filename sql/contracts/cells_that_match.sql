select coalesce(sum(number), 0) as number
from cell_values
where
    column_id = $column_id
    and list_bool_or(
        list_transform($patterns, lambda pattern: regexp_matches(value, pattern))
    )
