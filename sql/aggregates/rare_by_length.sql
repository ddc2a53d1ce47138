select
    count(*) as combinations,
    count(*) filter (where count < $resolution) as rare,
    count(*) filter (where count = 1) as unique_ones
from read_parquet($marginals)
