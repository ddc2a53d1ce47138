insert into cells
select * from batch
where value <> ''
