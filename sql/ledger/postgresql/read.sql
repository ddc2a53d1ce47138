select
    seq,
    body,
    sha256
from entries
order by seq
