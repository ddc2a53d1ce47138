"""Rows fitted to what is published of each column alone: some are copied, some cells drawn anew (X7.3).

A tree of several columns suppresses more than one of a single column, most of all where few rows lie: it
gives their places to what lies beside them, and a tail is lost. What a column's own tree published says how
many rows belong where. Both counts have noise, so only what exceeds it is mended, by what breaks least:

    fit    cells that contradict a pair's own table change (`HeldPairs`); then whole rows take the place of
           others until counts fit (raked): no pair of values is made that no row has
    move   where that is not enough, as of a value that no row has, cells move; then rows are fitted again
    line   columns that are mostly ranges get all their counts: in a long tail each range lacks a little

Of a value or null that has rows enough, those that move stay none. All other rows are lined up by the column
and dealt out to what is missing, in order: so whoever is among the upper tenth stays there, and what columns
have to do with each other is kept. Nothing is read but what is published, and the rows themselves.

    ages        20 to 40   40 to 60   60 to 80       all rows in the order of their ages:
    found          70         30          0          the 60 youngest stay where they are, the next go
    wanted         60         30         10          to 40 to 60, and the oldest to 60 to 80
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.microdata import CellSource, DrawnCells, draw_cells
from tasks.core.syndiffix.stitching import Microdata, StitchingBasis

_RAKING_ROUNDS = 10
_MOST = 2.0
_LARGEST_KEY = 2**62


def choose_rows(
    places: Sequence[Integers], wanted: Sequence[Floats], tolerance: float, generator: np.random.Generator
) -> Integers:
    """As many rows as there are, by which counts are at most so far from what is wanted, where that can be.

    Args:
        places: of each column, (n,): which bucket, -1 for none.
        wanted: of each column rows of each bucket, in proportion.

    >>> town, rows = np.repeat([0, 1], [60, 40]), np.random.default_rng(1)
    >>> np.bincount(town[choose_rows([town], [np.array([50.0, 50.0])], 4.0, rows)]).tolist()
    [54, 46]
    """
    rows = len(places[0])
    weights = _rake_weights(places, wanted, tolerance)
    order = _order_rows(places, generator.permutation(rows))
    ends = np.minimum(np.floor(np.cumsum(weights[order]) * (rows / weights.sum()) + generator.random()), rows)
    ends[-1] = rows
    times = np.zeros(rows, np.int64)
    times[order] = np.diff(ends, prepend=0)
    return np.repeat(np.arange(rows), times)


def _rake_weights(places: Sequence[Integers], wanted: Sequence[Floats], tolerance: float) -> Floats:
    rows = len(places[0])
    weights = np.ones(rows)
    shares = [counts * (rows / max(counts.sum(), 1.0)) for counts in wanted]
    for _ in range(_RAKING_ROUNDS):
        before = weights
        for place, share in zip(places, shares, strict=True):
            # One more for rows that are nowhere, whose weight stays.
            found = np.bincount(place + 1, weights=weights, minlength=len(share) + 1)[1:]
            beyond = np.maximum(np.abs(found - share) - tolerance, 0.0) * np.sign(found - share)
            factors = np.divide(found - beyond, found, out=np.ones_like(found), where=found > 0)
            if beyond.any():
                weights = np.clip(weights * np.append(factors, 1.0)[place], 1 / _MOST, _MOST)
        if weights is before:
            break
    return weights


def _order_rows(places: Sequence[Integers], order: Integers) -> Integers:
    """The rows by their buckets, the column with the fewest first; equal ones as they were."""
    key, size = np.zeros(len(order), np.int64), 1
    for place in sorted(places, key=lambda place: int(place.max(initial=-1))):
        values = int(place.max(initial=-1)) + 2
        if size * values > _LARGEST_KEY:
            break
        key, size = key * values + (place + 1), size * values
    ordered: Integers = order[np.argsort(key[order], kind="stable")]
    return ordered


_ROUNDS = 3  # each changes at most one cell of a row
#: Rows that a table must hold in all. Of one that lacks more, values go with others in suppressed rows.
_NEARLY_ALL = 0.95
_LEAST = 2  # rows of a pair; one that was drawn from fewer columns has one


@dataclass(frozen=True)
class HeldPairs:
    """Pairs of buckets (P,) that the table of columns a < b holds.

    Attributes:
        keys: sorted, the bucket of a times ``width`` plus that of b.
        counts: rows of each.
        known: of both columns, which buckets have no other partners.
    """

    columns: tuple[int, int]
    width: int
    keys: Integers
    counts: Floats
    known: tuple[Flags, Flags]

    @classmethod
    def of(cls, sources: Sequence[CellSource], columns: tuple[int, int], buckets: Buckets) -> "HeldPairs":
        first, single = [], np.ones(len(buckets.counts), np.bool_)
        for place, column in enumerate(columns):
            weights, top = sources[column].weights, sources[column].top
            begin, after = weights.buckets_over(buckets.lower[:, place], buckets.upper[:, place], top)
            first.append(begin)
            single &= after - begin == 1
        sizes = [len(sources[column].weights.counts) for column in columns]
        keys, of_key = np.unique((first[0] * sizes[1] + first[1])[single], return_inverse=True)
        counts = np.bincount(of_key, buckets.counts[single], len(keys)).astype(np.float64)
        keys, counts = keys[counts >= _LEAST], counts[counts >= _LEAST]
        known = []
        for side, place in enumerate(np.divmod(keys, max(sizes[1], 1))):
            held = np.bincount(place, weights=counts, minlength=sizes[side])
            own = sources[columns[side]].weights.counts
            is_told = held.sum() >= _NEARLY_ALL * own.sum()
            known.append((held > 0) & (held >= own) & is_told)
        return cls(columns, sizes[1], keys, counts, (known[0], known[1]))

    def holds(self, first: Integers, second: Integers) -> Flags:
        """Of pairs of buckets (n,)."""
        keys = first * self.width + second
        at = np.searchsorted(self.keys, keys).clip(0, len(self.keys) - 1)
        found: Flags = (self.keys[at] == keys) & (first >= 0) & (second >= 0)
        return found

    def partners(self, side: int) -> tuple[Integers, Integers, Floats]:
        """Pairs sorted by the bucket of a (side 0) or b (1): it, the other column's, and the rows."""
        both = np.divmod(self.keys, self.width)
        order = np.argsort(both[side], kind="stable")
        return both[side][order], both[1 - side][order], self.counts[order]


