select count(*) as number
from (
    select subject
    from items
    group by subject
    having count(*) > $most
) as over
