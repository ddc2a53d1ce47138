"""From SynDiffix's trees to buckets, as the specification says it, slowly (X3.1, X3.2).

In the port's semantics a bucket is one object wherever it appears: rescaling a branch changes the counts
that were harvested from its children and from lower trees, for everything that is harvested later. In ours
counts are never changed, and buckets without rows are dropped wherever they arise.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import trunc

from tasks.core.syndiffix.intervals import Interval
from tests.oracles.syndiffix import halves, middle
from tests.oracles.syndiffix_forest import Node


@dataclass(eq=False)
class Bucket:
    intervals: list[Interval]
    count: int


def harvest(node, draw):
    """[(intervals, count)] of all rows of a node, with nothing harvested before; see `Harvester`."""
    return Harvester(draw).table(node)


@dataclass
class Harvester:
    """``draw(total)`` gives an integer in 0..total - 1; what was harvested from a node is kept."""

    draw: Callable[[int], int]
    known: dict[Node, list[Bucket]] = field(default_factory=dict)

    def table(self, node):
        """[(intervals, count)] of all rows of a node, without those that were rounded to nothing."""
        return [(bucket.intervals, bucket.count) for bucket in dropping_zeros(self.harvest(node))]

    def harvest(self, node):
        if node not in self.known:
            buckets = self.of_leaf(node) if node.is_leaf else self.of_branch(node)
            self.known[node] = buckets if is_port(node) else dropping_zeros(buckets)
        return self.known[node]

    def of_leaf(self, node):
        if node.is_low_count and not node.is_value_safe:
            return []
        if node.is_singularity or len(node.columns) == 1:
            return [Bucket(node.bucket_intervals, node.noisy_count)]
        return self.refine(node, node.noisy_count)

    def of_branch(self, node):
        buckets = [bucket for child in node.children.values() for bucket in self.harvest(child)]
        present, wanted = sum(bucket.count for bucket in buckets), node.noisy_count
        if 2 * present >= wanted:
            return rescaled(buckets, wanted / present, in_place=is_port(node))
        if len(node.columns) == 1:
            return [Bucket(node.bucket_intervals, wanted)]
        return buckets + self.refine(node, wanted - present)

    def refine(self, node, count):
        """``count`` rows whose places are drawn from the buckets of the node's subnodes."""
        k = len(node.columns)
        whole = [Bucket(node.bucket_intervals, count)]
        lists = [self.of_subnode(node, i) for i in range(k)]
        if not all(lists):
            return whole
        smallest = [
            narrowed(shortest_hull(lists, k, d), interval) for d, interval in enumerate(compacted(node))
        ]
        pools = [inside(lists[i], without(smallest, k - 1 - i)) for i in range(k)]
        places = [inside(marginals(lists, k, d), [smallest[d]]) for d in range(k)]
        if not all(sum(bucket.count for bucket in pool) for pool in pools + places):
            return whole
        refined = []
        for m in range(count):
            i = m % k
            d = k - 1 - i
            others = self.drawn(pools[i])
            place = self.drawn(places[d])
            refined.append(Bucket([*others[:d], *place, *others[d:]], 1))
        return refined

    def of_subnode(self, node, i):
        """The buckets that the node's rows have in the tree without column k - 1 - i."""
        d = len(node.columns) - 1 - i
        if all(without(node.singular, d)):
            return [Bucket(without(node.actual, d), node.noisy_count)]
        return [] if node.subnodes[i] is None else self.harvest(node.subnodes[i])

    def drawn(self, pool):
        """The intervals of a bucket, in proportion to the counts."""
        place = self.draw(sum(bucket.count for bucket in pool))
        for bucket in pool:
            if place < bucket.count:
                return bucket.intervals
            place -= bucket.count
        raise AssertionError


def is_port(node):
    return node.forest.rules.semantics == "port"


def dropping_zeros(buckets):
    return [bucket for bucket in buckets if bucket.count]


def rescaled(buckets, ratio, in_place):
    """Counts times a ratio, whole; what a bucket lost by rounding is carried to the next ones."""
    error, result = 0.0, []
    for bucket in buckets:
        value = bucket.count * ratio
        error += value % 1
        if error > 1:
            value, error = value + 1, error - 1
        changed = bucket if in_place else Bucket(bucket.intervals, 0)
        changed.count = trunc(value)
        result.append(changed)
    return result


def without(items, d):
    return [*items[:d], *items[d + 1 :]]


def marginals(lists, k, d):
    """The intervals of dimension d, from all lists that have it, as buckets of one dimension."""
    return [
        Bucket([with_gap(bucket.intervals, k - 1 - i)[d]], bucket.count)
        for i in range(k)
        if k - 1 - i != d
        for bucket in lists[i]
    ]


def with_gap(intervals, d):
    return [*intervals[:d], None, *intervals[d:]]


def shortest_hull(lists, k, d):
    """The shortest of the hulls that the lists with dimension d give to it; the first of equals."""
    hulls = []
    for i in range(k):
        if k - 1 - i != d:
            intervals = [with_gap(bucket.intervals, k - 1 - i)[d] for bucket in lists[i]]
            hulls.append(Interval(min(x.lower for x in intervals), max(x.upper for x in intervals)))
    return min(hulls, key=lambda hull: hull.size)


def compacted(node):
    """The node's intervals; of a stub leaf, the half that enough rows are in where only one is such."""
    if not (node.is_stub and node.is_leaf):
        return node.snapped
    threshold = node.forest.rules.anonymization.low_count_params.low_threshold
    result = []
    for column, interval in zip(node.columns, node.snapped, strict=True):
        values = node.forest.values[column]
        sides = [
            [row for row in node.holders if (values[row] >= middle(interval)) == upper]
            for upper in (False, True)
        ]
        low = [node.is_low(threshold, rows) for rows in sides]
        result.append(interval if low[0] == low[1] else halves(interval)[low.index(False)])
    return result


def narrowed(hull, interval):
    """What both have in common; where they do not overlap, what they span."""
    if hull.lower < interval.upper and hull.upper > interval.lower:
        return Interval(max(hull.lower, interval.lower), min(hull.upper, interval.upper))
    return Interval(min(hull.lower, interval.lower), max(hull.upper, interval.upper))


def inside(buckets, limits):
    return [
        bucket
        for bucket in buckets
        if all(
            limit.lower <= interval.lower and interval.upper <= limit.upper
            for interval, limit in zip(bucket.intervals, limits, strict=True)
        )
    ]
