create or replace table texts as
select place, attribute from rows_of_texts
