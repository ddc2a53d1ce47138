select
    count(*) as combinations,
    count(*) filter (where count < $resolution) as rare
from read_parquet($marginals)
