select count(distinct nullif(lower(trim(${subject}, $whitespace)), '')) as number
from raw
