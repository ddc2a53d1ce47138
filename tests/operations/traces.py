"""Searches every byte of some places for tokens and for a number, also where they are packed.

Looked into are files as they are, SQLite row by row (a text may be cut by the end of a page), Parquet value
by value, what zlib, gzip or Zstandard packed, and base64. UTF-16 and hexadecimal digits are searched as such.
"""

import base64
import binascii
import contextlib
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

#: Where packed bytes begin: zlib (three levels), gzip.
_PACKED = re.compile(rb"x[\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
#: Hashes and ids hold any four digits by chance.
_IDENTIFIER = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DEPTH = 3
_LARGEST = 1 << 26


def tokens_in(data: bytes, token: str) -> set[str]:
    """Tokens in some bytes, in any form. Args: token: a pattern of one, of plain letters and digits."""
    wide = re.compile(rb"(?:[ -~]\x00)+")
    found: set[str] = set()
    for plain in unpacked(data):
        texts = [plain, *(each.replace(b"\0", b"") for each in wide.findall(plain))]
        texts += [binascii.unhexlify(each) for each in re.findall(rb"(?:[0-9a-f]{2}){12,}", plain.lower())]
        for text in texts:
            found |= {each.decode() for each in re.findall(token.encode(), text)}
    return found


def numbers_in(data: bytes, number: int) -> set[str]:
    """Where a number of four digits stands in some bytes as a text: what is around it.

    A number inside a longer word or fraction is none: hashes and times hold it by chance.
    """
    digits = str(number)
    forms = (
        rb"(?<![\w.,])" + digits[:-3].encode() + rb"[, _.']?" + digits[-3:].encode() + rb"(?!\w|\.\d*[1-9])"
    )
    found = set()
    for plain in unpacked(data):
        text = _IDENTIFIER.sub(b"", plain)
        found |= {repr(text[max(0, m.start() - 60) : m.end() + 40]) for m in re.finditer(forms, text)}
    return found


def unpacked(data: bytes, depth: int = _DEPTH) -> Iterator[bytes]:
    """Some bytes, and all that is packed in them."""
    yield data
    if depth == 0:
        return
    for inner in _packed(data):
        yield from unpacked(inner, depth - 1)


def _packed(data: bytes) -> Iterator[bytes]:
    for match in _PACKED.finditer(data):
        try:
            yield zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data[match.start() :], _LARGEST)
        except zlib.error:
            continue
    at = data.find(_ZSTANDARD)
    while at >= 0:
        with contextlib.suppress(OSError, pa.ArrowException):
            yield pa.CompressedInputStream(pa.BufferReader(data[at:]), "zstd").read(_LARGEST)
        at = data.find(_ZSTANDARD, at + 1)
    for match in _BASE64.finditer(data):
        text = match.group().rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):  # it may follow other letters
            part = text[start:]
            try:
                yield base64.b64decode(part[: len(part) // 4 * 4])
            except binascii.Error:
                continue


def contents(places: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
    """Files below some places, and what of their content bytes do not show."""
    for place in places:
        for path in [place, *place.rglob("*")]:
            yield path, path.name.encode()
            if not path.is_file() or path.is_symlink():
                continue
            data = path.read_bytes()
            yield path, data
            if data.startswith(b"SQLite format 3\0"):
                yield from ((path, row) for row in _rows(path))
            elif data[:4] == data[-4:] == b"PAR1":
                yield path, repr(pq.read_table(path).to_pydict()).encode()


def _rows(path: Path) -> Iterator[bytes]:
    """All values of a database, a text of its own each: numbers too, which its pages hold as two bytes."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.text_factory = bytes
        tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        for (name,) in tables:
            for row in database.execute(f'select * from "{name.decode()}"'):
                yield b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in row if v is not None)
    database.close()
