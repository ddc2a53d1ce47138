insert into lines
select
    $length as combo_length,
    array_to_string(list_sort([${attributes}]), ' AND ') as combo,
    side.record_id,
    side.count as syn_count,
    coalesce(reference.count, 0) // $resolution * $resolution as sen_count
from side
left join reference using (${places})
${texts}
