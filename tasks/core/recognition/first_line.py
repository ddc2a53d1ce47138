"""Whether the first line of a text file names the columns, or is somebody's record.

Records go in; a `FirstLine` comes out. A record that is taken for names is published with every release. So
the line is doubted, and a person asked, wherever one of its cells might be somebody's, and wherever nothing
says that it is more than that.

>>> rows = [["Ana", "34"], ["Ben", "9"], ["Eve", "71"]]
>>> read_first_line([["name", "age"], *rows]).is_header
True
>>> read_first_line([["Marta", "n/a"], *rows]).doubt
'it holds a word for a missing value'
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tasks.core.recognition.header_words import header_words, meanings, other_header_words
from tasks.core.recognition.missing_words import is_missing_word
from tasks.core.recognition.subject_names import SOME_ID, likeness

_NUMBER = re.compile(r"[-+]?[€$£]?\s*\d[\d.,' \u00a0\u202f]*\s*[%€$£]?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
#: Such as 34 years, 12+ and -5%.
_BEGINS_AS_NUMBER = re.compile(r"[-+<>(€$£~]*\s*\d")
#: So many cells that headers have are enough in any table; fewer records than this tell nothing.
_MANY, _FEW = 4, 3
#: Such as tip_amount; such as q1 and X_12, above numbers.
_JOINED, _CODED = re.compile(r"[^\W_]+(?:_[^\W_]+)+"), re.compile(r"[^\W\d_]+[_.]?\d{1,3}[a-z]?")
#: What may stand between words of a header.
_BETWEEN = frozenset(
    [
        *("of", "the", "in", "per", "at", "and", "e", "du", "de", "la"),
        *("le", "les", "der", "die", "das", "von", "am"),
    ]
)


@dataclass(frozen=True)
class FirstLine:
    """Whether the first line names the columns.

    Attributes:
        is_header: what is taken.
        why: the reason.
        doubt: why only a person can know; empty: it is clear.
    """

    is_header: bool
    why: str
    doubt: str = ""


def read_first_line(records: Sequence[Sequence[str]]) -> FirstLine:
    """Whether the first record names the columns: by its own words, and by what stands below it.

    Args:
        records: cells of the first records, at least one.
    """
    first, rest = [cell.strip() for cell in records[0]], records[1:]
    columns = [
        _Named(cell, [record[place].strip() for record in rest if place < len(record)])
        for place, cell in enumerate(first)
    ]
    of_data = [column for column in columns if column.are_data]
    alike = sum(column.is_data for column in of_data)
    repeated = sum(column.recurs for column in columns)
    if of_data:
        no_names = all(column.is_data or not column.cell for column in of_data)
        is_record = no_names and not _counts_up(first) and 2 * (alike + repeated) >= len(first)
    else:
        is_record = len(rest) >= _FEW and all(column.recurs for column in columns)
    if is_record:
        return FirstLine(False, "its cells are like those below it")
    doubt = _doubt(columns)
    if doubt:
        return FirstLine(False, f"it may be somebody's record: {doubt}", doubt)
    filled = [column for column in columns if column.cell]
    said = sum(is_header(column.cell) or column.is_coded for column in filled)
    is_short = said == len(filled) <= 2 and any(column.are_data for column in filled)
    if is_short or (said >= 2 and (3 * said >= len(filled) or said >= _MANY)):
        return FirstLine(True, "its cells are unlike those below it, and are words that headers have")
    doubt = "few of its cells are words that headers have"
    return FirstLine(True, f"its cells are found nowhere below it, but {doubt}", doubt)


@dataclass(frozen=True)
class _Named:
    """A cell of the first line. Attributes: cell: it. below: the cells of its column, also empty ones."""

    cell: str
    below: list[str]

    @cached_property
    def are_data(self) -> bool:
        """Whether numbers or dates stand below it."""
        filled = [cell for cell in self.below if cell and not is_missing_word(cell)]
        return bool(filled) and sum(map(is_data_cell, filled)) >= 0.9 * len(filled)

    @cached_property
    def is_data(self) -> bool:
        """Whether it is a number or a date, or has the form of the cells below, such as P0017."""
        if is_data_cell(self.cell) or _BEGINS_AS_NUMBER.match(self.cell) or "@" in self.cell:
            return True
        form = _form(self.cell)
        return "0" in form and 2 * sum(_form(cell) == form for cell in self.below) > len(self.below)

    @property
    def is_coded(self) -> bool:
        """Whether it is a name such as q1, above numbers."""
        return self.are_data and _CODED.fullmatch(self.cell) is not None

    @cached_property
    def recurs(self) -> bool:
        """Whether it stands below itself."""
        wanted = self.cell.casefold()
        return bool(wanted) and any(cell.casefold() == wanted for cell in self.below)


def _doubt(columns: Sequence[_Named]) -> str:
    """What of a first line speaks for a person's record; empty: nothing."""
    filled = [column.cell.casefold() for column in columns if column.cell]
    if any(column.is_data for column in columns if column.cell):
        return "it holds a number or a date"
    if any(column.recurs for column in columns):
        return "one of its values recurs below"
    if any(map(is_missing_word, filled)):
        return "it holds a word for a missing value"
    if len(set(filled)) < len(filled):
        return "it holds a value twice"
    if any(not column.cell and any(column.below) for column in columns[1:]):  # the first may number rows
        return "one of its cells is empty"
    return ""


def _form(cell: str) -> str:
    """The form of a cell: letters as a, digits as 0, each run of them once or as often as they stand."""
    return re.sub(r"a+", "a", re.sub(r"[^\W\d_]", "a", re.sub(r"\d+", "0", cell)))


def is_header(text: str) -> bool:
    """Whether a text is nothing but words that headers have, or is joined by underscores as names are.

    >>> [is_header(text) for text in ("Alter", "patient id", "tip_amount", "Marta", "student", "group A")]
    [True, True, True, False, False, False]
    """
    words = [word for word in header_words(text) if word not in _BETWEEN]
    are_known = [bool(meanings(word)) or word in other_header_words() for word in words]
    is_joined = _JOINED.fullmatch(text.strip()) is not None
    return is_joined or (bool(words) and (all(are_known) or likeness(text) >= SOME_ID))


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether all whole numbers of a record follow each other, as in 2019, 2020, 2021."""
    numbers = [int(cell) for cell in map(str.strip, cells) if cell.isdecimal()]
    return len(numbers) > 1 and all(high == low + 1 for low, high in pairwise(numbers))


def is_data_cell(cell: str) -> bool:
    """Whether a cell is a number or a date."""
    text = cell.strip()
    return _NUMBER.fullmatch(text) is not None or _DATE.fullmatch(text) is not None
