create or replace table rare_cells as
select * from read_parquet($marginals)
where count < $below
