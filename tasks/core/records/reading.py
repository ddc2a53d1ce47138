"""The public face of an input file: where it is, its dialect, its header.

A path and a declared dialect go in; normalised column names (and a Parquet file's types) come out.
No row is read here: everything that this module returns is public, and no message of it shows a
header that nobody declared: columns are named by position.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.errors import InputError, ParameterError
from tasks.core.records.columns import Column, Schema, normalise

_PARQUET_SUFFIXES = (".parquet", ".pq")
_LONGEST_HEADER_LINE = 2**24


@dataclass(frozen=True)
class InputFile:
    """A table on disk: delimited UTF-8 text (a byte-order mark is accepted) or Parquet.

    Attributes:
        path: the file.
        format: ``csv`` (any delimiter) or ``parquet``; taken from the path's ending where it is None.
        delimiter: one ASCII character.
        quote: one ASCII character.
        escape: what precedes a quote inside a quoted cell: the quote itself, or one other character.
        header: the column names of a text file whose first line is already a record; none: the first
            line is the header.
    """

    path: Path
    format: Literal["csv", "parquet"] | None = None
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    header: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ParameterError where the dialect is not one, or a Parquet file is given a header."""
        for name in ("delimiter", "quote", "escape"):
            value = getattr(self, name)
            if len(value) != 1 or not value.isascii() or value in "\r\n\0":
                raise ParameterError(f"The input's {name} must be one ASCII character, but is {value!r}.")
        if self.delimiter in (self.quote, self.escape):
            raise ParameterError("The input's delimiter must differ from its quote and escape characters.")
        if self.header and self.is_parquet:
            raise ParameterError(
                "sensitive_microdata_header is for a text file without a header line; a Parquet file names "
                "its own columns. Remove the key."
            )

    @property
    def is_parquet(self) -> bool:
        """Whether the file is read as Parquet."""
        if self.format is None:
            return Path(self.path).suffix.lower() in _PARQUET_SUFFIXES
        return self.format == "parquet"


@dataclass(frozen=True)
class Headers:
    """The header of an input file.

    Attributes:
        names: the column names, normalised, in file order; a column without a name is ``""``.
        types: for Parquet the Arrow type of each column as text; None for delimited text.
    """

    names: tuple[str, ...]
    types: tuple[str, ...] | None = None

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {matching_name(name): position for position, name in enumerate(self.names)}

    def find(self, name: str) -> int | None:
        """Position of a declared column (trimmed, case-insensitive: sds.md 1.2), or None."""
        return self._positions.get(matching_name(name))


def matching_name(name: str) -> str:
    """The form under which column names are compared."""
    return normalise(name).lower()


def read_headers(source: InputFile) -> Headers:
    """Read the header and nothing else; a declared one is taken as it is, and no line is read.

    Raises:
        InputError: no such file, an empty one, a folder, one that may not be read; a header that
            isn't UTF-8 or has two columns of the same name (named by position).
    """
    require_readable(source)
    if source.header:
        headers = Headers(tuple(map(normalise, source.header)))
    elif source.is_parquet:
        try:
            schema = pq.read_schema(source.path)
        except (pa.ArrowException, OSError):
            schema = None
        if schema is None:
            raise InputError(f"{source.path} must be a Parquet file, but could not be read as one.")
        headers = Headers(tuple(normalise(name) for name in schema.names), tuple(map(str, schema.types)))
    else:
        headers = Headers(tuple(normalise(name) for name in _delimited_header(source)))
    _require_distinct(headers.names, has_line=not source.header and not source.is_parquet)
    return headers


