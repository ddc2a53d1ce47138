create or replace temp macro value_of_cell(cell, white_edge, whitespace) as
replace(
    replace(
        case
            when regexp_matches(cell, white_edge) then trim(cell, whitespace)
            else cell
        end,
        ';', '<semicolon>'
    ),
    ':', '<colon>'
)
