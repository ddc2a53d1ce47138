-- Quoted only where a reader would stumble.
select
    combo_length::varchar as combo_length,
    case
        when regexp_matches(combo, '[\t"\n\r]') then '"' || replace(combo, '"', '""') || '"'
        else combo
    end as combo,
    record_id::varchar as record_id,
    syn_count::varchar as syn_count,
    sen_count::varchar as sen_count
from lines
order by lines.combo_length, lines.combo, lines.record_id
