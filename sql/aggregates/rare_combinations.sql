select
    combination_id,
    count(*) as cells
from rare_cells
group by all
order by all
