"""Cells of one column, drawn for tests from buckets that are given."""

import numpy as np

from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.intervals import map_nulls
from tasks.core.syndiffix.microdata import CellSource, draw_cells

DRAWS = 20_000


def buckets(*triples):
    lower, upper, counts = zip(*triples, strict=True) if triples else ((), (), ())
    return Buckets(np.array([lower], float).T, np.array([upper], float).T, np.array(counts, np.int64))


def source(array, *marginal, value_safe=False):
    column = encode_column("c", array)
    _, null_value, _ = map_nulls(column.values)
    return CellSource(column, null_value, buckets(*marginal), value_safe)


def draw(cells_of, *intervals, seed=1):
    lower, upper = np.array(intervals, float).T
    return draw_cells(cells_of, lower, upper, np.random.default_rng(seed))


def repeated(cells_of, lower, upper, seed=1, times=DRAWS):
    cells = draw_cells(
        cells_of, np.full(times, float(lower)), np.full(times, float(upper)), np.random.default_rng(seed)
    )
    return cells.values.to_pylist(), cells.numbers
