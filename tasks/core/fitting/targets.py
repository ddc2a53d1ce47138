"""Targets: what the counts of records should come to, from noisy tables alone.

In: noisy tables of single columns and pairs (and more). Out: for each column its estimated counts, for each
measured pair a target that lies between what was measured and what is expected without the pair's own
noise: independence, or what a chain over a third column implies (fitted.md 4, steps 4 to 8).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Counts, Domain, NoisyTable
from tasks.core.fitting.shrinkage import shrunk
from tasks.core.fitting.simplex import nearest_counts

_LEAST_EXPECTED = 0.01
_MOST_CHAINS = 3
_LEAST_GAIN = 6.0
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
    counts: Counts
    weight: float
    forbidden: npt.NDArray[np.bool_] | None = None


def targets_of_pairs(domain: Domain, tables: list[NoisyTable]) -> tuple[list[Target], float]:
    """Targets of every column and of every measured pair, and N, the estimated number of records.

    Returns:
        The targets, single columns first; N is at least 1, so that all that follows is defined.
    """
    residuals = Residuals(domain, tables)
    records = max(1.0, float(round(residuals.total())))
    columns = range(len(domain.sizes))
    margins = [nearest_counts(residuals.marginal((column,)), records) for column in columns]
    variances = {table.columns: table.variance for table in tables if len(table.columns) == 2}
    pairs = _Pairs(residuals, margins, records, variances)
    means = pairs.shrunk_to_chains(pairs.shrunk_to_independence())
    typical = float(np.sqrt(np.median(list(variances.values())))) if variances else 1.0
    margin_weight = _MARGIN_WEIGHT * max(1, len(columns) - 1) / typical
    single = [Target((column,), margins[column], margin_weight) for column in columns]
    double = [Target(pair, means[pair], 1 / variances[pair]) for pair in sorted(means)]
    return [*single, *double], records


class _Pairs:
    """Least squares estimates of pairs, and what they shrink to."""

    def __init__(
        self, residuals: Residuals, margins: list[Counts], records: float, variances: Mapping[Pair, float]
    ) -> None:
        self._margins = margins
        self._records = records
        self._variances = variances
        self._estimates = {pair: residuals.marginal(pair) for pair in variances}

    def shrunk_to_independence(self) -> dict[Pair, Counts]:
        return {pair: self._shrink(pair, self._independent(pair)) for pair in self._variances}

    def shrunk_to_chains(self, means: Mapping[Pair, Counts]) -> dict[Pair, Counts]:
        """Shrink anew, round what chains over a third column imply where they explain enough."""
        conditional = {pair: self._raked(pair, mean) for pair, mean in means.items()}
        return {pair: self._shrink(pair, self._chained(pair, conditional)) for pair in self._variances}

    def _independent(self, pair: Pair) -> Counts:
        one, other = pair
        expected: Counts = np.outer(self._margins[one], self._margins[other]) / self._records
        return expected

    def _shrink(self, pair: Pair, centre: Counts) -> Counts:
        rows, columns = centre.shape
        variance = self._variances[pair] * (1 - 1 / rows) * (1 - 1 / columns)
        centre = np.maximum(centre, _LEAST_EXPECTED)
        deviations = self._estimates[pair] - centre
        if variance <= 0:
            return self._estimates[pair]
        return centre + shrunk(deviations, centre, variance)

    def _raked(self, pair: Pair, mean: Counts) -> Counts:
        """A pair without negative counts whose margins are the columns' own."""
        table = np.maximum(mean, 1e-9)
        rows, columns = self._margins[pair[0]], self._margins[pair[1]]
        for _ in range(_RAKING_STEPS):
            table *= (rows / np.maximum(table.sum(axis=1), 1e-12))[:, None]
            table *= columns / np.maximum(table.sum(axis=0), 1e-12)
        return table

    def _chained(self, pair: Pair, tables: Mapping[Pair, Counts]) -> Counts:
        """Independence, plus up to three chains that explain more than chance would."""
        centre = self._independent(pair)
        left = self._estimates[pair] - np.maximum(centre, _LEAST_EXPECTED)
        chains = [chain - centre for chain in self._chains(pair, tables)]
        for _ in range(_MOST_CHAINS):
            gains = [_gain(chain, left) for chain in chains]
            if not gains or max(gain for gain, _ in gains) <= _LEAST_GAIN * self._variances[pair]:
                break
            best = max(range(len(gains)), key=lambda place: gains[place][0])
            share = gains[best][1]
            centre = centre + share * chains[best]
            left = left - share * chains[best]
        return centre

    def _chains(self, pair: Pair, tables: Mapping[Pair, Counts]) -> list[Counts]:
        one, other = pair
        chains = []
        for via, margin in enumerate(self._margins):
            first, second = _between(tables, one, via), _between(tables, via, other)
            if via not in pair and first is not None and second is not None:
                chains.append((first / np.maximum(margin, 1e-9)) @ second)
        return chains


def _between(tables: Mapping[Pair, Counts], one: int, other: int) -> Counts | None:
    """The table of two columns, ``one`` along the rows."""
    if one < other:
        return tables.get((one, other))
    turned = tables.get((other, one))
    return None if turned is None else turned.T


def _gain(chain: Counts, left: Counts) -> tuple[float, float]:
    """How much of the squares left a chain explains, and with which share of it."""
    square = float((chain * chain).sum())
    if square <= 0:
        return 0.0, 0.0
    product = float((chain * left).sum())
    share = min(1.0, max(0.0, product / square))
    return 2 * share * product - share * share * square, share


def all_pairs(columns: int) -> list[Pair]:
    """Every pair of columns, in order."""
    return list(itertools.combinations(range(columns), 2))
