"""The compiled forest and the slow one of the same random table, and what is to be equal of them."""

from dataclasses import dataclass
from itertools import combinations
from math import inf, nextafter

import numpy as np
from hypothesis import strategies as st

from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.hashing import hash_int, salted_seed
from tasks.core.syndiffix.settings import BucketizationParameters
from tasks.core.syndiffix.tree_kernels import CORNER, LOW, LOW_AS_SUBNODE, SINGULARITY, STUB
from tests.oracles.syndiffix import LIMITS, LOUD, NAN, NOISELESS, NOISY
from tests.oracles.syndiffix_buckets import Harvester
from tests.oracles.syndiffix_counters import bucket_seed
from tests.oracles.syndiffix_forest import build_forest

PARAMETERS = st.sampled_from([NOISELESS, NOISY, LOUD])
ROW_LIMITS = st.builds(BucketizationParameters, st.just(3), st.just(6), st.integers(1, 20), st.integers(0, 3))
BUCKETIZATION = st.one_of(st.just(LIMITS), ROW_LIMITS)
POOLS = [
    [0.0, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.3, 30.0, NAN],
    [*map(float, range(12)), NAN],
    [0.0, 1.0, 2.0, 3.0] * 6 + [1000.0, 5000.0, -900.0],
    [-5.0, -4.0, -4.0, -0.5, -0.0, 0.0, 3.0, NAN],
    [-8.0, -7.0, -3.0, -1.0],
    [7.0],
    [0.0, 1.0],
    [NAN],
    [-1e300, 5e298, 3e299, 2.0**1019, NAN],
]
# Neighbouring floats: 256 apart, the least above 0, around 1.
NEIGHBOURS = [
    [2.0**60, 2.0**60 + 256],
    [2.0**60, 2.0**60, 2.0**60 + 256, 2.0**60 + 512],
    [-(2.0**60), -(2.0**60) - 256],
    [0.0, 5e-324, 5e-324, 1e-323, 1.5e-323],
    [nextafter(1.0, 0.0), 1.0, nextafter(1.0, 2.0)],
]


@dataclass(frozen=True)
class Table:
    """``columns`` of floats, NaN for null; ``hashes`` of each row's entities, (n, id columns)."""

    columns: list[list[float]]
    hashes: np.ndarray
    value_safe: frozenset[int] = frozenset()

    @property
    def names(self):
        return [f"c{number}" for number in range(len(self.columns))]

    @property
    def rows(self):
        return len(self.hashes)

    @property
    def one_row_each(self):
        entities = self.hashes[:, 0].tolist()
        return self.hashes.shape[1] == 1 and 0 not in entities and len(set(entities)) == self.rows


def by_position(rows):
    """Each row is an entity."""
    return np.array([[hash_int(row + 1)] for row in range(rows)], np.uint64)


def all_combinations(columns):
    """Column numbers, those of fewer columns first."""
    return [each for k in range(1, columns + 1) for each in combinations(range(columns), k)]


def table_of(columns):
    return Table(columns, by_position(len(columns[0])))


def tables(most_columns=4, most_rows=50, pools=POOLS):
    """Tables of a few columns, each of few distinct values; ids of some have several rows or are missing."""
    return st.integers(1, most_rows).flatmap(lambda n: _tables_of(n, most_columns, pools))


