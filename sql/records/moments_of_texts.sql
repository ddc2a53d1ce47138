select case when isfinite(moment) then moment end as moment
from (
    select try_strptime(value, $formats) as moment
    from distinct_values
) as parsed
