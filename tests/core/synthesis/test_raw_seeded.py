"""Synthesis seeded by rows or values: vectors, invariants, the law of whole outputs, reproducibility."""

import functools
import itertools
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from tasks.core.arrays import Integers
from tasks.core.synthesis.record_kernels import choose_spare_rows
from tasks.core.synthesis.row_seeded import _choose_left_out_rows, draw_row_seeded, remove_excess_uses
from tasks.core.synthesis.rows import FrequentRows, block_cells, count_held, fill_lists
from tasks.core.synthesis.tree import Consolidation, DrawnRecords, table_of
from tasks.core.synthesis.unseeded import draw_unseeded
from tasks.core.synthesis.value_seeded import Oversampling, draw_value_seeded
from tests.benchmarks.data import generated_codes
from tests.oracles.law import FALSE_ALARM, check_law
from tests.oracles.raw_seeded import Oracle
from tests.oracles.raw_tables import (
    check_columns,
    combinations_in,
    raw_tables,
    records_of,
    reported,
    rows_of,
    schema_of,
    sets_of,
    single_valued,
    split,
    true_counts,
)

SEEDED = [draw_row_seeded, draw_value_seeded]
T4 = single_valued(
    "a1,b1,c1,.,.,d1 a2,b2,c2,.,.,d2 a2,b2,c2,.,.,d2 a1,b1,c1,.,.,d1 a1,b2,c3,.,.,d2 "
    "a2,b1,c2,.,.,d1 a2,b2,c1,.,.,d2 a1,b1,c2,.,.,d2 a2,b2,c2,.,.,d1 a2,b2,c2,.,.,d2 a3,b3,c1,.,.,d3"
)
T1 = single_valued("a1,b1,c1 a1,b2,c1 a2,.,c2 a2,b2,c1 a1,b2,.")
ITEMS = (
    schema_of(True, False),
    [
        [{"x", "y"}, {"p"}],
        [{"x"}, {"p"}],
        [{"x", "y"}, set()],
        [{"y"}, {"q"}],
        [set(), {"q"}],
        [set(), set()],
    ],
)


def oversampled(rows, seed, **options):
    """Value-seeded, under oversampling control."""
    counts = {frozenset([place]): count for place, count in enumerate(rows.counts.tolist())}
    control = {"oversampling": Oversampling(0.0), "reported": reported(rows, counts, 1)}
    return draw_value_seeded(rows, seed, **control, **options)


def check_invariants(table, rows: FrequentRows, records) -> None:
    """S10.12 and S4.1: rounded 1-counts, every combination in enough raw records, no empty record."""
    check_columns(rows, records)
    assert all(records)
    ones = Counter(attribute for record in records for attribute in record)
    wanted = rows.counts // rows.resolution * rows.resolution
    assert [ones[a] for a in range(len(rows.attributes))] == wanted.tolist()
    true = true_counts(table, rows)
    assert all(true[each] >= rows.resolution for each in combinations_in(records))


def check_order(rows: FrequentRows, records) -> None:
    """S4.0: more filled first, equally filled ones as text, cells in header order."""
    cells = [{rows.attributes[a].header: rows.attributes[a].value for a in record} for record in records]
    lines = [tuple(own.get(header, "") for header in rows.headers) for own in cells]
    assert lines == sorted(lines, key=lambda line: (-sum(map(bool, line)), line))


def same_law(ours, theirs) -> float:
    """How likely two samples of outcomes differ so much by chance; rare outcomes count together."""
    a, b = Counter(ours), Counter(theirs)
    common = [each for each in a | b if a[each] + b[each] >= 10]
    pairs = [(a[each], b[each]) for each in common]
    rest = (a.total() - sum(x for x, _ in pairs), b.total() - sum(y for _, y in pairs))
    if sum(rest) >= 10:
        pairs.append(rest)
    if len(pairs) == 1:
        return 1.0
    return float(chi2_contingency(np.array(pairs).T, correction=False).pvalue)


@pytest.mark.parametrize("draw", SEEDED)
@settings(max_examples=300, deadline=None)
@given(raw_tables(), st.integers(1, 6), st.integers(0, 2**62))
def test_t12_the_invariants_hold_for_every_table(draw, table, resolution, seed):
    rows = rows_of(table, resolution)
    records = records_of(draw(rows, seed))
    check_invariants(table, rows, records)
    check_order(rows, records)


