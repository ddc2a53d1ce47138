"""A table in storage that is no folder, such as S3: a URL goes in, an open file comes out.

Of a header only so much is fetched as is read. A run fetches the whole once, into a file without a name in
the closed zone, and reads that: whatever replaces the object meanwhile, a run sees one table.
"""

import hashlib
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tasks.core.errors import InputError, ParameterError
from tasks.core.tables.source import OpenedFile
from tasks.core.tables.storage_urls import Storage, refused_url

R = TypeVar("R")
_BLOCK = 2**23


class RemoteFile(OpenedFile):
    """An object in storage, read in parts until it is fetched."""

    def __init__(self, url: str) -> None:
        """Look at it.

        Raises:
            InputError: there is no such object, or it is a folder.
            StorageError: the storage does not answer, or refuses.
            ParameterError: the URL can't be used.
        """
        self._descriptor = -1
        if problem := refused_url(url):
            raise ParameterError(f"The URL of the input {problem}.")
        self._url, self._storage = url, Storage(url)
        self._key = self._storage.key(url)
        self._facts = self._look()
        if self._facts["type"] == "directory":
            raise InputError(f"The input must be a file, but {url} is a folder: name the file in it.")

    def _look(self) -> dict[str, Any]:
        """What tells one content of the object from another, and its size."""
        try:
            info = self._storage.done("be looked at", lambda: self._storage.system.info(self._key))
        except FileNotFoundError:
            info = None
        if info is None:
            raise InputError(f"The input file {self._url} does not exist: correct its path.")
        marks = {
            name: str(info[name]) for name in ("ETag", "LastModified", "created", "mtime") if name in info
        }
        return {"type": info.get("type", "file"), "size": int(info.get("size") or 0), **marks}

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return int(self._facts["size"]) if self._descriptor < 0 else super().size

    def sha256(self) -> str:
        """Of its bytes."""
        if self._descriptor < 0:
            self.fetch(None)
        return hashlib.file_digest(io.BufferedReader(self.reader()), "sha256").hexdigest()

    def bytes_at(self, place: int, size: int) -> bytes:
        """Up to `size` bytes from a place on; once it is fetched, from its copy."""
        if self._descriptor >= 0:
            return super().bytes_at(place, size)
        end = min(place + size, self.size)
        if place >= end:
            return b""
        found: bytes = self._read(
            "be read", lambda: self._storage.system.cat_file(self._key, start=place, end=end)
        )
        return found

    def _read(self, what: str, work: Callable[[], R]) -> R:
        try:
            return self._storage.done(what, work)
        except FileNotFoundError:
            pass
        raise _changed()

    def fetch(self, folder: Path | None) -> None:
        """Copy it into a file that has no name.

        Args:
            folder: on whose disk; None: the system's for temporary files.

        Raises:
            InputError: it was replaced meanwhile.
            ResourceLimit, StorageError: see `Storage.done`.
        """
        if self._descriptor >= 0:
            return
        with tempfile.TemporaryFile(dir=folder) as copy:
            reader = self._read("be read", lambda: self._storage.system.open(self._key, "rb"))
            with reader:
                while block := self._read("be read", lambda: reader.read(_BLOCK)):
                    copy.write(block)
            copy.flush()
            if copy.tell() != self.size or self._look() != self._facts:
                raise _changed()
            self._descriptor = os.dup(copy.fileno())


def _changed() -> InputError:
    return InputError(
        "The input must not change while a run reads it, but it was changed meanwhile. Run again when "
        "nothing writes to it."
    )
