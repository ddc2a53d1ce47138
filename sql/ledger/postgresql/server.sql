select
    current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as synchronous_commit,
    pg_is_in_recovery() as is_standby,
    current_schema() as schema