@st.composite
def _tables_of(draw, rows, most_columns, pools):
    columns = [
        draw(st.lists(st.sampled_from(draw(st.sampled_from(pools))), min_size=rows, max_size=rows))
        for _ in range(draw(st.integers(1, most_columns)))
    ]
    hashes = by_position(rows)
    if draw(st.booleans()):
        entity = st.integers(0, max(rows // draw(st.integers(1, 3)), 1))
        count = draw(st.integers(1, 2))
        ids = draw(st.lists(st.lists(entity, min_size=count, max_size=count), min_size=rows, max_size=rows))
        hashes = np.array([[hash_int(i) if i else 0 for i in row] for row in ids], np.uint64)
    value_safe = draw(st.sets(st.integers(0, len(columns) - 1)) if draw(st.booleans()) else st.just(set()))
    return Table(columns, hashes, frozenset(value_safe))


def compiled_forest(table, anonymization=NOISY, limits=LIMITS):
    columns = [
        ForestColumn(name, np.array(values, float), value_safe=number in table.value_safe)
        for number, (name, values) in enumerate(zip(table.names, table.columns, strict=True))
    ]
    return Forest(columns, table.hashes, anonymization, limits)


def slow_forest(table, anonymization=NOISY, limits=LIMITS, semantics="ours", *, largest=None):
    return build_forest(
        table.columns,
        table.names,
        anonymization,
        limits,
        semantics,
        hashes=table.hashes.T.tolist(),
        one_row_each=table.one_row_each,
        value_safe=table.value_safe,
        largest=largest,
    )


def bounds_of(lower, size):
    """An interval's bounds; None for the upper one where it is no higher than the next float.

    Such an interval, which holds one value, is as wide as both in the slow tree and may be narrower in the
    other.
    """
    return lower, lower + size if lower + size > nextafter(lower, inf) else None


def slow_tree(node, sizes=None):
    """All that is to be equal of a slow node and of those below it."""
    low = node.is_low_count
    sizes = sizes or [interval.size for interval in node.snapped]
    bounds = [bounds_of(interval.lower, size) for interval, size in zip(node.snapped, sizes, strict=True)]
    facts = {
        "snapped": bounds,
        "hull": node.actual and [(interval.lower, interval.upper) for interval in node.actual],
        "rows": sorted(node.rows),
        "noisy": node.noisy_count,
        "place": bucket_seed(node.base_seed, node.bucket_intervals),
        "depth": node.depth,
        "flags": (node.is_stub, low, node.is_stub_subnode, node.is_singularity),
    }
    halved = [size / 2 for size in sizes]
    return facts, {index: slow_tree(child, halved) for index, child in sorted(node.children.items())}


def compiled_tree(tree, number=None):
    """The same of a compiled node, of the root unless it is given."""
    number = tree.root if number is None else number
    nodes, grid, columns = tree.nodes, tree.grid, range(len(tree.grid.size))
    start, rows, depth, _, _, first, count, flags = nodes.table[number].tolist()
    hull = nodes.hull[number]
    lower, size = nodes.lower[number].tolist(), np.ldexp(grid.size, -depth).tolist()
    bounds = [bounds_of(lower[d], size[d]) for d in columns]
    facts = {
        "snapped": bounds,
        "hull": [tuple(grid.values[grid.first[d] + hull[d]].tolist()) for d in columns]
        if (hull[:, 0] <= hull[:, 1]).all()
        else None,
        "rows": sorted(nodes.order[start : start + rows].tolist()),
        "noisy": int(tree.noisy[number]),
        "place": int(tree.places[number]),
        "depth": depth,
        "flags": tuple(bool(flags & bit) for bit in (STUB, LOW, LOW_AS_SUBNODE, SINGULARITY)),
    }
    children = range(first, first + count)
    corners = nodes.table[first : first + count, CORNER].tolist()
    return facts, dict(zip(corners, (compiled_tree(tree, child) for child in children), strict=True))


class SeededHarvester(Harvester):
    """Draws what the compiled harvest draws: from a generator of each node's own (SplitMix64)."""

    def __init__(self, salt):
        super().__init__(self._draw)
        self._salt = salt

    def refine(self, node, count):
        for entry in range(len(node.columns)):
            self.of_subnode(node, entry)  # now, as they have generators of their own
        place = bucket_seed(node.base_seed, node.bucket_intervals)
        self._state = salted_seed(self._salt, place ^ 0x9E3779B97F4A7C15)
        return super().refine(node, count)

    def _draw(self, total):
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return (mixed ^ (mixed >> 31)) % total


def slow_buckets(harvester, root):
    """[(bounds of each column, count)]."""
    return [([(i.lower, i.upper) for i in intervals], count) for intervals, count in harvester.table(root)]


def compiled_buckets(buckets):
    bounds = np.stack([buckets.lower, buckets.upper], axis=2).tolist()
    return [
        ([tuple(each) for each in of_one], count)
        for of_one, count in zip(bounds, buckets.counts.tolist(), strict=True)
    ]
