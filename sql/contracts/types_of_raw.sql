select
    name,
    type
from pragma_table_info('raw')
