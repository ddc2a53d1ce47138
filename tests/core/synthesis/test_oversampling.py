import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from tasks.core.errors import InternalError
from tasks.core.random_kernels import stream
from tasks.core.synthesis.index import build_index
from tasks.core.synthesis.record_kernels import Effort
from tasks.core.synthesis.rows import block_cells, build_block_index
from tasks.core.synthesis.tree import drafts_of, drawing_over, drawn_of
from tasks.core.synthesis.value_seeded import (
    Combinations,
    Limits,
    Oversampling,
    allowed,
    draw_limited,
    draw_oversampled,
    draw_value_seeded,
)
from tests.oracles.law import check_law
from tests.oracles.oversampling import Oversampled
from tests.oracles.raw_tables import (
    check_columns,
    combinations_in,
    raw_tables,
    records_of,
    reported,
    rows_of,
    schema_of,
    single_valued,
    split,
    true_counts,
)


def _silent(_):
    return None


def _oracle(table, rows, reporting_length, oversampling):
    return Oversampled(
        true_counts(table, rows),
        rows.column_of.tolist(),
        rows.resolution,
        reporting_length,
        Fraction(str(oversampling.ratio)),
        oversampling.tries,
    )


CROSSED = single_valued("a1,b1 a1,b1 a1,b2 a1,b2 a1,b1 a2,b1 a2,b1 a2,.")
THREE = single_valued("a1,b1,c1 a1,b1,c1 a1,b1,c2 a2,b1,c1 a2,b2,c1")
ITEMS = (
    schema_of(True, False),
    [[{"x", "y"}, {"b1"}], [{"x", "y"}, {"b2"}], [{"x"}, {"b1"}], [{"x"}, {"b1"}], [{"z"}, set()]],
)


@pytest.mark.parametrize(
    ("table", "resolution", "reporting_length", "oversampling"),
    [
        (CROSSED, 2, 2, Oversampling(0.0)),
        (CROSSED, 2, 2, Oversampling(0.0, 3)),
        (CROSSED, 2, 2, Oversampling(0.5, 2)),
        (CROSSED, 2, 1, Oversampling(0.0)),
        (THREE, 1, 2, Oversampling(0.0, 2)),
        (THREE, 1, 3, Oversampling(0.0)),
        (THREE, 1, 3, Oversampling(1.0, 2)),
        (ITEMS, 1, 2, Oversampling(0.0, 2)),
        (ITEMS, 2, 3, Oversampling(0.0)),
    ],
)
def test_lists_of_records_follow_the_exact_law(table, resolution, reporting_length, oversampling):
    """Chi-square against the enumerated probabilities; false alarm: one in a million a case."""
    seeds, rows = 1000, rows_of(table, resolution)
    oracle = _oracle(table, rows, reporting_length, oversampling)
    law = oracle.distribution()
    assert sum(law.values()) == 1
    aggregates = reported(rows, oracle.counts, reporting_length)
    seen = Counter(
        tuple(sorted(split(draw_oversampled(rows, aggregates, oversampling, seed, _silent))))
        for seed in range(seeds)
    )
    check_law(seen, law)


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_tries_are_used_up_by_refusals_and_restored_by_acceptance(tries):
    """Nothing left of two pairs, plenty of all else: many records of one law; false alarm as above."""
    table = single_valued("a,b,c,d,e,f a,b,c,d,e,f a,b,c,d,e,. a,b,c,.,.,f")
    rows, plenty, records = rows_of(table, 1), 10**6, 20_000
    oracle = _oracle(table, rows, 2, Oversampling(0.0, tries))
    aggregates = reported(rows, oracle.counts, 2)
    index = build_index(aggregates)
    spent = [place for place, pair in enumerate(aggregates.combinations[1].tolist()) if pair in _SPENT]
    left = np.full(len(index.counts), plenty)
    left[[len(rows.attributes) + place for place in spent]] = 0
    available = np.full(len(rows.attributes), plenty)
    block = build_block_index(block_cells(rows), np.append(rows.counts, 0), 1)
    drafts = drafts_of(block.cells, records, stream("test", 1)[0], 0)
    room = Combinations(
        *(np.empty(64, np.int32) for _ in range(4)),
        np.zeros(len(rows.attributes), np.int64),
        np.zeros(3, np.int64),
    )
    limits = Limits(index.rows, left, index.counts, 2, tries)
    number = draw_limited(drawing_over(block, Effort(1), available), drafts, available, limits, room)
    used = {frozenset(pair): oracle.counts[frozenset(pair)] for pair in _SPENT}
    law = oracle.next_record((plenty,) * len(rows.attributes), used)
    assert number == records
    check_law(Counter(split(drawn_of(drafts))), law)


#: a with b, and c with d.
_SPENT = [[0, 1], [2, 3]]


def _larger():
    """400 records, skewed and dependent, some cells absent, one column of items."""
    chance = random.Random(4)
    records = []
    for _ in range(400):
        first = chance.choices("wxyz", [8, 4, 2, 1])[0]
        second = first if chance.random() < 0.6 else chance.choice("wxyz")
        third = {each for each in "pqr" if chance.random() < (0.5 if each > "p" else 0.1)}
        records.append([{first}, {second} if chance.random() < 0.9 else set(), third])
    return schema_of(False, False, True), records


