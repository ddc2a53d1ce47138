select coalesce(100.0 * (total - present) / nullif(total, 0), 0.0) as number
from
    (select count(*) as total from raw) as all_records,
    (
        select coalesce(sum(number), 0) as present
        from cell_values
        where column_id = $column_id
    ) as filled_cells
