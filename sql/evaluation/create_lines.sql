create or replace table lines (combo_length utinyint, combo varchar, count bigint)
