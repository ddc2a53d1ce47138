select
    ${combination_id}::uinteger as combination_id,
    ${codes},
    count(*) as count
from records
where ${filled}
group by all
