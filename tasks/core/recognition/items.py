"""Whether a column's cells hold several items each: only where most of the items recur.

Cells go in; what separates the items and stands around them, or None, comes out.
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.recognition.cells import FEW, SeenColumn, usual_number

_DELIMITERS = (";", "|", ",", "/", "+")
#: The share of cells that hold several; of items that recur; the most different items; words in one.
_LEAST_SEVERAL, _LEAST_RECURRING, _MOST_ITEMS, _MOST_WORDS = 0.05, 0.9, 300, 3.0
_RECURS = 5
#: A list as programs write it, and what then stands around items.
_BRACKETS = r"""[\[({].*[\])}]"""
_AROUND = "[](){}'\""
_MOST_CAPS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class ItemColumn:
    """A column of several items.

    Attributes:
        delimiter: between them.
        strip: characters around them.
        different: how many different items there are.
        several: the share of cells with more than one.
        cap: a round number that nearly all cells keep to.
    """

    delimiter: str
    strip: str
    different: int
    several: float
    cap: int


def item_column(cells: SeenColumn) -> ItemColumn | None:
    """The column as items; None where cells are single values, or most items stand once."""
    if not cells.distinct:
        return None
    if cells.kind.count("list<"):
        return _split(cells, "|", "", least=0.0)
    is_list = cells.share(cells.matching(_BRACKETS)) >= 0.9
    strip = _AROUND if is_list else ""
    found = [_split(cells, delimiter, strip, least=_LEAST_SEVERAL) for delimiter in _DELIMITERS]
    likely = [each for each in found if each is not None]
    return max(likely, key=lambda each: each.several, default=None)


def _holds_several(text: str, delimiter: str) -> bool:
    """Whether there are two items or more: not in 51+."""
    return delimiter in text and sum(bool(item.strip()) for item in text.split(delimiter)) > 1


def _split(cells: SeenColumn, delimiter: str, strip: str, *, least: float) -> ItemColumn | None:
    several = np.array([_holds_several(text, delimiter) for text in cells.texts], np.bool_)
    share = cells.share(several)
    if share < least or (cells.is_few(several) and least):
        return None
    counted: dict[str, int] = {}
    sizes = []
    for text, held in zip(cells.texts, cells.held.tolist(), strict=True):
        items = {item.strip().strip(strip + " ") if strip else item.strip() for item in text.split(delimiter)}
        items.discard("")
        sizes.append(len(items))
        for item in items:
            counted[item] = counted.get(item, 0) + held
        if len(counted) > 50 * _MOST_ITEMS:
            return None
    total = sum(counted.values())
    if not total:
        return None
    recurring = sum(held for held in counted.values() if held >= _RECURS) / total
    words = sum(len(item.split()) * held for item, held in counted.items()) / total
    are_numbers = sum(item.replace(".", "").isdigit() for item in counted) > 0.5 * len(counted)
    different = usual_number(np.array(list(counted.values())), FEW)
    few = different <= _MOST_ITEMS and (not least or different <= max(cells.usual, 2))
    if not (recurring >= _LEAST_RECURRING and few and words <= _MOST_WORDS):
        return None
    if are_numbers and delimiter in ",/" and not strip:  # 1,5 and 3/4 are numbers, or codes
        return None
    order = np.argsort(sizes)
    ranked = np.cumsum(cells.held[order])
    usual = np.asarray(sizes)[order][np.searchsorted(ranked, max(ranked[-1] - cells.margin, 1))]
    cap = next((cap for cap in _MOST_CAPS if cap >= usual), _MOST_CAPS[-1])
    return ItemColumn(delimiter, strip, len(counted), share, cap)
