"""The public face of an input file: where it is, its dialect, its header.

No row is read here: everything that this module returns is public, and no message of it shows a header that
nobody declared: columns are named by position.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.errors import InputError, ParameterError
from tasks.core.tables.column_names import Encoding, bare_name, matching_name, output_spelling
from tasks.core.tables.places import closed_folder_of, remote_url
from tasks.core.tables.source import COMPRESSIONS, Compression, OpenedFile, RemoteFile, TextBytes, text_lines

_PARQUET_SUFFIXES = (".parquet", ".pq")
_TAB_SUFFIXES = (".tsv", ".tab")
#: Endings of what holds tables and is none that is read.
_OTHER_SUFFIXES = {".zip", ".bz2", ".xz", ".7z", ".rar", ".lz4", ".xlsx", ".xls", ".ods", ".sav", ".dta"}
_NAMED_AS_TABLE = {".csv", ".txt", *_TAB_SUFFIXES, *_PARQUET_SUFFIXES, *_OTHER_SUFFIXES}
_LONGEST_HEADER_LINE = 2**24
#: How files begin that are named or declared as something else.
_BEGINNINGS = {
    b"\xff\xfe": "the mark of utf-16",
    b"\xfe\xff": "the mark of utf-16",
    b"\xef\xbb\xbf": "the mark of utf-8",
    b"\x1f\x8b": "the mark of gzip, whose files must end in .gz",
    b"\x28\xb5\x2f\xfd": "the mark of zstd, whose files must end in .zst",
    b"PAR1": "the mark of Parquet, whose files must end in .parquet",
    b"PK\x03\x04": "the mark of zip, which is not read",
}
ENCODINGS: tuple[str, ...] = get_args(Encoding)


def is_named_as_table(path: Path) -> bool:
    """Whether a file's name ends as a table's does, of a kind that is read or of another one.

    >>> is_named_as_table(Path("people.csv.gz")), is_named_as_table(Path("people.json"))
    (True, False)
    """
    return bool(_NAMED_AS_TABLE.intersection(suffix.lower() for suffix in path.suffixes[-2:]))


@dataclass(frozen=True)
class InputFile:
    """A table on disk: delimited text (a byte-order mark is accepted), perhaps compressed, or Parquet.

    It is opened when it is first asked of, and read from that one open file for as long as the run lasts.

    Attributes:
        format: ``csv`` (any delimiter) or ``parquet``; taken from the path's ending where it is None.
        delimiter: one ASCII character; by the ending where it is left out: a tab for TSV, else a comma.
        escape: what precedes a quote inside a quoted cell; the quote itself where it is left out.
        header: the column names of a text file whose first line is already a record; none: the first line is
            the header.
    """

    path: Path
    format: Literal["csv", "parquet"] | None = None
    delimiter: str = ""
    quote: str = '"'
    escape: str = ""
    header: tuple[str, ...] = ()
    encoding: Encoding = "utf-8"
    skip_lines: int = 0

    def __post_init__(self) -> None:
        """Raises ParameterError where the dialect is not one, or a Parquet file is given one of text."""
        if not self.delimiter:
            object.__setattr__(self, "delimiter", "\t" if self._suffix in _TAB_SUFFIXES else ",")
        if not self.escape:
            object.__setattr__(self, "escape", self.quote)
        for name in ("delimiter", "quote", "escape"):
            value = getattr(self, name)
            if len(value) != 1 or not value.isascii() or value in "\r\n\0":
                raise ParameterError(
                    f"The input's {name} must be one ASCII character, but is {value!r}: give one."
                )
        if self.delimiter in (self.quote, self.escape):
            raise ParameterError(
                "The input's delimiter must differ from its quote and escape characters, but is "
                f"{self.delimiter!r} like one of them: give another."
            )
        if self.encoding not in ENCODINGS:
            raise ParameterError(f"encoding must be one of {', '.join(ENCODINGS)}, but is {self.encoding!r}.")
        if self.header and self.is_parquet:
            raise ParameterError(
                "sensitive_microdata_header is for a text file without a header line; a Parquet file names "
                "its own columns. Remove the key."
            )
        if self.skip_lines < 0:
            raise ParameterError(f"The lines above the header must be 0 or more, not {self.skip_lines}.")
        if self.skip_lines and self.is_parquet:
            raise ParameterError(
                "sensitive_microdata_skip_lines is for a text file; Parquet has no lines above its columns. "
                "Remove the key."
            )
        if self.encoding != "utf-8" and self.is_parquet:
            raise ParameterError("encoding is for a text file; Parquet's texts are in utf-8. Remove the key.")

    def __getstate__(self) -> dict[str, Any]:
        """What is declared: an open file stays in its process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def compression(self) -> Compression | None:
        """What the file is compressed by; Parquet compresses its own columns."""
        return COMPRESSIONS.get(Path(self.path).suffix.lower())

    @property
    def _suffix(self) -> str:
        path = Path(self.path)
        return (path.with_suffix("") if self.compression else path).suffix.lower()

    @property
    def is_parquet(self) -> bool:
        if self.format is None:
            return self._suffix in _PARQUET_SUFFIXES
        return self.format == "parquet"

    def read_as(self, **dialect: Any) -> Self:
        """The same open file in another dialect. Args: dialect: fields of this class that are others."""
        found = replace(self, **dialect)
        if "opened" in self.__dict__:
            found.__dict__["opened"] = self.opened
        return found

    def with_headers(self, headers: "Headers") -> Self:
        """The same file, of which the header is known otherwise: it is not opened for it."""
        found = replace(self)
        found.__dict__["headers"] = headers
        return found

    @property
    def is_open(self) -> bool:
        return "opened" in self.__dict__ or "headers" in self.__dict__

    @cached_property
    def opened(self) -> OpenedFile:
        """The open file. Raises: InputError: there is none, it may not be read, or it holds no table."""
        if self.format is None:
            self._require_known_form()
        url = remote_url(self.path)
        if url is not None:
            return RemoteFile(url)
        if place := closed_folder_of(Path(self.path)):
            raise InputError(
                f"The input must be a table of your own, but {self.path} is in {place}. What a run keeps "
                "there is about the people of its input, whose budget it would not be charged to. Give the "
                "table that it was made from."
            )
        return OpenedFile(Path(self.path))

    def _require_known_form(self) -> None:
        path = Path(self.path)
        if self.is_parquet and self.compression:
            raise InputError(
                f"A Parquet file compresses its own columns and must be given as it is: decompress {path}."
            )
        if path.suffix.lower() in _OTHER_SUFFIXES:
            raise InputError(
                "The input must be CSV, TSV (either may be compressed to .gz or .zst) or Parquet; "
                f"a file that ends in {path.suffix} is none of them: convert {path}."
            )

    def text(self) -> TextBytes:
        return TextBytes(self.opened, self.compression, self.encoding, self.skip_lines)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of a Parquet file's columns. Raises InputError where it is none."""
        try:
            return pq.read_schema(self.opened.reader())
        except (pa.ArrowException, OSError):
            pass
        raise InputError(
            f"{self.path} must be a Parquet file, but could not be read as one: write it anew, or give it "
            "the ending of its format."
        )

    @cached_property
    def headers(self) -> "Headers":
        """The header, and nothing else; a declared one is taken as it is, and no line is read.

        Raises:
            InputError: an empty file; a header that is not in the encoding, or names two columns alike.
        """
        if self.opened.size == 0 and not self.header:
            raise InputError(
                f"The input must hold a header and records, but {self.path} is empty: write it anew."
            )
        if self.header:
            headers = Headers(tuple(map(bare_name, self.header)))
        elif self.is_parquet:
            schema = self.arrow_schema
            headers = Headers(tuple(map(bare_name, schema.names)), tuple(map(str, schema.types)))
        else:
            headers = Headers(tuple(map(bare_name, _delimited_header(self))))
        _require_distinct(headers.texts, has_line=not self.header and not self.is_parquet)
        return headers


