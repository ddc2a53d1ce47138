select count(*) as number
from raw
