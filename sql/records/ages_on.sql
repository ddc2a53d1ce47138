select
    cast(
        year(cast($day as date)) - year(value)
        - cast(strftime(value, '%m%d') > strftime(cast($day as date), '%m%d') as integer)
        as varchar
    ) as age
from distinct_values