def resolve_contradictions(
    held: Sequence[HeldPairs], places: Mapping[int, Integers], generator: np.random.Generator
) -> dict[int, Integers]:
    """Each column's buckets, (n,), -1 for none, changed so that rows agree with the pairs, where they can."""
    changed = {column: place.copy() for column, place in places.items()}
    tables = {pairs.columns: pairs for pairs in held if pairs.known[0].any() or pairs.known[1].any()}
    for _ in range(_ROUNDS):
        votes = {column: np.zeros(len(place)) for column, place in changed.items()}
        accused: dict[tuple[int, int], Flags] = {}
        for (first, second), pairs in tables.items():
            told = _find_contradictions(pairs, changed[first], changed[second])
            accused[first, second], accused[second, first] = told
            for column in (first, second):
                votes[column] += told[0] | told[1]
        if not any(rows.any() for rows in accused.values()):
            break
        _replace_cells(
            changed,
            {pairs.columns: pairs for pairs in held},
            accused,
            _most_contradicted_column(votes, accused),
            generator,
        )
    return changed


def _find_contradictions(pairs: HeldPairs, first: Integers, second: Integers) -> tuple[Flags, Flags]:
    apart = (first >= 0) & (second >= 0) & ~pairs.holds(first, second)
    return apart & pairs.known[0][first], apart & pairs.known[1][second]


def _most_contradicted_column(
    votes: Mapping[int, Floats], accused: Mapping[tuple[int, int], Flags]
) -> Integers:
    """Of each row the column that is in most contradictions, of those that another's value speaks against."""
    columns = sorted(votes)
    numbers = np.full((len(columns), len(votes[columns[0]])), -1.0)
    for (_, column), rows in accused.items():
        place = columns.index(column)
        numbers[place, rows] = votes[column][rows]
    worst = np.array(columns)[numbers.argmax(axis=0)]
    found: Integers = np.where(numbers.max(axis=0) < 0, -1, worst)
    return found


def _replace_cells(
    places: dict[int, Integers],
    held: Mapping[tuple[int, int], HeldPairs],
    accused: Mapping[tuple[int, int], Flags],
    worst: Integers,
    generator: np.random.Generator,
) -> None:
    for (by, column), wrong in accused.items():
        rows = np.flatnonzero(wrong & (worst == column))
        worst[rows] = -1
        pairs = held[min(by, column), max(by, column)]
        values, partners, counts = pairs.partners(int(by > column))
        begin = np.searchsorted(values, places[by][rows])
        number = np.searchsorted(values, places[by][rows], side="right") - begin
        # One line for each row and each partner that it may have.
        line = np.repeat(np.arange(len(rows)), number)
        choice = np.arange(len(line)) + np.repeat(begin - np.cumsum(number) + number, number)
        score = np.zeros(len(line))
        for (first, second), others in held.items():
            if column in (first, second) and by not in (first, second) and len(others.keys):
                beside = places[second if column == first else first][rows][line]
                pair = (partners[choice], beside) if column == first else (beside, partners[choice])
                score += others.holds(*pair)
        race = generator.exponential(size=len(line)) / counts[choice]
        best = np.lexsort((race, -score, line))[np.cumsum(number) - number]
        places[column][rows] = partners[choice[best]]


