select
    combination_id,
    ${codes},
    sum(count)::bigint as count
from read_parquet($partials)
where combination_id = $combination_id
group by all
order by all
