insert into lines
select
    $length as combo_length,
    array_to_string(list_sort([${attributes}]), ';') as combo,
    count
from ${side_with_texts}
