select coalesce(sum(number), 0) as number
from (
    select
        number,
        replace(replace(value, '<colon>', ':'), '<semicolon>', ';') as written
    from cell_values
    where column_id = $column_id
) as cells
where not coalesce(
    case $logical_type
        when 'integer' then regexp_full_match(written, cast($number_pattern as varchar))
        when 'number' then regexp_full_match(written, cast($number_pattern as varchar))
        when 'boolean' then lower(written) in ('true', 'false', '1', '0', 'yes', 'no')
        else
            case
                when cast($value_format as varchar) is not null
                    then try_strptime(written, cast($value_format as varchar)) is not null
                when $logical_type = 'date' then try_cast(written as date) is not null
                when $logical_type = 'time' then try_cast(written as time) is not null
                else try_cast(written as timestamp) is not null
            end
    end,
    false
)
