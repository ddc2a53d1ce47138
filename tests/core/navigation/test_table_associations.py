"""Associations by the smallest table of a pair, against counting the pairs of rows by hand."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.navigation.associations import MOST_CHARTED_COLUMNS
from tasks.core.navigation.table_inputs import BinnedColumn
from tasks.core.navigation.table_page import TableAssociations, table_associations
from tasks.core.syndiffix.bins import bins_of

NAMES = ("town", "work", "age", "blank")


def drawn(seed: int, kept: float, rows: int = 400) -> pa.Table:
    """Work follows from the town in a share of the rows."""
    draw = np.random.default_rng(seed)
    town = draw.integers(0, 4, rows)
    work = np.where(draw.random(rows) < kept, town, draw.integers(0, 4, rows))
    return pa.table(
        {
            "town": pa.array([f"t{each}" for each in town]),
            "work": pa.array(work, mask=draw.random(rows) < 0.1),
            "age": pa.array(draw.integers(0, 8, rows)),
            "blank": pa.nulls(rows, pa.string()),
        }
    )


def v_by_hand(table: pa.Table, one: str, other: str) -> float:
    """Cramer's V as a sum over cells of the pairs of values that rows hold."""
    pairs = [
        (a, b)
        for a, b in zip(table[one].to_pylist(), table[other].to_pylist(), strict=True)
        if a is not None and b is not None
    ]
    cells, n = Counter(pairs), len(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chi = sum((cells[a, b] - rows[a] * columns[b] / n) ** 2 / (rows[a] * columns[b] / n)
              for a in rows for b in columns)  # fmt: skip
    return sqrt(chi / n / (min(len(rows), len(columns)) - 1))


class Shelf:
    """Tables by file, and which were read."""

    def __init__(self, tables: dict[str, pa.Table]) -> None:
        self.tables = tables
        self.reads: list[tuple[str, tuple[str, ...]]] = []

    def read(self, file: str, names: Sequence[str]) -> pa.Table:
        self.reads.append((file, tuple(names)))
        return self.tables[file].select(list(names))


def found(whole: pa.Table, shelf: Shelf) -> TableAssociations:
    columns = {}
    for name in whole.column_names:
        bins = bins_of(name, whole[name])
        columns[name] = BinnedColumn(bins, bins.codes(whole[name]))
    tables = {file: table.column_names for file, table in shelf.tables.items()}
    return table_associations(columns, tables, shelf.read)


def test_each_pair_is_counted_in_the_smallest_table_that_holds_it() -> None:
    whole = drawn(1, kept=0.1)
    shelf = Shelf(
        {
            "three": drawn(2, kept=0.5).select(["town", "work", "age"]),
            "two": drawn(3, kept=0.9).select(["work", "town"]),
            "again": drawn(4, kept=0.3).select(["town", "work"]),
        }
    )
    found_in = found(whole, shelf)
    sources = {("town", "work"): "two", ("town", "age"): "three", ("work", "age"): "three"}
    assert found_in.sources == sources
    for one, other in combinations(NAMES[:3], 2):
        value = found_in.values[NAMES.index(one), NAMES.index(other)]
        assert value == pytest.approx(v_by_hand(shelf.tables[sources[one, other]], one, other))
    assert v_by_hand(whole, "town", "work") < 0.3 < 0.7 < found_in.values[0, 1]
    assert all(isnan(value) for value in found_in.values[:, 3])
    assert sorted(shelf.reads) == sorted((file, pair) for pair, file in sources.items())


def test_without_other_tables_pairs_are_counted_in_the_table_of_all_columns() -> None:
    whole, shelf = drawn(1, kept=0.8), Shelf({})
    found_in = found(whole, shelf)
    assert set(found_in.sources.values()) == {""} and not shelf.reads
    assert found_in.values[0, 1] == pytest.approx(v_by_hand(whole, "town", "work"))
    assert found_in.ranked(1) == [(("town", "work"), found_in.values[0, 1])]


def test_a_pair_that_nothing_is_said_of_in_its_own_table_has_no_value() -> None:
    empty = drawn(2, kept=0.5).select(["town", "work"]).slice(0, 0)
    found_in = found(drawn(1, kept=0.8), Shelf({"two": empty}))
    assert ("town", "work") not in found_in.sources and isnan(found_in.values[0, 1])


def test_tables_of_columns_that_are_not_compared_are_not_read() -> None:
    names = [f"c{number}" for number in range(MOST_CHARTED_COLUMNS + 2)]
    whole = pa.table({name: pa.array([place % 2, 1]) for place, name in enumerate(names)})
    shelf = Shelf({"late": whole.select(names[-2:]), "half": whole.select([names[0], names[-1]])})
    assert found(whole, shelf).names == tuple(names[:MOST_CHARTED_COLUMNS])
    assert not shelf.reads
