select column_id
from cell_values
where column_id is not null
group by column_id
having
    count(*) > $most
    and bool_and(
        regexp_full_match(
            value,
            '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?'
        )
    )
order by column_id
