"""Between codes and attributes: marginals as `Aggregates`, the wide form that SDS's users know."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.keys import pack, sort_by_key, unpack
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, MarginalFacts, Marginals
from tasks.core.arrays import AnyIntegers, Codes, HalfWords, Ids, Integers
from tasks.core.records.columns import Column, Schema

#: Combinations whose packed ids stay below this are put in order by them.
_LARGEST_KEY = 1 << 63


@dataclass(frozen=True)
class CountedCells:
    """Some counted cells of one length, as marginals hold them.

    Attributes:
        combination_ids: of each cell's set of columns, (N,).
        codes: of its values, (N, length), none of them 0.
        counts: int64 (N,).
    """

    combination_ids: HalfWords
    codes: Codes
    counts: Integers

    @classmethod
    def of(cls, rows: pa.Table | pa.RecordBatch) -> Self:
        ids, *codes, counts = (column.to_numpy() for column in rows.columns)
        return cls(ids, np.stack(codes).T, counts)


def stored_cells(marginals: Marginals, length: int) -> Iterator[CountedCells]:
    """Every cell of one length, in the order of the file, a bounded number at a time."""
    with pq.ParquetFile(marginals.path(length)) as file:
        yield from map(CountedCells.of, file.iter_batches(ROWS_A_READ))


def aggregates_of_cells(
    facts: MarginalFacts, number_of_records: int, levels: Iterable[Iterable[CountedCells]]
) -> Aggregates:
    """Aggregates of counted cells of lengths 1, 2, ..., over the attributes that stand in one of length 1.

    Of the facts' values and number of records nothing gets through but what the cells name.
    """
    combinations, counts = [], []
    numbering = AttributeNumbering(facts, np.empty(0, np.int64))
    for length, cells in enumerate(levels, start=1):
        if length == 1:
            parts = list(cells)
            numbering = AttributeNumbering(facts, _places_used(facts, parts))
            cells = parts
        rows = ((numbering.ids(part), part.counts) for part in cells)
        level = sort_combinations(rows, length, len(numbering.attributes))
        combinations.append(level[0])
        counts.append(level[1])
    return Aggregates(
        headers=wide_headers(facts.schema, numbering.attributes),
        attributes=numbering.attributes,
        number_of_records=number_of_records,
        combinations=tuple(combinations),
        counts=tuple(counts),
    )


class AttributeNumbering:
    """The attributes of some marginals, by the code-point order of their texts (S2.1)."""

    def __init__(self, facts: MarginalFacts, used: Integers) -> None:
        """``used``: ascending places of the attributes to number."""
        self._facts = facts
        self._before: dict[int, Integers] = {}
        first = first_places(facts.values)
        columns = np.searchsorted(first, used, side="right") - 1
        found = [
            attribute(facts.schema.columns[column], column, facts.values[column][code])
            for column, code in zip(columns.tolist(), (used - first[columns]).tolist(), strict=True)
        ]
        order = sorted(range(len(used)), key=lambda i: (found[i].text, found[i].column))
        self.attributes = tuple(found[i] for i in order)
        self._ids = np.zeros(sum(map(len, facts.values)), np.int32)
        self._ids[used[order]] = np.arange(len(used), dtype=np.int32)

    def ids(self, cells: CountedCells) -> Ids:
        length = cells.codes.shape[1]
        if length not in self._before:
            columns = np.array(self._facts.combinations(length), np.int64).reshape(-1, length)
            # Less one, as codes begin at 1.
            self._before[length] = first_places(self._facts.values)[columns] - 1
        return np.sort(self._ids[self._before[length][cells.combination_ids] + cells.codes], axis=1)


def number_everything(marginals: Marginals) -> AttributeNumbering:
    cells = stored_cells(marginals, 1) if marginals.lengths else ()
    return AttributeNumbering(marginals.facts, _places_used(marginals.facts, cells))


def attribute_cells(
    marginals: Marginals, length: int, numbering: AttributeNumbering
) -> Iterator[tuple[Ids, Integers]]:
    """Every cell of one length as attribute ids and its count, in the order of the file."""
    return ((numbering.ids(cells), cells.counts) for cells in stored_cells(marginals, length))


def _places_used(facts: MarginalFacts, cells: Iterable[CountedCells]) -> Integers:
    columns = np.array(facts.combinations(1), np.int64).ravel()
    first = first_places(facts.values)[columns]
    places = (first[part.combination_ids] + part.codes[:, 0] - 1 for part in cells)
    return np.unique(np.concatenate([np.empty(0, np.int64), *places]))


def sort_combinations(rows: Iterable[tuple[Ids, Integers]], length: int, bound: int) -> tuple[Ids, Integers]:
    """Rows of ids below ``bound`` and their counts in lexicographic order of the rows.

    >>> rows = [(np.array([[1, 2], [0, 3]], np.int32), np.array([5, 7]))]
    >>> ids, counts = sort_combinations(rows, length=2, bound=4)
    >>> ids.tolist(), counts.tolist()
    ([[0, 3], [1, 2]], [7, 5])

    Where a row fits in one integer it is packed on the way: half the memory, and one sort.
    """
    if bound**length >= _LARGEST_KEY:
        parts = [(np.empty((0, length), np.int32), np.empty(0, np.int64)), *rows]
        ids, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort(ids.T[::-1])
        return ids[order], counts[order]
    packed: list[tuple[AnyIntegers, Integers]] = [(np.empty(0, np.uint32), np.empty(0, np.int64))]
    packed += ((pack(list(ids.T), [bound] * length, len(ids)), own) for ids, own in rows)
    keys, counts = (np.concatenate(each) for each in zip(*packed, strict=True))
    del packed
    keys, sorted_counts = sort_by_key(keys, counts, bound**length)
    return np.stack(unpack(keys, [bound] * length), axis=1).astype(np.int32), sorted_counts.astype(
        np.int64, copy=False
    )


def wide_headers(schema: Schema, attributes: tuple[Attribute, ...]) -> tuple[str, ...]:
    """Headers of the wide form: file order, the items that occur in place and by code point."""
    headers: list[str] = []
    for index, column in enumerate(schema.columns):
        if column.is_multi_valued:
            headers += sorted(a.header for a in attributes if a.column == index)
        else:
            headers.append(column.name)
    return tuple(headers)


def attribute(column: Column, index: int, value: str) -> Attribute:
    """The attribute of a value or item in the column at ``index``.

    >>> attribute(Column("speaks", delimiter=";"), 2, "French")
    Attribute(header='speaks_French', value='1', column=2, item='French')
    """
    if column.is_multi_valued:
        return Attribute(header=f"{column.name}_{value}", value="1", column=index, item=value)
    return Attribute(header=column.name, value=value, column=index)


def first_places(values: tuple[tuple[str, ...], ...]) -> Integers:
    """Place of each column's code 1, when all values of all columns stand in one row."""
    sizes = [0, *(len(column) for column in values)]
    return np.cumsum(sizes)[:-1].astype(np.int64)