@pytest.mark.parametrize("draw", [*SEEDED, oversampled, draw_unseeded])
@pytest.mark.parametrize(
    "table",
    [
        (schema_of(), []),
        (schema_of(), [[]] * 2),
        (schema_of(False), []),
        (schema_of(False), [[set()]] * 5),
        single_valued("a,b a,c"),
        single_valued("x,y x,y"),
    ],
)
def test_of_a_table_without_a_common_attribute_no_record_is_made(draw, table):
    assert draw(rows_of(table, 3), 1).number_of_records == 0


@pytest.mark.parametrize("draw", [*SEEDED, oversampled, draw_unseeded])
def test_progress_ends_with_everything_and_never_goes_back(draw):
    told: list[float] = []
    draw(big_rows(2_000, 4, 5), 1, progress=told.append)
    assert told == sorted(told)
    assert told[0] >= 0 and told[-1] == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_t4_the_ones_are_the_rounded_singles_and_rare_values_never_appear(seed):
    rows = rows_of(T4, 2)
    synthetic = draw_row_seeded(rows, seed)
    assert not {a.value for a in synthetic.attributes} & {"a3", "b3", "c3", "d3"}
    check_invariants(T4, rows, records_of(synthetic))


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


def in_batches(rows, seed, records_a_batch):
    """Value-seeded records, sorted; in batches of so many, or in turn."""
    available = rows.counts // rows.resolution * rows.resolution
    drawn = Consolidation(table_of(rows), available, seed).run(1, lambda share: None, records_a_batch)
    return tuple(sorted(split(drawn)))


@functools.cache
def drawn_by_oracle(mode, as_sets, resolution, seeds):
    oracle, random = Oracle(list(as_sets), resolution), Random(3)
    return [tuple(getattr(oracle, mode)(random)) for _ in range(seeds)]


def check_outputs(mode, rows, ours):
    """Whole outputs, numbers of records and of those with each of some pairs, beside the oracle's."""
    theirs = drawn_by_oracle(mode, tuple(sets_of(rows)), rows.resolution, len(ours))
    assert same_law(ours, theirs) > FALSE_ALARM
    assert same_law(map(len, ours), map(len, theirs)) > FALSE_ALARM
    for pair in [{a, b} for a in range(len(rows.attributes)) for b in range(a)][:12]:
        held = [[sum(pair <= {*record} for record in records) for records in side] for side in (ours, theirs)]
        assert same_law(*held) > FALSE_ALARM


@pytest.mark.parametrize(
    ("table", "resolution", "seeds"),
    [
        *[(T1, 2, 700), (T1, 1, 700), (T4, 3, 700), (ITEMS, 2, 700)],
        *[slow(*case, 8000) for case in ((T1, 2), (T4, 2), (T4, 3), (ITEMS, 1), (ITEMS, 2))],
    ],
)
def test_whole_row_seeded_outputs_follow_the_sequential_law(table, resolution, seeds):
    rows = rows_of(table, resolution)
    ours = [tuple(sorted(records_of(draw_row_seeded(rows, seed)))) for seed in range(seeds)]
    check_outputs("row_seeded", rows, ours)


@pytest.mark.parametrize("records_a_batch", [0, 1, 4, 10**6])
@pytest.mark.parametrize(
    ("table", "resolution", "seeds"),
    [
        *[(T1, 2, 500), (T4, 3, 500), (ITEMS, 2, 500)],
        *[slow(*case, 6000) for case in ((T1, 1), (T1, 2), (T4, 2), (T4, 3), (ITEMS, 2))],
    ],
)
def test_whole_value_seeded_outputs_follow_it_in_batches_and_in_turn(
    table, resolution, seeds, records_a_batch
):
    rows = rows_of(table, resolution)
    check_outputs("value_seeded", rows, [in_batches(rows, seed, records_a_batch) for seed in range(seeds)])


@settings(max_examples=200, deadline=None)
@given(raw_tables(most_rows=30), st.integers(1, 9), st.integers(0, 30))
def test_the_rows_that_are_not_begun_with_are_those_of_the_oracle(table, resolution, number):
    rows = rows_of(table, resolution)
    number = min(number, rows.number_of_records)
    as_sets = sets_of(rows)
    cells, empty = block_cells(rows), len(rows.attributes)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(count_held(cells, empty))])
    listed = np.empty(int(first[-1]), np.int32)
    fill_lists(cells, first, listed)
    beyond = np.append(rows.counts % resolution, 1)
    found = choose_spare_rows(cells, (first, listed), beyond, number).tolist()
    assert found == Oracle(as_sets, resolution).spare_rows(as_sets, number)


def test_as_many_rows_as_asked_are_left_out_at_a_large_resolution():
    """One was chosen again and again, where more were to be left out than were looked at."""
    rows = _one_value(139_999, 70_000)
    spare = _choose_left_out_rows(rows, 1)
    assert len(np.unique(spare)) == 69_999
    assert draw_row_seeded(rows, 1).number_of_records == 70_000


