select case when not isnan(value) then cast(value as varchar) end as value_text
from distinct_values
