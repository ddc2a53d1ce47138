"""Value-seeded synthesis without oversampling control: the invariants, the law of whole outputs, threads."""

import functools
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.synthesis.tree import Consolidation, table_of
from tasks.core.synthesis.value_seeded import draw_value_seeded
from tests.core.synthesis.test_row_seeded import (
    ITEMS,
    T1,
    T4,
    big_rows,
    check_invariants,
    check_order,
    published,
    same_law,
    statistic,
)
from tests.oracles.law import FALSE_ALARM
from tests.oracles.raw_seeded import Oracle
from tests.oracles.raw_tables import raw_tables, records_of, rows_of, schema_of


@settings(max_examples=300, deadline=None)
@given(raw_tables(), st.integers(1, 6), st.integers(0, 2**62))
def test_the_invariants_hold_for_every_table(table, resolution, seed):
    rows = rows_of(table, resolution)
    records = records_of(draw_value_seeded(rows, seed))
    check_invariants(table, rows, records)
    check_order(published(rows, records))


def _drawn(rows, seed, records_a_batch):
    """All records, sorted; in batches of so many, or in turn."""
    available = rows.counts // rows.resolution * rows.resolution
    drawn = Consolidation(table_of(rows), available, seed).run(1, lambda share: None, records_a_batch)
    parts = np.split(drawn.attribute_ids, np.cumsum(drawn.sizes)[:-1])
    return tuple(sorted(tuple(sorted(part.tolist())) for part in parts))


@pytest.mark.parametrize("records_a_batch", [0, 1, 4, 10**6])
@pytest.mark.parametrize(("table", "resolution"), [(T1, 2), (T4, 3), (ITEMS, 2)])
def test_whole_outputs_follow_the_sequential_law_in_batches_and_in_turn(table, resolution, records_a_batch):
    _compare_outputs(table, resolution, records_a_batch, 500)


@pytest.mark.slow
@pytest.mark.parametrize("records_a_batch", [0, 1, 4, 10**6])
@pytest.mark.parametrize(("table", "resolution"), [(T1, 1), (T1, 2), (T4, 2), (T4, 3), (ITEMS, 2)])
def test_whole_outputs_follow_the_sequential_law_over_many_seeds(table, resolution, records_a_batch):
    _compare_outputs(table, resolution, records_a_batch, 6000)


@functools.cache
def _drawn_by_oracle(as_sets, resolution, seeds):
    oracle, random = Oracle(list(as_sets), resolution), Random(4)
    return [tuple(oracle.value_seeded(random)) for _ in range(seeds)]


def _compare_outputs(table, resolution, records_a_batch, seeds):
    rows = rows_of(table, resolution)
    ours = [_drawn(rows, seed, records_a_batch) for seed in range(seeds)]
    as_sets = tuple(frozenset(a for a in row if a >= 0) for row in rows.ids.tolist())
    theirs = _drawn_by_oracle(as_sets, resolution, seeds)
    assert same_law(ours, theirs) > FALSE_ALARM
    assert same_law([statistic(r, []) for r in ours], [statistic(r, []) for r in theirs]) > FALSE_ALARM
    for pair in [(a, b) for a in range(len(rows.attributes)) for b in range(a)][:12]:
        counts = [[statistic(r, [pair])[1] for r in side] for side in (ours, theirs)]
        assert same_law(*counts) > FALSE_ALARM


def test_the_same_seed_gives_the_same_records_on_any_number_of_threads():
    rows = big_rows(20_000, 6, 10)
    first, *others = (draw_value_seeded(rows, 11, threads=threads) for threads in (1, 2, 0))
    for other in others:
        assert np.array_equal(first.attribute_ids, other.attribute_ids)
        assert np.array_equal(first.offsets, other.offsets)
    assert not np.array_equal(first.attribute_ids, draw_value_seeded(rows, 12).attribute_ids)
    ones = np.bincount(first.attribute_ids, minlength=len(rows.attributes))
    assert np.array_equal(ones, rows.counts // 10 * 10)


def test_a_table_without_a_common_attribute_gives_no_record():
    assert draw_value_seeded(rows_of((schema_of(False), [[{"x"}]] * 2), 3), 1).number_of_records == 0
