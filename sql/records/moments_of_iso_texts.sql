select
    case
        when regexp_matches(value, '^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}')
            then try_cast(value as timestamp)
    end as moment
from distinct_values
