-- Quoted only where a reader would stumble.
select
    case
        when regexp_matches(combo, '[\t"\n\r]') then '"' || replace(combo, '"', '""') || '"'
        else combo
    end as selections,
    count::varchar as count
from lines
order by combo_length asc, lines.count desc, combo asc
