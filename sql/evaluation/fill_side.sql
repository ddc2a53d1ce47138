create or replace table ${side} as
select ${columns} from rows_of_side
