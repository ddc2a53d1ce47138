"""How a text file is written: encoding, quote, delimiter, lines above the table, and whether it has a header.

A path goes in; an `InputFile` with its dialect comes out, and for each part of it the reason. What somebody
says of a part stands.
"""

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.recognition.first_line import FirstLine, is_data_cell, read_first_line
from tasks.core.recognition.said import SaidOfFile
from tasks.core.tables.column_names import Encoding, bare_name, matching_name
from tasks.core.tables.header import InputFile

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK = 2**20
_SNIFFED_BYTES, _SNIFFED_RECORDS = 2**18, 2000
#: Bytes that cp1252 does not have, and latin-1 has.
_NOT_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
#: A record above the header has so few of the usual cells, of a table that has so many.
_TITLE_SHARE, _LEAST_WIDTH, _MOST_ABOVE = 1 / 3, 3, 20


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Attributes:
        source: the file, to be read so.
        reasons: of each part that was found out, by its name, what it is and why.
        doubt: why only a person can know whether the first line names the columns; empty: it is clear.
        first: the cells of the first line; sensitive where it is in doubt.
    """

    source: InputFile
    reasons: dict[str, str]
    doubt: str = ""
    first: tuple[str, ...] = ()


def recognise_dialect(path: Path, said: SaidOfFile | None = None) -> Dialect:
    """The file with its dialect.

    Raises:
        InputError: there is no such file, it can't be opened, or is empty.
    """
    said = said or SaidOfFile()
    plain = InputFile(path)
    if plain.is_parquet:
        return Dialect(plain, {"form": "Parquet, which names and types its own columns"})
    if plain.opened.size == 0:
        raise InputError(f"The input must hold a header and records, but {path} is empty: write it anew.")
    encoding, why_encoding = _encoding(plain) if said.encoding is None else (said.encoding, "you say so")
    source = plain.read_as(encoding=encoding)
    reasons = {"encoding": f"{encoding}: {why_encoding}"}
    text = source.text()
    start = text.read(_SNIFFED_BYTES).decode("utf-8", errors="replace")
    is_whole = len(start.encode()) < _SNIFFED_BYTES
    quote = said.quote or _quote(start)
    known = said.delimiter or text.separator
    delimiter, escape, read = _delimiter_and_escape(start, quote, known, said.escape, is_whole=is_whole)
    for_excel = len(text.separator)  # its line is one of those above the table, where there are others
    given = said.skip_lines
    above = _above(read) if given is None else given - min(for_excel, abs(given))
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
    if first.is_header and len(lines) > 1 and (names := _told_apart(records[0])):
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


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns of which some were the same, with numbers behind those; none if none were.

    >>> _told_apart(["Sex", "sex", "sex_2"]), _told_apart(["sex", "", ""])
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


def _encoding(plain: InputFile) -> tuple[Encoding, str]:
    """The encoding, by a mark at the file's start or by what its bytes can be."""
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


def _quote(start: str) -> str:
    """The double quote, unless single ones stand around cells and no double one does."""
    double = len(re.findall(r'(?m)(?:^|[,;\t|])"', start))
    single = len(re.findall(r"(?m)(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|]|\r?$)", start))
    return "'" if single > 5 and single > 5 * double else '"'


@dataclass(frozen=True)
class _Record:
    """One record. Attributes: line: so many lines stand above it. cells: of it."""

    line: int
    cells: list[str]

    @property
    def filled(self) -> int:
        """How many cells hold something."""
        return sum(bool(cell.strip()) for cell in self.cells)


def _above(records: Sequence[_Record]) -> int:
    """How many lines stand above the table, as a title does: nearly empty ones, and a header below them."""
    usual = _usual_width(records)
    most = usual * _TITLE_SHARE
    if usual < _LEAST_WIDTH or records[0].filled > most:
        return 0
    first = next((record for record in records[:_MOST_ABOVE] if record.filled > most), None)
    if first is None or any(map(is_data_cell, first.cells)) or first.filled < 2 * most:
        return 0  # of a table that names few of its columns, or has no header
    return first.line


def _usual_width(records: Sequence[_Record]) -> int:
    return Counter(len(record.cells) for record in records).most_common(1)[0][0]


def _delimiter_and_escape(
    start: str, quote: str, delimiter: str, escape: str | None, *, is_whole: bool
) -> tuple[str, str, list[_Record]]:
    """What splits the first records into the same number of cells, the most; and these records.

    Args:
        start: of the file.
        quote: around cells.
        delimiter: as it is known; empty: it is found.
        escape: as a person says it.
        is_whole: whether that is all of the file.
    """
    best, most = (delimiter or ",", escape or quote, [_Record(0, [""])]), 0.0
    signs = [escape] if escape else _possible_escapes(start, quote)
    for one, sign in itertools.product([delimiter] if delimiter else _DELIMITERS, signs):
        records = _records(start, quote, one, sign, is_whole=is_whole)
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


def _records(start: str, quote: str, delimiter: str, escape: str, *, is_whole: bool) -> list[_Record]:
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
