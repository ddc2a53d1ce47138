"""The one place where the operator's file is opened, once a run.

Readers of its bytes have each a place of their own in the same open file. So header, hash and rows are of one
file, whatever is moved over its path meanwhile. Text arrives as UTF-8 without a byte-order mark and without
Excel's line ``sep=;``, decompressed on the way, a block at a time: nothing is unpacked to disk.

Of a header in storage only so much is fetched as is read. A run fetches the whole once, into a file without a
name in the closed zone, and reads that.
"""

import codecs
import hashlib
import io
import os
import re
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa

from tasks.core.errors import InputError, ParameterError
from tasks.core.hints import no_such_file, show_path
from tasks.core.tables.column_names import Encoding
from tasks.core.tables.places import Storage, refused_url

_SECOND = 10**9


def changed_meanwhile() -> InputError:
    return InputError(
        "The input must not change while a run reads it, but it was changed meanwhile. Run again when "
        "nothing writes to it."
    )


@dataclass(frozen=True)
class FileState:
    """Whether a file is still the one that was hashed, by what the system says of it.

    That costs nothing, so it is asked for each block that is read. The hash of the whole at the end would not
    tell of a file that was replaced for a while.
    """

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """Of a file now. Raises InputError: it is gone."""
        try:
            found = path.stat()
        except OSError:
            raise changed_meanwhile() from None
        return cls(found.st_size, found.st_mtime_ns)

    def require(self, path: Path) -> None:
        """Raise InputError where the file is another now. Another machine may know whole seconds alone."""
        now = FileState.of(path)
        if (now.size, now.modified // _SECOND) != (self.size, self.modified // _SECOND):
            raise changed_meanwhile()


Compression = Literal["gzip", "zstd"]

#: What compresses a text file, by the last ending of its name.
COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
#: Bytes of UTF-8 that one character takes at most.
_BYTES_A_CHARACTER = 4
_MARK = b"\xef\xbb\xbf"
#: The first line by which Excel is told what separates cells.
_SEPARATOR = re.compile(rb'"?sep=([ -~\t])"?\r?\n', re.IGNORECASE)


class OpenedFile:
    """An open file of the operator's; closed when nobody refers to it any more."""

    def __init__(self, path: Path) -> None:
        """Raises: InputError: there is no such file, it is a folder or a pipe, or it may not be read."""
        self._descriptor = -1
        problem = ""
        try:
            if path.is_dir():
                problem = f"The input must be a file, but {show_path(path)} is a folder: name the file in it."
            elif path.exists() and not stat.S_ISREG(path.stat().st_mode):
                problem = (
                    f"The input must be a file on disk, but {show_path(path)} is not: write its rows to a "
                    "file first."
                )
            else:
                self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            problem = no_such_file("The input file", path)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "its name holds a zero byte"
            problem = (
                f"The input file {show_path(path)} can't be read ({why}): check its path and permissions."
            )
        if problem:
            raise InputError(problem)

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def sha256(self) -> str:
        return hashlib.file_digest(io.BufferedReader(self.reader()), "sha256").hexdigest()

    def reader(self) -> "FileReader":
        return FileReader(self)

    def bytes_at(self, place: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, place)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


class FileReader(io.RawIOBase):
    def __init__(self, file: OpenedFile) -> None:
        super().__init__()
        self._file, self._place = file, 0

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._file.bytes_at(self._place, len(view))
        view[: len(data)] = data
        self._place += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._file.size}[whence]
        self._place = start + offset
        return self._place

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        """Always: Parquet is read from its end."""
        return True


