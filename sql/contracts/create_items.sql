create or replace temp table items as
select distinct
    subject,
    value
from (
    select
        subject,
        replace(
            replace(trim(item, $whitespace), ';', '<semicolon>'),
            ':', '<colon>'
        ) as value
    from (
        select
            subject,
            unnest(split) as item
        from (
            select
                coalesce(lower(trim(${subject}, $whitespace)), '') as subject,
                ${items} as split
            from raw
        )
    )
)
where value <> '' and (value <> '0' or $zero_is_value)
