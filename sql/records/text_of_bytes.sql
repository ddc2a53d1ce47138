select
    regexp_replace(
        replace(cast(value as varchar), '<', '\x3C'), '^ | $', '\\x20', 'g'
    ) as value_text
from distinct_values
