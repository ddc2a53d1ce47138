create or replace temp table raw as
select * from batch
