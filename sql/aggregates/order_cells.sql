-- The ranks follow, each a column that the caller names.
select * from cells
order by cells.count desc, ${ranks}
