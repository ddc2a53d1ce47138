insert into lines
select
    $length as combo_length,
    array_to_string(list_sort([${attributes}]), ';') as combo,
    side.count
from side
${texts}
