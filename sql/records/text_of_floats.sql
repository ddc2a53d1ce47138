-- A number that single precision holds has its text in single precision where that is much shorter.
select
    case
        when isnan(value) then null
        when value = trunc(value) and abs(value) < 1e38
            then cast(try_cast(value as hugeint) as varchar)
        when
            length(cast(value as varchar)) > 14
            and cast(try_cast(value as float) as double) = value
            then cast(try_cast(value as float) as varchar)
        else cast(value as varchar)
    end as value_text
from distinct_values
