import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import ParameterError
from tasks.core.synthesis.rows import common_rows
from tests.oracles.marginals import coded
from tests.oracles.raw_tables import raw_tables, rows_of, schema_of

TABLE = (
    schema_of(False, True, False),
    [
        [{"x"}, {"b", "a"}, {"1"}],
        [{"x"}, {"b"}, {"2"}],
        [{"y"}, {"b", "rare"}, {"1"}],
        [set(), set(), {"1"}],
        [set(), {"a"}, set()],
    ],
)


def test_rare_attributes_and_headers_of_rare_items_are_gone():
    rows = rows_of(TABLE, 2)
    assert [a.text for a in rows.attributes] == ["A_a:1", "A_b:1", "B:x", "C-:1"]
    assert rows.headers == ("B", "A_a", "A_b", "C-")
    assert rows.counts.tolist() == [2, 3, 2, 3]


def test_rows_hold_the_common_attributes_and_empty_records_count():
    rows = rows_of(TABLE, 2)
    assert [{a for a in row if a >= 0} for row in rows.ids.tolist()] == [
        {0, 1, 2, 3},
        {1, 2},
        {1, 3},
        {3},
        {0},
    ]
    assert rows.number_of_records == 5


def test_slots_and_exclusion_follow_the_columns():
    rows = rows_of(TABLE, 2)
    for attribute, (first, end) in enumerate(rows.slots_of.tolist()):
        inside = (rows.ids[:, first:end] == attribute).sum()
        assert inside == rows.counts[attribute] == (rows.ids == attribute).sum()
    assert rows.column_of[2] == 0
    assert rows.column_of[3] == 2
    assert len(set(rows.column_of.tolist())) == 4


@pytest.mark.parametrize("resolution", [0, -3])
def test_a_resolution_below_one_is_refused(resolution):
    with pytest.raises(ParameterError, match="at least 1"):
        common_rows(coded(*TABLE), resolution)


@given(raw_tables(), st.integers(1, 5))
def test_counts_are_those_of_the_records(table, resolution):
    rows = rows_of(table, resolution)
    held = {}
    for record in table[1]:
        for column, values in enumerate(record):
            for value in values:
                held[column, value] = held.get((column, value), 0) + 1
    found = {
        (a.column, a.value if a.item is None else a.item): int(count)
        for a, count in zip(rows.attributes, rows.counts, strict=True)
    }
    assert found == {key: count for key, count in held.items() if count >= resolution}
    assert np.array_equal(np.bincount(rows.ids[rows.ids >= 0], minlength=len(rows.counts)), rows.counts)
