-- How many combinations have each pair of counts: all that any measure needs to know of one length.
select
    coalesce(reference.count, 0) as reference_count,
    coalesce(compared.count, 0) as compared_count,
    count(*) as combinations
from reference
full join compared using (${places})
group by all
order by all
