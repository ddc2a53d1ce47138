from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.stitching import patch, stitch
from tests.oracles.syndiffix_stitching import Stitcher

OWNERS = ("left", "right", "shared")
ROOT = Interval(0.0, 16.0)


def column(*values):
    return np.array(values, np.float64).reshape(-1, 1)


@st.composite
def tables(draw):
    """Two tables with the same stitch columns, of few values, so that many are equal, or of many.

    The right one is independent of the left, or has most of its rows, so that cells are divided often.
    """
    columns = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32))
    random = np.random.default_rng(seed)
    sizes = random.integers(0, draw(st.sampled_from([4, 20, 80])), 2)
    fine = random.choice([1.0, 8.0, 1024.0], columns)
    tables = [np.floor(random.random((size, columns)) ** 2 * 16 * fine) / fine for size in sizes]
    if draw(st.booleans()):
        tables[1] = random.permutation(tables[0][random.random(len(tables[0])) < 0.9])
    # Some lie beyond the interval, as values do that were pushed out of a root.
    return [np.where(random.random(table.shape) < 0.03, 40.0, table) for table in tables]


@settings(deadline=None, max_examples=60)
@given(tables(), st.sampled_from(OWNERS), st.integers(0, 2**32))
def test_rows_are_paired_as_by_the_oracle(sides, owner, seed):
    left, right = sides
    columns = left.shape[1]
    found = stitch(left, right, [ROOT] * columns, owner, np.random.default_rng(seed))
    random = np.random.default_rng(seed)
    starts = random.random((min(len(left), len(right)), 2))
    mixed_left, mixed_right = random.permutation(len(left)), random.permutation(len(right))
    exact = [
        [[Fraction(v) for v in row] for row in table[order].tolist()]
        for table, order in ((left, mixed_left), (right, mixed_right))
    ]
    pairs = Stitcher(*exact, owner, iter(starts.tolist())).run([(Fraction(0), Fraction(16))] * columns)
    of_left, of_right, from_left = found
    assert list(zip(of_left, of_right, strict=True)) == [(mixed_left[i], mixed_right[j]) for i, j in pairs]
    kept = {"left": len(left), "right": len(right), "shared": (len(left) + len(right)) // 2}[owner]
    assert len(pairs) == (kept if len(left) and len(right) else 0)
    turns = [owner == "left" or (owner == "shared" and place % 2 == 0) for place in range(len(pairs))]
    assert from_left.tolist() == turns


@pytest.mark.parametrize("owner", OWNERS)
def test_a_long_tail_survives_with_its_share(owner):
    """1 row in 50 is far out, on a side with twice the other's rows: neither is cut or repeated by chance."""
    left, right = (
        np.concatenate([np.linspace(0, 1, 49 * n), np.linspace(2**20, 2**30, n)]).reshape(-1, 1)
        for n in (40, 20)
    )
    of_left, of_right, from_left = stitch(
        left, right, [Interval(0.0, 2.0**30)], owner, np.random.default_rng(0)
    )
    values = np.where(from_left, left[of_left, 0], right[of_right, 0])
    assert abs((values > 1).mean() - 1 / 50) <= 1.01 / len(values)
    assert abs((values < 0.5).mean() - 49 / 100) <= 1.01 / len(values)


def test_rows_are_cut_and_repeated_with_equal_chances():
    """3 of 5 rows, and 5 of 3, over 4000 seeds: within 4.5 SD (false alarm about 1 in 10,000)."""
    few, many = column(0, 1, 2), column(*range(5))
    chosen, repeated = Counter(), Counter()
    for seed in range(4000):
        chosen.update(stitch(few, many, [ROOT], "left", np.random.default_rng(seed))[1].tolist())
        repeated.update(stitch(few, many, [ROOT], "right", np.random.default_rng(seed))[0].tolist())
    for count in chosen.values():
        assert abs(count - 2400) < 4.5 * (4000 * 0.6 * 0.4) ** 0.5
    for count in repeated.values():
        assert abs(count - 20_000 / 3) < 4.5 * (4000 * 2 / 3 * 1 / 3) ** 0.5


def test_equal_rows_are_paired_at_random():
    """The first left row's partner among 4 equal ones over 4000 seeds: within 4.5 SD of 1000."""
    partners = Counter()
    for seed in range(4000):
        equal = column(3, 3, 3, 3)
        left, right, _ = stitch(equal, equal, [ROOT], "left", np.random.default_rng(seed))
        partners[int(right[left == 0][0])] += 1
    assert set(partners) == {0, 1, 2, 3}
    assert all(abs(count - 1000) < 4.5 * 750**0.5 for count in partners.values())


def test_values_that_cannot_be_told_apart_in_an_interval_end_the_division():
    left, right = column(1e300, 2e300, 3e300), column(1e300, 2e300, 3e300)
    of_left, of_right, _ = stitch(left, right, [Interval(0.0, 1.0)], "left", np.random.default_rng(0))
    assert sorted(of_left) == [0, 1, 2]
    assert (left[of_left] == right[of_right]).all()


def test_cells_can_lie_in_each_other_as_often_as_floats_allow():
    values = column(0.0, *(2.0**-power for power in range(1, 1070)))
    left, right, _ = stitch(values, values, [Interval(0.0, 1.0)], "left", np.random.default_rng(0))
    assert (left == right).all()


@pytest.mark.parametrize(("left", "right"), [(12, 10), (5, 10), (10, 10), (1, 7), (100, 3)])
def test_a_patch_has_a_row_for_each_left_one_and_takes_the_rights_evenly(left, right):
    rows = patch(left, right, np.random.default_rng(0))
    assert len(rows) == left
    counts = np.bincount(rows, minlength=right)
    assert set(counts.tolist()) <= {left // right, -(-left // right)}


def test_a_patch_leaves_out_neighbours_of_those_it_takes():
    rows = np.sort(patch(500, 1000, np.random.default_rng(0)))
    assert set(np.diff(rows).tolist()) == {2}


def test_a_patch_is_in_random_order():
    rows = patch(1000, 1000, np.random.default_rng(0))
    assert abs(np.corrcoef(rows, np.arange(1000))[0, 1]) < 0.15


@pytest.mark.parametrize(("left", "right"), [(0, 4), (4, 0), (0, 0)])
def test_a_patch_with_an_empty_table_is_empty(left, right):
    assert len(patch(left, right, np.random.default_rng(0))) == 0
