create or replace table lines (
    combo_length utinyint,
    combo varchar,
    record_id uinteger,
    syn_count bigint,
    sen_count bigint
)