def _one_value(number: int, resolution: int) -> FrequentRows:
    """So many rows of one value in one column."""
    like = rows_of(single_valued("x"), 1)
    ids, counts = np.zeros((number, 1), np.int32), np.array([number])
    return FrequentRows(like.headers, like.attributes, ids, like.slots_of, like.column_of, counts, resolution)


def big_rows(records: int, columns: int, resolution: int) -> FrequentRows:
    """A table of some size, with empties."""
    codes = generated_codes(records, columns, seed=3)
    lines = [[{f"v{code}"} if code else set() for code in line] for line in zip(*codes, strict=True)]
    return rows_of((schema_of(*[False] * columns), lines), resolution)


@pytest.mark.parametrize("draw", SEEDED)
def test_the_same_seed_gives_the_same_records_on_any_number_of_threads(draw):
    rows = big_rows(20_000, 6, 10)
    first, *others = (draw(rows, 11, threads=threads) for threads in (1, 2, 0))
    for other in others:
        assert np.array_equal(first.attribute_ids, other.attribute_ids)
        assert np.array_equal(first.offsets, other.offsets)
    assert not np.array_equal(first.attribute_ids, draw(rows, 12).attribute_ids)
    ones = np.bincount(first.attribute_ids, minlength=len(rows.attributes))
    assert np.array_equal(ones, rows.counts // 10 * 10)


def test_a_column_alone_gives_its_rounded_counts():
    rows = rows_of(single_valued("x " * 7 + "y " * 5 + "z"), 3)
    assert records_of(draw_row_seeded(rows, 1)) == [(0,)] * 6 + [(1,)] * 3


def test_equal_records_come_back_whole():
    """However many they are: what all rows hold takes no time."""
    rows = rows_of(single_valued("a,b,c,d,e " * 10), 10)
    many = FrequentRows(
        rows.headers, rows.attributes, np.repeat(rows.ids, 30_000, axis=0), rows.slots_of, rows.column_of,
        np.full(5, 300_000), 7,
    )  # fmt: skip
    synthetic = draw_row_seeded(many, 1)
    full = np.count_nonzero(np.diff(synthetic.offsets) == 5)
    assert full >= 300_000 - 5 * (300_000 % 7)
    assert np.bincount(synthetic.attribute_ids).tolist() == [300_000 // 7 * 7] * 5


def test_more_attributes_than_two_bytes_hold():
    number, like = 66_000, rows_of(single_valued("x"), 1)
    rows = FrequentRows(
        like.headers, like.attributes * number, np.arange(number, dtype=np.int32).reshape(-1, 1),
        np.repeat(like.slots_of, number, axis=0), np.zeros(number, np.int32), np.ones(number, np.int64), 1,
    )  # fmt: skip
    synthetic = draw_row_seeded(rows, 1)
    assert np.bincount(synthetic.attribute_ids, minlength=number).tolist() == [1] * number


def test_suppression_removes_the_first_of_each_in_one_random_order_and_drops_empty_records():
    records = [(0, 1), (0,), (0,), (1, 2)]
    sizes, ids = np.array([2, 1, 1, 2], np.int32), np.array([0, 1, 0, 0, 1, 2], np.int32)
    excess: Integers = np.array([1, 1, 0])
    expected: Counter[tuple] = Counter()
    for order in itertools.permutations(range(4)):
        left, kept = excess.copy(), [list(record) for record in records]
        for record in order:
            for attribute in records[record]:
                if left[attribute] > 0:
                    left[attribute] -= 1
                    kept[record].remove(attribute)
        expected[tuple(tuple(record) for record in kept if record)] += 1
    found: Counter[tuple] = Counter()
    for seed in range(2400):
        found[tuple(split(remove_excess_uses(DrawnRecords(sizes, ids), excess, seed)))] += 1
    assert set(found) == set(expected)
    check_law(found, {each: mean / 24 for each, mean in expected.items()})


@pytest.mark.parametrize("filled", [(610, 610, 14), (61, 61, 5), (70, 50, 9), (614, 615, 0), (4, 5, 2)])
def test_the_number_of_records_of_a_narrow_table_is_the_rounded_one(filled):
    """One column that all fill and one with two values: n itself came out of nearly every seed."""
    xs, ys, neither = filled
    rows = rows_of(single_valued("a,x " * xs + "a,y " * ys + "a,. " * neither), 10)
    numbers = {draw_row_seeded(rows, seed).number_of_records for seed in range(50)}
    assert numbers == {sum(filled) // 10 * 10}
