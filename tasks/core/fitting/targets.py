"""Targets: what the counts of records should come to, from noisy tables alone.

Of each column they are its estimated counts, made possible; of each measured pair something between what was
measured and what is expected without the pair's own noise: independence, or what a chain over a third column
implies. Longer tables get theirs from records that were fitted to the pairs first; see `fit`.

Shrinkage is empirical Bayes (E5). Neighbours that deviate alike are told from noise together: ages 41 and 42
deviate from independence in nearly the same way, which levels show (E6).
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.arrays import Flags, Floats
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, NoisyTable

#: Variances of the signal, as multiples of the noise's, of the cell that is expected to hold most.
_STRENGTHS = 10.0 ** np.arange(-1, 5)
#: How the variance of the signal grows with what a cell is expected to hold.
_POWERS = (0.5, 1.0, 1.5, 2.0)
_STEPS = 80
_ALL = np.ones(1 + len(_POWERS) * len(_STRENGTHS), bool)
#: So many cells, of small and of large expectation alike, say how often which variance is.
_CELLS_LEARNT = 2_000
#: In larger tables, variances that are rarer than this are left out.
_RAREST = 1e-4
#: So many cells are worked on at once, which keeps them in the processor's cache.
_CELLS_AT_ONCE = 4_000


def posterior(deviations: Floats, expected: Floats, variance: float) -> tuple[Floats, float]:
    """The posterior mean of noisy deviations, in their shape, and the evidence for it.

    The evidence is the logarithm of the deviations' density, under the variances that were learnt.

    >>> noisy, expected = np.array([40.0, 1.0, -1.0, 0.5, -0.5, 1.0]), np.full(6, 10.0)
    >>> mean, evidence = posterior(noisy, expected, variance=1.0)
    >>> abs(mean).round(1).tolist()  # one is signal
    [40.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    Args:
        expected: what the cells are expected to hold, > 0, same shape.
        variance: of the deviations' noise, > 0.
    """
    noisy, relative = deviations.ravel(), expected.ravel() / expected.max()
    weights, evidence = _learnt(noisy, relative, variance)
    used = weights > (_RAREST if noisy.size > _CELLS_LEARNT else 0.0)
    mean = np.empty(noisy.size)
    for start in range(0, noisy.size, _CELLS_AT_ONCE):
        block = slice(start, start + _CELLS_AT_ONCE)
        likelihood, kept, _ = _components(noisy[block], relative[block], variance, used)
        kept *= likelihood
        mean[block] = noisy[block] * (weights[used] @ kept) / (weights[used] @ likelihood)
    return mean.reshape(deviations.shape), evidence


def _learnt(noisy: Floats, relative: Floats, variance: float) -> tuple[Floats, float]:
    if noisy.size > _CELLS_LEARNT:
        places = np.linspace(0, noisy.size - 1, _CELLS_LEARNT).astype(np.int64)
        some = np.argsort(relative, kind="stable")[places]
    else:
        some = np.arange(noisy.size)
    likelihood, _, largest = _components(noisy[some], relative[some], variance, _ALL)
    # To begin with, half of the cells hold no signal, and all variances of signals are equally likely.
    weights = np.full(len(likelihood), 0.5 / (len(likelihood) - 1))
    weights[0] = 0.5
    for _ in range(_STEPS):
        weights *= likelihood @ (1 / (weights @ likelihood)) / len(some)
    evidence = float((np.log(weights @ likelihood) + largest).sum())
    return weights, evidence * noisy.size / len(some)


def _components(
    noisy: Floats, relative: Floats, variance: float, used: Flags
) -> tuple[Floats, Floats, Floats]:
    """Of each variance that is used (a row) and each cell (a column): likelihood and share of signal.

    The likelihoods of a cell are divided by the largest, whose logarithm comes last.
    """
    ratios = np.concatenate([[0.0 * relative], *(_STRENGTHS[:, None] * relative**power for power in _POWERS)])
    ratios = ratios[used]  # of the signal's variance to the noise's
    whole = ratios + 1
    logs = noisy**2 / variance / whole
    logs += np.log(whole)
    logs += math.log(2 * math.pi * variance)
    logs *= -0.5
    largest = logs.max(axis=0)
    logs -= largest
    ratios /= whole
    return np.exp(logs, out=logs), ratios, largest


_LEAST_MARGIN = 1e-3
#: In a coarser axis each cell holds enough to speak for itself, and neighbours lend it what it has not.
_LEAST_CELLS = 30


def levels_of(margin: Floats) -> Floats | None:
    """Orthonormal rows (d, d): the margin's own direction, then differences, coarse ones first.

        of four cells    + + + +    as the margin
                         + + - -    lower half against upper half
                         + - . .    within the lower half
                         . . + -    within the upper half

    Args:
        margin: float64 (d,), none below 0; the estimated counts of a column's cells, in their order.

    Returns:
        None where there are too few cells.
    """
    if len(margin) < _LEAST_CELLS:
        return None
    masses = np.maximum(margin, _LEAST_MARGIN)
    rows = [masses / np.sqrt(np.square(masses).sum())]
    spans = [(0, len(masses))]
    for low, high in spans:
        if high - low > 1:
            middle = (low + high) // 2
            rows.append(_difference(masses, low, middle, high))
            spans += [(low, middle), (middle, high)]
    return np.array(rows)


def _difference(masses: Floats, low: int, middle: int, high: int) -> Floats:
    """Of length 1: what is 0 where both halves follow the masses alike."""
    lower, upper = np.square(masses[low:middle]).sum(), np.square(masses[middle:high]).sum()
    row = np.zeros(len(masses))
    row[low:middle] = masses[low:middle] * np.sqrt(upper / lower / (lower + upper))
    row[middle:high] = -masses[middle:high] * np.sqrt(lower / upper / (lower + upper))
    return row


def shrunk_by_levels(
    deviations: Floats, expected: Floats, variance: float, levels: Sequence[Floats | None]
) -> Floats:
    """The posterior mean of the deviations, in cells and in levels of any of the axes, weighed by evidence.

    Args:
        levels: of each axis `levels_of` its margin, or None to leave the axis as it is.
    """
    choices = itertools.product(*((None,) if basis is None else (None, basis) for basis in levels))
    found = [_in_levels(deviations, expected, variance, bases) for bases in choices]
    most = max(evidence for _, evidence in found)
    weights = [float(np.exp(evidence - most)) for _, evidence in found]
    total = np.zeros(deviations.shape)
    for (mean, _), weight in zip(found, weights, strict=True):
        total += weight / sum(weights) * mean
    return total


def _in_levels(
    deviations: Floats, expected: Floats, variance: float, bases: Sequence[Floats | None]
) -> tuple[Floats, float]:
    turned, spread = deviations, expected
    for axis, basis in enumerate(bases):
        if basis is not None:
            turned, spread = _along(basis, turned, axis), _along(basis**2, spread, axis)
    mean, evidence = posterior(turned, spread, variance)
    for axis, basis in enumerate(bases):
        if basis is not None:
            mean = _along(basis.T, mean, axis)
    return mean, evidence


def _along(matrix: Floats, table: Floats, axis: int) -> Floats:
    turned: Floats = np.moveaxis(np.tensordot(matrix, table, (1, axis)), 0, axis)
    return turned


def nearest_counts(estimates: Floats, total: float) -> Floats:
    """The counts (d,), none below 0, with sum ``total`` > 0 that are nearest to estimates in least squares.

    Source: the projection onto the simplex (Held, Wolfe and Crowder 1974): one number is taken off all, and
    what would be negative is 0.

    >>> nearest_counts(np.array([70.0, 33.0, -9.0]), total=100.0).tolist()
    [68.5, 31.5, 0.0]
    """
    falling = np.sort(estimates)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    counts: Floats = np.maximum(estimates - excess[last], 0.0)
    return counts


_LEAST_EXPECTED = 0.01
_MOST_CHAINS = 3
_LEAST_GAIN = 3.0
#: What chains made of one pair better makes the chains of others better.
_ROUNDS = 2
_RAKING_STEPS = 4
_MARGIN_WEIGHT = 0.2

Pair = tuple[int, int]


@dataclass(frozen=True)
class Target:
    """What the counts of one set of columns should come to.

    Attributes:
        columns: ascending.
        counts: float64, one axis a column; may be negative where noise says so.
        weight: of a squared difference of one record in one cell.
        forbidden: which cells no record may be in, or None for no such cell.
    """

    columns: tuple[int, ...]
    counts: Floats
    weight: float
    forbidden: Flags | None = None

    def scaled(self, ratio: float) -> "Target":
        """The target of another number of records."""
        return replace(self, counts=self.counts * ratio)


@dataclass(frozen=True)
class Targets:
    """The targets of columns and pairs, and what else a search needs.

    Attributes:
        of_columns: one a column, in order.
        of_pairs: one a measured pair, in order.
        records: N, the estimated number of records, at least 1.
        variance: of a typical pair's noise, in squared records.
    """

    of_columns: tuple[Target, ...]
    of_pairs: tuple[Target, ...]
    records: float
    variance: float

    @property
    def margins(self) -> list[Floats]:
        return [target.counts for target in self.of_columns]

    @property
    def all(self) -> list[Target]:
        """Columns, then pairs."""
        return [*self.of_columns, *self.of_pairs]


def targets_of(domain: Domain, tables: Sequence[NoisyTable]) -> Targets:
    """The targets of every column and of every measured pair; longer tables inform the pairs in them.

    One of the tables has no columns: the number of records.
    """
    residuals = Residuals(domain, tables)
    records = max(1.0, float(round(residuals.total())))
    columns = range(len(domain.sizes))
    margins = [_margin(domain, residuals, column, records) for column in columns]
    pairs = _Pairs(domain, residuals, margins, records, _pairs_among(tables))
    means = pairs.shrunk_to_independence()
    for _ in range(_ROUNDS):
        means = pairs.shrunk_to_chains(means)
    variance = float(np.median(list(pairs.variances.values()))) if means else 1.0
    margin_weight = _MARGIN_WEIGHT * max(1, len(columns) - 1) / variance**0.5
    return Targets(
        of_columns=tuple(Target((column,), margins[column], margin_weight) for column in columns),
        of_pairs=tuple(Target(pair, means[pair], 1 / pairs.variances[pair]) for pair in sorted(means)),
        records=records,
        variance=variance,
    )


def _margin(domain: Domain, residuals: Residuals, column: int, records: float) -> Floats:
    """The estimated counts of one column's cells; items of a multi-valued one don't add up to the records."""
    estimates = residuals.marginal((column,))
    if column not in domain.multi_valued:
        return _without_absent(domain, column, nearest_counts(estimates, records))
    positive: Floats = np.clip(estimates, 0.0, records)
    return positive if positive.any() else np.full(len(positive), records / len(positive))


def _without_absent(domain: Domain, column: int, counts: Floats) -> Floats:
    """The counts with nobody in `absent` where no record may be in it: its share goes to all others alike."""
    impossible, absent = domain.impossible_in((column,)), domain.empty(column)
    if impossible is None or absent == len(counts) or not impossible[absent]:
        return counts
    kept = np.where(np.arange(len(counts)) == absent, 0.0, counts)
    if not kept.any():
        kept = np.where(impossible, 0.0, 1.0)
    scaled: Floats = kept * (counts.sum() / kept.sum())
    return scaled


def _pairs_among(tables: Sequence[NoisyTable]) -> dict[Pair, NoisyTable]:
    return {(table.columns[0], table.columns[1]): table for table in tables if len(table.columns) == 2}


class _Pairs:
    """Least squares estimates of pairs, and what they shrink to."""

    def __init__(
        self,
        domain: Domain,
        residuals: Residuals,
        margins: list[Floats],
        records: float,
        tables: Mapping[Pair, NoisyTable],
    ) -> None:
        self._domain = domain
        self._margins = margins
        self._levels = [
            None if column in domain.multi_valued else levels_of(margin)
            for column, margin in enumerate(margins)
        ]
        self._records = records
        self.variances = {pair: table.variance for pair, table in tables.items()}
        # A table of a column with itself has no subset that another table knows.
        self._estimates = {
            pair: table.counts if pair[0] == pair[1] else residuals.marginal(pair)
            for pair, table in tables.items()
        }

    def shrunk_to_independence(self) -> dict[Pair, Floats]:
        """In cells alone: chains need no better."""
        return {pair: self._shrink(pair, self._independent(pair), (None, None)) for pair in self.variances}

    def shrunk_to_chains(self, means: Mapping[Pair, Floats]) -> dict[Pair, Floats]:
        tables = {pair: self._raked(pair, mean) for pair, mean in means.items() if self._adds_up(pair)}
        return {
            pair: self._shrink(pair, self._chained(pair, tables), self._levels_of(pair))
            if pair in tables
            else means[pair]
            for pair in self.variances
        }

    def _levels_of(self, pair: Pair) -> tuple[Floats | None, Floats | None]:
        return self._levels[pair[0]], self._levels[pair[1]]

    def _adds_up(self, pair: Pair) -> bool:
        return not self._domain.multi_valued & set(pair)

    def _independent(self, pair: Pair) -> Floats:
        one, other = pair
        expected: Floats = np.outer(self._margins[one], self._margins[other]) / self._records
        impossible = self._domain.impossible_in(pair)
        if impossible is None:
            return expected
        left = np.where(impossible, 0.0, expected)
        return self._raked(pair, left) if self._adds_up(pair) else left

    def _shrink(self, pair: Pair, centre: Floats, levels: tuple[Floats | None, Floats | None]) -> Floats:
        variance = self.variances[pair]
        for column in set(pair) - self._domain.multi_valued:
            variance *= 1 - 1 / self._domain.sizes[column]
        centre = np.maximum(centre, _LEAST_EXPECTED)
        if variance <= 0:
            return self._estimates[pair]
        deviations = self._estimates[pair] - centre
        found: Floats = centre + shrunk_by_levels(deviations, centre, variance, levels)
        impossible = self._domain.impossible_in(pair)
        return found if impossible is None else np.where(impossible, 0.0, found)

    def _raked(self, pair: Pair, mean: Floats) -> Floats:
        """A pair without negative counts whose margins are the columns' own."""
        table = np.maximum(mean, 1e-9)
        rows, columns = self._margins[pair[0]], self._margins[pair[1]]
        for _ in range(_RAKING_STEPS):
            table *= (rows / np.maximum(table.sum(axis=1), 1e-12))[:, None]
            table *= columns / np.maximum(table.sum(axis=0), 1e-12)
        return table

    def _chained(self, pair: Pair, tables: Mapping[Pair, Floats]) -> Floats:
        centre = self._independent(pair)
        left = self._estimates[pair] - np.maximum(centre, _LEAST_EXPECTED)
        chains = [chain - centre for chain in self._chains(pair, tables)]
        for _ in range(_MOST_CHAINS):
            gains = [_gain(chain, left) for chain in chains]
            if not gains or max(gain for gain, _ in gains) <= _LEAST_GAIN * self.variances[pair]:
                break
            best = max(range(len(gains)), key=lambda place: gains[place][0])
            share = gains[best][1]
            centre = centre + share * chains[best]
            left = left - share * chains[best]
        return centre

    def _chains(self, pair: Pair, tables: Mapping[Pair, Floats]) -> list[Floats]:
        """What each third column says of a pair, if the two had nothing to do with each other but by it."""
        one, other = pair
        chains = []
        for via, margin in enumerate(self._margins):
            first, second = _between(tables, one, via), _between(tables, via, other)
            if first is not None and second is not None:
                chains.append((first / np.maximum(margin, 1e-9)) @ second)
        return chains


def _between(tables: Mapping[Pair, Floats], one: int, other: int) -> Floats | None:
    """The table of two columns, ``one`` along the rows; None if it was not measured."""
    if one < other:
        return tables.get((one, other))
    turned = tables.get((other, one)) if other < one else None
    return None if turned is None else turned.T


def _gain(chain: Floats, left: Floats) -> tuple[float, float]:
    square = float((chain * chain).sum())
    if square <= 0:
        return 0.0, 0.0
    product = float((chain * left).sum())
    share = min(1.0, max(0.0, product / square))
    return 2 * share * product - share * share * square, share
