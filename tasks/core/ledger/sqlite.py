"""A ledger in a folder, for one user on one machine: the chain in a SQLite file, the rest beside it.

Writers take turns by a lock of their own, so that the head's file falls behind by no more than the
transaction that died after its commit; whoever reads next brings it up to date.
"""

import errno
import os
import sqlite3
import stat
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

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
from tasks.core.ledger.refusals import disk_full, lost_salt, unwritable_ledger
from tasks.core.ledger.store import LedgerStore, Measurements, entry_row, first_entry, salt_key
from tasks.core.queries import query_text


class FolderMeasurements(Measurements):
    """One folder a measurement, which has its name from the moment it is complete and durable."""

    def names(self) -> set[str]:
        return {folder.name.removesuffix(".part") for folder in self.root.iterdir()}

    def has(self, name: str) -> bool:
        return (self.root / name).is_dir()

    def keep(self, name: str) -> None:
        part = self.part(name)
        for path in sorted(part.rglob("*")):
            place.sync(path)
        place.sync(part)
        part.rename(self.root / name)
        place.sync(self.root)

    def make_durable(self, name: str) -> None:
        place.sync(self.root)

    def folder(self, name: str, sha256: str | None = None) -> Path:
        return self.root / name

    def where(self, name: str) -> str:
        return str(self.root / name)


_BUSY_SECONDS = 120.0
_MAKING = "making.lock"
_WRITING = "writing.lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class SqliteStore(LedgerStore):
    scope = "one ledger of one user on one machine"

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder, making both where they are missing.

        Raises:
            LedgerError: the folder or file is open to others, or the file is gone though it was used.
        """
        self.folder = place.private_folder(folder)
        self.file = folder / "ledger.sqlite"
        self.whereabouts = Whereabouts(str(self.folder), "folder")
        self.measurements = FolderMeasurements(folder / "measurements")
        place.private_folder(folder / "locks")
        if not self.file.exists():
            with place.hold_file_lock(folder / "locks" / _MAKING):
                self._make()
        place.check_private(self.file)
        self._noted_head()

    def entries(self) -> list[Entry]:
        # The head first: the chain only grows, so that what is read later holds it.
        head = self._noted_head()
        with self._connection() as connection:
            entries = self._read(connection, head)
        if head.seq < len(entries):
            self._bring_up_to_date()
        return entries

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with place.hold_file_lock(self.folder / "locks" / _WRITING), self._connection() as connection:
            connection.execute("begin immediate")
            try:
                work = Transaction(self._read(connection, self._noted_head()))
                yield work
                for entry in work.appended:
                    connection.execute(query_text("ledger/append"), entry_row(entry))
                draft = self._drafted(work.entries[-1])
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
            with suppress(OSError):  # the entries stand; whoever reads next brings the head up to date
                keep_head(draft)

    def release_lock(self, key: str, waiting: Callable[[], None] | None) -> AbstractContextManager[None]:
        return place.hold_file_lock(self._lock(key), waiting)

    def is_at_work(self, key: str) -> bool:
        return place.is_lock_held(self._lock(key))

    def salt_path(self, dataset: str) -> Path:
        return self.folder / "salts" / f"{salt_key(dataset)}.salt"

    def where_salt(self, dataset: str) -> str:
        return str(self.salt_path(dataset))

    def make_salt(self, dataset: str) -> None:
        path = self.salt_path(dataset)
        if os.path.lexists(path):
            return
        place.private_folder(path.parent)
        draft = path.with_name(f".{uuid.uuid4().hex}.part")
        problem = ""
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(new_salt())
                file.flush()
                os.fsync(descriptor)
            draft.rename(path)
            place.sync(path.parent)
            place.sync(path.parent.parent)
        except OSError as error:
            problem = (
                f"The command must write the salt {path} first, and can't ({os.strerror(error.errno or 0)}): "
                "correct that and run again."
            )
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        if problem:
            raise LedgerError(problem)

    def read_salt(self, dataset: str) -> bytes:
        """A plain file of 32 bytes in a folder of its own, both closed to others."""
        path = self.salt_path(dataset)
        try:
            if stat.S_ISLNK(path.parent.lstat().st_mode):
                raise lost_salt(str(path), "its folder is a link")
            place.check_private(path.parent)
            if not stat.S_ISREG(path.lstat().st_mode):
                raise lost_salt(str(path), "it is a link or no file")
            place.check_private(path)
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                salt = file.read(SALT_BYTES + 1)
        except OSError as error:
            raise lost_salt(str(path), f"it can't be read ({os.strerror(error.errno or 0)})") from None
        if len(salt) != SALT_BYTES:
            raise lost_salt(str(path), f"it does not have {SALT_BYTES} bytes")
        return salt

    def _lock(self, key: str) -> Path:
        return self.folder / "locks" / f"{key}.lock"

    def _noted_head(self) -> Head:
        head = read_head(self.folder, self.whereabouts)
        if head is None:
            raise damage_error(self.whereabouts, "the file head.json, which keeps its head, is gone")
        return head

    def _read(self, connection: sqlite3.Connection, head: Head) -> list[Entry]:
        """The chain, which must hold the head that was read before it."""
        entries = verify_chain(connection.execute(query_text("ledger/read")).fetchall(), self.whereabouts)
        require_whole(entries, head, self.whereabouts, self.folder)
        return entries

    def _drafted(self, entry: Entry) -> Path:
        try:
            return draft_head(self.folder, entry)
        except OSError as error:
            raise self._unwritable(error.errno in _FULL, os.strerror(error.errno or 0)) from None

    def _bring_up_to_date(self) -> None:
        """Note the head that a writer died before noting; where somebody writes, it notes its own."""
        if place.is_lock_held(self.folder / "locks" / _WRITING):
            return
        with suppress(OSError), place.hold_file_lock(self.folder / "locks" / _WRITING):
            with self._connection() as connection:
                entries = self._read(connection, self._noted_head())
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
            return damage_error(self.whereabouts, "its file is damaged")
        return self._unwritable(code == sqlite3.SQLITE_FULL, f"SQLite says '{error}'")

    def _unwritable(self, is_full: bool, what: str) -> LedgerError:
        return (
            disk_full(self.whereabouts, "its disk") if is_full else unwritable_ledger(self.whereabouts, what)
        )

    def _make(self) -> None:
        """Make the file whole under another name and rename it: an empty file is always damage."""
        if self.file.exists():
            return
        used = [path for path in (self.folder / "locks").iterdir() if path.name != _MAKING]
        head = read_head(self.folder, self.whereabouts)
        if used or self.measurements.names() or (head is not None and head.seq > 1):
            raise damage_error(self.whereabouts, "its file is gone although there are traces of releases")
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making.") as scratch:
            draft = Path(scratch) / "ledger.sqlite"
            draft.touch(mode=0o600)
            first = first_entry()
            with self._connection(draft) as connection:
                connection.executescript(query_text("ledger/create"))
                connection.execute(query_text("ledger/append"), entry_row(first))
            place.sync(draft)
            # Before the chain has its name: one that says that its head is kept is never without it.
            keep_head(self._drafted(first))
            draft.rename(self.file)
        place.sync(self.folder)


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    connection.execute("pragma synchronous = extra")
    return connection
