"""Whether the first line of a text file names the columns, or is somebody's record.

Records go in; a `FirstLine` comes out. A record that is taken for names is published with every release. So
each cell is held against its column: what could hardly stand below it speaks for names (a word above numbers,
a long one above codes of two letters), what stands there as well speaks for a record. A person is asked where
they don't tell.

>>> rows = [["Ana", "34"], ["Ben", "9"], ["Eve", "71"]]
>>> read_first_line([["name", "age"], *rows]).is_header
True
>>> read_first_line([["Marta", "n/a"], *rows]).is_header
False
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

from tasks.core.recognition.header_words import header_words, meanings, other_header_words
from tasks.core.recognition.missing_words import is_missing_word
from tasks.core.recognition.subject_names import SOME_ID, likeness

_NUMBER = re.compile(r"[-+]?[€$£]?\s*\d[\d.,' \u00a0\u202f]*\s*[%€$£]?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
#: Also 34 years, 12+, -5% and 5e-3.
_BEGINS_AS_NUMBER = re.compile(r"[-+<>≤≥(€$£~]*\s*[.,]?\d")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_BOOLEANS = frozenset(["true", "false", "t", "f", "yes", "no", "y", "n", "ja", "nein", "oui", "non", "si"])
#: Such as tip_amount; such as lotsize, log.NIF, x1, Hunt(R).
_JOINED = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
#: Such as 401k_active.
_CODED = re.compile(r"\d+[^\W\d_]*(?:_[^\W\d_]+)+")
_NAME = re.compile(r"[^\W\d]\w*(?:[.\-/:;$%()\[\]#?]\w*)*")
#: What may stand between words of a header.
_BETWEEN = frozenset(
    [
        *("of", "the", "in", "per", "at", "and", "e", "du", "de", "la"),
        *("le", "les", "der", "die", "das", "von", "am"),
    ]
)

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
class FirstLine:
    """Whether the first line names the columns.

    Attributes:
        is_header: what is taken.
        why: the reason.
        doubt: why only a person can know, cells named by position; empty: it is clear.
    """

    is_header: bool
    why: str
    doubt: str = ""


def read_first_line(records: Sequence[Sequence[str]]) -> FirstLine:
    """Whether the first record names the columns.

    Args:
        records: cells of the first records, at least one.
    """
    first, rest = [cell.strip() for cell in records[0]], records[1:]
    columns = [
        _Column([record[place].strip() for record in rest if place < len(record)])
        for place in range(len(first))
    ]
    found = _told_of(first, columns)
    against = [each.against for each in found if each.against]
    if _is_record(found, columns, len(rest)):
        return FirstLine(False, "its cells are like those below it")
    weight = sum(each.weight for each in found)
    above_texts = [cell for cell, column in zip(first, columns, strict=True) if cell and not column.are_data]
    named = sum(map(_could_name, above_texts)) >= _LEAST_NAMES * len(above_texts)
    unlike = sum(each.weight > 0 for each in found)
    is_told = unlike > 1 or any(map(is_header, first))  # an odd word alone may be a record's
    wanted = sum(_UNLIKE_A_VALUE if what == _STANDS_BELOW else _UNLIKE_EACH for what in against)
    nameless = any(column.held and not cell for cell, column in zip(first[1:], columns[1:], strict=True))
    if weight >= _ENOUGH and is_told and named and not nameless and unlike >= wanted:
        return FirstLine(True, "its cells are unlike those below it, and have the shape of names")
    doubt = _doubt(found)
    return FirstLine(not against, f"it may be somebody's record: {doubt}", doubt)


class _Column:
    """What stands below a cell of the first line."""

    def __init__(self, cells: list[str]) -> None:
        self.rows = len(cells)
        self.held = Counter(filter(None, cells))

    @cached_property
    def values(self) -> set[str]:
        """All of them, in small letters."""
        return {cell.casefold() for cell in self.held}

    @cached_property
    def _known(self) -> list[tuple[str, int]]:
        """Cells that say something, and how often."""
        return [(cell, held) for cell, held in self.held.items() if not is_missing_word(cell)]

    @cached_property
    def words(self) -> int:
        """Cells that say something and don't begin as numbers do."""
        return sum(held for cell, held in self._known if not _BEGINS_AS_NUMBER.match(cell))

    @cached_property
    def are_data(self) -> bool:
        """Whether they are numbers or dates."""
        known = sum(held for _, held in self._known)
        return known > 0 and self.words <= 0.1 * known

    @cached_property
    def are_booleans(self) -> bool:
        """Whether they are words for yes and no."""
        return bool(self.values) and self.values <= _BOOLEANS

    @cached_property
    def is_list(self) -> bool:
        """Whether few values recur."""
        return len(self.values) * _OF_A_LIST <= max(self.rows, _OF_A_LIST)

    def is_unlike(self, cell: str) -> bool:
        """Whether no text below it has its form, or all are shorter, or all longer."""
        lengths = {len(other) for other in self.held}
        return not min(lengths) <= len(cell) <= max(lengths) or _form(cell) not in map(_form, self.held)

    def is_coded_as(self, cell: str) -> bool:
        """Whether most texts below it have its form, such as P0017."""
        form = _form(cell)
        alike = sum(held for other, held in self.held.items() if _form(other) == form)
        return "0" in form and 2 * alike > self.rows