@dataclass(frozen=True)
class Headers:
    """The header of an input file.

    >>> Headers(("id", "Date visite")).find(" date VISITE "), Headers(("id",)).find("age")
    (1, None)

    Attributes:
        texts: the column names as the file means them (`bare_name`), in its order; ``""`` for none.
        types: for Parquet the Arrow type of each column as text; None for delimited text.
    """

    texts: tuple[str, ...]
    types: tuple[str, ...] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(map(output_spelling, self.texts))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {matching_name(text): position for position, text in enumerate(self.texts)}

    def find(self, name: str) -> int | None:
        """Position of a declared column (trimmed, case-insensitive: S1.2), or None."""
        return self._positions.get(matching_name(name))

    def places(self, names: Sequence[str]) -> list[int]:
        """Raises: InputError: a column is not in the file, or has no name."""
        missing = [name for name in names if name and self.find(name) is None]
        if missing:
            raise InputError(
                [
                    f"Column {name!r} is declared, but the input has none of that name: correct it."
                    for name in missing
                ]
            )
        if "" in names:
            position = self.texts.index("") + 1
            raise InputError(
                f"Column {position} of the input has no name: name it, or list the columns to use."
            )
        return [self._positions[matching_name(name)] for name in names]


def header_notes(source: InputFile) -> tuple[str, ...]:
    """A warning where a text file's first line may be a record: its cells would be released as names."""
    places = [place for place, name in enumerate(source.headers.names, start=1) if _is_number(name)]
    if not places or source.is_parquet or source.header:
        return ()
    where = f"column {places[0]} is a number" if len(places) == 1 else f"{len(places)} columns are numbers"
    return (
        f"ATTENTION: the input's first line is read as its header, but {where} in it. If that line is a "
        "record, somebody's values would be released as names: put a header above it, or give the names in "
        "a configuration (sensitive_microdata_header).",
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def undecodable(source: InputFile, what: str = "the text") -> str:
    """What to say where bytes are no text in the declared encoding; never shows them."""
    start = source.opened.bytes_at(0, 4)
    begins = next((words for mark, words in _BEGINNINGS.items() if start.startswith(mark)), "")
    hint = f" The file begins with {begins}." if begins and not source.compression else ""
    return (
        f"The input must be text in {source.encoding}, but {what} is not: give the right one of "
        f"{', '.join(ENCODINGS)} as encoding, or convert the file.{hint}"
    )


def damaged_archive(source: InputFile) -> str:
    return (
        f"{source.path} must be a whole file compressed by {source.compression}, but ends too early or is "
        "damaged: copy or compress it again."
    )


def _delimited_header(source: InputFile) -> list[str]:
    problem = ""
    try:
        dialect = source.delimiter, source.quote, source.escape
        cells: list[str] = next(cells_of_lines(_lines(text_lines(source.text())), *dialect, strict=True), [])
        "".join(cells).encode("utf-8")  # bytes that are no UTF-8 were escaped, and fail here
        problem = "" if cells else "The input's first line must be its header, but is blank: write it there."
    except csv.Error:
        problem = (
            "The input's first line must be a header in the declared dialect, but is none: check the "
            "delimiter and the quotes."
        )
    except UnicodeError:
        problem = undecodable(source, "its header")
    except OSError:
        problem = damaged_archive(source) if source.compression else f"{source.path} can't be read."
    if (  # a mark of UTF-8, read in an encoding of one byte a character
        not problem
        and source.encoding in ("latin-1", "cp1252")
        and "".join(cells).startswith("\u00ef\u00bb\u00bf")
    ):
        problem = undecodable(source, "its header")
    if problem:
        raise InputError(problem)
    return cells


def cells_of_lines(
    lines: Iterable[str], delimiter: str, quote: str, escape: str, *, strict: bool = False
) -> Any:
    """A reader of `csv` in a dialect of ours."""
    escaped: dict[str, Any] = {} if escape == quote else {"doublequote": False, "escapechar": escape}
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=strict, **escaped)


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
                f"Columns {earlier} and {position} of the input have the same name (spaces and quotes around "
                "it and case don't count): rename one."
            )
    if problems and has_line:
        problems[-1] += (
            " Does the input have a header line at all? Where its first line is a record, put one above it."
        )
    if problems:
        raise InputError(problems)
