"""Sessions with the database of a ledger: an address goes in, connections that keep its rules come out.

A thread that holds a release's lock does everything in the session that holds it: where that session died,
and its lock with it, nothing more can be written for the release. Whatever a library says becomes an error of
ours, which names the database and holds no password.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import errors
from psycopg.rows import dict_row

from tasks.core.errors import LedgerError
from tasks.core.ledger.entries import Whereabouts, broken
from tasks.core.ledger.place import Database, parts_of

_SQL = Path(__file__).resolve().parents[3] / "sql" / "ledger" / "postgresql"
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


def statement(name: str) -> str:
    """A query of the ledger's in PostgreSQL."""
    return (_SQL / f"{name}.sql").read_text(encoding="utf-8")


@dataclass(frozen=True)
class _Held:
    """A session that this thread is to use, and the release's lock that it holds, if it holds one."""

    connection: Connection
    lock: tuple[int, int] | None


class Sessions:
    """Of one ledger's database."""

    def __init__(self, database: Database) -> None:
        """Args: database: its address, and what opens it.

        Raises:
            ParameterError: the address can't be read.
        """
        self._parts, self._password = parts_of(database.address), database.password
        parts = self._parts
        host = parts.get("host") or parts.get("hostaddr") or "localhost"
        name = parts.get("dbname") or parts.get("user") or ""
        self.whereabouts = Whereabouts(f"postgresql://{host}:{parts.get('port') or 5432}/{name}", "database")
        self._own = threading.local()

    @contextmanager
    def current(self) -> Iterator[Connection]:
        """The session that this thread holds a lock in or writes in, else a new one."""
        held = self._stack()
        with self._explained():
            if held:
                yield held[-1].connection
            else:
                with closing(self._connect()) as connection:
                    yield connection

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        """A new session."""
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
                    raise self._unreachable("the session that held the lock of this release is gone")
                yield connection
                connection.execute("commit")
            except BaseException:
                if not connection.closed:
                    connection.rollback()
                raise
            finally:
                held.pop()

    @contextmanager
    def locked(self, key: str, waiting: Callable[[], None] | None) -> Iterator[None]:
        """A session that holds a lock, which the server frees when the session ends, however it ends."""
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

    def is_locked(self, key: str) -> bool:
        """Whether any session holds that lock."""
        with self.apart() as connection:
            return bool(self._holders(connection, _lock_number(key)))

    def _holders(self, connection: Connection, lock: tuple[int, int]) -> set[object]:
        high, low = lock
        rows = connection.execute(statement("holders"), {"high": high, "low": low})
        return {row["pid"] for row in rows}

    def _stack(self) -> list[_Held]:
        if not hasattr(self._own, "stack"):
            self._own.stack = []
        stack: list[_Held] = self._own.stack
        return stack

    def _connect(self) -> Connection:
        """A session with the ledger's settings, at a server that keeps what it was given.

        Raises:
            LedgerError: it does not.
        """
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
            connection.execute(statement("settings"))
            facts = connection.execute(statement("server")).fetchone() or {}
            self._require_durable(facts)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_durable(self, facts: Row) -> None:
        if facts["is_standby"]:
            raise self._unreachable("it is a standby, which can't be written")
        off = [name for name in ("fsync", "synchronous_commit") if facts[name] != "on"]
        if off:
            raise LedgerError(
                f"The database of the ledger, {self.whereabouts.name}, must keep what it has confirmed, also "
                f"after a power cut, but {' and '.join(off)} is not on. Nothing is drawn. Set it to on, and "
                "run again."
            )
        if facts["schema"] is None:
            raise self._unreachable("there is no schema that this role may use (search_path)")

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
            return broken(self.whereabouts, "its tables are damaged")
        if isinstance(error, errors.DiskFull):
            return LedgerError(
                f"The command must write to the ledger in {self.whereabouts.name}, and the server's disk is "
                "full. Free some space and run again: nothing is charged twice."
            )
        if isinstance(error, errors.LockNotAvailable):
            return self._unreachable("another run has been writing to it for two minutes")
        said = (error.diag.message_primary or str(error)).strip().splitlines() or ["the connection was lost"]
        return self._unreachable(f"PostgreSQL says '{said[0].removeprefix('connection failed: ').strip()}'")

    def _unreachable(self, what: str) -> LedgerError:
        return LedgerError(
            f"The ledger in {self.whereabouts.name} must be readable and writable, but {what}. "
            "Correct that and run again: nothing is charged twice."
        )


def _lock_number(key: str) -> tuple[int, int]:
    """The two halves of a lock's number, as the server lists them."""
    digest = hashlib.sha256(f"marginalia release {key}".encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _only(cursor: psycopg.Cursor[Row]) -> object:
    row = cursor.fetchone()
    return None if row is None else next(iter(row.values()))
