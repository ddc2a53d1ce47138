"""How a text file is written: encoding, quote, delimiter, lines above the table, and whether it has a header.

A path goes in; an `InputFile` with its dialect comes out, and for each part of it the reason. What somebody
says of a part stands. A record that is taken for names is published with every release, so a person is asked
in doubt.
"""

import codecs
import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.recognition.init_answers import FileAnswers
from tasks.core.recognition.words import (
    SOME_ID,
    header_words,
    is_known_in_headers,
    is_missing_word,
    subject_likeness,
    word_set,
)
from tasks.core.tables.column_names import Encoding, bare_name, matching_name
from tasks.core.tables.header import InputFile

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK = 2**20
_SNIFFED_BYTES, _SNIFFED_RECORDS = 2**18, 2000
#: Bytes that cp1252 does not have, and latin-1 has.
_NOT_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
#: A record above the header has so few of the usual cells, of a table that has so many.
_TITLE_SHARE, _LEAST_WIDTH, _MOST_ABOVE = 1 / 3, 3, 20

_NUMBER = re.compile(r"[-+]?[€$£]?\s*\d[\d.,' \u00a0\u202f]*\s*[%€$£]?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
#: Also 34 years, 12+, -5% and 5e-3.
_BEGINS_AS_NUMBER = re.compile(r"[-+<>≤≥(€$£~]*\s*[.,]?\d")
#: Such as tip_amount; such as lotsize, log.NIF, x1, Hunt(R).
_JOINED = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
_NAME = re.compile(r"[^\W\d]\w*(?:[.\-/:;$%()\[\]#?]\w*)*")

#: About the logarithm of how much likelier a cell is as a name than in a record. So much a line needs, and so
#: much one cell gives at most: a word above fifty numbers.
_ENOUGH, _MOST = 3.0, 4.0
_KNOWN_WORD, _NO_NAME, _LIKE_A_RECORD = 1.5, -1.5, -3.0
#: A text that is unlike those below it in form or length, and one that isn't; so many records tell that.
_UNLIKE, _ALIKE, _FEW = 0.5, -0.5, 10
#: A text that a list of values lacks, which has so many cells a value: three of them are not enough.
_NOT_LISTED, _OF_A_LIST = 0.4, 5
#: For each cell that is like a record's so many must be unlike it; of those above texts so many are names.
_UNLIKE_EACH, _LEAST_NAMES = 6, 0.75
#: No cell of a record that is told without a question speaks so much for names, and it needs so many others.
_OF_NO_RECORD, _LEAST_RECORDS = 1.0, 3


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Attributes:
        reasons: of each part that was found out, by its name, what it is and why.
        doubt: why only a person can know whether the first line names the columns; empty: it is clear.
        first: the cells of the first line; sensitive where it is in doubt.
    """

    source: InputFile
    reasons: dict[str, str]
    doubt: str = ""
    first: tuple[str, ...] = ()


def recognise_dialect(path: Path, said: FileAnswers | None = None) -> Dialect:
    """Raises: InputError: there is no such file, it can't be opened, or is empty."""
    said = said or FileAnswers()
    plain = InputFile(path)
    if plain.is_parquet:
        return Dialect(plain, {"form": "Parquet, which names and types its own columns"})
    if plain.opened.size == 0:
        raise InputError(f"The input must hold a header and records, but {path} is empty: write it anew.")
    encoding, why_encoding = _find_encoding(plain) if said.encoding is None else (said.encoding, "you say so")
    source = plain.read_as(encoding=encoding)
    reasons = {"encoding": f"{encoding}: {why_encoding}"}
    text = source.text()
    start = text.read(_SNIFFED_BYTES).decode("utf-8", errors="replace")
    is_whole = len(start.encode()) < _SNIFFED_BYTES
    quote = said.quote or _find_quote(start)
    known = said.delimiter or text.separator
    delimiter, escape, read = _find_delimiter_and_escape(start, quote, known, said.escape, is_whole=is_whole)
    for_excel = len(text.separator)  # its line is one of those above the table, where there are others
    given = said.skip_lines
    above = _count_title_lines(read) if given is None else given - min(for_excel, abs(given))
    lines = [record for record in read if record.line >= above] or [_Record(0, [""])]
    records = [record.cells for record in lines]
    reasons["delimiter"] = f"{_DELIMITERS.get(delimiter, repr(delimiter))}: " + (
        "you say so"
        if said.delimiter
        else "the file's line for Excel says so"
        if text.separator
        else f"cells in each of the first records: {len(records[0])}"
    )
    if above:
        reasons["title"] = f"{above} lines above the table are left out: " + (
            "you say so" if given is not None else "few of their cells hold anything"
        )
    if quote != '"':
        reasons["quote"] = f"{quote}: " + ("you say so" if said.quote else "it stands around cells")
    if escape != quote:
        why = "you say so" if said.escape else "it stands before quotes inside cells"
        reasons["escape"] = f"{escape}: {why}"
    first = read_first_line(records) if said.has_header is None else FirstLine(said.has_header, "you say so")
    names = () if first.is_header else tuple(f"column_{place}" for place in range(1, len(records[0]) + 1))
    reasons["header"] = f"{'the first line' if first.is_header else 'none'}: {first.why}"
    if first.is_header and len(lines) > 1 and (names := _number_equal_names(records[0])):
        above = lines[1].line  # the names are declared in place of their line
        reasons["names"] = f"some were the same but for case and blanks: they are now {', '.join(names)}"
    found = source.read_as(
        delimiter=delimiter,
        quote=quote,
        escape=escape,
        header=names,
        skip_lines=above and above + for_excel,
    )
    return Dialect(found, reasons, first.doubt, tuple(records[0]))


def find_dialect(path: Path, encoding: Encoding = "utf-8") -> InputFile:
    """The file with its delimiter, and nothing else found out: of what somebody reads without `init`.

    Whether it can be read is found out by reading its header. A run never asks: its dialect is declared.

    Raises: InputError: there is no such file, or it can't be opened.
    """
    source = InputFile(path, encoding=encoding)
    if source.is_parquet or source.delimiter == "\t":
        return source
    text = source.text()
    try:
        data = text.read(_SNIFFED_BYTES)
    except (OSError, UnicodeDecodeError):
        return source  # the header says what is wrong
    start, is_whole = data.decode("utf-8", errors="replace"), len(data) < _SNIFFED_BYTES
    delimiter, _, _ = _find_delimiter_and_escape(
        start, source.quote, text.separator, source.escape, is_whole=is_whole
    )
    return source.read_as(delimiter=delimiter)


def _number_equal_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns of which some were the same, with numbers behind those; none if none were.

    >>> _number_equal_names(["Sex", "sex", "sex_2"]), _number_equal_names(["sex", "", ""])
    (('Sex', 'sex_3', 'sex_2'), ())
    """
    bare = [bare_name(name) for name in names]
    given = Counter(map(matching_name, filter(None, bare)))
    if all(times == 1 for times in given.values()):
        return ()
    seen: set[str] = set()
    found = []
    for name in bare:
        numbered, number = name, 1
        while name and matching_name(numbered) in (seen if number == 1 else seen | set(given)):
            number += 1
            numbered = f"{name}_{number}"
        seen.add(matching_name(numbered))
        found.append(numbered)
    return tuple(found)


def _find_encoding(plain: InputFile) -> tuple[Encoding, str]:
    start = plain.opened.bytes_at(0, 4)
    if not plain.compression and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16", "the file begins with its mark"
    if not plain.compression and start.startswith(codecs.BOM_UTF8):
        return "utf-8", "the file begins with its mark"
    decoder = codecs.getincrementaldecoder("utf-8")()
    text, is_utf8, is_latin, has_high = plain.text(), True, False, False
    while block := text.read(_BLOCK):
        has_high = has_high or not block.isascii()
        is_latin = is_latin or _NOT_IN_CP1252.search(block) is not None
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            is_utf8 = False
        if not is_utf8 and is_latin:
            break
    if is_utf8:
        return "utf-8", "all of it is" if has_high else "it holds nothing but ASCII"
    if is_latin:
        return "latin-1", "it is not utf-8, and holds bytes that cp1252 lacks"
    return "cp1252", "it is not utf-8, and every byte is a letter or sign in the encoding of Windows"


def _find_quote(start: str) -> str:
    double = len(re.findall(r'(?m)(?:^|[,;\t|])"', start))
    single = len(re.findall(r"(?m)(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|]|\r?$)", start))
    return "'" if single > 5 and single > 5 * double else '"'


@dataclass(frozen=True)
class _Record:
    """One record. Attributes: line: so many lines stand above it."""

    line: int
    cells: list[str]

    @property
    def filled(self) -> int:
        return sum(bool(cell.strip()) for cell in self.cells)


def _count_title_lines(records: Sequence[_Record]) -> int:
    """How many lines stand above the table, as a title does: nearly empty ones, and a header below them."""
    usual = _usual_width(records)
    most = usual * _TITLE_SHARE
    if usual < _LEAST_WIDTH or records[0].filled > most:
        return 0
    first = next((record for record in records[:_MOST_ABOVE] if record.filled > most), None)
    if first is None or any(map(_is_data_cell, first.cells)) or first.filled < 2 * most:
        return 0  # of a table that names few of its columns, or has no header
    return first.line


def _usual_width(records: Sequence[_Record]) -> int:
    return Counter(len(record.cells) for record in records).most_common(1)[0][0]


def _find_delimiter_and_escape(
    start: str, quote: str, delimiter: str, escape: str | None, *, is_whole: bool
) -> tuple[str, str, list[_Record]]:
    """What splits the first records into the same number of cells, the most; and these records.

    Args: delimiter: as it is known; empty: it is found. is_whole: the start is all of the file.
    """
    best, most = (delimiter or ",", escape or quote, [_Record(0, [""])]), 0.0
    signs = [escape] if escape else _possible_escapes(start, quote)
    for one, sign in itertools.product([delimiter] if delimiter else _DELIMITERS, signs):
        records = _read_records(start, quote, one, sign, is_whole=is_whole)
        if not records:
            continue
        usual = _usual_width(records)
        agreeing = sum(len(record.cells) == usual for record in records) / len(records)
        # Records that all agree beat any that don't; then the more cells, the better.
        worth = (agreeing == 1) * 10_000 + agreeing * 100 + min(usual, 90) if usual > 1 else 0.5
        if worth > most:
            best, most = (one, sign, records), worth
    return best


def _possible_escapes(start: str, quote: str) -> list[str]:
    r"""What may precede quotes inside cells.

    >>> _possible_escapes(r"'it\'s'", "'"), _possible_escapes("'it''s'", "'")
    (['\\'], ["'"])
    """
    if re.search(rf"\\{re.escape(quote)}[^\r\n{quote}{''.join(_DELIMITERS)}]", start):
        return ["\\"]  # no cell could end there
    return [quote, "\\"] if f"\\{quote}" in start else [quote]


def _read_records(start: str, quote: str, delimiter: str, escape: str, *, is_whole: bool) -> list[_Record]:
    """The first records that aren't blank, up to one whose quote is left open: reading the table tells it."""
    records: list[_Record] = []
    line = 0
    doubled = escape == quote
    try:
        reader = csv.reader(
            io.StringIO(start, newline=""),
            delimiter=delimiter,
            quotechar=quote,
            doublequote=doubled,
            escapechar=None if doubled else escape,
        )
        for cells, _ in zip(reader, range(_SNIFFED_RECORDS), strict=False):
            records += [_Record(line, cells)] if any(cells) else []
            line = reader.line_num
    except csv.Error:  # a cell of enormous length
        return records
    return records if is_whole or len(records) == _SNIFFED_RECORDS else records[:-1]


@dataclass(frozen=True)
class FirstLine:
    """Whether the first line names the columns.

    Attributes:
        doubt: why only a person can know, cells named by position; empty: it is clear.
    """

    is_header: bool
    why: str
    doubt: str = ""


def read_first_line(records: Sequence[Sequence[str]]) -> FirstLine:
    """Whether the first of some records, at least one, names the columns."""
    first, rest = [cell.strip() for cell in records[0]], records[1:]
    columns = [
        _Column([record[place].strip() for record in rest if place < len(record)])
        for place in range(len(first))
    ]
    found = [
        (_LIKE_A_RECORD, "recurs in the line")  # names may differ in case alone
        if cell and cell in first[:place]
        else _weigh_cell(cell, column, is_first=place == 0)
        for place, (cell, column) in enumerate(zip(first, columns, strict=True))
    ]
    alike = sum(bool(what) for _, what in found)
    if _is_record(found, columns, len(rest)):
        return FirstLine(False, "its cells are like those below it")
    unlike = sum(weight > 0 for weight, _ in found)
    is_told = unlike > 1 or any(map(is_header, first))  # an odd word alone may be a record's
    above_texts = [cell for cell, column in zip(first, columns, strict=True) if cell and not column.are_data]
    are_names = sum(map(_may_be_name, above_texts)) >= _LEAST_NAMES * len(above_texts)
    is_enough = sum(weight for weight, _ in found) >= _ENOUGH and unlike >= _UNLIKE_EACH * alike
    if is_enough and is_told and are_names and not any(what == _EMPTY for _, what in found):
        return FirstLine(True, "its cells are unlike those below it, and have the shape of names")
    doubt = _describe_doubt(found)
    return FirstLine(not alike, f"it may be somebody's record: {doubt}", doubt)


class _Column:
    def __init__(self, cells: list[str]) -> None:
        self.rows = len(cells)
        self.held = Counter(filter(None, cells))
        self.values = {cell.casefold() for cell in self.held}
        known = {cell: held for cell, held in self.held.items() if not _says_nothing(cell)}
        self.words = sum(held for cell, held in known.items() if not _BEGINS_AS_NUMBER.match(cell))
        self.are_data = bool(known) and self.words <= 0.1 * sum(known.values())
        self.are_booleans = bool(self.values) and self.values <= word_set("record", "yes_no")

    @cached_property
    def forms(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for cell, held in self.held.items():
            found[_letter_form(cell)] += held
        return found


_EMPTY = "is empty"
#: By how much a cell speaks for names, and what of it is like a record's; empty: nothing.
_CellWeight = tuple[float, str]


def _weigh_cell(cell: str, column: _Column, *, is_first: bool) -> _CellWeight:
    if not cell:  # the first may number rows
        return 0.0, "" if is_first or not column.held else _EMPTY
    is_known = is_header(cell)
    if "@" in cell:
        return _LIKE_A_RECORD, "is an address"
    if _BEGINS_AS_NUMBER.match(cell):
        return _LIKE_A_RECORD, "begins as a number or date does"
    if _says_nothing(cell) and not is_known:
        return _LIKE_A_RECORD, "is a word for a missing value"
    if cell.casefold() in column.values:
        return _LIKE_A_RECORD, "stands below itself"
    shape = _KNOWN_WORD if is_known else 0.0 if _NAME.fullmatch(cell) else _NO_NAME
    if not column.held:
        return shape, ""
    if column.are_data or column.are_booleans:
        words = column.words if column.are_data else 0
        return min(_MOST, math.log((column.rows + 2) / (4 * words + 1))) + shape, ""
    form, lengths = _letter_form(cell), [len(other) for other in column.held]
    if "0" in form and 2 * column.forms[form] > column.rows:
        return _LIKE_A_RECORD, "has the form of those below it"
    is_unlike = not min(lengths) <= len(cell) <= max(lengths) or form not in column.forms
    weight = _UNLIKE if is_unlike else _ALIKE
    listed = _NOT_LISTED if len(column.values) * _OF_A_LIST <= column.rows else 0.0
    return shape + (weight + listed if column.rows >= _FEW else min(weight, 0.0)), ""


def _says_nothing(cell: str) -> bool:
    return is_missing_word(cell, in_records=True)


def _is_record(found: Sequence[_CellWeight], columns: Sequence[_Column], rows: int) -> bool:
    """Whether cells fit their columns: all of numbers and dates and half of all; or all texts."""
    of_data = [weight for (weight, _), column in zip(found, columns, strict=True) if column.are_data]
    alike = sum(bool(what) for _, what in found)
    if any(weight >= _OF_NO_RECORD for weight, _ in found):
        return False
    if of_data:
        return max(of_data) <= 0 and 2 * alike >= len(found)
    return rows >= _LEAST_RECORDS and alike == len(found)


def _describe_doubt(found: Sequence[_CellWeight]) -> str:
    places: dict[str, list[int]] = {}
    for place, (_, what) in enumerate(found, start=1):
        if what:
            places.setdefault(what, []).append(place)
    return (
        "; ".join(
            f"cell {where[0]} {what}" + (f" (so do {len(where) - 1} more)" if len(where) > 1 else "")
            for what, where in places.items()
        )
        or "its cells might stand below it as well"
    )


@cache
def _letter_form(cell: str) -> str:
    """The form of a cell: each run of digits as 0, of letters as a, A or Aa."""

    def case(word: re.Match[str]) -> str:
        return "a" if word[0].islower() else "A" if word[0].isupper() else "Aa"

    return re.sub(r"[^\W\d_]+", case, re.sub(r"\d+", "0", cell))


@cache
def is_header(text: str) -> bool:
    """Whether a text is nothing but words that headers have, or is joined by underscores as names are.

    >>> [is_header(text) for text in ("Alter", "patient id", "tip_amount", "Marta", "student", "group A")]
    [True, True, True, False, False, False]
    """
    words = [word for word in header_words(text) if word not in word_set("header", "between")]
    is_known = bool(words) and (all(map(is_known_in_headers, words)) or subject_likeness(text) >= SOME_ID)
    return is_known or _JOINED.fullmatch(text.strip()) is not None


def _may_be_name(cell: str) -> bool:
    has_known = is_header(cell) or any(map(is_known_in_headers, header_words(cell)))
    return has_known or _NAME.fullmatch(cell) is not None


def _is_data_cell(cell: str) -> bool:
    text = cell.strip()
    return _NUMBER.fullmatch(text) is not None or _DATE.fullmatch(text) is not None
