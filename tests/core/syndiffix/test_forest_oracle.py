"""The slow oracles of the forest: the specification by hand, what the port computed, and what ours is."""

import csv
import json
from pathlib import Path
from random import Random

import pytest

from tasks.core.syndiffix.hashing import hash_entities
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles.syndiffix_buckets import Bucket, Harvester, compacted, harvest, narrowed
from tests.oracles.syndiffix_dependence import dependence, entropy, leaves
from tests.oracles.syndiffix_forest import build_forest
from tests.oracles.syndiffix_settings import LIMITS, NAN, NOISELESS, NOISY

BOTH = pytest.mark.parametrize("semantics", ["port", "ours"])


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


@BOTH
@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
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


@BOTH
def test_a_value_safe_column_is_divided_down_to_the_values_of_one_row(semantics):
    column = [float(i) for i in range(16)]
    safe = forest_of([column], semantics, value_safe=[0]).trees[(0,)]
    assert [leaf.actual[0].lower for leaf in leaves(safe)] == column
    assert by_bounds(harvest(safe, drawing())) == {((v, v),): 1 for v in column}
    assert len(leaves(forest_of([column], semantics).trees[(0,)])) < 16


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


def test_a_null_at_the_upper_bound_of_the_interval_is_found_by_ours():
    # 0, 1 and null as 2 are in the interval [0, 2]: by the port's walk 2 is in no half.
    x = [value for value in (0.0, 1.0, NAN) for _ in range(32)]
    y = [float(i % 8) for i in range(96)]
    port, ours = (dependence(forest_of([x, y], s, bucketization=LIMITS), 0, 1) for s in ("port", "ours"))
    assert ours == 0.0
    assert port > 0.1


# Each node is [snapped intervals, actual intervals, rows, noisy count, is stub, children by index].
CASES = json.loads((Path(__file__).parent / "trees.json").read_text())


def forest_of_vectors(case, semantics="port"):
    columns = [[NAN if value is None else value for value in column] for column in case["columns"].values()]
    hashes = [hash_entities(case["ids"]).tolist()] if "ids" in case else None
    parameters = NOISELESS if case["noiseless"] else NOISY
    return build_forest(columns, list(case["columns"]), parameters, semantics=semantics, hashes=hashes)


def bounds(intervals):
    return [[interval.lower, interval.upper] for interval in intervals]


def written(node):
    """A node in the form of the vectors; children are there in order of their index."""
    fields = [bounds(node.snapped), bounds(node.actual), len(node.rows), node.noisy_count, node.is_stub]
    children = {str(index): written(child) for index, child in sorted(node.children.items())}
    return [*fields, children] if children else fields


def trees_of(forest):
    return {name_of(columns): written(root) for columns, root in forest.trees.items()}


def name_of(columns):
    return "_".join(map(str, columns))


def generator():
    random = Random(0)
    return lambda total: random.randint(0, total - 1)


def plain(buckets):
    return [[bounds(intervals), count] for intervals, count in buckets]


def test_only_trees_that_were_divided_by_a_prefix_of_their_rows_differ_in_ours():
    trees = {name: trees_of(forest_of_vectors(case, "ours")) for name, case in CASES.items()}
    assert [name for name, case in CASES.items() if trees[name] != case["trees"]] == ["noisy_2d_80"]


@pytest.mark.parametrize("name", CASES)
def test_buckets_are_the_ports(name):
    roots = forest_of_vectors(CASES[name]).trees
    buckets = {name_of(columns): plain(harvest(root, generator())) for columns, root in roots.items()}
    assert buckets == CASES[name]["buckets"]


# What a node's subnodes give: columns 0 and 1, 0 and 2, 1 and 2.
PAIRS = {
    (0, 1): [([(0, 1), (0, 2)], 5), ([(6, 7), (2, 4)], 5)],
    (0, 2): [([(0, 2), (0, 1)], 3), ([(3, 4), (4, 5)], 2)],
    (1, 2): [([(0, 2), (4, 5)], 1), ([(6, 8), (0, 1)], 1), ([(5, 6), (7, 8)], 1)],
}


def forest_of_refined(columns, semantics="ours"):
    return build_forest(columns, "abc"[: len(columns)], NOISELESS, semantics=semantics)


