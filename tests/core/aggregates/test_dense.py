"""Counting in memory gives what DuckDB gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import dense
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.wide_form import as_aggregates
from tasks.core.queries import Resources
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import coded

SCHEMA = Schema((Column("A"), Column("M", delimiter=";", max_items=3), Column("B")))
TABLE = st.lists(
    st.tuples(
        st.sets(st.sampled_from("xyz"), max_size=1),
        st.sets(st.sampled_from("pqrs"), max_size=3),
        st.sets(st.sampled_from("vw"), max_size=1),
    ).map(list),
    max_size=30,
)


@pytest.mark.parametrize("most_cells", [1 << 22, 0])
@given(table=TABLE)
@settings(max_examples=6, deadline=None)
def test_in_memory_counts_are_duckdb_s(tmp_path_factory, most_cells, table) -> None:
    tmp_path = tmp_path_factory.mktemp("dense")
    for name in ("records", "duckdb"):
        (tmp_path / name).mkdir()
    records = coded(SCHEMA, table)
    records.write(tmp_path / "records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_MOST_CELLS", most_cells)
        ours = count_in_memory(records, 3)
    stored = count_marginals(tmp_path / "records", tmp_path / "duckdb", 3, Resources(threads=1))
    theirs = as_aggregates(stored)
    assert (ours.headers, ours.attributes) == (theirs.headers, theirs.attributes)
    assert ours.number_of_records == theirs.number_of_records
    for name in ("combinations", "counts"):
        assert len(getattr(ours, name)) == len(getattr(theirs, name))
        assert all(map(np.array_equal, getattr(ours, name), getattr(theirs, name)))


def test_cells_of_absent_values_count_too() -> None:
    counter = dense.CellCounter(
        [np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)], (0, 1), (2, 3)
    )
    assert counter.cube((0, 1)).tolist() == [0, 0, 1, 2, 0, 0]
    assert [len(part) for part in counter.cells((0, 1))] == [0, 0]


def test_cells_too_many_for_one_integer_are_still_told_apart() -> None:
    rows = np.array([[1, 7, 7, 7, 7], [2, 7, 7, 7, 7], [65_535, 7, 7, 7, 7]])
    counter = dense.CellCounter(
        [column.astype(np.uint16) for column in rows.T], tuple(range(5)), (1 << 16,) * 5
    )
    ((records, cells),) = counter.holders((0, 1, 2, 3, 4), rows[[2, 0]].astype(np.int64))
    assert (records.tolist(), cells.tolist()) == ([0, 2], [1, 0])