@pytest.mark.parametrize(
    ("oversampling", "resolution"),
    [(Oversampling(0.0), 5), (Oversampling(0.1, 4), 5), (Oversampling(0.1, 4), 2)],
)
def test_larger_tables_give_the_mean_counts_of_the_plain_law(oversampling, resolution):
    """Two samples of runs by Welch's t for each combination; false alarm: one in a million a case.

    Large enough for bitsets, random looks and lists; at resolution 2 for records that so few rows hold that
    these are looked for before the record is as long as the reporting length.
    """
    table, runs = _larger(), 60
    rows = rows_of(table, resolution)
    oracle = _oracle(table, rows, 3, oversampling)
    aggregates = reported(rows, oracle.counts, 3)
    ours = [
        combinations_in(split(draw_oversampled(rows, aggregates, oversampling, seed, _silent)))
        for seed in range(runs)
    ]
    randomness = random.Random(9)
    plain = [combinations_in(oracle.sample(randomness)) for _ in range(runs)]
    keys = sorted({key for run in ours + plain for key in run if len(key) < 4}, key=sorted)
    unequal = [key for key in keys if all(len({run[key] for run in each}) > 1 for each in (ours, plain))]
    assert len(unequal) > 30
    for key in unequal:
        counts = [[run[key] for run in sample] for sample in (ours, plain)]
        assert ttest_ind(*counts, equal_var=False).pvalue > 1e-6 / len(unequal), key
    sizes = [[run.total() for run in sample] for sample in (ours, plain)]
    assert ttest_ind(*sizes, equal_var=False).pvalue > 1e-6


@given(
    table=raw_tables(),
    resolution=st.integers(1, 4),
    reporting_length=st.integers(1, 5),
    oversampling=st.builds(Oversampling, st.sampled_from([0.0, 0.1, 0.5, 3.0, 1e300]), st.integers(1, 5)),
    seed=st.integers(0, 2**62),
)
@settings(max_examples=150, deadline=None)
def test_no_limit_and_no_invariant_is_broken(table, resolution, reporting_length, oversampling, seed):
    """S4.3: single counts exactly rounded, every combination common, none beyond its limit."""
    rows = rows_of(table, resolution)
    true = true_counts(table, rows)
    aggregates = reported(rows, true, reporting_length)
    synthetic = draw_value_seeded(rows, seed, oversampling=oversampling, reported=aggregates)
    records = records_of(synthetic)
    check_columns(rows, records)
    assert () not in records
    found = combinations_in(records)
    assert all(true[combination] >= resolution for combination in found)
    for attribute in range(len(rows.attributes)):
        own = frozenset([attribute])
        assert found[own] == true[own] - true[own] % resolution
    for combination, count in found.items():
        if len(combination) <= reporting_length:
            most = (true[combination] - true[combination] % resolution) * (
                1 + Fraction(str(oversampling.ratio))
            )
            assert count <= most
    again = draw_value_seeded(rows, seed, oversampling=oversampling, reported=aggregates)
    assert records_of(again) == records


def test_without_slack_nothing_reported_is_oversampled_and_the_run_ends():
    """Ratio 0, one try: every record ends at its first refusal, and none is empty."""
    table = _larger()
    rows = rows_of(table, 7)
    true = true_counts(table, rows)
    drawn = draw_oversampled(rows, reported(rows, true, 4), Oversampling(0.0, 1), 3, _silent)
    assert drawn.sizes.min() > 0
    assert all(count <= true[each] for each, count in combinations_in(split(drawn)).items())


def test_attributes_are_available_as_often_as_their_rounded_count():
    """Not 2 floor_res(c) - c: of 15, 19 and 10 records at resolution 10 come 10 each (S4.3)."""
    table = single_valued(" ".join(["a,."] * 15 + ["b,."] * 19 + [".,c"] * 10))
    rows = rows_of(table, 10)
    aggregates = reported(rows, true_counts(table, rows), 2)
    drawn = draw_oversampled(rows, aggregates, Oversampling(0.0), 1, _silent)
    assert Counter(split(drawn)) == {(0,): 10, (1,): 10, (2,): 10}


def test_limits_are_exact_in_decimals():
    """In floating point 100 * 1.15 is below 115."""
    assert allowed(np.array([100, 10, 10, 0]), 0.15).tolist() == [115, 11, 11, 0]
    assert allowed(np.array([30, 2**53]), 1e300).tolist() == [2**62, 2**62]


def test_aggregates_of_other_records_or_another_resolution_are_refused():
    rows, other = rows_of(CROSSED, 2), rows_of(THREE, 1)
    foreign = reported(other, true_counts(THREE, other), 2)
    finer = reported(rows_of(CROSSED, 1), true_counts(CROSSED, rows_of(CROSSED, 1)), 2)
    for aggregates in (foreign, finer):
        with pytest.raises(InternalError):
            draw_oversampled(rows, aggregates, Oversampling(0.0), 1, _silent)
