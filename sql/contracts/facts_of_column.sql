with cells as (
    select
        value,
        number,
        case
            when regexp_full_match(value, $number_pattern)
                then
                    try_cast(
                        replace(translate(value, $separators, ''), $decimal, '.') as double
                    )
        end as quantity
    from cell_values
    where column_id = $column_id
)

select
    count(*) as distinct_values,
    coalesce(sum(number), 0)::bigint as cells,
    coalesce(sum(number) filter (where quantity is not null), 0)::bigint as numbers,
    coalesce(bool_and(regexp_full_match(value, $whole_pattern)), false) as whole,
    quantile_disc(quantity, 0.01) as low,
    quantile_disc(quantity, 0.99) as high,
    coalesce(bool_or(value = '0'), false) as has_zero,
    coalesce(sum(number) filter (where contains(value, '<semicolon>')), 0)::bigint as semicolons,
    coalesce(sum(number) filter (where contains(value, '|')), 0)::bigint as bars
from cells
