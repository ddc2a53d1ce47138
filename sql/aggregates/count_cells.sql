select
    ${combination_id}::integer as combination_id,
    ${codes},
    count(*) as count
from records
where ${filled}
group by ${names}
