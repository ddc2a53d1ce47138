"""Where parts of a table lie while many machines work on it: a folder that all see, or storage such as S3.

A folder of files goes in under a key; a reference comes out, by which any machine has the folder again. It
appears whole: a machine that dies while it writes leaves nothing that a reference names. Whoever writes a key
again, because a machine was lost, writes the same bytes.
"""

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from tasks.core.errors import StorageError, StoredTableMismatch
from tasks.core.stored_files import folder_sha256
from tasks.core.tables.places import Storage, remote_url

R = TypeVar("R")
_SECONDS_BETWEEN_TRIES = (1, 3, 9)
#: Of a part in storage: the hash of its files, written last.
_WHOLE = "whole.sha256"


@dataclass(frozen=True)
class PartStore:
    """A place for parts, known by its name alone, so that it can be sent to another machine.

    Attributes:
        scratch: where a machine keeps what it fetches, one part at a time; where there is no such folder,
            as on another machine, it is where the system says.
    """

    root: str
    scratch: str = field(default="", compare=False)

    @property
    def is_remote(self) -> bool:
        return remote_url(self.root) is not None

    @property
    def own_scratch(self) -> str | None:
        return self.scratch if self.scratch and Path(self.scratch).is_dir() else None

    @cached_property
    def _storage(self) -> Storage:
        return Storage(remote_url(self.root) or self.root)

    def __getstate__(self) -> tuple[str, str]:
        return self.root, self.scratch

    def __setstate__(self, state: tuple[str, str]) -> None:
        for name, value in zip(("root", "scratch"), state, strict=True):
            object.__setattr__(self, name, value)

    def put(self, key: str, write: Callable[[Path], object]) -> "StoredPart":
        """Let ``write`` fill an empty folder, and keep it under a key; what was there is replaced.

        Raises:
            StorageError: the storage refuses, or does not answer.
        """
        if not self.is_remote:
            return StoredPart(self, key, self._put_folder(Path(self.root) / key, write))
        with tempfile.TemporaryDirectory(dir=self.own_scratch) as scratch:
            folder = Path(scratch)
            write(folder)
            digest = folder_sha256(folder)
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                name = self._key(f"{key}/{path.relative_to(folder).as_posix()}")
                self._write(partial(self._storage.system.put_file, str(path), name))
            whole = self._key(f"{key}/{_WHOLE}")
            self._write(partial(self._storage.system.pipe_file, whole, digest.encode()))
        return StoredPart(self, key, digest)

    def _put_folder(self, folder: Path, write: Callable[[Path], object]) -> str:
        part = folder.with_name(f".{folder.name}-{secrets.token_hex(8)}.part")
        part.mkdir(parents=True, mode=0o700)
        try:
            write(part)
            digest = folder_sha256(part)
            _move_into_place(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return digest

    @contextmanager
    def folder(self, key: str, sha256: str) -> Iterator[Path]:
        """The folder under a key: the one on the shared disk, or a copy that goes afterwards.

        Raises:
            StoredTableMismatch: it is gone, or not what was written.
            StorageError: the storage refuses, or does not answer.
        """
        if not self.is_remote:
            yield _require_unchanged(Path(self.root) / key, sha256, key)
            return
        with tempfile.TemporaryDirectory(dir=self.own_scratch) as scratch:
            self._fetch(key, Path(scratch))
            yield _require_unchanged(Path(scratch), sha256, key)

    def below(self, key: str) -> "PartStore":
        return PartStore(f"{self.root.rstrip('/')}/{key}", self.scratch)

    def holds(self, key: str) -> bool:
        """Whether something whole is under a key; what it is is judged on reading."""
        if not self.is_remote:
            return (Path(self.root) / key).is_dir()
        return self._digest(key) is not None

    def find(self, key: str) -> "StoredPart | None":
        """What an earlier run left whole under a key; None where there is nothing."""
        if not self.is_remote:
            folder = Path(self.root) / key
            return StoredPart(self, key, folder_sha256(folder)) if folder.is_dir() else None
        digest = self._digest(key)
        return None if digest is None else StoredPart(self, key, digest)

    def _digest(self, key: str) -> str | None:
        whole = self._key(f"{key}/{_WHOLE}")
        try:
            return bytes(self._attempt("be read", lambda: self._storage.system.cat_file(whole))).decode()
        except FileNotFoundError:
            return None

    def remove(self, key: str) -> None:
        """Remove all that is under a key; nothing is said where there is nothing."""
        if not self.is_remote:
            shutil.rmtree(Path(self.root) / key, ignore_errors=True)
            return
        try:
            self._attempt("be cleared", lambda: self._storage.system.rm(self._key(key), recursive=True))
        except FileNotFoundError:
            return

    def _fetch(self, key: str, folder: Path) -> None:
        home = self._key(key)
        try:
            names = self._attempt("be listed", lambda: self._storage.system.find(home))
        except FileNotFoundError:
            names = []
        for name in names:
            relative = str(name)[len(home) :].lstrip("/")
            if relative == _WHOLE:
                continue
            target = folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            self._attempt("be read", partial(self._storage.system.get_file, str(name), str(target)))

    def _write(self, work: Callable[[], object]) -> None:
        missing = StorageError(
            f"The storage must have a place for {self.root}, but it has none: make the bucket first."
        )
        self._attempt("be written", work, missing)

    def _key(self, key: str) -> str:
        return self._storage.key(f"{self.root.rstrip('/')}/{key}")

    def _attempt(self, what: str, work: Callable[[], R], missing: Exception | None = None) -> R:
        """As `Storage.attempt`, tried again where the storage refuses: it may have too much to do."""
        for seconds in _SECONDS_BETWEEN_TRIES:
            try:
                return self._storage.attempt(what, work, missing)
            except StorageError as error:
                if error is missing:
                    raise
                time.sleep(seconds)
        return self._storage.attempt(what, work, missing)


@dataclass(frozen=True)
class StoredPart:
    """Reference to a part: small, the same on every machine, and no hash of it in its text.

    Attributes:
        sha256: over the names and bytes of its files.
    """

    store: PartStore
    key: str
    sha256: str = field(repr=False)

    def folder(self) -> AbstractContextManager[Path]:
        """Its files, for as long as they are read (see `PartStore.folder`)."""
        return self.store.folder(self.key, self.sha256)


def _require_unchanged(folder: Path, sha256: str, key: str) -> Path:
    if not folder.is_dir() or folder_sha256(folder) != sha256:
        raise StoredTableMismatch(
            f"A part of the table that the run keeps under {key} is gone, or was changed after it was "
            "written. Find out what changes it. Then run again: it is made anew."
        )
    return folder


def _move_into_place(part: Path, folder: Path) -> None:
    """Give a finished folder its name; another one of that name goes, for it holds the same or is stale."""
    for _ in range(100):
        try:
            part.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            if folder_sha256(folder) == folder_sha256(part):
                return  # another machine did the same work, and somebody may read it now
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return
    raise StorageError(
        f"{folder.parent} must be written by one run at a time: wait for the other one to end."
    )
