insert into cell_values
select
    $column_id as column_id,
    value,
    sum(number) as number
from (
    select
        number,
        replace(
            replace(
                case
                    when regexp_matches(cell, $white_edge) then trim(cell, $whitespace)
                    else cell
                end,
                ';', '<semicolon>'
            ),
            ':', '<colon>'
        ) as value
    from (
        select
            ${cell} as cell,
            count(*) as number
        from raw
        group by ${cell}
    )
)
where value <> '' and (value <> '0' or $zero_is_value)
group by value
