-- A record's number is its place in the file: 0, 1, 2, ...
create or replace table records as
select
    file_row_number::uinteger as record_id,
    ${slots}
from read_parquet($records, file_row_number = true)
