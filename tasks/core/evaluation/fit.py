"""How good fitted records are, without another look at the table: records in, figures out.

Three questions are answered. Do the records keep what was measured (their distance to each noisy table,
beside the distance that noise alone would make)? How far are they likely to be from the truth (by drawing the
noise anew round the records' own counts, estimating again, and looking how far that leads)? And where did the
model have to guess (pairs whose measured signal is not above the noise and the chance of the table itself)?
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers
from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, NoisyTable, table_counts
from tasks.core.fitting.targets import targets_of
from tasks.core.synthesis.fitted import Unreleased, domain_to_fit, unreleased_values

#: Of pairs that are independent, so many of a hundred are taken for related.
FALSE_ALARMS = 5
_QUANTILE = NormalDist().inv_cdf(1 - FALSE_ALARMS / 100)


@dataclass(frozen=True)
class PairNoise:
    """Variances of the noise of a pair's residuals, each of one cell before it was centred."""

    pair: float
    one: float
    other: float
    whole: float


@dataclass(frozen=True)
class Deviation:
    """How far a pair is from independence.

    Attributes:
        signal: its squared deviation over what noise and chance make of an independent pair's; 1 is none.
        is_noise: whether noise and chance alone would be as strong in more than `FALSE_ALARMS` of 100 pairs.
    """

    signal: float
    is_noise: bool


def deviation(estimate: Floats, noise: PairNoise) -> Deviation | None:
    """Whether a pair's signed counts (a, b) tell of a relation; None where a column has one cell.

    Let p and q be the shares of the two columns' values, N the number of records, Z what was added to the
    counts. To first order the deviation D = P - r c' / N of an independent pair is (I - p 1') Z (I - 1 q').
    What is in Z: noise of the pair's own residual, of the two columns' and of the number of records, all
    independent (see `tasks.core.fitting.least_squares`), and the table's own chance, that of N records drawn
    from p and q. The sum of squares of D is then a sum of chi-squares, which a scaled chi-square of the same
    mean and variance stands for (Satterthwaite, Biometrics Bulletin 2, 1946), and its quantile is Wilson's
    and Hilferty's (PNAS 17, 1931).

    >>> noise = PairNoise(pair=4.0, one=4.0, other=4.0, whole=4.0)
    >>> smoking_by_sex = np.array([[400.0, 100.0], [100.0, 400.0]])
    >>> deviation(smoking_by_sex, noise).is_noise, deviation(np.full((2, 2), 250.0), noise).is_noise
    (False, True)
    """
    if min(estimate.shape) < 2:
        return None
    whole = max(1.0, float(estimate.sum()))
    one, other = estimate.sum(axis=1), estimate.sum(axis=0)
    found = float(((estimate - np.outer(one, other) / whole) ** 2).sum())
    mean, variance = _moments(_parts(_shares(one), _shares(other), whole, noise))
    freedom = 2 * mean**2 / variance
    middle = 2 / (9 * freedom)
    bound = mean * (1 - middle + _QUANTILE * middle**0.5) ** 3
    return Deviation(found / mean, found < bound)


def _shares(counts: Floats) -> Floats:
    """Of the values of a column; even where all that was measured is noise below 0."""
    kept = np.maximum(counts, 0.0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(counts), 1 / len(counts))


def _parts(p: Floats, q: Floats, whole: float, noise: PairNoise) -> list[tuple[Floats, Floats]]:
    """The covariance of an independent pair's deviation: a sum of products of one matrix a column."""
    chance = (whole * (np.diag(p) - np.outer(p, p)), np.diag(q) - np.outer(q, q))
    pair = (noise.pair * _centred(len(p)), _centred(len(q)))
    one = (noise.one * _centred(len(p)), _uneven(q))
    other = (_uneven(p), noise.other * _centred(len(q)))
    return [chance, pair, one, other, (noise.whole * _uneven(p), _uneven(q))]


