"""Cells drawn from the intervals of buckets: one column of the synthetic table (X3.3, X6.2).

An interval of a single value gives that value. A wider one is narrowed first: to one of the column's own
buckets within or over it, in proportion to the rows of them that narrower cells have not taken (of a bucket
that is partly within, its share). In what is left a cell is drawn evenly among the numbers that the column's
look like; a text becomes the common prefix of those in range, and a rank.

So cells follow the column's own counts as far as the intervals allow; `own_counts` sees to the rest.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Floats, Integers
from tasks.core.errors import InternalError
from tasks.core.syndiffix.columns import EncodedColumn
from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.intervals import map_nulls

_EXACT = 2.0**53
_LEAST_SHARED = 2  # texts whose common prefix may be shown


@dataclass(frozen=True)
class CellSource:
    """A column of which cells are drawn; if its values are public (``value_safe``), only they are."""

    column: EncodedColumn
    null_value: float
    marginal: Buckets
    value_safe: bool = False

    @cached_property
    def values(self) -> Floats:
        values = self.column.values
        return np.unique(values[~np.isnan(values)])

    @cached_property
    def top(self) -> float:
        """The upper end of the column's interval, whose last half the end itself belongs to."""
        _, _, interval = map_nulls(self.column.values)
        return interval.upper

    @cached_property
    def weights(self) -> "_Weights":
        lower, upper = self.marginal.lower[:, 0], self.marginal.upper[:, 0]
        order = np.lexsort((upper, lower))
        return _Weights(lower[order], upper[order], self.marginal.counts[order].astype(np.float64))


@dataclass(frozen=True)
class DrawnCells:
    """Cells of one column (m,), and their numbers in tree units: a text's rank, ``null_value`` for null."""

    numbers: Floats
    values: pa.Array


def draw_cells(
    source: CellSource, lower: Floats, upper: Floats, generator: np.random.Generator
) -> DrawnCells:
    """A cell for each row.

    Args:
        lower: (m,), in tree units; ``upper`` is not in the interval, unless both are a single value.
        generator: seeded by the salt: who knows its numbers can solve for bounds of intervals.
    """
    if np.isnan(source.column.values).all():
        numbers = np.full(len(lower), source.null_value)
        return DrawnCells(numbers, source.column.decode(numbers, np.ones(len(lower), np.bool_)))
    narrow_lower, narrow_upper = _narrow_intervals(source, lower, upper, generator)
    numbers = narrow_lower.copy()
    single = narrow_lower == narrow_upper
    missing = single & (numbers == source.null_value)
    ranges = np.flatnonzero(~single)
    low, high = narrow_lower[ranges], narrow_upper[ranges]
    drawn = _draw_evenly(source.column, low, high, generator)
    numbers[ranges] = nearest_values(drawn, source.values) if source.value_safe else drawn
    vocabulary = source.column.vocabulary
    if vocabulary is None or source.value_safe:
        own = ~missing & (single | source.value_safe)
        decoded = source.column.decode(numbers, missing)
        return DrawnCells(numbers, source.column.with_own_values(decoded, numbers, own))
    weights = source.weights
    published = frozenset(weights.lower[weights.lower == weights.upper].tolist())
    texts = _shorten_texts(vocabulary, published, (low, high), numbers[ranges])
    places = np.where(missing, 0.0, numbers).astype(np.int64)
    places[ranges] = len(vocabulary) + np.arange(len(ranges))
    choice = pa.concat_arrays([vocabulary, texts])
    cells = choice.take(pa.array(places, mask=missing)).cast(source.column.cell_type)
    return DrawnCells(numbers, cells)


def nearest_values(numbers: Floats, values: Floats) -> Floats:
    """For each number the nearest of the values, which are sorted; the lower of two that are as near."""
    if not len(values):
        raise InternalError("The nearest value of a column must be one of its values, but it has none.")
    above = np.searchsorted(values, numbers).clip(1, max(len(values) - 1, 1))
    lower, upper = values[above - 1], values[np.minimum(above, len(values) - 1)]
    nearest: Floats = np.where(numbers - lower <= upper - numbers, lower, upper)
    return nearest


@dataclass(frozen=True)
class _Weights:
    """The buckets of one column, disjoint and sorted, (M,), and how many rows lie in each."""

    lower: Floats
    upper: Floats
    counts: Floats

    def buckets_over(self, low: Floats, high: Floats, top: float) -> tuple[Integers, Integers]:
        """The first bucket in or over each interval, and the first one after it; an empty one is a value."""
        end = np.where(self.lower == self.upper, np.nextafter(self.upper, np.inf), self.upper)
        stop = np.where(low == high, np.nextafter(high, np.inf), high)
        after = np.where(stop == top, len(end), np.searchsorted(self.lower, stop))
        return np.searchsorted(end, low, side="right"), after

    def shares(self, buckets: slice, low: float, high: float) -> Floats:
        lower, upper = self.lower[buckets], self.upper[buckets]
        sizes = upper - lower
        inside = np.minimum(upper, high) - np.maximum(lower, low)
        share: Floats = np.where(sizes > 0, inside / np.where(sizes > 0, sizes, 1.0), 1.0)
        return share


