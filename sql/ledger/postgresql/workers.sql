-- Run once by the role that owns the ledger's tables, for a group of roles that workers are members of. They
-- read and append. Of the head alone they change the row, as each entry moves it; a head that was moved
-- elsewhere is refused by whoever reads the ledger next.
revoke create on schema public from public;
revoke all on entries, head, measurements, salts from public;
grant select, insert on entries, measurements, salts to marginalia_workers;
grant select, update on head to marginalia_workers;
