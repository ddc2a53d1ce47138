"""A ledger in a PostgreSQL database, for workers on many machines: the same chain under the same rules.

Three witnesses know the chain's last entry: a row beside the chain, which changes in the same transaction;
each machine that has read the chain, in a file (see `head`); and every release. So a lost row is noticed at
once, and a database that was rolled back or replaced by every machine and every release that knew more.

    release's lock   advisory, of the session: gone when the process, its machine or the server is
    admission        serialisable, one writer at a time: a lock on the row of the head
    durable          synchronous_commit is set in each session; a server without fsync is refused
    measurements     bytes, in one transaction, under the release's lock
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError
from tasks.core.ledger import place
from tasks.core.ledger.database import DatabaseMeasurements, DatabaseSalts
from tasks.core.ledger.entries import Entry, Transaction, broken, verified
from tasks.core.ledger.head import Head, draft_head, keep_head, read_head, require_whole
from tasks.core.ledger.session import Connection, Sessions, statement

_TABLES = 4
_A_TABLE_IS_GONE = "a table of it is gone or not durable"


class PostgresqlStore:
    """A ledger in a database."""

    def __init__(self, database: place.Database) -> None:
        """Open the ledger of a database, making its tables where it has none.

        Args:
            database: its address.

        Raises:
            LedgerError: it can't be reached, does not keep what it confirms, lost tables, or is another one
                than this machine knew at that address.
        """
        self._sessions = Sessions(database)
        self.whereabouts = self._sessions.whereabouts
        with self._sessions.apart() as connection:
            facts = connection.execute(statement("server")).fetchone() or {}
            address = canonical([self.whereabouts.name, str(facts.get("schema"))])
            self.local = place.private_folder(place.local_folder(database) / sha256_of(address)[:16])
            self._make_tables(connection)
        self.measurements = DatabaseMeasurements(self._sessions, self.local / "measurements")
        self.salts = DatabaseSalts(self._sessions)

    @property
    def scope(self) -> str:
        """See `LedgerStore`."""
        return "one ledger in a database that its workers share"

    def entries(self) -> list[Entry]:
        """See `LedgerStore`."""
        # What this machine knew first: the chain only grows, so that what is read later holds it.
        known = self._known()
        with self._sessions.apart() as connection:
            connection.execute("begin isolation level repeatable read read only")
            entries = self._read(connection, known)
        self._remember(entries[-1], known)
        return entries

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """See `LedgerStore`."""
        known = self._known()
        with self._sessions.writing() as connection:
            work = Transaction(self._read(connection, known))
            before = work.entries[-1]
            yield work
            for entry in work.appended:
                _append(connection, entry)
            if work.appended:
                self._move_head(connection, before, work.entries[-1])
        self._remember(work.entries[-1], known)

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """See `LedgerStore`: this thread then writes in the session that holds it, or not at all."""
        return self._sessions.locked(key, waiting)

    def is_at_work(self, key: str) -> bool:
        """See `LedgerStore`."""
        return self._sessions.is_locked(key)

    def _read(self, connection: Connection, known: Head | None) -> list[Entry]:
        """The chain, which must end at its head and hold what this machine knew."""
        if self._tables(connection) != _TABLES:
            raise broken(self.whereabouts, _A_TABLE_IS_GONE)
        rows = connection.execute(statement("read")).fetchall()
        entries = verified(((row["seq"], row["body"], row["sha256"]) for row in rows), self.whereabouts)  # type: ignore[misc]
        heads = connection.execute(statement("head")).fetchall()
        if [(row["seq"], row["sha256"]) for row in heads] != [(entries[-1].seq, entries[-1].sha256)]:
            raise broken(
                self.whereabouts, "its chain does not end where its table head says: it was cut short"
            )
        require_whole(entries, known, self.whereabouts, self.local)
        return entries

    def _move_head(self, connection: Connection, before: Entry, last: Entry) -> None:
        row = {"seq": last.seq, "sha256": last.sha256, "before": before.sha256}
        if connection.execute(statement("next_head"), row).rowcount != 1:
            raise broken(self.whereabouts, "its head is not the one that was read")

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
                empty = f"it is empty, though this machine has used it ({self.local} says so)"
                raise broken(self.whereabouts, _A_TABLE_IS_GONE if found else empty)
            self._require_no_other(connection)
            connection.execute(statement("create"))
            first = Transaction([])
            entry = first.append({"phase": "open", "ledger": uuid.uuid4().hex})
            _append(connection, entry)
            connection.execute(statement("first_head"), {"seq": entry.seq, "sha256": entry.sha256})

    def _require_no_other(self, connection: Connection) -> None:
        """Refuse a second ledger in a database: it would not know what was spent in the first.

        A setting of the address, of the role or of the database may lead to a schema without one.

        Raises:
            LedgerError: another schema has a ledger.
        """
        other = connection.execute(statement("elsewhere")).fetchone()
        if other is not None:
            raise LedgerError(
                f"A database must keep one ledger alone. {self.whereabouts.name} keeps one in the schema "
                f"{other['schema']}, but this address or role leads to another schema, which has none. Set "
                "the search_path of the role or of the address to that schema."
            )

    def _tables(self, connection: Connection) -> int:
        row = connection.execute(statement("tables")).fetchone() or {"found": 0}
        return int(str(row["found"]))

    def _known(self) -> Head | None:
        return read_head(self.local, self.whereabouts)

    def _remember(self, last: Entry, known: Head | None) -> None:
        """Note the last entry on this machine. Where that fails, the machine knows less, and no more."""
        if known is not None and known.seq >= last.seq:
            return
        with suppress(OSError), place.exclusive(self.local / "head.lock"):
            now = self._known()
            if now is None or now.seq < last.seq:
                keep_head(draft_head(self.local, last))


def _append(connection: Connection, entry: Entry) -> None:
    row = {"seq": entry.seq, "body": canonical(entry.body), "sha256": entry.sha256}
    connection.execute(statement("append"), row)
