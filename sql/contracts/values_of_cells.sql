insert into cell_values
select
    $column_id,
    value,
    sum(number) as number
from (
    select
        number,
        value_of_cell(raw_cell, $white_edge, $whitespace) as value
    from (
        select
            ${cell} as raw_cell,
            count(*) as number
        from raw
        group by ${cell}
    ) as distinct_cells
) as normalised
where value <> '' and (value <> '0' or $zero_is_value)
group by value