def refined(pairs, draw, count):
    """Refinement of a node [0, 8) in three columns, a stub with all halves full, from given buckets."""
    forest = forest_of_refined([[float(i % 8) for i in range(12)]] * 3)
    root = forest.trees[(0, 1, 2)]
    assert root.is_stub and compacted(root) == root.snapped == [Interval(0.0, 8.0)] * 3
    harvester = Harvester(draw)
    for columns, buckets in pairs.items():
        harvester.known[forest.trees[columns]] = [
            Bucket([Interval(*map(float, bounds)) for bounds in intervals], count)
            for intervals, count in buckets
        ]
    found = harvester.refine(root, count)
    return [([(i.lower, i.upper) for i in bucket.intervals], bucket.count) for bucket in found]


def test_places_are_drawn_from_the_buckets_within_the_shortest_hulls():
    # The shortest hulls are [0, 4], [0, 4] and [0, 5].
    totals = []

    def last(total):
        totals.append(total)
        return total - 1

    found = refined(PAIRS, last, 4)
    assert totals == [5, 7, 5, 11, 1, 10, 5, 7]
    assert found == [
        ([(0, 1), (0, 2), (0, 1)], 1),
        ([(3, 4), (0, 2), (4, 5)], 1),
        ([(3, 4), (0, 2), (4, 5)], 1),
        ([(0, 1), (0, 2), (0, 1)], 1),
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("instead", [[], [([(0, 1), (0, 1)], 0)]])
def test_where_a_list_has_no_rows_the_whole_node_is_one_bucket(pair, instead):
    found = refined({**PAIRS, pair: instead}, lambda total: 0, 9)
    assert found == [([(0, 8)] * 3, 9)]
    # Nor where there are rows, but none is within the shortest hulls.
    pairs = {**PAIRS, (1, 2): [([(0, 2), (0, 8)], 5), ([(6, 8), (4, 5)], 1)]}
    assert refined(pairs, lambda total: 0, 9) == [([(0, 8)] * 3, 9)]


def test_a_hull_is_cut_to_the_interval_and_widened_where_they_only_touch():
    interval = Interval(4.0, 8.0)
    assert narrowed(Interval(2.0, 6.0), interval) == Interval(4.0, 6.0)
    assert narrowed(Interval(5.0, 5.0), interval) == Interval(5.0, 5.0)
    assert narrowed(Interval(4.0, 4.0), interval) == interval
    assert narrowed(Interval(8.0, 9.0), interval) == Interval(4.0, 9.0)


@pytest.mark.parametrize(("semantics", "upper"), [("port", 8.0), ("ours", 4.0)])
def test_a_stub_leaf_is_refined_in_the_half_that_enough_holders_are_in(semantics, upper):
    lower_half = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 0.0), (1.0, 1.0)]
    # The last one is pushed out of the interval of y, and a passenger: without it two are in the upper half.
    upper_half = [(5.0, 1.0), (6.0, 2.0), (7.0, -1000.0)]
    others = [(4.0, 12.0), (5.0, 13.0), (6.0, 14.0)]
    rows = lower_half + upper_half + others + [(8.0 + i % 8, 8.0 + i // 3) for i in range(20)]
    node = forest_of_refined(list(map(list, zip(*rows, strict=True))), semantics).trees[(0, 1)].children[0]
    assert node.is_stub and node.is_leaf and len(node.rows) == 8
    assert compacted(node) == [Interval(0.0, upper), Interval(0.0, 4.0)]
    assert (max(intervals[0].upper for intervals, _ in harvest(node, drawing())) > 4.0) == (upper > 4.0)


TAXI = ["pickup_longitude", "pickup_latitude", "fare_amount", "rate_code", "passenger_count"]


@pytest.mark.slow
@pytest.mark.needs_shared
def test_dependences_and_entropies_of_the_taxi_table_are_the_ports(shared_data):
    with (shared_data / "taxi-1000.csv").open() as file:
        records = list(csv.DictReader(file))
    columns = []
    for name in TAXI:  # in the port's unit: 0 to 0.9999
        values = [float(record[name]) for record in records]
        scale = 0.9999 / (max(values) - min(values))
        columns.append([value * scale - min(values) * scale for value in values])
    forest = build_forest(columns, TAXI, NOISELESS, semantics="port", largest=2)
    entropies = [entropy(forest.trees[(column,)]) for column in range(5)]
    assert entropies == pytest.approx([9.214, 9.207, 5.160, 0.118, 1.350], abs=0.0005)
    found = [dependence(forest, x, y) for x in range(5) for y in range(x + 1, 5)]
    expected = [0.20, 0.15, 0.02, 0.05, 0.18, 0.02, 0.06, 0.04, 0.07, 0.01]
    assert found == pytest.approx(expected, abs=0.00501)