def _centred(size: int) -> Floats:
    """I - 1 1' / a: noise of equal variance that was centred; I - p 1' leaves it as it is."""
    return np.asarray(np.eye(size) - 1 / size)


def _uneven(shares: Floats) -> Floats:
    """(1/a - p) (1/a - p)': what is left of noise that is spread evenly over the values."""
    apart = 1 / len(shares) - shares
    return np.outer(apart, apart)


def _moments(parts: list[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Mean and variance of the sum of squares: the trace, and twice that of the square."""
    mean = sum(float(np.trace(one) * np.trace(other)) for one, other in parts)
    square = sum(
        float((one * again).sum() * (other * further).sum())
        for one, other in parts
        for again, further in parts
    )
    return mean, 2 * square


_HALF_NORMAL = (2 / np.pi) ** 0.5
#: So many records are counted at a time, since records in a file may be more than memory holds.
_MOST_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class TableFit:
    """One measured set of columns.

    Attributes:
        distance: total variation between the records and the noisy table, in 0..1 (and above, where noise
            exceeds the counts).
        noise_distance: what noise alone is expected to make of it: cells s sqrt(2 / pi) / (2 N).
        expected_error: total variation between the records' counts and an estimate from noise drawn anew
            round them: about what the records' own distance from the truth is. None beyond pairs.
        signal: of a pair, the squared deviation from independence over what noise and the chance of the table
            itself make of an independent pair's; about 1 is none.
        is_guess: whether noise and chance explain it; see `deviation`.
    """

    columns: tuple[str, ...]
    distance: float
    noise_distance: float
    expected_error: float | None = None
    signal: float | None = None
    is_guess: bool | None = None


@dataclass(frozen=True)
class UnreleasedValues:
    """The values of one column that were too rare to be released.

    Attributes:
        share: of the records that hold one, as estimated from noisy counts; 0 to 1.
    """

    column: str
    share: float
    written_as: Literal["released values", "nothing"]


@dataclass(frozen=True)
class FitEvaluation:
    """What a fitted release says of itself.

    Attributes:
        one_way, two_way: mean expected error of columns and of measured pairs; None where there is none.
        guessed: how many of them had no signal above noise and chance.
        tables: each measured set, columns first.
        unreleased: of each open column, what its values that were too rare to be released became.
    """

    one_way: float | None
    two_way: float | None
    pairs: int
    guessed: int
    tables: tuple[TableFit, ...]
    unreleased: tuple[UnreleasedValues, ...] = ()
    measured_pairs: int = 0
    all_pairs: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts, lists and dictionaries."""
        return {"fit": asdict(self)}


def evaluate_fit(measurement: WorkloadMeasurement, cells: Ids, seed: int) -> FitEvaluation:
    """The figures of one fit.

    Args:
        cells: (n, slots), the records as cells, ``other`` included; in memory or mapped from a file.
        seed: of the noise that is drawn anew; public.
    """
    domain, asked = domain_of(measurement.cells, measurement.schema), _tables_to_count(measurement)
    counts = {columns: np.zeros(domain.shape(columns), np.int64) for columns in asked}
    for start in range(0, len(cells), _MOST_AT_ONCE):
        held = np.asfortranarray(cells[start : start + _MOST_AT_ONCE])
        for columns in asked:
            counts[columns] += table_counts(domain, columns, held)
    return _Evaluation(measurement, counts, len(cells), seed).found()


def _tables_to_count(measurement: WorkloadMeasurement) -> list[ColumnNumbers]:
    """The sets of columns that fitted records are counted in: each column, and whatever was measured."""
    singles = [(column,) for column in range(len(measurement.cells))]
    measured = [table.columns for table in noisy_tables(measurement) if table.columns]
    return list(dict.fromkeys([*singles, *measured]))


class _Evaluation:
    """Counts of the records beside what was drawn."""

    def __init__(
        self,
        measurement: WorkloadMeasurement,
        counts: Mapping[ColumnNumbers, Integers],
        number: int,
        seed: int,
    ) -> None:
        self._measurement = measurement
        self._domain = domain_of(measurement.cells, measurement.schema)
        drawn = noisy_tables(measurement)
        self._tables = [table for table in drawn if table.columns]
        self._residuals = Residuals(self._domain, drawn)
        self._whole = max(1.0, self._residuals.total())
        self._held: dict[ColumnNumbers, Floats] = {
            columns: held.astype(np.float64) * (self._whole / max(1, number))
            for columns, held in counts.items()
        }
        self._held[()] = np.array(self._whole)
        self._again = _estimated_again(domain_to_fit(measurement, self._residuals), drawn, self._held, seed)

    def found(self) -> FitEvaluation:
        singles = [self._table(table) for table in self._tables if len(table.columns) == 1]
        longer = [self._table(table) for table in self._tables if len(table.columns) > 1]
        pairs = [found for found in longer if found.signal is not None]
        unreleased = unreleased_values(self._measurement, self._residuals)
        measured_pairs, all_pairs = self._measurement.measured_pairs
        return FitEvaluation(
            one_way=_mean([found.expected_error for found in singles]),
            two_way=_mean([found.expected_error for found in pairs]),
            pairs=len(pairs),
            guessed=sum(bool(found.is_guess) for found in pairs),
            tables=(*singles, *longer),
            unreleased=tuple(map(self._unreleased, unreleased)),
            measured_pairs=measured_pairs,
            all_pairs=all_pairs,
        )

    def _unreleased(self, found: Unreleased) -> UnreleasedValues:
        name = self._measurement.schema.columns[found.column].name
        return UnreleasedValues(name, found.share, "released values" if found.is_replaced else "nothing")

    def _table(self, table: NoisyTable) -> TableFit:
        held = self._held[table.columns]
        names = tuple(self._measurement.schema.columns[column].name for column in table.columns)
        signal, is_guess = self._signal(table.columns)
        again = self._again.get(table.columns)
        return TableFit(
            columns=names,
            distance=self._distance(held, table.counts),
            noise_distance=table.counts.size * table.variance**0.5 * _HALF_NORMAL / (2 * self._whole),
            expected_error=None if again is None else self._distance(held, again),
            signal=signal,
            is_guess=is_guess,
        )

    def _distance(self, one: Floats, other: Floats) -> float:
        return float(np.abs(one - other).sum()) / (2 * self._whole)

    def _signal(self, columns: ColumnNumbers) -> tuple[float | None, bool | None]:
        """The pair's deviation from independence beside that of noise and chance."""
        if len(set(columns)) != 2 or len(columns) != 2 or self._domain.multi_valued & set(columns):
            return None, None
        variance = self._residuals.residual_variance
        noise = PairNoise(variance(columns), variance(columns[:1]), variance(columns[1:]), variance(()))
        found = deviation(self._residuals.marginal(columns), noise)
        return (None, None) if found is None else (found.signal, found.is_noise)


def _estimated_again(
    domain: Domain, drawn: Sequence[NoisyTable], held: dict[ColumnNumbers, Floats], seed: int
) -> dict[ColumnNumbers, Floats]:
    """What would be estimated of columns and pairs, were the records the truth and the noise drawn anew."""
    generator = np.random.Generator(np.random.PCG64([seed % 2**64, 2]))
    tables = []
    for table in drawn:
        noise = generator.normal(0.0, table.variance**0.5, table.counts.shape)
        tables.append(NoisyTable(table.columns, held[table.columns] + noise, table.variance))
    estimated = {}
    for target in targets_of(domain, tables).all:
        impossible = domain.impossible_in(target.columns)
        counts = target.counts if impossible is None else np.where(impossible, 0.0, target.counts)
        estimated[target.columns] = np.maximum(counts, 0.0)
    return estimated


def _mean(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return float(np.mean(known)) if known else None
