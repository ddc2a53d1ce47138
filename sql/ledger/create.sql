-- One row an entry; `body` is canonical JSON that carries the hash of the row before it.
create table entries (
    seq integer primary key,
    body text not null,
    sha256 text not null unique
);

create trigger entries_are_never_changed before update on entries
begin
    select raise(abort, 'the ledger is append-only');
end;

create trigger entries_are_never_deleted before delete on entries
begin
    select raise(abort, 'the ledger is append-only');
end;
