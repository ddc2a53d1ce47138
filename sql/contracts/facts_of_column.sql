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
),

marked as (
    select
        value,
        number,
        quantity,
        quantity is not null and regexp_full_match(value, $code_pattern) as may_be_code
    from cells
),

ranges as (
    select
        quantile_disc(quantity, 0.01) filter (where not may_be_code) as low,
        quantile_disc(quantity, 0.99) filter (where not may_be_code) as high
    from marked
)

select
    count(*) as distinct_values,
    count(quantity) as distinct_numbers,
    coalesce(sum(number), 0)::bigint as cells,
    coalesce(sum(number) filter (where quantity is not null), 0)::bigint as numbers,
    coalesce(
        bool_and(regexp_full_match(value, $whole_pattern)) filter (where quantity is not null), false
    ) as whole,
    coalesce(any_value(low), quantile_disc(quantity, 0.01)) as low_number,
    coalesce(any_value(high), quantile_disc(quantity, 0.99)) as high_number,
    coalesce(
        list(value order by quantity) filter (
            where may_be_code and number >= $least
            and (quantity > high + (high - low) or (quantity < 0 and low >= 0))
        ),
        []
    ) as number_codes,
    coalesce(bool_or(value = '0'), false) as has_zero,
    coalesce(sum(number) filter (where contains(value, '<semicolon>')), 0)::bigint as semicolons,
    coalesce(sum(number) filter (where contains(value, '|')), 0)::bigint as bars
from marked, ranges