_NOWHERE = -1
#: Standard deviations of the difference of two counts, by which cells move or whole rows are exchanged.
_TO_MOVE = 3.0
_TO_EXCHANGE = 2.0

Pairs = Mapping[tuple[int, int], Buckets]


def keep_own_counts(
    table: Microdata, basis: StitchingBasis, pairs: Pairs = MappingProxyType({})
) -> Microdata:
    """As many rows, each column having in each of its own buckets as many as by itself, but for noise.

    ``pairs``: what is published of two columns, by their numbers, ascending.
    """
    generator = basis.generator("own counts", sorted(table.cells))
    ranged = {column for column in table.cells if _is_ranged(basis.sources[column])}
    held = [HeldPairs.of(basis.sources, columns, buckets) for columns, buckets in pairs.items()]
    fitted = _fit_rows(table, basis, held, generator)
    moved = _settle_columns(fitted, basis, table.cells.keys() - ranged, generator)
    if moved is not fitted:
        fitted = _fit_rows(moved, basis, held, generator)
    return _settle_columns(fitted, basis, ranged, generator)


def _is_ranged(source: CellSource) -> bool:
    weights = source.weights
    return bool(2 * weights.counts[weights.lower < weights.upper].sum() > weights.counts.sum())


def _settle_columns(
    table: Microdata, basis: StitchingBasis, columns: AbstractSet[int], generator: np.random.Generator
) -> Microdata:
    cells = dict(table.cells)
    if not columns or not table.rows:
        return table
    places = {column: _find_buckets(basis.sources[column], each) for column, each in table.cells.items()}
    example = _one_row_of_each(list(places.values()))
    for column in sorted(columns):
        source = basis.sources[column]
        # A value's count is the sum of those of all combinations that it is in, and each has its noise.
        parts = np.bincount(places[column][example] + 1, minlength=len(source.weights.counts) + 1)[1:]
        deviations = np.where(_is_ranged(source), 0.0, basis.difference_sd * np.sqrt((1 + parts) / 2))
        cells[column] = _settle_column(source, cells[column], _TO_MOVE * deviations, generator)
    changed = any(cells[column] is not table.cells[column] for column in columns)
    return Microdata(table.rows, cells) if changed else table


def _one_row_of_each(places: list[Integers]) -> Integers:
    first, number = np.arange(1), np.zeros(len(places[0]), np.int64)
    for place in places:
        key = number * (int(place.max(initial=-1)) + 2) + place + 1
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first


def _fit_rows(
    table: Microdata, basis: StitchingBasis, held: list[HeldPairs], generator: np.random.Generator
) -> Microdata:
    if len(table.cells) < 2 or not table.rows:
        return table
    places = {column: _find_buckets(basis.sources[column], cells) for column, cells in table.cells.items()}
    mended = resolve_contradictions(held, places, generator)
    cells = {}
    for column, before in table.cells.items():
        rows = np.flatnonzero(mended[column] != places[column])
        to = mended[column][rows]
        cells[column] = _redraw_cells(basis.sources[column], before, rows, to, generator)
    wanted = [basis.sources[column].weights.counts for column in cells]
    tolerance = _TO_EXCHANGE * basis.difference_sd
    rows = choose_rows([mended[column] for column in cells], wanted, tolerance, generator)
    return Microdata(table.rows, cells).take(rows)


def _find_buckets(source: CellSource, cells: DrawnCells) -> Integers:
    first, after = source.weights.buckets_over(cells.numbers, cells.numbers, source.top)
    places: Integers = np.where(after > first, first, _NOWHERE)
    return places


