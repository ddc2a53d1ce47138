-- What a session of ours must have, whatever the settings of server and role are. A lock of a release is
-- held by an idle session as long as a draw takes; a writer that hangs must not stop all others.
select set_config(known.name, wanted.setting, false)
from pg_catalog.pg_settings as known
inner join (
    values
    ('synchronous_commit', 'on'),
    ('statement_timeout', '0'),
    ('idle_session_timeout', '0'),
    ('idle_in_transaction_session_timeout', '60000'),
    ('lock_timeout', '120000'),
    ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '5')
) as wanted (name, setting) on known.name = wanted.name
