create or replace temp table cell_values (
    column_id integer,
    value varchar,
    number bigint
)
