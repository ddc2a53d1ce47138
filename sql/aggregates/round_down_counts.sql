select
    combination_id,
    ${codes},
    count - count % $resolution as count
from read_parquet($marginals)
where count >= $resolution
