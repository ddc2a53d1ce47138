insert into cell_values
select
    $column_id as column_id,
    value,
    count(*) as number
from (
    select
        replace(
            replace(trim(${cell}, $whitespace), ';', '<semicolon>'),
            ':', '<colon>'
        ) as value
    from raw
)
where value <> '' and (value <> '0' or $zero_is_value)
group by value