class TextBytes:
    """The text of a file as UTF-8 bytes, without a byte-order mark and Excel's line, block by block.

    `read` raises UnicodeDecodeError where bytes are no text in the encoding (but leaves UTF-8 to be
    judged by whoever parses it), and OSError without a number where the compressed stream is damaged.
    """

    def __init__(
        self, file: OpenedFile, compression: Compression | None, encoding: Encoding, skip_lines: int = 0
    ) -> None:
        """Args: skip_lines: so many lines at its beginning are left out; Excel's is one of them."""
        self._raw, self._size, self._skip_lines = file.reader(), max(file.size, 1), skip_lines
        source: Any = self._raw
        if compression is not None:
            source = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), compression)
        self._read: Callable[[int], bytes] = source.read
        self._is_first, self._rest = True, b""
        #: What Excel's line says, as soon as it was read; empty without one.
        self.separator = ""
        if encoding != "utf-8":
            self._read = _transcode(source.read, encoding)

    @property
    def share(self) -> float:
        return self._raw.tell() / self._size

    def read(self, size: int) -> bytes:
        parts, lacking = [self._rest], size - len(self._rest)
        while lacking > 0 and (data := self._read(lacking)):
            if self._is_first:
                self._is_first = False
                data = self._drop_separator_line(data.removeprefix(_MARK))
            if self._skip_lines:
                data = self._skip_lines_of(data)
            parts.append(data)
            lacking -= len(data)
        whole = b"".join(parts)
        self._rest = whole[size:]  # of a character that did not fit
        return whole[:size]

    def _drop_separator_line(self, data: bytes) -> bytes:
        """The first block without Excel's line, where that is no line that is left out anyway."""
        told = _SEPARATOR.match(data)
        if told is None:
            return data
        self.separator = told[1].decode("ascii")
        return data if self._skip_lines else data[told.end() :]

    def _skip_lines_of(self, data: bytes) -> bytes:
        *above, rest = data.split(b"\n", self._skip_lines)
        self._skip_lines -= len(above)
        return b"" if self._skip_lines else rest


def _transcode(read: Callable[[int], bytes], encoding: Encoding) -> Callable[[int], bytes]:
    """The same text in UTF-8, at most so many bytes at once."""
    stream = io.BufferedReader(ReadableBytes(read))
    start, name = stream.peek(2)[:2], str(encoding)
    if encoding == "utf-16" and start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        # Without a mark that says the order the first character's empty half tells it.
        name = "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    text = io.TextIOWrapper(stream, encoding=name, newline="")
    return lambda size: text.read(max(size // _BYTES_A_CHARACTER, 1)).encode("utf-8")


class ReadableBytes(io.RawIOBase):
    """A function that reads, as a stream; it gives fewer bytes than it is asked for only at the end."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        super().__init__()
        self._read_bytes = read

    def read(self, size: int = -1) -> bytes:
        return self._read_bytes(size)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._read_bytes(len(view))
        view[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True


def text_lines(stream: TextBytes) -> io.TextIOWrapper:
    """The same bytes as text whose line ends are kept; what is no UTF-8 is escaped."""
    return io.TextIOWrapper(
        io.BufferedReader(ReadableBytes(stream.read), buffer_size=2**16),
        encoding="utf-8",
        errors="surrogateescape",
        newline="",
    )


R = TypeVar("R")
_BLOCK = 2**23


class RemoteFile(OpenedFile):
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
        missing = InputError(f"The input file {self._url} does not exist: correct its path.")
        info = self._storage.attempt("be looked at", lambda: self._storage.system.info(self._key), missing)
        marks = {
            name: str(info[name]) for name in ("ETag", "LastModified", "created", "mtime") if name in info
        }
        return {"type": info.get("type", "file"), "size": int(info.get("size") or 0), **marks}

    @property
    def size(self) -> int:
        return int(self._facts["size"]) if self._descriptor < 0 else super().size

    def sha256(self) -> str:
        self.fetch(None)
        return super().sha256()

    def bytes_at(self, place: int, size: int) -> bytes:
        """Up to `size` bytes from a place on; once it is fetched, from its copy."""
        if self._descriptor >= 0:
            return super().bytes_at(place, size)
        end = min(place + size, self.size)
        if place >= end:
            return b""
        found: bytes = self._read(lambda: self._storage.system.cat_file(self._key, start=place, end=end))
        return found

    def _read(self, work: Callable[[], R]) -> R:
        return self._storage.attempt("be read", work, changed_meanwhile())

    def fetch(self, folder: Path | None) -> None:
        """Copy it into a file that has no name.

        Raises:
            InputError: it was replaced meanwhile.
            ResourceLimit, StorageError: see `Storage.attempt`.
        """
        if self._descriptor >= 0:
            return
        with tempfile.TemporaryFile(dir=folder) as copy:
            reader = self._read(lambda: self._storage.system.open(self._key, "rb"))
            with reader:
                while block := self._read(lambda: reader.read(_BLOCK)):
                    copy.write(block)
            copy.flush()
            if copy.tell() != self.size or self._look() != self._facts:
                raise changed_meanwhile()
            self._descriptor = os.dup(copy.fileno())
