-- One row a distinct cell of a batch; of an item one a cell that holds it, with whose it is.
create or replace temp table cells (
    column_id integer,
    subject varchar,
    value varchar,
    number bigint
)
