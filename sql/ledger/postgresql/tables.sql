select count(*) as found
from pg_catalog.pg_class
where
    relnamespace = to_regnamespace(current_schema())
    and relkind = 'r'
    and relpersistence = 'p'
    and relname in ('entries', 'head', 'measurements', 'salts')