def _settle_column(
    source: CellSource, cells: DrawnCells, tolerance: Floats, generator: np.random.Generator
) -> DrawnCells:
    weights, start = source.weights, generator.random()
    if not len(weights.counts) or not len(cells.numbers):
        return cells
    places = _find_buckets(source, cells)
    found = np.bincount(places[places >= 0], minlength=len(weights.counts))
    single = weights.lower == weights.upper
    shares = _apportion(weights.counts, len(cells.numbers), start)
    wanted = _within_tolerance(found, shares, tolerance)
    if (found == wanted).all():
        return cells
    missing = int(np.flatnonzero(single & (weights.lower == source.null_value)).max(initial=_NOWHERE))
    staying = np.where(single, np.minimum(found, wanted), 0)
    # Rows are lined up by their numbers; nulls, which have none, by that of any other row.
    keys, is_null = cells.numbers.copy(), cells.numbers == source.null_value
    if not is_null.all():
        keys[is_null] = generator.choice(cells.numbers[~is_null], int(is_null.sum()))
    free = _free_rows(places, found, staying, generator)
    free = free[np.lexsort((generator.random(len(free)), keys[free]))]
    rows, to = _moves(free, places, wanted - staying, missing, generator)
    return _redraw_cells(source, cells, rows, to, generator)


def _within_tolerance(found: Integers, wanted: Integers, tolerance: Floats) -> Integers:
    """What is found, but where it is farther from what is wanted; and as many in all as are wanted.

    >>> _within_tolerance(np.array([70, 31, 0, 9]), np.array([60, 30, 10, 10]), np.full(4, 6.0)).tolist()
    [60, 31, 10, 9]
    """
    target = np.where(np.abs(found - wanted) > tolerance, wanted, found)
    lacking = int(wanted.sum() - target.sum())
    # Those that are farthest from what is wanted give or take what is left over.
    apart = np.maximum((wanted - target) * np.sign(lacking), 0)
    order = np.argsort(-apart, kind="stable")
    before = np.cumsum(apart[order]) - apart[order]
    target[order] += np.sign(lacking) * np.clip(abs(lacking) - before, 0, apart[order])
    return target


def _apportion(weights: Floats, rows: int, start: float) -> Integers:
    """So many rows in proportion to some weights, rounded with what is left over carried on.

    >>> _apportion(np.array([5.0, 3.0, 1.0]), rows=10, start=0.5).tolist()  # 5.6, 3.3 and 1.1
    [6, 3, 1]
    """
    ends = np.floor(np.cumsum(weights) * (rows / weights.sum()) + start)
    ends[-1] = rows
    shares: Integers = np.diff(np.minimum(ends, rows), prepend=0).astype(np.int64)
    return shares


def _moves(
    free: Integers, places: Integers, lacking: Integers, missing: int, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Which rows change, and to which bucket: those that are free, in their order, go to what is lacking."""
    to = np.repeat(np.arange(len(lacking)), lacking)
    if missing != _NOWHERE:
        # Null is nowhere in the column's order, so it is chance who becomes null.
        null = to == missing
        chosen = np.zeros(len(free), np.bool_)
        chosen[generator.choice(len(free), int(null.sum()), replace=False)] = True
        free, to = np.concatenate([free[~chosen], free[chosen]]), np.concatenate([to[~null], to[null]])
    moved = places[free] != to
    return free[moved], to[moved]


def _free_rows(
    places: Integers, found: Integers, staying: Integers, generator: np.random.Generator
) -> Integers:
    """Rows that need not stay where they are; which of a single value's too many is left to chance.

    ``found``, ``staying``: how many each bucket has, and how many of them surely stay, (M,).
    """
    order = generator.permutation(len(places))
    order = order[np.argsort(places[order], kind="stable")]
    sorted_places = places[order]
    nowhere = len(places) - int(found.sum())
    begin = nowhere + np.cumsum(found) - found
    # Of each bucket's rows, in random order, as many of the first as surely stay.
    stays = np.arange(len(places)) - begin[sorted_places] < staying[sorted_places]
    free: Integers = order[~stays | (sorted_places == _NOWHERE)]
    return free


def _redraw_cells(
    source: CellSource, cells: DrawnCells, rows: Integers, to: Integers, generator: np.random.Generator
) -> DrawnCells:
    if not len(rows):
        return cells
    lower, upper = source.weights.lower[to], source.weights.upper[to]
    fresh = draw_cells(source, lower, upper, generator)
    ascending = np.lexsort((fresh.numbers, to))
    rows = rows[np.argsort(to, kind="stable")]
    numbers, taken = cells.numbers.copy(), np.arange(len(cells.numbers))
    numbers[rows] = fresh.numbers[ascending]
    taken[rows] = len(taken) + ascending
    return DrawnCells(numbers, pa.concat_arrays([cells.values, fresh.values]).take(pa.array(taken)))
