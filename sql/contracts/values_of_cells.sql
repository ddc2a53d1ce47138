insert into cell_values
select
    $column_id,
    value,
    sum(number) as number
from (
    select
        number,
        replace(
            replace(
                case
                    when regexp_matches(raw_cell, $white_edge) then trim(raw_cell, $whitespace)
                    else raw_cell
                end,
                ';', '<semicolon>'
            ),
            ':', '<colon>'
        ) as value
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
