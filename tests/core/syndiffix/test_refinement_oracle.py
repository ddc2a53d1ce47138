"""Refinement in the slow oracle, step by step by hand (syndiffix.md 3.2)."""

from random import Random

import pytest

from tasks.core.syndiffix.intervals import Interval
from tests.oracles.syndiffix_buckets import Bucket, Harvester, compacted, harvest, narrowed
from tests.oracles.syndiffix_forest import build_forest
from tests.oracles.syndiffix_settings import NOISELESS

# What a node's subnodes give: columns 0 and 1, 0 and 2, 1 and 2.
PAIRS = {
    (0, 1): [([(0, 1), (0, 2)], 5), ([(6, 7), (2, 4)], 5)],
    (0, 2): [([(0, 2), (0, 1)], 3), ([(3, 4), (4, 5)], 2)],
    (1, 2): [([(0, 2), (4, 5)], 1), ([(6, 8), (0, 1)], 1), ([(5, 6), (7, 8)], 1)],
}


def columns_of(rows):
    return list(map(list, zip(*rows, strict=True)))


def forest_of(columns, semantics="ours"):
    return build_forest(columns, "abc"[: len(columns)], NOISELESS, semantics=semantics)


def drawing():
    random = Random(0)
    return random.randrange


def refined(pairs, draw, count):
    """Refinement of a node [0, 8) in three columns, a stub with all halves full, from given buckets."""
    forest = forest_of([[float(i % 8) for i in range(12)]] * 3)
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


def test_the_first_of_a_pool_is_that_of_the_first_list():
    assert refined(PAIRS, lambda total: 0, 3) == [
        ([(0, 1), (0, 2), (0, 1)], 1),
        ([(0, 2), (0, 2), (0, 1)], 1),
        ([(0, 1), (0, 2), (4, 5)], 1),
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("instead", [[], [([(0, 1), (0, 1)], 0)]])
def test_where_a_list_has_no_rows_the_whole_node_is_one_bucket(pair, instead):
    found = refined({**PAIRS, pair: instead}, lambda total: 0, 9)
    assert found == [([(0, 8)] * 3, 9)]


def test_where_no_bucket_is_within_the_shortest_hulls_the_whole_node_is_one_bucket():
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
    node = forest_of(columns_of(rows), semantics).trees[(0, 1)].children[0]
    assert node.is_stub and node.is_leaf and len(node.rows) == 8
    assert compacted(node) == [Interval(0.0, upper), Interval(0.0, 4.0)]
    assert (max(intervals[0].upper for intervals, _ in harvest(node, drawing())) > 4.0) == (upper > 4.0)
