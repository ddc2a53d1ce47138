"""A ledger in a PostgreSQL database, for workers on many machines: the same chain under the same rules.

Three witnesses know the chain's last entry: a row beside the chain, which changes in the same transaction;
each machine that has read the chain, in a file (`head.json`); and every release. So a lost row is noticed at
once, and a database that was rolled back or replaced by every machine and every release that knew more.

    release's lock   advisory, of the session: gone when the process, its machine or the server is
    admission        serialisable, one writer at a time: a lock on the row of the head
    durable          synchronous_commit is set in each session; a server without fsync is refused
    measurements     bytes, in one transaction, under the release's lock

A thread that holds a release's lock does everything in the session that holds it: where that session died,
and its lock with it, nothing more can be written for the release. Whatever a library says becomes an error of
ours, which names the database and holds no password.
"""

import hashlib
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import psycopg
from psycopg import errors
from psycopg.rows import dict_row

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.dp.measurement import measurement_sha256
from tasks.core.errors import LedgerError
from tasks.core.ledger import place
from tasks.core.ledger.entries import (
    Entry,
    Head,
    Transaction,
    Whereabouts,
    damage_error,
    draft_head,
    keep_head,
    read_head,
    require_whole,
    verify_chain,
)
from tasks.core.ledger.new_salt import SALT_BYTES, new_salt
from tasks.core.ledger.place import begin_folder, parts_of
from tasks.core.ledger.refusals import disk_full, lost_salt, unwritable_ledger
from tasks.core.ledger.store import LedgerStore, Measurements, entry_row, first_entry, salt_key
from tasks.core.queries import query_text

#: How often a waiting run asks whether the release is free.
_ASKED_SECONDS = 0.2

#: What the address may change; keepalives let both ends notice a machine that is gone.
_DEFAULTS: dict[str, str | int] = {
    "connect_timeout": 20,
    "application_name": "marginalia-ledger",
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 5,
}

Row = dict[str, object]
Connection = psycopg.Connection[Row]


def _sql(name: str) -> str:
    return query_text(f"ledger/postgresql/{name}")


class _Held(NamedTuple):
    """A session that this thread is to use, and the release's lock that it holds, if it holds one."""

    connection: Connection
    lock: tuple[int, int] | None


