"""Two or more sides in one numbering: records or aggregates in, what is counted side by side out.

The sides may have dictionaries of their own: they meet by column and value's text. A set of columns is an
ascending tuple of column indexes, a multi-valued column standing in it once per item; its *cells* are tuples
of codes, 0 for absent, the items of a column ascending.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates, AttributeIds
from tasks.core.aggregates.sides import Columns, Listed, ListedSide, RecordSide
from tasks.core.evaluation.listing_kernels import order_by_column, put_together
from tasks.core.records.coded import CodedRecords, Codes, code_type

Integers = npt.NDArray[np.int64]
Side = CodedRecords | Aggregates

#: A table of so many numbers of sets, or of as many as there are rows, is faster than sorting.
_FEW_SETS = 1 << 16


class Numbering:
    """The values of all sides by column, and the slots that records of any side need."""

    def __init__(self, sides: Sequence[Side]) -> None:
        """Args: sides: of the same columns in the same order."""
        named = sorted({value for side in sides for value in _named_values(side)})
        tables = [side for side in sides if isinstance(side, CodedRecords)]
        held = [column + 1 for column, _ in named]
        #: How many columns there are.
        self.columns = max([0, *held, *(len(side.schema.columns) for side in tables)])
        self.values: list[list[str]] = [[] for _ in range(self.columns)]
        for column, text in named:
            self.values[column].append(text)
        self._sizes = [len(own) + 1 for own in self.values]
        columns = sorted({column for side in tables for column in side.slot_columns})
        most = {column: max(side.slot_columns.count(column) for side in tables) for column in columns}
        self.slot_columns = tuple(column for column in columns for _ in range(most[column]))

    def sizes(self, columns: Iterable[int]) -> tuple[int, ...]:
        """Number of codes of each, 0 among them."""
        return tuple([self._sizes[column] for column in columns])

    def codes(self, column: int, texts: Sequence[str]) -> Integers:
        """The codes of 0 (absent) and of texts."""
        place = {text: code for code, text in enumerate(self.values[column], start=1)}
        return np.array([0, *(place[text] for text in texts)], np.int64)


class Sides:
    """What is counted side by side: records by their slots, aggregates by their combinations."""

    def __init__(self, sides: Sequence[Side]) -> None:
        """Args: sides: of the same columns in the same order; records are taken in full."""
        self.numbering = Numbering(sides)
        self._sides = sides
        self._listed = {
            place: _listed(side, self.numbering)
            for place, side in enumerate(sides)
            if isinstance(side, Aggregates)
        }
        #: For a `Tabulator`, with the sizes.
        self.counted = [
            ListedSide(self._listed[place])
            if isinstance(side, Aggregates)
            else RecordSide(recoded(side, self.numbering), self.numbering.slot_columns)
            for place, side in enumerate(sides)
        ]
        self.sizes = self.numbering.sizes(range(self.numbering.columns))

    def column_sets(self, length: int) -> list[Columns]:
        """The sets of columns that any side can have combinations of, ascending."""
        found: set[Columns] = set()
        if len(self._listed) < len(self._sides):
            found.update(itertools.combinations(self.numbering.slot_columns, length))
        for levels in self._listed.values():
            if length in levels:
                found.update(levels[length].sets)
        return sorted(found)


def recoded(records: CodedRecords, numbering: Numbering) -> list[Codes]:
    """The records by slot of the numbering and in its codes, items ascending, empty slots last."""
    slots: list[Codes] = []
    for column, same in itertools.groupby(numbering.slot_columns):
        codes = numbering.codes(column, records.values[column])
        unchanged = np.array_equal(codes, np.arange(len(codes)))
        table = codes.astype(code_type(*numbering.sizes((column,))))
        pairs = zip(records.slots, records.slot_columns, strict=True)
        own = [held if unchanged else table[held] for held, owner in pairs if owner == column]
        if len(own) > 1 and not unchanged:
            own = _ascending(own)
        missing = len(list(same)) - len(own)
        slots += [*own, *[np.zeros(records.number_of_records, np.uint8)] * missing]
    return slots


def _ascending(slots: list[Codes]) -> list[Codes]:
    """Each record's items in order; less one, an absent one wraps around and comes last."""
    return list(np.sort(np.stack(slots) - slots[0].dtype.type(1), axis=0) + slots[0].dtype.type(1))


def _listed(aggregates: Aggregates, numbering: Numbering) -> dict[int, Listed]:
    """Combinations by length and set of columns."""
    columns = np.array([attribute.column for attribute in aggregates.attributes], np.int64)
    codes = np.array(
        [numbering.codes(column, [text])[1] for column, text in _named_values(aggregates)], np.uint32
    )
    levels = enumerate(zip(aggregates.combinations, aggregates.counts, strict=True), start=1)
    return {length: _level(ids, counts, columns, codes) for length, (ids, counts) in levels}


def _level(ids: AttributeIds, counts: Integers, columns: Integers, codes: npt.NDArray[np.uint32]) -> Listed:
    base = int(columns.max(initial=0)) + 1
    length = ids.shape[1]
    rows, sets = np.empty_like(ids), np.empty(len(ids), np.int64)
    order_by_column(ids, columns, codes, base, rows, sets)
    found, places = _numbered(sets, base**length)
    sizes = np.bincount(places, minlength=len(found))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    grouped, own = np.empty((length, len(ids)), np.uint32), np.empty(len(ids), np.int64)
    put_together(rows, counts, codes, (places, bounds[:-1].copy()), (grouped, own))
    named = [tuple(int(key) // base**place % base for place in range(length - 1, -1, -1)) for key in found]
    return Listed(named, bounds, grouped, own)


def _numbered(sets: Integers, bound: int) -> tuple[Integers, Integers]:
    """The numbers below ``bound`` that occur, ascending, and of each given one its place among them."""
    if bound > max(_FEW_SETS, len(sets)):
        found, places = np.unique(sets, return_inverse=True)
        return found, places
    occurs = np.bincount(sets, minlength=bound) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[sets]


def _named_values(side: Side) -> Iterator[tuple[int, str]]:
    """Column and text of each of a side's values."""
    if isinstance(side, Aggregates):
        return ((a.column, a.value if a.item is None else a.item) for a in side.attributes)
    return ((column, value) for column, values in enumerate(side.values) for value in values)
