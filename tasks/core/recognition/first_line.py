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
#: So many different texts above numbers are names, whatever they say; fewer records than this tell nothing.
_MANY_NAMED, _FEW = 3, 3


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
    said = sum(has_header_word(cell) for cell in first)
    named = sum(bool(column.cell) for column in of_data)
    if said >= 2 or (said and (named or len(first) <= 2)) or named >= _MANY_NAMED:
        return FirstLine(True, "its cells are unlike those below it, and are words that headers have")
    doubt = "few of its words are ones that headers have"
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


def has_header_word(text: str) -> bool:
    """Whether some word of a text is one that headers have.

    >>> [has_header_word(text) for text in ("Alter", "patient id", "Marta", "student")]
    [True, True, False, False]
    """
    words = (re.sub(r"\d+$", "", word) for word in header_words(text))
    return bool(meanings(text)) or likeness(text) >= SOME_ID or any(w in other_header_words() for w in words)


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether all whole numbers of a record follow each other, as in 2019, 2020, 2021."""
    numbers = [int(cell) for cell in map(str.strip, cells) if cell.isdecimal()]
    return len(numbers) > 1 and all(high == low + 1 for low, high in pairwise(numbers))


def is_data_cell(cell: str) -> bool:
    """Whether a cell is a number or a date."""
    text = cell.strip()
    return _NUMBER.fullmatch(text) is not None or _DATE.fullmatch(text) is not None