def _narrow_intervals(
    source: CellSource, lower: Floats, upper: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Each interval's part in one of the marginal's buckets; the interval itself where it is in none."""
    weights = source.weights
    first, after = weights.buckets_over(lower, upper, source.top)
    wide = np.flatnonzero(after - first > 1)
    chosen = first.copy()
    chosen[wide] = _choose_buckets(weights, (lower, upper), (first, after), wide, generator)
    ranges = np.flatnonzero((after > first) & (lower != upper))
    result_low, result_high = lower.copy(), upper.copy()
    result_low[ranges] = np.maximum(lower[ranges], weights.lower[chosen[ranges]])
    result_high[ranges] = np.minimum(upper[ranges], weights.upper[chosen[ranges]])
    return result_low, result_high


def _choose_buckets(
    weights: _Weights,
    intervals: tuple[Floats, Floats],
    buckets_over: tuple[Integers, Integers],
    wide: Integers,
    generator: np.random.Generator,
) -> Integers:
    """A bucket for each of the intervals over several, the narrower intervals first.

    What other cells took of a bucket's rows is no longer there for wider ones: a frequent value has cells
    of its own, and is seldom what is left.
    """
    first, after = buckets_over
    size = len(weights.counts)
    left = weights.counts * (len(first) / weights.counts.sum()) if size else weights.counts
    left = left - np.bincount(first[after - first == 1], minlength=size)
    low, high = (bound[wide] for bound in intervals)
    # Both ends as one complex number: the distinct intervals, and which one each row has.
    distinct, example, of_row = np.unique(low + 1j * high, return_index=True, return_inverse=True)
    rows_of = np.split(np.argsort(of_row, kind="stable"), np.cumsum(np.bincount(of_row))[:-1])
    chosen = np.empty(len(wide), np.int64)
    for group in np.argsort(distinct.imag - distinct.real, kind="stable"):
        rows, place = rows_of[group], example[group]
        buckets = slice(first[wide[place]], after[wide[place]])
        shares = weights.shares(buckets, low[place], high[place])
        rest = np.maximum(left[buckets], 0.0) * shares
        cumulative = np.cumsum(rest if rest.any() else weights.counts[buckets] * shares)
        # One draw in each of as many equal parts as there are rows: shares come out nearly exact.
        steps = (generator.permutation(len(rows)) + generator.random(len(rows))) / len(rows)
        picked = np.searchsorted(cumulative, steps * cumulative[-1], side="right").clip(0, len(rest) - 1)
        chosen[rows] = buckets.start + picked
        left[buckets] -= np.bincount(picked, minlength=len(rest))
    return chosen


def _draw_evenly(
    column: EncodedColumn, lower: Floats, upper: Floats, generator: np.random.Generator
) -> Floats:
    """A number of each interval, evenly among those of the coarsest of the column's grids with any."""
    low = np.maximum(lower, column.bounds[0])
    high = np.minimum(upper, np.nextafter(column.bounds[1], np.inf))
    shares = generator.random(len(low))
    numbers: Floats = np.maximum(np.minimum(low + shares * (high - low), np.nextafter(high, -np.inf)), low)
    rest = np.arange(len(low))
    for multiple, parts in column.grids:
        first = np.ceil(low[rest] * parts / multiple)
        end = np.ceil(high[rest] * parts / multiple)
        fits = (end > first) & (np.maximum(-first, end) <= _EXACT)
        steps = np.minimum(np.floor(shares[rest] * (end - first)), end - first - 1)
        drawn = np.clip((first + steps) * multiple / parts, low[rest], None)
        numbers[rest[fits]] = drawn[fits]
        rest = rest[~fits]
    if not pa.types.is_floating(column.cell_type):
        multiple, parts = column.grids[-1]  # of large numbers, and of intervals that hold nothing of any grid
        on_grid = np.rint(numbers[rest] * parts / multiple) * multiple / parts
        numbers[rest] = np.clip(on_grid, *column.bounds)
    elif column.cell_type.bit_width < 64:
        return _round_to_type(numbers, high, column.cell_type.to_pandas_dtype())
    return numbers


def _round_to_type(numbers: Floats, high: Floats, kind: type) -> Floats:
    short: npt.NDArray[Any] = numbers.astype(kind)
    beyond = short.astype(np.float64) >= high
    short[beyond] = np.nextafter(short[beyond], -np.inf, dtype=short.dtype)
    stored: Floats = short.astype(np.float64)
    return stored


def _shorten_texts(
    vocabulary: pa.Array, published: frozenset[float], interval: tuple[Floats, Floats], ranks: Floats
) -> pa.Array:
    """Texts of ranges of ranks: what all texts in range begin with, a star, and a rank.

    Of fewer than two texts no prefix is shown, and no prefix that is one of them as a whole: neither may be
    shared by enough entities.

    >>> towns, within = pa.array(["Lille", "Limoges", "Lyon"]), (np.array([0.0, 2.0]), np.array([2.0, 3.0]))
    >>> _shorten_texts(towns, frozenset(), within, ranks=np.array([1.0, 2.0])).to_pylist()
    ['Li*1', '*2']
    """
    size = len(vocabulary)
    first, end = (np.ceil(bound).clip(0, size).astype(np.int64) for bound in interval)
    keys, of_pair = np.unique(first * (size + 1) + end, return_inverse=True)
    pairs = zip((keys // (size + 1)).tolist(), (keys % (size + 1)).tolist(), strict=True)
    prefixes = [_common_prefix(vocabulary, start, stop, published) for start, stop in pairs]
    written = pa.array(ranks.astype(np.int64)).cast(vocabulary.type)
    return pc.binary_join_element_wise(
        pa.array(prefixes, vocabulary.type).take(pa.array(of_pair)), written, pa.scalar("*", vocabulary.type)
    )


def _common_prefix(vocabulary: pa.Array, start: int, stop: int, published: frozenset[float]) -> str:
    if stop - start < _LEAST_SHARED:
        return ""
    least, most = vocabulary[start].as_py(), vocabulary[stop - 1].as_py()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(least, most, strict=False))
    prefix = "".join(character for character, _ in same)
    return prefix[:-1] if prefix == least and start not in published else prefix
