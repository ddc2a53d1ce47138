"""A ledger in a folder, for one user on one machine: the chain in a SQLite file, the rest beside it.

Writers take turns by a lock of their own, so that the head's file (see `head`) falls behind by no more than
the transaction that died after its commit; whoever reads next brings it up to date.
"""

import errno
import os
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

from tasks.core.dp.digest import canonical
from tasks.core.errors import LedgerError
from tasks.core.ledger import place
from tasks.core.ledger.entries import Entry, Transaction, Whereabouts, broken, verified
from tasks.core.ledger.folder import FolderMeasurements, FolderSalts
from tasks.core.ledger.head import (
    Head,
    draft_head,
    keep_head,
    read_head,
    require_whole,
)

_SQL = Path(__file__).resolve().parents[3] / "sql" / "ledger"
_BUSY_SECONDS = 120.0
_MAKING = "making.lock"
_WRITING = "writing.lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class SqliteStore:
    """A SQLite file in a private folder, with measurements and salts beside it."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder, making both where they are missing.

        Raises:
            LedgerError: the folder or file is open to others, or the file is gone though it was used.
        """
        self.folder = place.private_folder(folder)
        self.file = folder / "ledger.sqlite"
        self.whereabouts = Whereabouts(str(self.folder), "folder")
        self.measurements = FolderMeasurements(folder / "measurements")
        self.salts = FolderSalts(folder / "salts")
        place.private_folder(folder / "locks")
        if not self.file.exists():
            with place.exclusive(folder / "locks" / _MAKING):
                self._make()
        place.check_private(self.file)
        self._head()

    @property
    def scope(self) -> str:
        """See `LedgerStore`."""
        return "one ledger of one user on one machine"

    def entries(self) -> list[Entry]:
        """See `LedgerStore`."""
        # The head first: the chain only grows, so that what is read later holds it.
        head = self._head()
        with self._connection() as connection:
            entries = self._read(connection, head)
        if head.seq < len(entries):
            self._bring_up_to_date()
        return entries

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """See `LedgerStore`: a lock of its own, and SQLite's, make it exclusive."""
        with place.exclusive(self.folder / "locks" / _WRITING), self._connection() as connection:
            connection.execute("begin immediate")
            try:
                work = Transaction(self._read(connection, self._head()))
                yield work
                _append(connection, work.appended)
                draft = self._drafted(work.entries[-1])
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
            with suppress(OSError):  # the entries stand; whoever reads next brings the head up to date
                keep_head(draft)

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        """See `LedgerStore`."""
        return place.exclusive(self._lock(key), waiting)

    def is_at_work(self, key: str) -> bool:
        """See `LedgerStore`."""
        return place.is_held(self._lock(key))

    def _lock(self, key: str) -> Path:
        return self.folder / "locks" / f"{key}.lock"

    def _head(self) -> Head:
        """The head that was noted. Raises `LedgerError` where its file is gone."""
        head = read_head(self.folder)
        if head is None:
            raise broken(self.whereabouts, "the file head.json, which keeps its head, is gone")
        return head

    def _read(self, connection: sqlite3.Connection, head: Head) -> list[Entry]:
        """The chain, which must hold the head that was read before it."""
        entries = verified(connection.execute(_statement("read")).fetchall(), self.whereabouts)
        require_whole(entries, head, self.whereabouts, self.folder)
        return entries

    def _drafted(self, entry: Entry) -> Path:
        try:
            return draft_head(self.folder, entry)
        except OSError as error:
            raise self._unwritable(error.errno in _FULL, os.strerror(error.errno or 0)) from None

    def _bring_up_to_date(self) -> None:
        """Note the head that a writer died before noting; where somebody writes, it notes its own."""
        if place.is_held(self.folder / "locks" / _WRITING):
            return
        with suppress(OSError), place.exclusive(self.folder / "locks" / _WRITING):
            with self._connection() as connection:
                entries = self._read(connection, self._head())
            keep_head(draft_head(self.folder, entries[-1]))

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
            return broken(self.whereabouts, "its file is damaged")
        return self._unwritable(code == sqlite3.SQLITE_FULL, f"SQLite says '{error}'")

    def _unwritable(self, is_full: bool, what: str) -> LedgerError:
        if is_full:
            return LedgerError(
                f"The command must write to the ledger in {self.folder}, and its disk is full. "
                "Free some space and run again: nothing is charged twice."
            )
        return LedgerError(
            f"The ledger in {self.folder} must be readable and writable, but {what}. "
            "Correct that and run again: nothing is charged twice."
        )

    def _make(self) -> None:
        """Make the file whole under another name and rename it: an empty file is always damage."""
        if self.file.exists():
            return
        used = [path for path in (self.folder / "locks").iterdir() if path.name != _MAKING]
        head = read_head(self.folder)
        if used or self.measurements.names() or (head is not None and head.seq > 1):
            raise broken(self.whereabouts, "its file is gone although there are traces of releases")
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making.") as scratch:
            draft = Path(scratch) / "ledger.sqlite"
            draft.touch(mode=0o600)
            first = Transaction([])
            first.append({"phase": "open", "ledger": uuid.uuid4().hex})
            with self._connection(draft) as connection:
                connection.executescript(_statement("create"))
                _append(connection, first.appended)
            place.sync(draft)
            # Before the chain has its name, which is never without its head.
            keep_head(self._drafted(first.entries[-1]))
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
