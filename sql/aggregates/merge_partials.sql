select
    combination_id,
    ${codes},
    sum(count)::bigint as count
from read_parquet($partials)
group by all
order by all
