select
    records.record_id,
    cells.* exclude (cell_key)
from records
inner join (
    select
        *,
        ${cell_key} as cell_key
    from rare_cells
    where combination_id = $combination_id
) as cells
    on ${record_key} = cells.cell_key
where ${filled}
