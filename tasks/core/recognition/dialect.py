"""How a text file is written: encoding, quote, delimiter, lines above the table, and whether it has a header.

A path goes in; an `InputFile` with its dialect comes out, and for each part of it the reason. What somebody
says of a part stands.

Whether the first line names the columns, or is somebody's record, hangs on each cell's column: what could
hardly stand below it speaks for names (a word above numbers, a long one above codes of two letters), what
stands there as well speaks for a record. A record that is taken for names is published with every release, so
a person is asked where they don't tell.
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
from functools import cache
from itertools import pairwise
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
from tasks.core.tables.header import InputFile, cells_of_lines

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK = 2**20
_SNIFFED_BYTES, _SNIFFED_RECORDS = 2**18, 2000
#: Bytes that cp1252 does not have, and latin-1 has.
_NOT_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
#: A record above the header has so few of the usual cells, of a table that has so many.
_TITLE_SHARE, _LEAST_WIDTH, _MOST_ABOVE = 1 / 3, 3, 20

#: A number or a date.
_DATA = re.compile(
    r"[-+]?[€$£]?\s*\d[\d.,' \u00a0\u202f]*\s*[%€$£]?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?"
)
#: Also 34 years, 12+, -5% and 5e-3.
_BEGINS_AS_NUMBER = re.compile(r"[-+<>≤≥(€$£~]*\s*[.,]?\d")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
#: Such as tip_amount; such as lotsize, log.NIF, x1, Hunt(R).
_JOINED = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
#: Such as 401k_active.
_CODED = re.compile(r"\d+[^\W\d_]*(?:_[^\W\d_]+)+")
_NAME = re.compile(r"[^\W\d]\w*(?:[.\-/:;$%()\[\]#?]\w*)*")

#: About the logarithm of how much likelier a cell is as a name than in a record. So much a line needs, and so
#: much one cell gives at most: a word above fifty numbers.
_ENOUGH, _MOST = 3.0, 4.0
_KNOWN_WORD, _NO_NAME, _LIKE_A_RECORD = 1.5, -1.5, -3.0
#: A text that is unlike those below it in form or length, and one that isn't.
_UNLIKE, _ALIKE = 0.5, -0.5
#: A text that a list of values lacks. Three of them are not enough: somebody may be unlike all others.
_NOT_LISTED = 0.4
#: Fewer records tell nothing of forms, lengths and lists; so many cells a value make a list.
_FEW, _OF_A_LIST = 10, 5
#: No cell of a record that is told without a question speaks so much for names.
_OF_NO_RECORD = 1.0
#: A record that is told without a question needs so many others; so many years count up.
_LEAST_RECORDS, _LEAST_YEARS = 3, 3
#: At least this share of cells above texts has the shape of names.
_LEAST_NAMES = 0.75
#: For each cell that is like a record's so many must be unlike it; fewer for a list that is named like one of
#: its values, as hispanic may be.
_UNLIKE_EACH, _UNLIKE_A_VALUE = 6, 3
_STANDS_BELOW = "stands below itself"


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
    """The file with its dialect.

    Raises:
        InputError: there is no such file, it can't be opened, or is empty.
    """
    said = said or FileAnswers()
    plain = InputFile(path)
    if plain.is_parquet:
        return Dialect(plain, {"form": "Parquet, which names and types its own columns"})
    if plain.opened.size == 0:
        raise InputError(f"The input must hold a header and records, but {path} is empty: write it anew.")
    encoding, why_encoding = _find_encoding(plain) if said.encoding is None else (said.encoding, "")
    source = plain.read_as(encoding=encoding)
    reasons: dict[str, str] = {}

    def tell(part: str, what: str, why: str, *, is_said: object) -> None:
        reasons[part] = f"{what}: {'you say so' if is_said else why}"

    tell("encoding", encoding, why_encoding, is_said=said.encoding)
    text = source.text()
    start = text.read(_SNIFFED_BYTES).decode("utf-8", errors="replace")
    is_whole = len(start.encode()) < _SNIFFED_BYTES
    quote = said.quote or _find_quote(start)
    known = said.delimiter or text.separator
    delimiter, escape, read = _find_delimiter_and_escape(start, quote, known, said.escape, is_whole=is_whole)
    for_excel = len(text.separator)  # its line is one of those above the table, where there are others
    given = said.skip_lines
    above = _count_title_lines(read) if given is None else given - min(for_excel, abs(given))
    lines = [(line, cells) for line, cells in read if line >= above] or [(0, [""])]
    records = [cells for _, cells in lines]
    why = f"cells in each of the first records: {len(records[0])}"
    why = "the file's line for Excel says so" if text.separator else why
    tell("delimiter", _DELIMITERS.get(delimiter, repr(delimiter)), why, is_said=said.delimiter)
    if above:
        what = f"{above} lines above the table are left out"
        tell("title", what, "few of their cells hold anything", is_said=given is not None)
    if quote != '"':
        tell("quote", quote, "it stands around cells", is_said=said.quote)
    if escape != quote:
        tell("escape", escape, "it stands before quotes inside cells", is_said=said.escape)
    first = read_first_line(records) if said.has_header is None else FirstLine(said.has_header, "you say so")
    names = () if first.is_header else tuple(f"column_{place}" for place in range(1, len(records[0]) + 1))
    reasons["header"] = f"{'the first line' if first.is_header else 'none'}: {first.why}"
    if first.is_header and len(lines) > 1 and (names := _number_equal_names(records[0])):
        above, _ = lines[1]  # the names are declared in place of their line
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

    Raises:
        InputError: there is no such file, or it can't be opened.
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


#: How many lines stand above a record, and its cells.
_Record = tuple[int, list[str]]


def _count_title_lines(records: Sequence[_Record]) -> int:
    """How many lines stand above the table, as a title does: nearly empty ones, and a header below them."""
    usual = _usual_width(records)
    most = usual * _TITLE_SHARE
    filled = [(line, list(filter(None, map(str.strip, cells)))) for line, cells in records[:_MOST_ABOVE]]
    if usual < _LEAST_WIDTH or len(filled[0][1]) > most:
        return 0
    first, cells = next(((line, cells) for line, cells in filled if len(cells) > most), (0, []))
    if any(map(_DATA.fullmatch, cells)) or len(cells) < 2 * most:
        return 0  # of a table that names few of its columns, or has no header
    return first


def _usual_width(records: Sequence[_Record]) -> int:
    return Counter(len(cells) for _, cells in records).most_common(1)[0][0]


def _find_delimiter_and_escape(
    start: str, quote: str, delimiter: str, escape: str | None, *, is_whole: bool
) -> tuple[str, str, list[_Record]]:
    """What splits the first records into the same number of cells, the most; and these records.

    Args: delimiter: as it is known; empty: it is found. is_whole: the start is all of the file.
    """
    best, most = (delimiter or ",", escape or quote, [(0, [""])]), 0.0
    signs = [escape] if escape else _possible_escapes(start, quote)
    for one, sign in itertools.product([delimiter] if delimiter else _DELIMITERS, signs):
        records = _read_records(start, quote, one, sign, is_whole=is_whole)
        if not records:
            continue
        usual = _usual_width(records)
        agreeing = sum(len(cells) == usual for _, cells in records) / len(records)
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
    try:
        reader = cells_of_lines(io.StringIO(start, newline=""), delimiter, quote, escape)
        for cells, _ in zip(reader, range(_SNIFFED_RECORDS), strict=False):
            records += [(line, cells)] if any(cells) else []
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
    found = _weigh_cells(first, columns)
    against = [what for _, what in found if what]
    if _is_record(found, columns, len(rest)):
        return FirstLine(False, "its cells are like those below it")
    above_texts = [cell for cell, column in zip(first, columns, strict=True) if cell and not column.are_data]
    named = sum(map(_has_shape_of_name, above_texts)) >= _LEAST_NAMES * len(above_texts)
    unlike = sum(weight > 0 for weight, _ in found)
    is_told = unlike > 1 or any(map(is_header, first))  # an odd word alone may be a record's
    wanted = sum(_UNLIKE_A_VALUE if what == _STANDS_BELOW else _UNLIKE_EACH for what in against)
    nameless = any(column.held and not cell for cell, column in zip(first[1:], columns[1:], strict=True))
    are_unlike = sum(weight for weight, _ in found) >= _ENOUGH and unlike >= wanted
    if are_unlike and is_told and named and not nameless:
        return FirstLine(True, "its cells are unlike those below it, and have the shape of names")
    doubt = _describe_doubt(found)
    return FirstLine(not against, f"it may be somebody's record: {doubt}", doubt)


class _Column:
    """The cells below one of the first line. Attributes: words: how many of them begin as no number does."""

    def __init__(self, cells: list[str]) -> None:
        self.rows = len(cells)
        self.held = Counter(filter(None, cells))
        self.values = {cell.casefold() for cell in self.held}
        known = {cell: held for cell, held in self.held.items() if not is_missing_word(cell, in_records=True)}
        self.words = sum(held for cell, held in known.items() if not _BEGINS_AS_NUMBER.match(cell))
        self.are_data = bool(known) and self.words <= 0.1 * sum(known.values())
        self.are_booleans = bool(self.values) and self.values <= word_set("record", "yes_no")
        self.is_list = len(self.values) * _OF_A_LIST <= max(self.rows, _OF_A_LIST)

    def is_unlike(self, cell: str) -> bool:
        lengths = [len(other) for other in self.held]
        return not min(lengths) <= len(cell) <= max(lengths) or _letter_form(cell) not in map(
            _letter_form, self.held
        )

    def is_coded_as(self, cell: str) -> bool:
        """Whether most texts below it have its form, such as P0017."""
        form = _letter_form(cell)
        alike = sum(held for other, held in self.held.items() if _letter_form(other) == form)
        return "0" in form and 2 * alike > self.rows


#: By how much a cell speaks for names, and what of it is like a record's; empty: nothing.
_CellWeight = tuple[float, str]


def _weigh_cells(first: Sequence[str], columns: Sequence[_Column]) -> list[_CellWeight]:
    years = _years_that_count_up(first, columns)
    found: list[_CellWeight] = []
    for place, (cell, column) in enumerate(zip(first, columns, strict=True)):
        if cell and cell in first[:place]:  # names may differ in case alone
            found.append((_LIKE_A_RECORD, "recurs in the line"))
        elif place in years:
            found.append((_KNOWN_WORD, ""))
        elif not cell:  # the first may number rows
            found.append((0.0, "is empty" if place and column.held else ""))
        else:
            found.append(_weigh_cell(cell, column))
    return found


def _weigh_cell(cell: str, column: _Column) -> _CellWeight:
    is_known = is_header(cell)
    shape = _KNOWN_WORD if is_known else 0.0 if _NAME.fullmatch(cell) else _NO_NAME
    if "@" in cell:
        return _LIKE_A_RECORD, "is an address"
    if _BEGINS_AS_NUMBER.match(cell) and not _CODED.fullmatch(cell):
        return _LIKE_A_RECORD, "begins as a number or date does"
    if is_missing_word(cell, in_records=True) and not is_known:
        return _LIKE_A_RECORD, "is a word for a missing value"
    if cell.casefold() in column.values:
        return _LIKE_A_RECORD, _STANDS_BELOW
    if not column.held:
        return shape, ""
    if column.are_data or column.are_booleans:
        words = column.words if column.are_data else 0
        return min(_MOST, math.log((column.rows + 2) / (4 * words + 1))) + shape, ""
    if column.is_coded_as(cell):
        return _LIKE_A_RECORD, "has the form of those below it"
    unlike = _UNLIKE if column.is_unlike(cell) else _ALIKE
    listed = _NOT_LISTED if column.is_list else 0.0
    return (unlike + listed if column.rows >= _FEW else min(unlike, 0.0)) + shape, ""


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


def _years_that_count_up(first: Sequence[str], columns: Sequence[_Column]) -> set[int]:
    """Places of years at even distances above numbers that are no years, as tables by year have them."""
    places = [place for place, cell in enumerate(first) if _YEAR.fullmatch(cell)]
    steps = {int(first[after]) - int(first[before]) for before, after in pairwise(places)}
    below = (cell for place in places for cell in columns[place].held)
    is_even = len(places) >= _LEAST_YEARS and len(steps) == 1 and min(steps) > 0
    return set(places) if is_even and not any(map(_YEAR.fullmatch, below)) else set()


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


def _has_shape_of_name(cell: str) -> bool:
    is_word = _NAME.fullmatch(cell) is not None
    return is_word or is_header(cell) or any(map(is_known_in_headers, header_words(cell)))