def header_notes(headers: Headers, source: InputFile) -> tuple[str, ...]:
    """A warning where a text file's first line may be a record: its cells would be released as names."""
    places = [place for place, name in enumerate(headers.names, start=1) if _is_number(name)]
    if not places or source.is_parquet or source.header:
        return ()
    where = (
        f"column {places[0]} is a number" if len(places) == 1 else f"{len(places)} of its names are numbers"
    )
    return (
        f"ATTENTION: the first line of the input is taken for its header, and {where}. If it is a record, "
        "somebody's values would be released as names: put a header above it, or give the names as a "
        "configuration's sensitive_microdata_header.",
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def column_positions(headers: Headers, source: InputFile, schema: Schema) -> tuple[list[int], int | None]:
    """Where the schema's columns, and its subject id, are in the file.

    Raises:
        InputError: a declared column is not in the file, or one of those that are used has no name.
    """
    wanted = [column.name for column in schema.columns]
    wanted += [schema.subject_id] if schema.subject_id is not None else []
    missing = [name for name in wanted if name and headers.find(name) is None]
    if missing and len(headers.names) == 1 and len(wanted) > 1 and not source.is_parquet:
        raise InputError(
            f"The input should have {len(wanted)} declared columns, but its header is a single column when "
            f"split at {source.delimiter!r}: give the right delimiter (sensitive_microdata_delimiter)."
        )
    if missing:
        raise InputError(
            [f"Column {name!r} is declared, but the input has none so named." for name in missing]
        )
    if "" in wanted:
        position = headers.names.index("") + 1
        raise InputError(f"Column {position} of the input has no name: name it, or list the columns to use.")
    positions = [headers.find(column.name) for column in schema.columns]
    subject = headers.find(schema.subject_id) if schema.subject_id is not None else None
    return [position for position in positions if position is not None], subject


def require_flat(headers: Headers, positions: list[int], columns: tuple[Column, ...]) -> None:
    """Refuse Parquet types that are not a value or a list of values.

    Raises:
        InputError: a declared column is a struct, a map or a union, or a list in a column that is
            not declared multi-valued.
    """
    problems = []
    for position, column in zip(positions, columns, strict=True):
        kind = headers.types[position] if headers.types is not None else ""
        if "struct<" in kind or "map<" in kind or "union<" in kind or kind.count("list") > 1:
            problems.append(
                f"Column {column.name!r} must hold values or lists of values, but is nested: flatten it."
            )
        elif "list<" in kind and not column.is_multi_valued:
            problems.append(f"Column {column.name!r} holds lists: declare it in multi_value_columns.")
    if problems:
        raise InputError(problems)


def require_readable(source: InputFile) -> None:
    """Refuse what is not a file that we may read and, where its header is in it, that holds something.

    Raises:
        InputError: it isn't.
    """
    path = Path(source.path)
    problem = ""
    try:
        if path.is_dir():
            problem = f"The input must be a file, but {path} is a folder."
        elif path.stat().st_size == 0 and not source.header:
            problem = f"The input must at least hold a header, but {path} is empty."
        else:
            with path.open("rb"):
                return
    except FileNotFoundError:
        problem = f"The input file {path} does not exist: correct its path."
    except OSError as error:
        problem = f"The input file {path} can't be read ({error.strerror}): check its permissions."
    raise InputError(problem)


def _delimited_header(source: InputFile) -> list[str]:
    """The cells of the first line."""
    with Path(source.path).open("rb") as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="surrogateescape", newline="")
        doubled = source.escape == source.quote
        reader = csv.reader(
            _lines(text),
            delimiter=source.delimiter,
            quotechar=source.quote,
            doublequote=doubled,
            escapechar=None if doubled else source.escape,
            strict=True,
        )
        try:
            cells = next(reader, [])
            "".join(cells).encode("utf-8")
            problem = "" if cells else "The input's first line must be its header, but is blank."
        except csv.Error:
            problem = (
                "The input's first line is not a header in the declared dialect: check delimiter and quotes."
            )
        except UnicodeEncodeError:
            problem = "The input must be UTF-8 text, but its header is not: convert the file."
    if problem:
        raise InputError(problem)
    return cells


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines with their ends, none longer than a header may be."""
    while line := text.readline(_LONGEST_HEADER_LINE):
        if len(line) == _LONGEST_HEADER_LINE:
            raise csv.Error
        yield line


def _require_distinct(names: tuple[str, ...], *, has_line: bool) -> None:
    """Raise InputError where two columns have the same name; several columns may have none."""
    first: dict[str, int] = {}
    problems = []
    for position, name in enumerate(names, start=1):
        earlier = first.setdefault(matching_name(name), position)
        if name and earlier != position:
            problems.append(
                f"Columns {earlier} and {position} of the input have the same name "
                "(spaces around it and case don't count): rename one."
            )
    if problems and has_line:
        problems[-1] += (
            " Does the input have a header line at all? Where its first line is a record, put one above it."
        )
    if problems:
        raise InputError(problems)
