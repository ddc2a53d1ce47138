create or replace temp table items as
select distinct
    subject,
    value
from (
    select
        subject,
        replace(
            replace(
                case
                    when regexp_matches(item, $white_edge) then trim(item, $whitespace)
                    else item
                end,
                ';', '<semicolon>'
            ),
            ':', '<colon>'
        ) as value
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
