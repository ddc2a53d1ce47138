"""A blob's file: tables of few columns each, and what is needed to put them together, in one zip.

In: published tables and public numbers. Out: ``<name>.sdxblob.zip`` with ``blob.json``, the columns' types
and one Parquet file for each set of columns, whole or not at all; and all of it back.

Nothing in here protects anything: `blob` decides what may be stored.

    people.sdxblob.zip
      blob.json                 columns, public parameters, dependences and entropies, rounded
      types.arrow               types of the columns as they were in the table
      tables/0.parquet          the table of column 0 alone
      tables/0-2-5.parquet      the table of columns 0, 2 and 5 together
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import ColumnNumbers
from tasks.core.errors import InputError, ParameterError
from tasks.core.syndiffix.dependence import ColumnRelations
from tasks.core.syndiffix.settings import DefaultClustering
from tasks.core.tables.writing import place, plain_type

VERSION = 1
ENDING = ".sdxblob.zip"
_HEADER, _TYPES = "blob.json", "types.arrow"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # when a file was made is in none: the same blob has the same bytes
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, pa.ArrowException, EOFError, OSError),
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError),
)


@dataclass(frozen=True)
class BlobHeader:
    """What a blob says of the whole table.

    Attributes:
        columns: names and types of the d columns.
        relations: (d, d) and (d,), rounded, from noisy counts.
        clustering: how columns are divided where a question's table is not stored.
        parameters: how entities are protected and trees divided, without the salt; for people to read.
    """

    columns: pa.Schema
    relations: ColumnRelations
    clustering: DefaultClustering
    parameters: Mapping[str, object]


def require_blob_name(path: Path) -> None:
    """Refuse another name. Raises ParameterError."""
    if not path.name.endswith(ENDING) or path.name == ENDING:
        raise ParameterError(f"A blob's file must end in {ENDING}, and {path.name!r} doesn't: name it so.")


def write_blob_file(path: Path, header: BlobHeader, tables: Iterable[tuple[ColumnNumbers, pa.Table]]) -> None:
    """Write a blob, in the place of a file that is there.

    Args:
        path: ends in `ENDING`.
        header: see there.
        tables: of plain cells, each with the numbers of its columns; used up one by one.

    Raises:
        ParameterError: another name, or the file can't be written there.
    """
    require_blob_name(path)
    place(path, lambda stream: _fill(stream, header, tables))


def _fill(stream: BinaryIO, header: BlobHeader, tables: Iterable[tuple[ColumnNumbers, pa.Table]]) -> None:
    content = {
        "version": VERSION,
        "columns": header.columns.names,
        "parameters": header.parameters,
        "clustering": asdict(header.clustering),
        "dependence": header.relations.dependence.tolist(),
        "entropies": header.relations.entropies.tolist(),
    }
    with zipfile.ZipFile(stream, "w") as file:
        _add(file, _HEADER, json.dumps(content, indent=1).encode())
        _add(file, _TYPES, header.columns.remove_metadata().serialize().to_pybytes())
        for combination, table in tables:
            buffer = io.BytesIO()
            pq.write_table(table, buffer, compression="zstd")
            _add(file, _member(combination), buffer.getvalue())


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.external_attr = 0o644 << 16
    # Parquet is compressed already.
    entry.compress_type = zipfile.ZIP_DEFLATED if name == _HEADER else zipfile.ZIP_STORED
    file.writestr(entry, content)


def _member(combination: ColumnNumbers) -> str:
    return f"tables/{'-'.join(map(str, combination))}.parquet"


class BlobFile:
    """An open blob."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            InputError: there is none, or it is no blob, broken or of another version.
        """
        self._path = path
        try:
            self._file = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise InputError(
                f"The blob {path} must be a file, and there is none: correct its name."
            ) from None
        except _BROKEN:
            raise _broken(path) from None
        try:
            self.header = self._read_header()
            members = set(self._file.namelist())
            count = len(self.header.columns)
            self.stored = frozenset(_combinations(members, count))
            if not self.stored.issuperset(chain(*(combinations(range(count), size) for size in (1, 2)))):
                raise _broken(path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, combination: ColumnNumbers) -> pa.Table:
        """A stored table, dictionaries as plain cells; see `restored`.

        Raises:
            InputError: it is broken.
        """
        with _explained(self._path):
            table = pq.read_table(io.BytesIO(self._file.read(_member(combination))))
            kinds = [plain_type(self.header.columns.types[column]) for column in combination]
            names = [self.header.columns.names[column] for column in combination]
            return table.cast(pa.schema(list(zip(names, kinds, strict=True))))

    def restored(self, table: pa.Table) -> pa.Table:
        """A table of the blob's columns with the types that they had at first."""
        columns = []
        for name in table.column_names:
            kind = self.header.columns.field(name).type
            column = table[name].combine_chunks()
            columns.append(column.dictionary_encode() if pa.types.is_dictionary(kind) else column)
        return pa.table(columns, names=table.column_names)

    def _read_header(self) -> BlobHeader:
        with _explained(self._path):
            content: dict[str, Any] = json.loads(self._file.read(_HEADER))
            version = content["version"]
        if version != VERSION:
            given = version if isinstance(version, int) else "an unknown one"
            raise InputError(
                f"The blob {self._path} must be of version {VERSION}, and is of version {given}: build it "
                "anew from the table."
            )
        with _explained(self._path):
            columns = pa.ipc.read_schema(pa.py_buffer(self._file.read(_TYPES)))
            relations = ColumnRelations(
                np.array(content["dependence"], np.float64), np.array(content["entropies"], np.float64)
            )
            count = len(columns)
            if relations.dependence.shape != (count, count) or relations.entropies.shape != (count,):
                raise _broken(self._path)
            try:
                clustering = DefaultClustering(**content["clustering"])
            except ParameterError:
                raise _broken(self._path) from None
            return BlobHeader(columns, relations, clustering, content["parameters"])


def _combinations(members: set[str], columns: int) -> Iterator[ColumnNumbers]:
    """Which tables are there: those whose names are as `_member` writes them."""
    for member in members:
        parts = member.removeprefix("tables/").removesuffix(".parquet").split("-")
        if all(part.isascii() and part.isdigit() for part in parts):
            combination = tuple(map(int, parts))
            if _member(combination) == member and max(combination) < columns:
                yield combination


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Whatever a file that is not as it was written leads to, in words."""
    try:
        yield
    except _BROKEN:
        raise _broken(path) from None


def _broken(path: Path) -> InputError:
    return InputError(
        f"{path} must be a blob as it was written, and is another file, incomplete or broken: copy it again, "
        "or build it anew from the table."
    )
