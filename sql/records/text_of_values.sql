select cast(value as varchar) as value_text
from distinct_values
