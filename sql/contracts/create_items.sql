create or replace temp table items as
select distinct
    subject,
    value
from (
    select
        subject,
        value_of_cell(item, $white_edge, $whitespace) as value
    from (
        select
            subject,
            unnest(${items}) as item
        from (
            select
                ${cell} as raw_cell,
                coalesce(lower(trim(${subject}, $whitespace)), '') as subject
            from raw
            where ${cell} is not null
        ) as filled
    ) as split
) as normalised
where value <> '' and (value <> '0' or $zero_is_value)
