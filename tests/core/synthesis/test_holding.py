"""Holding the resolution beyond the reporting length: the law, the invariant, and nothing else changed."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.errors import InternalError
from tasks.core.synthesis import aggregate_seeded
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    draw_aggregate_seeded,
    hold_to_rows,
)
from tasks.core.synthesis.aggregate_seeded_kernels import find_holders, keep_held
from tasks.core.synthesis.rows import HELD, block_cells, build_block_index, count_with, narrow
from tests.oracles.aggregate_seeded import Combination, Oracle, oracle_of
from tests.oracles.law import check_law
from tests.oracles.raw_tables import (
    Table,
    raw_tables,
    records_of,
    reported,
    rows_of,
    single_valued,
    true_counts,
)

SEEDS = 1500


def held_tables(table: Table, reporting_length: int, resolution: int):
    """Aggregates of at least the resolution, the rows, and every true count."""
    rows = rows_of(table, resolution)
    true = true_counts(table, rows)
    return reported(rows, true, reporting_length), rows, true


@dataclass(frozen=True)
class HeldOracle(Oracle):
    """The law with the records asked beyond the reporting length."""

    true: Counter | None = None
    resolution: int = 1

    def weight(self, record: Combination, attribute: int, used) -> int:
        joined = record | {attribute}
        if len(joined) > self.reporting_length and self.true[joined] < self.resolution:
            return 0
        return super().weight(record, attribute, used)


#: Pairs that are common while their triples are not.
TABLE = single_valued("1,1,. 1,1,. 1,.,1 1,.,1 .,1,1 .,1,1 1,1,1")


@pytest.mark.parametrize("few", [0, 1000], ids=["asked one by one", "counted at once"])
@pytest.mark.parametrize("reporting_length", [1, 2])
def test_lists_of_records_follow_the_exact_law(monkeypatch, reporting_length, few):
    monkeypatch.setattr(aggregate_seeded, "_FEW", few)
    aggregates, rows, true = held_tables(TABLE, reporting_length, 2)
    base = oracle_of(aggregates)
    oracle = HeldOracle(
        base.counts, base.headers, reporting_length, base.percentage, False, true=true, resolution=2
    )
    expected = oracle.distribution(2)
    parameters = AggregateSeededParameters(target_number_of_records=2)
    seen = Counter(
        tuple(sorted(records_of(draw_aggregate_seeded(aggregates, parameters, seed, held=rows))))
        for seed in range(SEEDS)
    )
    assert all(frozenset(range(3)) - set(record) for lists in seen for record in lists)
    check_law(seen, expected)


@settings(max_examples=60, deadline=None)
@given(raw_tables(), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.integers(0, 9))
def test_every_combination_of_any_length_is_held_by_enough_records(
    table, reporting_length, resolution, use_synthetic_counts, seed
):
    aggregates, rows, true = held_tables(table, reporting_length, resolution)
    parameters = AggregateSeededParameters(use_synthetic_counts=use_synthetic_counts)
    for threads in (1, 3):
        for record in records_of(
            draw_aggregate_seeded(aggregates, parameters, seed, threads=threads, held=rows)
        ):
            assert true[frozenset(record)] >= resolution


def test_sparse_attributes_are_held_too():
    """An attribute that few of many rows hold has a list instead of bits."""
    table = single_valued("1,1,1 " * 2 + "1,1,. " * 150 + "1,.,1 " * 3 + ".,1,1 " * 3)
    aggregates, rows, true = held_tables(table, 2, 3)
    drawn = records_of(draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1, held=rows))
    assert all(true[frozenset(record)] >= 3 for record in drawn)
    assert any(
        len(record) == 3
        for record in records_of(draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1))
    )


@pytest.mark.parametrize("few", [0, 20, 1000])
@pytest.mark.parametrize("rows_a_bit", [1, 4, 1000])
@pytest.mark.parametrize("seed", range(8))
def test_bitsets_and_lists_tell_what_sets_of_rows_do(rows_a_bit, few, seed):
    """Attributes chosen at once and one by one, with or without a bitset, rows few and many."""
    random = np.random.default_rng(seed)
    cells = np.array([*"xyz."])[random.choice(4, (150, 4), p=[0.55, 0.25, 0.1, 0.1])]
    rows = rows_of(single_valued(" ".join(",".join(row) for row in cells.tolist())), 2)
    held_by = [set(np.flatnonzero((rows.ids == i).any(axis=1))) for i in range(len(rows.attributes))]
    index = build_block_index(block_cells(rows), np.append(rows.counts, 0), 2, rows_a_bit)
    held = hold_to_rows(index, 2)
    held = held._replace(
        rows=held.rows._replace(short=few, lists=np.empty((2, len(rows.ids) + 64), np.int32))
    )
    order = random.permutation(len(rows.attributes))
    first = int(random.integers(1, 3))
    find_holders(held, order[:first].astype(np.int32))
    present = set.intersection(*(held_by[i] for i in order[:first]))
    for attribute in [None, *order[first:]]:
        if attribute is not None:
            narrow(held.rows, attribute)
            present &= held_by[attribute]
        enough = [i for i in range(len(order)) if len(held_by[i] & present) >= 2]
        assert [i for i in range(len(order)) if count_with(held.rows, i, 2) >= 2] == enough
        if held.rows.now[HELD] <= held.rows.short:
            drawn, cumulative = np.arange(len(order), dtype=np.int32), np.arange(1, len(order) + 1) * 3
            kept = keep_held(held, drawn, cumulative, len(order))
            assert drawn[:kept].tolist() == enough
            assert cumulative[:kept].tolist() == [3 * (i + 1) for i in range(kept)]


def test_rows_of_other_aggregates_are_refused():
    aggregates, _, _ = held_tables(TABLE, 2, 2)
    with pytest.raises(InternalError):
        other = rows_of(single_valued("1 1 1"), 2)
        draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1, held=other)
