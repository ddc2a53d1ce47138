create or replace table ${side} as
select * from rows_of_side
