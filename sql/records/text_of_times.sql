select strftime(value, $value_format) as value_text
from distinct_values
