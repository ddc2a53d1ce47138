select * from cells
order by all
