select
    seq,
    sha256
from head
