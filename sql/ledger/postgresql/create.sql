-- What a folder keeps in files is kept here in tables: the chain, its head, measurements and salts.
create table entries (
    seq bigint primary key,
    body text not null,
    sha256 text not null unique
);

-- The last entry's place and hash, once more: a chain that lost its end is still a whole chain.
create table head (
    is_only boolean primary key default true check (is_only),
    seq bigint not null,
    sha256 text not null
);

create table measurements (
    name text not null,
    path text not null,
    part integer not null,
    content bytea not null,
    primary key (name, path, part)
);

create table salts (
    key text primary key,
    salt bytea not null
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the ledger is append-only';
end;
$$;

create trigger entries_are_never_changed
before update or delete or truncate on entries
for each statement execute function refuse_change();

create trigger measurements_are_never_changed
before update or delete or truncate on measurements
for each statement execute function refuse_change();

create trigger salts_are_never_changed
before update or delete or truncate on salts
for each statement execute function refuse_change();

create trigger the_head_is_never_removed
before delete or truncate on head
for each statement execute function refuse_change();
