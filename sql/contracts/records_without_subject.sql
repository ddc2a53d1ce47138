select count(*) as number
from raw
where coalesce(trim(${subject}, $whitespace), '') = ''
