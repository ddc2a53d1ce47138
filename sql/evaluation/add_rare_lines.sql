insert into lines
select
    $length as combo_length,
    array_to_string(list_sort([${attributes}]), ' AND ') as combo,
    record_id,
    syn_count,
    coalesce(reference.count, 0) // $resolution * $resolution as sen_count
from ${side_with_texts}
left join reference using (${places})