def _lock_number(key: str) -> tuple[int, int]:
    digest = hashlib.sha256(f"marginalia release {key}".encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _only(cursor: psycopg.Cursor[Row]) -> object:
    row = cursor.fetchone()
    return None if row is None else next(iter(row.values()))


#: Files are kept in parts of so many bytes: a value of PostgreSQL ends at a gigabyte, and memory before that.
_PART_BYTES = 8 << 20


class DatabaseMeasurements(Measurements):
    """The files of each measurement as bytes, written in one transaction.

    Noise is drawn into a folder of this machine. A copy here is only ever used where it is what the chain
    says, and may be deleted at any time.
    """

    def __init__(self, store: "PostgresqlStore", folder: Path) -> None:
        super().__init__(folder)
        self._store = store

    def names(self) -> set[str]:
        with self._store.current() as connection:
            return {str(row["name"]) for row in connection.execute(_sql("names"))}

    def has(self, name: str) -> bool:
        with self._store.current() as connection:
            row = connection.execute(_sql("has"), {"name": name}).fetchone()
        return bool(row and row["files"])

    def keep(self, name: str) -> None:
        """In one transaction, which is durable when it ends; the lock is still held in it."""
        part = self.part(name)
        with self._store.writing() as connection:
            for path in sorted(path for path in part.rglob("*") if path.is_file()):
                where = path.relative_to(part).as_posix()
                with path.open("rb") as file:
                    number = 0
                    while (content := file.read(_PART_BYTES)) or number == 0:
                        row = {"name": name, "path": where, "part": number, "content": content}
                        connection.execute(_sql("keep"), row)
                        number += 1
        self._replace(part, name)

    def make_durable(self, name: str) -> None:
        """What can be read from the database is durable."""

    def folder(self, name: str, sha256: str | None = None) -> Path:
        """A copy, fetched unless the one that is here is the right one."""
        copy = self.root / name
        if sha256 is None or not copy.is_dir() or measurement_sha256(copy) != sha256:
            self._replace(self._fetched(name), name)
        return copy

    def where(self, name: str) -> str:
        return f"the measurement {name} of the database {self._store.whereabouts.name}"

    def _fetched(self, name: str) -> Path:
        scratch = begin_folder(self.root / f"{name}.{uuid.uuid4().hex}.copy")
        with self._store.current() as connection:
            rows = connection.execute(_sql("parts"), {"name": name}).fetchall()
            for row in rows:
                path = PurePosixPath(str(row["path"]))
                if path.is_absolute() or ".." in path.parts:
                    raise damage_error(
                        self._store.whereabouts, "a file of a measurement has no name of its own"
                    )
                wanted = {"name": name, "path": row["path"], "part": row["part"]}
                found = connection.execute(_sql("content"), wanted, binary=True).fetchone() or {}
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                with (scratch / path).open("ab") as file:
                    file.write(bytes(found["content"]))  # type: ignore[call-overload]
        return scratch

    def _replace(self, made: Path, name: str) -> None:
        """Give a copy its name. The same one that is there stays: another process may be reading it."""
        copy = self.root / name
        with suppress(OSError):
            made.rename(copy)
            return
        if measurement_sha256(copy) == measurement_sha256(made):
            shutil.rmtree(made, ignore_errors=True)
            return
        shutil.rmtree(copy, ignore_errors=True)
        made.rename(copy)


_TABLES = 4
_A_TABLE_IS_GONE = "a table of it is gone or not durable"


class PostgresqlStore(LedgerStore):
    scope = "one ledger in a database that its workers share"

    def __init__(self, database: place.Database) -> None:
        """Open the ledger of a database, making its tables where it has none.

        Raises:
            ParameterError: the address can't be read.
            LedgerError: it can't be reached, does not keep what it confirms, lost tables, or is another one
                than this machine knew at that address.
        """
        self._parts, self._password = parts_of(database.address), database.password
        parts = self._parts
        host = parts.get("host") or parts.get("hostaddr") or "localhost"
        name = parts.get("dbname") or parts.get("user") or ""
        self.whereabouts = Whereabouts(f"postgresql://{host}:{parts.get('port') or 5432}/{name}", "database")
        self._own = threading.local()
        with self.apart() as connection:
            facts = connection.execute(_sql("server")).fetchone() or {}
            address = canonical([self.whereabouts.name, str(facts.get("schema"))])
            self.folder = place.private_folder(place.local_folder(database) / sha256_of(address)[:16])
            self._make_tables(connection)
        self.measurements = DatabaseMeasurements(self, self.folder / "measurements")

    def entries(self) -> list[Entry]:
        # What this machine knew first: the chain only grows, so that what is read later holds it.
        known = self._known()
        with self.apart() as connection:
            connection.execute("begin isolation level repeatable read read only")
            entries = self._read(connection, known)
        self._remember(entries[-1], known)
        return entries

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        known = self._known()
        with self.writing() as connection:
            work = Transaction(self._read(connection, known))
            before = work.entries[-1]
            yield work
            for entry in work.appended:
                connection.execute(_sql("append"), entry_row(entry))
            if work.appended:
                self._move_head(connection, before, work.entries[-1])
        self._remember(work.entries[-1], known)

    def make_salt(self, dataset: str) -> None:
        """It is kept with the chain's word on it, or neither is."""
        with self.current() as connection:
            connection.execute(_sql("make_salt"), {"key": salt_key(dataset), "salt": new_salt()})

    def read_salt(self, dataset: str) -> bytes:
        with self.current() as connection:
            row = connection.execute(_sql("salt"), {"key": salt_key(dataset)}, binary=True).fetchone()
        if row is None:
            raise lost_salt(self.where_salt(dataset), "it is gone", "database")
        salt: bytes = row["salt"]  # type: ignore[assignment]
        if len(salt) != SALT_BYTES:
            raise lost_salt(self.where_salt(dataset), f"it does not have {SALT_BYTES} bytes", "database")
        return salt

    def where_salt(self, dataset: str) -> str:
        return f"of dataset {dataset!r} in {self.whereabouts.name}"

    @contextmanager
    def current(self) -> Iterator[Connection]:
        held = self._stack()
        with self._explained():
            if held:
                yield held[-1].connection
            else:
                with closing(self._connect()) as connection:
                    yield connection

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        with self._explained(), closing(self._connect()) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A serialisable transaction of the current session; all or nothing, durable at its end.

        Whoever holds a release's lock writes only while the database says that this very session holds it.
        """
        with self.current() as connection:
            held = self._stack()
            lock = held[-1].lock if held else None
            connection.execute("begin isolation level serializable")
            held.append(_Held(connection, lock))
            try:
                # Before the first query, which fixes what the transaction sees.
                connection.execute("lock table head in exclusive mode")
                if lock is not None and connection.info.backend_pid not in self._holders(connection, lock):
                    gone = "the session that held the lock of this release is gone"
                    raise unwritable_ledger(self.whereabouts, gone)
                yield connection
                connection.execute("commit")
            except BaseException:
                if not connection.closed:
                    connection.rollback()
                raise
            finally:
                held.pop()

    @contextmanager
    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> Iterator[None]:
        """The thread that holds it then writes in the session that holds it, or not at all."""
        high, low = lock = _lock_number(key)
        number = {"number": _signed(high << 32 | low)}
        with self._explained(), closing(self._connect()) as connection:
            while not _only(connection.execute("select pg_try_advisory_lock(%(number)s) as is_ours", number)):
                if waiting is not None:
                    waiting()
                    waiting = None
                time.sleep(_ASKED_SECONDS)
            held = self._stack()
            held.append(_Held(connection, lock))
            try:
                yield
            finally:
                held.pop()

    def is_at_work(self, key: str) -> bool:
        with self.apart() as connection:
            return bool(self._holders(connection, _lock_number(key)))

    def _holders(self, connection: Connection, lock: tuple[int, int]) -> set[object]:
        high, low = lock
        rows = connection.execute(_sql("holders"), {"high": high, "low": low})
        return {row["pid"] for row in rows}

    def _stack(self) -> list[_Held]:
        if not hasattr(self._own, "stack"):
            self._own.stack = []
        stack: list[_Held] = self._own.stack
        return stack

    def _connect(self) -> Connection:
        """A session with the ledger's settings, at a server that keeps what it was given."""
        options: dict[str, str | int] = {**_DEFAULTS, **self._parts}
        if self._password is not None:
            options["password"] = self._password
        connection = psycopg.Connection[Row].connect(
            "",
            autocommit=True,
            prepare_threshold=None,
            row_factory=dict_row,
            **options,  # type: ignore[arg-type]
        )
        try:
            connection.execute(_sql("settings"))
            facts = connection.execute(_sql("server")).fetchone() or {}
            self._require_durable(facts)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_durable(self, facts: Row) -> None:
        if facts["is_standby"]:
            raise unwritable_ledger(self.whereabouts, "it is a standby, which can't be written")
        off = [name for name in ("fsync", "synchronous_commit") if facts[name] != "on"]
        if off:
            raise LedgerError(
                f"The database of the ledger, {self.whereabouts.name}, must keep what it has confirmed, also "
                f"after a power cut, but {' and '.join(off)} is not on. Nothing is drawn. Set it to on, and "
                "run again."
            )
        if facts["schema"] is None:
            raise unwritable_ledger(
                self.whereabouts, "there is no schema that this role may use (search_path)"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Whatever the library says, in our words, without what it was called with."""
        refusal: LedgerError | None = None
        try:
            yield
        except psycopg.Error as error:
            refusal = self._refusal(error)
        if refusal is not None:
            raise refusal

    def _refusal(self, error: psycopg.Error) -> LedgerError:
        if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn | errors.DataCorrupted):
            return damage_error(self.whereabouts, "its tables are damaged")
        if isinstance(error, errors.DiskFull):
            return disk_full(self.whereabouts, "the server's disk")
        if isinstance(error, errors.LockNotAvailable):
            return unwritable_ledger(self.whereabouts, "another run has been writing to it for two minutes")
        said = (error.diag.message_primary or str(error)).strip().splitlines() or ["the connection was lost"]
        return unwritable_ledger(
            self.whereabouts, f"PostgreSQL says '{said[0].removeprefix('connection failed: ').strip()}'"
        )

    def _read(self, connection: Connection, known: Head | None) -> list[Entry]:
        """The chain, which must end at its head and hold what this machine knew."""
        if self._tables(connection) != _TABLES:
            raise damage_error(self.whereabouts, _A_TABLE_IS_GONE)
        rows = connection.execute(query_text("ledger/read")).fetchall()
        entries = verify_chain(((row["seq"], row["body"], row["sha256"]) for row in rows), self.whereabouts)  # type: ignore[misc]
        heads = connection.execute(_sql("head")).fetchall()
        if [(row["seq"], row["sha256"]) for row in heads] != [(entries[-1].seq, entries[-1].sha256)]:
            raise damage_error(
                self.whereabouts, "its chain does not end where its table head says: it was cut short"
            )
        if known is not None:
            require_whole(entries, known, self.whereabouts, self.folder)
        return entries

    def _move_head(self, connection: Connection, before: Entry, last: Entry) -> None:
        row = {"seq": last.seq, "sha256": last.sha256, "before": before.sha256}
        if connection.execute(_sql("next_head"), row).rowcount != 1:
            raise damage_error(self.whereabouts, "its head is not the one that was read")

    def _make_tables(self, connection: Connection) -> None:
        """Make tables, first entry and head together: of two that begin at once, one does."""
        if self._tables(connection) == _TABLES:
            return
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(hashtextextended('marginalia ledger', 0))")
            found = self._tables(connection)
            if found == _TABLES:
                return
            if found or self._known() is not None:
                empty = f"it is empty, though this machine has used it ({self.folder} says so)"
                raise damage_error(self.whereabouts, _A_TABLE_IS_GONE if found else empty)
            self._require_no_other(connection)
            connection.execute(_sql("create"))
            first = entry_row(first_entry())
            connection.execute(_sql("append"), first)
            connection.execute(_sql("first_head"), first)

    def _require_no_other(self, connection: Connection) -> None:
        """Refuse a second ledger in a database: it would not know what was spent in the first.

        A setting of the address, of the role or of the database may lead to a schema without one.
        """
        other = connection.execute(_sql("elsewhere")).fetchone()
        if other is not None:
            raise LedgerError(
                f"A database must keep one ledger alone. {self.whereabouts.name} keeps one in the schema "
                f"{other['schema']}, but this address or role leads to another schema, which has none. Set "
                "the search_path of the role or of the address to that schema."
            )

    def _tables(self, connection: Connection) -> int:
        row = connection.execute(_sql("tables")).fetchone() or {"found": 0}
        return int(str(row["found"]))

    def _known(self) -> Head | None:
        return read_head(self.folder, self.whereabouts)

    def _remember(self, last: Entry, known: Head | None) -> None:
        """Note the last entry on this machine. Where that fails, the machine knows less, and no more."""
        if known is not None and known.seq >= last.seq:
            return
        with suppress(OSError), place.hold_file_lock(self.folder / "head.lock"):
            now = self._known()
            if now is None or now.seq < last.seq:
                keep_head(draft_head(self.folder, last))
