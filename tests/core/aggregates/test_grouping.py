"""Sets are rolled up from larger ones: all are covered, no cube is too large, nothing goes in circles."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import grouping
from tasks.core.aggregates.grouping import (
    LARGEST_KEY,
    FilledCells,
    Shape,
    add_up,
    cover,
    fits,
    most_cells,
    plan_roll_ups,
)
from tasks.core.queries import QueryResources

SETTINGS = settings(max_examples=60, deadline=None)


def shape_of(records: int, sizes: tuple[int, ...], evenness: float = 1.0) -> Shape:
    """A table of slots whose values are equally frequent, or (below 1) of which few values are frequent."""
    return Shape(records, sizes, tuple(evenness * math.log(size) for size in sizes), (0.0,) * len(sizes))


@st.composite
def problems(draw):
    sizes = tuple(draw(st.lists(st.integers(1, 60), min_size=1, max_size=8)))
    evenness = draw(st.sampled_from([0.1, 0.5, 1.0]))
    shape = shape_of(draw(st.sampled_from([0, 1, 50, 5_000, 1_000_000])), sizes, evenness)
    most = draw(st.sampled_from([1, 40, 3_000, 100_000, 1 << 24]))
    every = [s for k in range(1, len(sizes) + 1) for s in itertools.combinations(range(len(sizes)), k)]
    longest = draw(st.integers(1, 4))
    whole = [s for s in every if len(s) <= longest]
    chosen = draw(st.one_of(st.just(whole), st.lists(st.sampled_from(every), max_size=12)))
    return shape, most, [s for s in chosen if shape.bound(s) <= most]


def check_plan(parents, targets, shape, most) -> None:
    """All targets are there; each set comes from a larger one that is there too, or from the records."""
    assert set(targets) <= parents.keys()
    for slots, parent in parents.items():
        assert slots == tuple(sorted(set(slots)))
        assert shape.bound(slots) <= most
        if parent is not None:
            assert set(slots) < set(parent)
            assert parent in parents
            assert shape.product(slots) <= LARGEST_KEY


@given(problem=problems(), few=st.sampled_from([0, 1 << 17]), many=st.sampled_from([0, 1 << 12]))
@SETTINGS
def test_every_set_comes_from_a_superset_or_from_the_records(problem, few, many):
    shape, most, targets = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_FEW_RECORDS", few)
        patch.setattr(grouping, "_MANY_SETS", many)
        check_plan(plan_roll_ups(targets, shape, most), targets, shape, most)


@pytest.mark.parametrize(
    ("columns", "length", "records", "evenness"),
    [(100, 3, 10**4, 1.0), (100, 3, 10**6, 0.5), (30, 5, 10**6, 0.2), (200, 2, 10**8, 0.2)],
)
def test_many_thousand_sets_are_planned_at_once(columns, length, records, evenness):
    shape = shape_of(records, tuple(2 + place * 7 % 40 for place in range(columns)), evenness)
    targets = [s for k in range(1, length + 1) for s in itertools.combinations(range(columns), k)]
    check_plan(plan_roll_ups(targets, shape, 1 << 24), targets, shape, 1 << 24)


def test_many_sets_of_few_cells_are_rolled_up_from_cubes_of_many_of_them():
    shape = shape_of(10**6, (2,) * 100)
    triples = list(itertools.combinations(range(100), 3))
    cubes = cover(triples, shape, 1 << 16, 1 << 24)
    assert len(cubes) == len(triples)
    assert len(set(cubes.values())) < len(triples) / 50


def test_blocks_that_do_not_fit_together_are_no_cube():
    shape = shape_of(10**6, (60, 4, 4, 4, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_MANY_SETS", 0)
        cubes = cover(list(itertools.combinations(range(5), 2)), shape, 300, 1 << 24)
    # A block of two is (1, 2), another (3, 4); one of them with slot 0 has 960 cells.
    assert set(cubes.values()) == {(1, 2, 3, 4)}
    assert not any(0 in slots for slots in cubes)


@given(problem=problems(), limit=st.sampled_from([1.0, 300.0, 20_000.0]), of_blocks=st.booleans())
@SETTINGS
def test_no_cube_exceeds_its_cells_and_none_of_blocks_holds_one_set_alone(problem, limit, of_blocks):
    shape, most, targets = problem
    sets = sorted(set(targets))
    with pytest.MonkeyPatch.context() as patch:
        if of_blocks:
            patch.setattr(grouping, "_MANY_SETS", 0)
        cubes = cover(sets, shape, limit, most)
    for slots, cube in cubes.items():
        assert set(slots) < set(cube)
        assert shape.bound(cube) <= most
        assert shape.expected(cube) <= limit
        if of_blocks:
            assert shape.product(cube) <= LARGEST_KEY
            assert sum(set(other) <= set(cube) for other in sets) > 1


def test_a_cube_of_few_expected_cells_is_held_to_what_it_may_have_at_worst():
    shape = shape_of(10**6, (60,) * 6, evenness=0.1)
    cubes = set(cover(list(itertools.combinations(range(6), 2)), shape, 20_000, 60**3).values())
    assert {len(cube) for cube in cubes} == {3}
    assert max(shape.expected(cube) for cube in cubes) < 100


def test_a_table_that_fits_is_grouped_once():
    shape = shape_of(50_000, (20,) * 14)
    parents = plan_roll_ups(
        [s for k in (1, 2, 3) for s in itertools.combinations(range(14), k)], shape, 1 << 24
    )
    assert [slots for slots, parent in parents.items() if parent is None] == [tuple(range(14))]


def test_a_table_that_does_not_fit_is_grouped_far_fewer_times_than_it_has_combinations():
    shape = shape_of(10**8, (2, 3, 5, 8, 2, 4, 6, 2, 9, 3, 7, 2, 5, 4, 3))
    triples = list(itertools.combinations(range(15), 3))
    parents = plan_roll_ups(triples, shape, 1 << 14)
    roots = [slots for slots, parent in parents.items() if parent is None]
    assert len(roots) < len(triples) / 5
    assert all(shape.product(root) <= 1 << 14 for root in roots)


def test_a_cube_whose_cells_have_no_number_is_grouped_over_the_records():
    shape = shape_of(1_000_000, (1000,) * 12)
    parents = plan_roll_ups(list(itertools.combinations(range(12), 2)), shape, 1 << 24)
    large = [slots for slots in parents if shape.product(slots) > LARGEST_KEY]
    assert large == [tuple(range(12))]
    assert parents[large[0]] is None


@pytest.mark.parametrize("slots", [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)])
def test_expected_cells_are_within_a_factor_of_two_of_independent_slots(slots):
    generator = np.random.default_rng(3)
    records = 20_000
    columns = [np.minimum(generator.geometric(p, records), size) for p, size in ((0.2, 30), (0.1, 40))]
    columns += [generator.integers(0, 12, records), generator.integers(0, 2, records)]
    shares = [np.unique(column, return_counts=True)[1] / records for column in columns]
    means = [-(share * np.log(share)).sum() for share in shares]
    squares = [(share * np.log(share) ** 2).sum() for share in shares]
    variances = tuple(square - mean**2 for square, mean in zip(squares, means, strict=True))
    shape = Shape(records, tuple(len(share) for share in shares), tuple(means), variances)
    filled = len(np.unique(np.stack([columns[slot] for slot in slots]), axis=1).T)
    assert 0.5 < shape.expected(slots) / filled < 2


def test_a_table_without_records_has_no_cells():
    assert shape_of(0, (3, 4)).expected((0, 1)) == 0
    assert plan_roll_ups([], shape_of(10, ()), 100) == {}


# --- cells of fewer slots are those of counting the records again


#: Few cells (counted densely), many (sorted as one word), more than a word holds beside a count (sorted).
SIZES = [(2, 3, 4, 2), (300, 2, 70_000, 40), (70_000, 90_000, 80_000, 3)]


def codes_of(row: tuple[int, ...]) -> tuple[int, ...]:
    return row[:4]


@st.composite
def tables(draw):
    sizes = draw(st.sampled_from(SIZES))
    value = [st.integers(0, min(size, 6) - 1) | st.just(size - 1) for size in sizes]
    rows = draw(st.lists(st.tuples(*value, st.integers(1, 9)), max_size=40, unique_by=codes_of))
    return sizes, rows


def as_cells(rows: list[tuple[int, ...]], count_type) -> FilledCells:
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    return FilledCells(
        tuple(column.astype(np.uint32) for column in columns[:4]), columns[4].astype(count_type)
    )


def as_pairs(cells: FilledCells) -> list[tuple[tuple[int, ...], int]]:
    codes = zip(*(codes.tolist() for codes in cells.codes), strict=True)
    return list(zip(codes, cells.counts.tolist(), strict=True))


@given(table=tables(), count_type=st.sampled_from([np.uint32, np.int64]), dense=st.sampled_from([0, 1 << 14]))
@SETTINGS
def test_rolled_up_cells_are_the_sums_in_order(table, count_type, dense):
    sizes, rows = table
    places = [(0,), (3,), (0, 1), (0, 2), (0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 1, 2, 3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_DENSE_CELLS", dense)
        found = list(as_cells(rows, count_type).onto_each(places, sizes))
    for chosen, cells in zip(places, found, strict=True):
        sums: Counter[tuple[int, ...]] = Counter()
        for *codes, count in rows:
            sums[tuple(codes[place] for place in chosen)] += count
        assert as_pairs(cells) == sorted(sums.items())
        present = [(codes, count) for codes, count in sorted(sums.items()) if all(codes)]
        assert as_pairs(cells.present()) == present


@given(table=tables(), cut=st.integers(0, 40))
@SETTINGS
def test_parts_add_up(table, cut):
    sizes, rows = table
    parts = [as_cells(rows[:cut], np.int64), as_cells(rows[cut // 2 :], np.int64)]
    sums: Counter[tuple[int, ...]] = Counter()
    for *codes, count in rows[:cut] + rows[cut // 2 :]:
        sums[tuple(codes)] += count
    assert as_pairs(add_up(parts, sizes)) == sorted(sums.items())


def test_what_fits_follows_the_memory_limit():
    assert most_cells(QueryResources()) > most_cells(QueryResources(memory_limit_mb=64)) > 100_000
    assert fits([1000, 1000], 10**9, 10**6)
    assert not fits([1000, 1001], 10**9, 10**6)
    assert fits([1000] * 6, 10**6, 10**6)
    assert not fits([1000] * 7, 10**6, 10**6)
