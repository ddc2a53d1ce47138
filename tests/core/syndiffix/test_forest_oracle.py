"""What the specification says of small tables by hand, and what ours is to be, of the slow oracles."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix.hashing import hash_string
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles.syndiffix_buckets import Harvester, harvest
from tests.oracles.syndiffix_dependence import dependence, entropy, leaves
from tests.oracles.syndiffix_forest import build_forest
from tests.oracles.syndiffix_settings import LIMITS, NAN, NOISELESS, NOISY

BOTH = pytest.mark.parametrize("semantics", ["port", "ours"])
# Few values, so that branches, stubs, nulls and outliers all occur.
VALUES = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.3, 30.0, NAN])
TABLES = st.integers(1, 60).flatmap(
    lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=3)
)


def forest_of(columns, semantics="ours", parameters=NOISELESS, **options):
    names = [f"c{i}" for i in range(len(columns))]
    return build_forest(columns, names, parameters, semantics=semantics, **options)


def drawing(seed=0):
    random = Random(seed)
    return lambda total: random.randrange(total)


def by_bounds(buckets):
    return {tuple((i.lower, i.upper) for i in intervals): count for intervals, count in buckets}


def nodes(root):
    return [root, *(node for child in root.children.values() for node in nodes(child))]


def shape(node):
    """All that does not depend on what rows are called."""
    bounds = node.snapped, node.actual, len(node.rows), len(node.holders), node.is_stub, node.noisy_count
    return *bounds, {index: shape(child) for index, child in node.children.items()}


@BOTH
def test_pairs_that_are_frequent_enough_come_back_exactly(semantics):
    x, y = [float(i % 12) for i in range(60)], [float(i % 3 + 1) for i in range(60)]
    buckets = harvest(forest_of([x, y], semantics).trees[(0, 1)], drawing())
    expected = {((v, v), (v % 3 + 1, v % 3 + 1)): 5 for v in map(float, range(12))}
    assert by_bounds(buckets) == expected


@BOTH
def test_the_rows_of_an_outlier_stay_in_the_root_whose_hull_is_without_it(semantics):
    root = forest_of([[1.0] * 8 + [100.0]], semantics).trees[(0,)]
    assert (root.noisy_count, root.is_singularity, root.is_leaf) == (9, True, True)
    assert len(root.holders) == (9 if semantics == "port" else 8)


@BOTH
def test_outliers_of_either_side_are_pushed_out_of_the_root_intervals(semantics):
    x = [0.0, 1.0] * 10 + [-5.0]
    y = [*map(float, range(1, 21)), 100.0]
    z = [5.0, 2.0, 7.0, 21.0, 1.0, 13.0, 25.0, 30.0, 6.0, 15.0] * 2 + [100.0]
    forest = forest_of([x, y, z], semantics, largest=2)
    assert forest.intervals == [Interval(0.0, 2.0), Interval(0.0, 32.0), Interval(0.0, 32.0)]
    assert forest.outside == [{20}, {20}, {20}]
    assert all(len(root.rows) == root.noisy_count == 21 for root in forest.trees.values())


@BOTH
def test_columns_of_eight_and_two_values_have_a_leaf_for_each(semantics):
    a, c = [float(i % 8) for i in range(32)], [float(i % 2) for i in range(32)]
    forest = forest_of([a, c], semantics)
    assert [node.noisy_count for node in leaves(forest.trees[(0,)])] == [4] * 8
    assert [node.noisy_count for node in leaves(forest.trees[(1,)])] == [16] * 2
    levels = Counter((node.depth, node.noisy_count) for node in nodes(forest.trees[(0,)]))
    assert sorted(Counter(count for _, count in levels.elements()).items()) == [
        (4, 8),
        (8, 4),
        (16, 2),
        (32, 1),
    ]
    assert [entropy(forest.trees[(column,)]) for column in (0, 1)] == [3.0, 1.0]


@BOTH
@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e", "f", "g", "h"])
def test_the_row_limit_holds_below_the_depth_threshold_of_one_column_only(semantics, name):
    limits = BucketizationParameters(3, 3, 1, 0)
    column = [float(i % 8) for i in range(100)]
    forest = build_forest([column, column], [name, "other"], NOISELESS, limits, semantics)
    root = forest.trees[(0,)]
    assert root.depth == 1  # half of the interval had nothing in it
    assert root.is_leaf == (root.row_limit > 100)
    assert 95 <= root.row_limit <= 105
    # Pairs are divided as far as their columns' nodes reach, in which no row limit counts.
    reached = 1 if root.is_leaf and forest.trees[(1,)].is_leaf else 2
    assert max(node.depth for node in nodes(forest.trees[(0, 1)])) == reached


def test_the_row_limit_of_some_names_keeps_the_root_whole():
    limits = BucketizationParameters(3, 3, 1, 0)
    column = [float(i % 8) for i in range(100)]
    whole = {build_forest([column], [name], NOISELESS, limits).trees[(0,)].is_leaf for name in "abcdefgh"}
    assert whole == {True, False}


@BOTH
def test_a_value_safe_column_is_divided_down_to_the_values_of_one_row(semantics):
    column = [float(i) for i in range(16)]
    safe = forest_of([column], semantics, value_safe=[0]).trees[(0,)]
    assert [leaf.actual[0].lower for leaf in leaves(safe)] == column
    assert by_bounds(harvest(safe, drawing())) == {((v, v),): 1 for v in column}
    assert len(leaves(forest_of([column], semantics).trees[(0,)])) < 16


def test_too_few_holders_of_a_value_are_published_with_outliers_by_the_port_and_not_by_ours():
    column = [float(i % 7) for i in range(70)] + [7.5] * 2 + [1000.0, 2000.0]
    port, ours = (harvest(forest_of([column], s).trees[(0,)], drawing()) for s in ("port", "ours"))
    assert by_bounds(port)[((7.5, 7.5),)] == 4
    assert ((7.5, 7.5),) not in by_bounds(ours)
    assert sum(count for _, count in ours) in (73, 74, 75)


def test_passengers_are_counted_and_looked_at_by_nothing_else():
    x = [float(i % 4) for i in range(40)] + [900.0, 1000.0]
    y = [float(i // 4 % 2) for i in range(42)]
    forest = forest_of([x, y])
    root = forest.trees[(0, 1)]
    assert forest.outside == [{40, 41}, set()]
    assert (len(root.rows), len(root.holders), root.noisy_count) == (42, 40, 42)
    assert root.actual == [Interval(0.0, 3.0), Interval(0.0, 1.0)]
    for node in nodes(root):
        assert set(node.rows) - set(node.holders) == set(node.rows) & {40, 41}
        if node.is_leaf and node.rows:
            assert node.actual is None or node.actual[0].upper <= 3.0


def test_a_node_of_passengers_alone_is_a_leaf_that_fails_every_filter():
    # All who have the large x have the only large y, where no holder is.
    x = [float(i % 4) for i in range(40)] + [1000.0] * 2
    y = [float(i % 4) for i in range(40)] + [0.0] * 2
    root = forest_of([x, y]).trees[(0, 1)]
    alone = [node for node in nodes(root) if not node.holders]
    assert [len(node.rows) for node in alone] == [2]
    assert all(node.is_leaf and node.is_low_count and node.actual is None for node in alone)
    assert not alone[0].is_singularity and alone[0].bucket_intervals == alone[0].snapped
    assert harvest(alone[0], drawing()) == []


def test_a_node_is_a_stub_where_its_subnodes_are_even_if_these_have_enough_rows_of_one_value():
    # Eight rows of 0 in all columns; two more below 8 in each column alone: ranges of ten rows, too few.
    groups = [((0.0, 0.0, 0.0), 8), ((1.0, 8.0, 8.0), 2), ((8.0, 1.0, 8.0), 2), ((8.0, 8.0, 1.0), 2)]
    rows = [row for row, times in [*groups, ((8.0, 8.0, 8.0), 20)] for _ in range(times)]
    node = forest_of(list(map(list, zip(*rows, strict=True)))).trees[(0, 1, 2)].children[0]
    pair = node.subnodes[0]
    assert pair.is_stub and pair.is_singularity and not pair.is_low(5)
    assert node.is_stub


def test_entities_with_several_rows_are_counted_once_by_the_filter_and_flattened():
    ids = [1] * 10 + [2, 3, 4, 5, 6]
    hashes = [[hash_string(str(i)) for i in ids]]
    forest = forest_of([[1.0] * 10 + [2.0] * 5], hashes=hashes)
    root = forest.trees[(0,)]
    assert root.noisy_count == 6
    assert root.snapped == [Interval(2.0, 4.0)]  # one entity alone has the 1
    assert forest.outside == [set(range(10))]


@settings(max_examples=60, deadline=None)
@given(TABLES, st.randoms(use_true_random=False), st.sampled_from([1, 3]))
def test_ours_do_not_depend_on_the_order_of_rows(columns, random, rows_each):
    n = len(columns[0])
    hashes = [hash_string(str(row // rows_each)) for row in range(n)]
    order = random.sample(range(n), n)
    one = forest_of(columns, "ours", NOISY, hashes=[hashes], one_row_each=rows_each == 1)
    other = forest_of(
        [[column[row] for row in order] for column in columns],
        "ours",
        NOISY,
        hashes=[[hashes[row] for row in order]],
        one_row_each=rows_each == 1,
    )
    for key, root in one.trees.items():
        assert shape(root) == shape(other.trees[key])
        assert harvest(root, drawing()) == harvest(other.trees[key], drawing())


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(["port", "ours"]))
def test_counts_add_up_to_the_roots_and_places_are_within_it(columns, semantics):
    forest = forest_of(columns, semantics, NOISY, bucketization=LIMITS)
    for root in forest.trees.values():
        harvester = Harvester(drawing())
        buckets = harvester.table(root)
        if semantics == "ours":
            assert all(bucket.count for known in harvester.known.values() for bucket in known)
        total = sum(count for _, count in buckets)
        assert total == 0 or abs(total - root.noisy_count) <= 1
        for intervals, count in buckets:
            assert count >= 1
            for interval, limit in zip(intervals, root.snapped, strict=True):
                # The port's hulls are also of rows that were pushed out.
                if semantics == "ours":
                    assert limit.lower <= interval.lower <= interval.upper <= limit.upper


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_what_ours_divides_passes_the_filter_and_is_no_stub(columns):
    forest = forest_of(columns, "ours", NOISY, bucketization=LIMITS)
    for node in (node for root in forest.trees.values() for node in nodes(root)):
        assert node.is_leaf or not (node.is_low_count or node.is_stub or node.is_singularity)
        inside = sorted(row for child in node.children.values() for row in child.rows)
        assert node.is_leaf or inside == sorted(node.rows)
        assert len(node.columns) == 1 or not set(node.holders) & {
            row for column in node.columns for row in forest.outside[column]
        }


@settings(max_examples=40, deadline=None)
@given(TABLES, st.sampled_from(["port", "ours"]))
def test_dependence_is_from_zero_to_one_and_symmetric(columns, semantics):
    forest = forest_of([columns[0], columns[-1]], semantics, NOISY, bucketization=LIMITS)
    assert 0 <= dependence(forest, 0, 1) == dependence(forest, 1, 0) <= 1


@BOTH
@pytest.mark.parametrize(("threshold", "expected"), [(8, 0.5), (9, 0.0), (17, 0.0), (100, 0.0)])
def test_dependence_is_measured_on_nodes_with_enough_rows(semantics, threshold, expected):
    # With 16 rows of x and of y in a node nothing is seen yet; with 8 of a single x, y is known.
    columns = [[float(i % 4) for i in range(32)], [1.5, 0.5] * 16]
    limits = BucketizationParameters(3, threshold)
    assert dependence(forest_of(columns, semantics, bucketization=limits), 0, 1) == expected


def test_a_null_at_the_upper_bound_of_the_interval_is_found_by_ours():
    # 0, 1 and null as 2 are in the interval [0, 2]: by the port's walk 2 is in no half.
    x = [value for value in (0.0, 1.0, NAN) for _ in range(32)]
    y = [float(i % 8) for i in range(96)]
    port, ours = (dependence(forest_of([x, y], s, bucketization=LIMITS), 0, 1) for s in ("port", "ours"))
    assert ours == 0.0
    assert port > 0.1
