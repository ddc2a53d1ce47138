from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.synthesis import unseeded
from tasks.core.synthesis.unseeded import draw_unseeded
from tests.oracles.law import check_law
from tests.oracles.raw_tables import (
    check_columns,
    combinations_in,
    raw_tables,
    records_of,
    rows_of,
    schema_of,
    sets_of,
    single_valued,
    true_counts,
)
from tests.oracles.unseeded import record_distribution

#: S10.1 with some rows twice; a column that is often absent; one whose values are mostly rare;
#: items of a multi-valued column; rows without any value.
T1 = single_valued("a1,b1,c1 a1,b2,c1 a2,.,c2 a2,b2,c1 a1,b2,. a1,b2,c1 a2,.,c2")
ABSENT = single_valued("a1,. a1,. a2,. .,b1 .,b1 a1,b1 .,. a2,b2")
RARE = single_valued("a1,b1,c1 a2,b1,c1 a3,b1,c2 a3,b1,c2 a3,b2,c2 a4,b2,c3 a4,b2,. a5,b2,c3")
ITEMS = (
    schema_of(True, False),
    [
        [{"x", "y"}, {"0"}],
        [{"x", "y"}, {"1"}],
        [{"x", "z"}, {"0"}],
        [{"y"}, set()],
        [set(), {"0"}],
        [{"x", "y", "z"}, {"1"}],
        [{"z"}, {"2"}],
    ],
)


def _repeated(table, times):
    return table[0], table[1] * times


@pytest.mark.parametrize("resolution", [1, 2, 3])
@pytest.mark.parametrize("table", [T1, ABSENT, RARE, ITEMS], ids=["T1", "absent", "rare", "items"])
@pytest.mark.parametrize(("times", "seeds"), [(1, 700), (40, 25), (3000, 1)])
def test_records_follow_the_exact_law(table, resolution, times, seeds):
    """Chi-square against the enumerated probabilities; false alarm: one in a million a case.

    A table repeated, at a resolution as many times as large, has the same law, but goes by bitsets and by
    blocks of their own.
    """
    small = rows_of(table, resolution)
    law = record_distribution(sets_of(small), small.column_of.tolist(), resolution)
    assert sum(law.values()) == 1
    rows = rows_of(_repeated(table, times), resolution * times)
    assert rows.attributes == small.attributes
    drawn = seeds * (rows.number_of_records // rows.resolution * rows.resolution)
    seen = Counter(
        frozenset(record)
        for seed in range(seeds)
        for record in records_of(draw_unseeded(rows, seed, threads=2))
    )
    seen[frozenset()] = drawn - seen.total()
    check_law(seen, law)


@given(table=raw_tables(), resolution=st.integers(1, 4), times=st.sampled_from([1, 60]), seed=st.integers())
@settings(max_examples=150, deadline=None)
def test_every_combination_is_common_and_threads_have_no_say(table, resolution, times, seed):
    """Any length, true count at least the resolution; no empty record, and never more than floor_res(n)."""
    table = _repeated(table, times)
    rows = rows_of(table, resolution)
    synthetic = draw_unseeded(rows, seed)
    records = records_of(synthetic)
    check_columns(rows, records)
    assert () not in records
    assert len(records) <= len(table[1]) - len(table[1]) % resolution
    true = true_counts(table, rows)
    assert all(true[combination] >= resolution for combination in combinations_in(records))
    for threads in (2, 0):
        again = draw_unseeded(rows, seed, threads=threads)
        assert records_of(again) == records


def test_many_records_are_the_same_on_any_number_of_threads():
    """Enough of them that blocks are opened and finished side by side."""
    rows = rows_of(_repeated(RARE, 4000), 3000)
    one, two, cores = (draw_unseeded(rows, 5, threads=threads) for threads in (1, 2, 0))
    for other in (two, cores):
        assert np.array_equal(one.offsets, other.offsets)
        assert np.array_equal(one.attribute_ids, other.attribute_ids)
    assert records_of(draw_unseeded(rows, 6)) != records_of(one)


@pytest.mark.parametrize("table", [RARE, ITEMS], ids=["rare", "items"])
def test_which_blocks_are_opened_has_no_say(monkeypatch, table):
    """All that can be, some, none: the same rows are present in the same order."""
    rows = rows_of(_repeated(table, 60), 40)
    outcomes = []
    for finish_a_row, opening in ((1e9, 0.0), (1.0, 1000.0), (0.0, 0.0)):
        monkeypatch.setattr(unseeded, "_FINISH_A_ROW", finish_a_row)
        monkeypatch.setattr(unseeded, "_OPEN", opening)
        outcomes.append(records_of(draw_unseeded(rows, 7)))
    assert len(set(outcomes[0])) > 2
    assert outcomes == [outcomes[0]] * 3
