select
    case
        when
            regexp_full_match(
                value,
                '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?'
            )
            or regexp_full_match(lower(value), '[+-]?inf(inity)?')
            then try_cast(value as double)
    end as number
from distinct_values
