create or replace table texts as
select * from rows_of_texts
