-- Of one slot: mean and mean square of -ln p, over the records.
with shares as (
    select count(*) / sum(count(*)) over () as share
    from records
    group by ${slot}
)

select
    ${index} as place,
    coalesce(sum(share * -ln(share)), 0) as mean,
    coalesce(sum(share * ln(share) * ln(share)), 0) as mean_square
from shares
