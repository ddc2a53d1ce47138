copy (
    select * from lines
    order by all
) to $path (format csv, delimiter '\t', header true, comment '')
