"""Lists of values that are public without any table: sexes, months, countries, ... of `code_lists.toml`.

Cells go in; the list that holds all of them comes out, spelled as the cells are.
"""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tasks.core.recognition.cells import FEW, SeenColumn

#: The name of lists of two words, of which one says yes.
BOOLEANS = "booleans"
_LISTS = Path(__file__).with_name("code_lists.toml")
#: Of a closed list at least so much is seen; else most of its values would be counted as nothing but noise.
_LEAST_SEEN = 0.4


@dataclass(frozen=True)
class CodeList:
    """A public list.

    Attributes:
        name: what its values are.
        values: all of them.
        closed: whether a release may count each of them, also those that no row holds.
    """

    name: str
    values: tuple[str, ...]
    closed: bool


_SPELLINGS = (str, str.lower, str.upper, str.capitalize)


def code_list(cells: SeenColumn) -> CodeList | None:
    """The shortest public list that holds all texts but those of a few cells, in one spelling; or None.

    It is the whole list or nothing, so which of its values occur is not told by it. Booleans may each be
    spelled in another way.
    """
    if cells.usual < 2:
        return None
    for known in _known():
        spelled = [tuple(dict.fromkeys(map(spelling, known.values))) for spelling in _SPELLINGS]
        if known.name == BOOLEANS:
            spelled.append(_as_spelled(cells, spelled))
        for values in spelled:
            if cells.is_few(~cells.among(values)):
                common = int((cells.among(values) & (cells.held >= FEW)).sum())
                closed = known.closed and common >= _LEAST_SEEN * len(values)
                return CodeList(known.name, values, closed)
    return None


def _as_spelled(cells: SeenColumn, spelled: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Each word in the ways in which more than a few cells spell it; else as the list does."""
    often = {text for text, is_often in zip(cells.texts, cells.held >= cells.margin, strict=True) if is_often}
    found: dict[str, None] = {}
    for ways in zip(*spelled, strict=True):
        found.update(dict.fromkeys([way for way in ways if way in often] or ways[:1]))
    return tuple(found)


@functools.cache
def _known() -> tuple[CodeList, ...]:
    """Short lists first."""
    body = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
    lists = [
        CodeList(
            each["name"], tuple(word.replace("_", " ") for word in each["values"].split()), each["closed"]
        )
        for each in body["list"]
    ]
    return tuple(sorted(lists, key=lambda known: len(known.values)))
