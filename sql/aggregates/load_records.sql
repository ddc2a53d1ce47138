create or replace table records as
select ${slots} from read_parquet($records)
