insert into raw
select * from batch