@dataclass(frozen=True)
class _Told:
    """What a cell tells. Attributes: weight: for names. against: what of it is like a record's."""

    weight: float
    against: str = ""


def _told_of(first: Sequence[str], columns: Sequence[_Column]) -> list[_Told]:
    years = _years_that_count_up(first, columns)
    seen: set[str] = set()
    found = []
    for place, (cell, column) in enumerate(zip(first, columns, strict=True)):
        is_twice = cell in seen and cell != ""  # names may differ in case alone
        seen.add(cell)
        if is_twice:
            found.append(_Told(_LIKE_A_RECORD, "recurs in the line"))
        elif place in years:
            found.append(_Told(_KNOWN_WORD))
        elif not cell:  # the first may number rows
            found.append(_Told(0.0, "is empty" if place and column.held else ""))
        else:
            found.append(_told_of_cell(cell, column))
    return found


def _told_of_cell(cell: str, column: _Column) -> _Told:
    is_known = is_header(cell)
    shape = _KNOWN_WORD if is_known else 0.0 if _NAME.fullmatch(cell) else _NO_NAME
    if (_BEGINS_AS_NUMBER.match(cell) and not _CODED.fullmatch(cell)) or "@" in cell:
        return _Told(
            _LIKE_A_RECORD, "begins as a number or date does" if "@" not in cell else "is an address"
        )
    if is_missing_word(cell) and not is_known:
        return _Told(_LIKE_A_RECORD, "is a word for a missing value")
    if cell.casefold() in column.values:
        return _Told(_LIKE_A_RECORD, _STANDS_BELOW)
    if not column.held:
        return _Told(shape)
    if column.are_data or column.are_booleans:
        words = column.words if column.are_data else 0
        return _Told(min(_MOST, math.log((column.rows + 2) / (4 * words + 1))) + shape)
    if column.is_coded_as(cell):
        return _Told(_LIKE_A_RECORD, "has the form of those below it")
    unlike = _UNLIKE if column.is_unlike(cell) else _ALIKE
    listed = _NOT_LISTED if column.is_list else 0.0
    return _Told((unlike + listed if column.rows >= _FEW else min(unlike, 0.0)) + shape)


def _is_record(found: Sequence[_Told], columns: Sequence[_Column], rows: int) -> bool:
    """Whether cells fit their columns: all of numbers and dates and half of all; or all texts."""
    of_data = [told for told, column in zip(found, columns, strict=True) if column.are_data]
    alike = sum(bool(told.against) for told in found)
    if any(told.weight >= _OF_NO_RECORD for told in found):
        return False
    if of_data:
        return all(told.weight <= 0 for told in of_data) and 2 * alike >= len(found)
    return rows >= _LEAST_RECORDS and alike == len(found)


def _doubt(found: Sequence[_Told]) -> str:
    """Which cells speak for a record, by position."""
    places: dict[str, list[int]] = {}
    for place, told in enumerate(found, start=1):
        if told.against:
            places.setdefault(told.against, []).append(place)
    if not places:
        return "its cells might stand below it as well"
    return "; ".join(
        f"cell {where[0]} {what}" + (f" (so do {len(where) - 1} more)" if len(where) > 1 else "")
        for what, where in places.items()
    )


def _years_that_count_up(first: Sequence[str], columns: Sequence[_Column]) -> set[int]:
    """Places of years at even distances above numbers that are no years, as tables by year have them."""
    places = [place for place, cell in enumerate(first) if _YEAR.fullmatch(cell)]
    steps = {int(first[after]) - int(first[before]) for before, after in pairwise(places)}
    below = (cell for place in places for cell in columns[place].held)
    is_even = len(places) >= _LEAST_YEARS and len(steps) == 1 and min(steps) > 0
    return set(places) if is_even and not any(map(_YEAR.fullmatch, below)) else set()


@cache
def _form(cell: str) -> str:
    """The form of a cell: each run of digits as 0, of letters as a, A or Aa."""
    return re.sub(r"[^\W\d_]+", lambda word: _case(word[0]), re.sub(r"\d+", "0", cell))


def _case(word: str) -> str:
    return "a" if word.islower() else "A" if word.isupper() else "Aa"


@cache
def is_header(text: str) -> bool:
    """Whether a text is nothing but words that headers have, or is joined by underscores as names are.

    >>> [is_header(text) for text in ("Alter", "patient id", "tip_amount", "Marta", "student", "group A")]
    [True, True, True, False, False, False]
    """
    words = [word for word in header_words(text) if word not in _BETWEEN]
    are_known = list(map(_is_known, words))
    is_joined = _JOINED.fullmatch(text.strip()) is not None
    return is_joined or (bool(words) and (all(are_known) or likeness(text) >= SOME_ID))


def _is_known(word: str) -> bool:
    return bool(meanings(word)) or word in other_header_words()


def _could_name(cell: str) -> bool:
    """Whether a cell is one word as names are, or has a word that headers have."""
    return _NAME.fullmatch(cell) is not None or is_header(cell) or any(map(_is_known, header_words(cell)))


def is_data_cell(cell: str) -> bool:
    """Whether a cell is a number or a date."""
    text = cell.strip()
    return _NUMBER.fullmatch(text) is not None or _DATE.fullmatch(text) is not None
