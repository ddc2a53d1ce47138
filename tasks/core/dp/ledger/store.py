"""Where the chain is kept: a folder goes in, a store that reads, appends and locks comes out.

`LedgerStore` is all that the rest of the ledger knows of a store. `SqliteStore` serves the users of one
machine's file system; a store for workers on many machines implements the same five methods.
"""

import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

from tasks.core.dp.ledger import place
from tasks.core.dp.ledger.entries import Entry, Transaction, broken, canonical, verified
from tasks.core.errors import LedgerError

_SQL = Path(__file__).resolve().parents[4] / "sql" / "ledger"
_BUSY_SECONDS = 120.0
_MAKING = "making.lock"


class LedgerStore(Protocol):
    """What a ledger needs of its store."""

    @property
    def scope(self) -> str:
        """Where budgets are counted together, in words that may be published."""

    @property
    def measurements(self) -> Path:
        """The folder of the stored measurements."""

    def entries(self) -> list[Entry]:
        """All entries, verified. Raises LedgerError where the chain is broken."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Exclusive use: what it appends is durable, all or nothing, when it ends without an error."""

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """Exclusive use of one release's name; freed by the system when its holder dies."""

    def is_at_work(self, key: str) -> bool:
        """Whether somebody holds that release's lock."""


class SqliteStore:
    """A SQLite file in a private folder, with the measurements beside it."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder, making both where they are missing.

        Raises:
            LedgerError: the folder or file is open to others, or the file is gone though it was used.
        """
        self.folder = place.private_folder(folder)
        self.file = folder / "ledger.sqlite"
        for name in ("measurements", "locks"):
            place.private_folder(folder / name)
        if not self.file.exists():
            with place.exclusive(folder / "locks" / _MAKING):
                self._make()
        place.check_private(self.file)

    @property
    def scope(self) -> str:
        """See `LedgerStore`."""
        return "one ledger of one user on one machine"

    @property
    def measurements(self) -> Path:
        """See `LedgerStore`."""
        return self.folder / "measurements"

    def entries(self) -> list[Entry]:
        """See `LedgerStore`."""
        with self._connection() as connection:
            return self._read(connection)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """See `LedgerStore`: SQLite's own write lock makes it exclusive."""
        with self._connection() as connection:
            connection.execute("begin immediate")
            try:
                work = Transaction(self._read(connection))
                yield work
                _append(connection, work.appended)
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """See `LedgerStore`."""
        return place.exclusive(self._lock(key), waiting)

    def is_at_work(self, key: str) -> bool:
        """See `LedgerStore`."""
        return place.is_held(self._lock(key))

    def _lock(self, key: str) -> Path:
        return self.folder / "locks" / f"{key}.lock"

    def _read(self, connection: sqlite3.Connection) -> list[Entry]:
        return verified(connection.execute(_statement("read")).fetchall(), str(self.folder))

    @contextmanager
    def _connection(self, file: Path | None = None) -> Iterator[sqlite3.Connection]:
        """A connection whose commits are on the disk when they return (``extra``: the folder as well)."""
        try:
            with closing(_connect(file or self.file)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise self._refusal(error) from None

    def _refusal(self, error: sqlite3.Error) -> LedgerError:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error):
            return broken(str(self.folder), "its file is damaged")
        if code == sqlite3.SQLITE_FULL:
            return LedgerError(
                f"The ledger in {self.folder} must be written first, and its disk is full. "
                "Free some space and run again: nothing is charged twice."
            )
        return LedgerError(
            f"The ledger in {self.folder} must be readable and writable; SQLite says: {error}. "
            "Mend that and run again: nothing is charged twice."
        )

    def _make(self) -> None:
        """Make the file whole under another name and rename it: an empty file is always damage."""
        if self.file.exists():
            return
        used = [path for path in (self.folder / "locks").iterdir() if path.name != _MAKING]
        if used or any(self.measurements.iterdir()):
            raise broken(str(self.folder), "its file is gone while traces of releases are there")
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making.") as scratch:
            draft = Path(scratch) / "ledger.sqlite"
            draft.touch(mode=0o600)
            first = Transaction([])
            first.append({"phase": "open", "ledger": uuid.uuid4().hex})
            with self._connection(draft) as connection:
                connection.executescript(_statement("create"))
                _append(connection, first.appended)
            place.sync(draft)
            draft.rename(self.file)
        place.sync(self.folder)


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    connection.execute("pragma synchronous = extra")
    return connection


def _append(connection: sqlite3.Connection, entries: list[Entry]) -> None:
    for entry in entries:
        row = {"seq": entry.seq, "body": canonical(entry.body), "sha256": entry.sha256}
        connection.execute(_statement("append"), row)


def _statement(name: str) -> str:
    return (_SQL / f"{name}.sql").read_text(encoding="utf-8")
