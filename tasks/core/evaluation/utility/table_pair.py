"""A raw and a synthetic table as codes of the same features, ready to be measured against each other.

In: coded records and synthetic records, by the public schema's categories; or two typed tables, by their
bins (SynDiffix, `tasks.core.syndiffix.bins`). Out: a `TablePair`. A feature is a column or, of a column
with several items, whether one item is held. Code 0 is absence.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Ids, Integers
from tasks.core.errors import InternalError
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column
from tasks.core.records.table import RecordTable
from tasks.core.syndiffix.bins import bins_of
from tasks.core.synthesis.records import AnySynthetic
from tasks.core.tables.column_names import matching_name

#: Of all that is drawn here; fixed, so that the same tables give the same figures.
SEED = 20_260_101


@dataclass(frozen=True)
class TablePair:
    """Two tables of f features.

    Attributes:
        sizes: of each the number of codes; those from 1 on are held by a record of either table.
        real, synthetic: int32 (f, n) and (f, m), 0..size-1.
    """

    features: tuple[str, ...]
    sizes: tuple[int, ...]
    real: Ids
    synthetic: Ids

    @property
    def rows(self) -> tuple[int, int]:
        return self.real.shape[1], self.synthetic.shape[1]

    def place(self, column: str) -> int:
        """Where the feature is that stands for a whole column, however its name is spelt.

        Raises:
            InternalError: there is none.
        """
        names, wanted = list(map(matching_name, self.features)), matching_name(column)
        if wanted not in names:
            raise InternalError("A column that utility is measured by must be one of the table's.")
        return names.index(wanted)

    def limited(self, most: int) -> "TablePair":
        """At most so many rows of each table, drawn by `SEED`."""
        sides = (side[:, drawn_rows(side.shape[1], most)] for side in (self.real, self.synthetic))
        return TablePair(self.features, self.sizes, *sides)

    def bootstrap(self) -> "TablePair":
        """The raw table, and in the synthetic one's place as many of its rows drawn with replacement."""
        number = self.real.shape[1]
        drawn = np.random.default_rng(SEED).integers(0, max(number, 1), number)
        return TablePair(self.features, self.sizes, self.real, self.real[:, drawn])

    def halves(self) -> "TablePair":
        """The raw table cut in two at random: what two samples of the same people differ by."""
        number = self.real.shape[1]
        order = np.random.default_rng(SEED).permutation(number)
        parts = (self.real[:, order[: number // 2]], self.real[:, order[number // 2 :]])
        return TablePair(self.features, self.sizes, *parts)


def table_pair(features: Sequence[str], real: Sequence[Integers], synthetic: Sequence[Integers]) -> TablePair:
    """A pair of tables, each feature's codes moved together so that all but 0 are held.

    >>> pair = table_pair(["town"], [np.array([2, 7, 2])], [np.array([7, 9, 0])])
    >>> pair.sizes, pair.real.tolist(), pair.synthetic.tolist()
    ((4,), [[1, 2, 1]], [[2, 3, 0]])

    Args: real, synthetic: of each feature n and m codes from 0 on; their order is kept.
    """
    sizes, sides = [], ([], [])  # type: tuple[list[int], tuple[list[Ids], list[Ids]]]
    for columns in zip(real, synthetic, strict=True):
        held = np.unique(np.concatenate([np.zeros(1, np.int64), *columns]))
        sizes.append(len(held))
        for side, codes in zip(sides, columns, strict=True):
            side.append(np.searchsorted(held, codes).astype(np.int32))
    return TablePair(tuple(features), tuple(sizes), np.stack(sides[0]), np.stack(sides[1]))


def drawn_rows(number: int, most: int) -> Integers:
    """The places of all rows, or of ``most`` of them drawn by `SEED`, ascending."""
    if number <= most:
        return np.arange(number)
    return np.sort(np.random.default_rng(SEED).choice(number, most, replace=False))


#: Of a column with more items, those that most raw records hold; the others are one feature together.
MOST_ITEMS = 60


def pair_of_records(table: RecordTable, synthetic: AnySynthetic, most_rows: int) -> TablePair:
    """The two tables by the categories that were counted: declared values, bins, values seen, absence.

    Args:
        table: the raw one; in parts what is drawn are places of the whole table. Its schema has at least one
            column.
        most_rows: of either table; of more so many are drawn.
    """
    records = table.at(drawn_rows(table.number_of_records, most_rows))
    if synthetic.number_of_records > most_rows:
        synthetic = synthetic.at(drawn_rows(synthetic.number_of_records, most_rows))
    sides = (records, code_synthetic(synthetic, records.schema))
    rows = [drawn_rows(side.number_of_records, most_rows) for side in sides]
    features: list[str] = []
    columns: tuple[list[Integers], list[Integers]] = ([], [])
    for place, column in enumerate(records.schema.columns):
        values = _codes_in_order(column, (text for side in sides for text in side.values[place]))
        slots = [_slots(side, place, values, own) for side, own in zip(sides, rows, strict=True)]
        names, codes = (
            _items(column.name, values, slots) if column.is_multi_valued else ([column.name], slots)
        )
        features += names
        for side, own in zip(columns, codes, strict=True):
            side.extend(own)
    return table_pair(features, *columns)


def _slots(side: CodedRecords, place: int, values: dict[str, int], rows: Integers) -> list[Integers]:
    table = np.array([0, *(values[text] for text in side.values[place])], np.int64)
    pairs = zip(side.slots, side.slot_columns, strict=True)
    found = [table[codes[rows]] for codes, column in pairs if column == place]
    return found or [np.zeros(len(rows), np.int64)]


def _codes_in_order(column: Column, texts: Iterable[str]) -> dict[str, int]:
    """Codes from 1: declared values in their order, then numbers by size, then texts by code point.

    Trees split features between neighbouring codes, so what is near must stand near.
    """
    declared = tuple(column.domain or ())
    further = sorted(set(texts) - set(declared), key=_sort_key)
    return {text: code for code, text in enumerate((*declared, *further), start=1)}


def _sort_key(text: str) -> tuple[bool, float, str]:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return (False, number, text) if math.isfinite(number) else (True, 0.0, text)


def _items(
    name: str, values: dict[str, int], sides: list[list[Integers]]
) -> tuple[list[str], list[list[Integers]]]:
    """For each item whether a record holds it: 0 or 1."""
    size = len(values) + 1
    held = sum((np.bincount(codes, minlength=size) for codes in sides[0]), np.zeros(size, np.int64))
    ranked = sorted(values.values(), key=lambda code: (-int(held[code]), code))
    own, others = sorted(ranked[:MOST_ITEMS]), ranked[MOST_ITEMS:]
    texts = {code: text for text, code in values.items()}
    groups = [(f"{name}: {texts[code]}", [code]) for code in own]
    if others or not own:  # a column without any item is a feature that no record has
        groups.append((f"{name}: any other", others))
    tables = [np.isin(np.arange(size), codes).astype(np.int64) for _, codes in groups]
    return [label for label, _ in groups], [
        [_holds_item(table, slots) for table in tables] for slots in sides
    ]


def _holds_item(table: Integers, slots: list[Integers]) -> Integers:
    held: Integers = np.stack([table[codes] for codes in slots]).max(axis=0)
    return held


def pair_of_tables(
    raw: pa.Table, synthetic: pa.Table, edges: Mapping[str, Sequence[float]], most_rows: int
) -> TablePair:
    """The two tables by values, bins of numbers and periods of moments; a missing cell is absence.

    Args:
        synthetic: at least one column.
        edges: public ones, by numeric column.
        most_rows: of either table; of more so many are drawn.
    """
    names = synthetic.column_names
    bins = [bins_of(name, synthetic[name], edges.get(name)) for name in names]
    sides = [table.take(drawn_rows(table.num_rows, most_rows)) for table in (raw, synthetic)]
    codes = [[own.codes(side[own.name]) + 1 for own in bins] for side in sides]
    return table_pair(names, *codes)
