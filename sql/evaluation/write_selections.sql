copy (
    select selections, ${count_header}
    from (
        select combo as selections, count as ${count_header}, combo_length from lines
        union all
        select 'record_count', $number_of_records::bigint, 0
    )
    order by combo_length, ${count_header} desc, selections
) to $path (format csv, delimiter '\t', header true, comment '')
