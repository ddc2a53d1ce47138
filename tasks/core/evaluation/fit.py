"""How good fitted records are, without another look at the table: records in, figures out.

Three questions are answered. Do the records keep what was measured (their distance to each noisy table,
beside the distance that noise alone would make)? How far are they likely to be from the truth (by drawing the
noise anew round the records' own counts, estimating again, and looking how far that leads)? And where did the
model have to guess (pairs whose measured signal is not above the noise and the chance of the table itself)?
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Ids, Json
from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, NoisyTable, table_counts
from tasks.core.fitting.targets import targets_of
from tasks.core.synthesis.fitted import domain_to_fit, unreleased_values

#: Of pairs that are independent, so many of a hundred are taken for related.
FALSE_ALARMS = 5
_QUANTILE = NormalDist().inv_cdf(1 - FALSE_ALARMS / 100)


class PairNoise(NamedTuple):
    """Variances of the noise of a pair's residuals, each of one cell before it was centred."""

    pair: float
    one: float
    other: float
    whole: float


def deviation(estimate: Floats, noise: PairNoise) -> tuple[float, bool] | None:
    """Whether a pair's signed counts (a, b) tell of a relation; None where a column has one cell.

    Returned are the pair's squared deviation over what noise and chance make of an independent pair's (1 is
    none), and whether noise and chance alone would be as strong in more than `FALSE_ALARMS` of 100 pairs.

    Let p and q be the shares of the two columns' values, N the number of records, Z what was added to the
    counts. To first order the deviation D = P - r c' / N of an independent pair is (I - p 1') Z (I - 1 q').
    What is in Z: noise of the pair's own residual, of the two columns' and of the number of records, all
    independent (see `tasks.core.fitting.least_squares`), and the table's own chance, that of N records drawn
    from p and q. The sum of squares of D is then a sum of chi-squares, which a scaled chi-square of the same
    mean and variance stands for (Satterthwaite, Biometrics Bulletin 2, 1946), and its quantile is Wilson's
    and Hilferty's (PNAS 17, 1931).

    >>> noise = PairNoise(pair=4.0, one=4.0, other=4.0, whole=4.0)
    >>> smoking_by_sex = np.array([[400.0, 100.0], [100.0, 400.0]])
    >>> deviation(smoking_by_sex, noise)[1], deviation(np.full((2, 2), 250.0), noise)[1]
    (False, True)
    """
    if min(estimate.shape) < 2:
        return None
    whole = max(1.0, float(estimate.sum()))
    one, other = estimate.sum(axis=1), estimate.sum(axis=0)
    found = float(((estimate - np.outer(one, other) / whole) ** 2).sum())
    mean, variance = _moments(_covariance_parts(_shares(one), _shares(other), whole, noise))
    freedom = 2 * mean**2 / variance
    middle = 2 / (9 * freedom)
    bound = mean * (1 - middle + _QUANTILE * middle**0.5) ** 3
    return found / mean, found < bound


def _shares(counts: Floats) -> Floats:
    """Of the values of a column; even where all that was measured is noise below 0."""
    kept = np.maximum(counts, 0.0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(counts), 1 / len(counts))


def _covariance_parts(p: Floats, q: Floats, whole: float, noise: PairNoise) -> list[tuple[Floats, Floats]]:
    """The covariance of an independent pair's deviation: a sum of products of one matrix a column."""
    chance = (whole * (np.diag(p) - np.outer(p, p)), np.diag(q) - np.outer(q, q))
    pair = (noise.pair * _centring_matrix(len(p)), _centring_matrix(len(q)))
    one = (noise.one * _centring_matrix(len(p)), _uneven(q))
    other = (_uneven(p), noise.other * _centring_matrix(len(q)))
    return [chance, pair, one, other, (noise.whole * _uneven(p), _uneven(q))]


def _centring_matrix(size: int) -> Floats:
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


def evaluate_fit(measurement: WorkloadMeasurement, cells: Ids, seed: int) -> Json:
    """What a fitted release says of itself, as the part ``fit`` of ``evaluation.json`` has it.

    Args:
        cells: (n, slots), the records as cells, ``other`` included; in memory or mapped from a file.
        seed: of the noise that is drawn anew; public.

    Returns:
        ``one_way`` and ``two_way``, the mean expected error of columns and of measured pairs, None where
        there is none; ``pairs``, how many of these, and ``guessed``, how many had no signal above noise and
        chance;
        ``measured_pairs`` of ``all_pairs``; ``tables``, each measured set, columns first (see
        `_Evaluation.table`); ``unreleased``, of each open column the share of records, 0 to 1, whose value
        was too rare to be released, and whether it was written as ``released values`` or ``nothing``.
    """
    evaluation = _Evaluation(measurement, cells, seed)
    singles = [evaluation.table(table) for table in evaluation.tables if len(table.columns) == 1]
    longer = [evaluation.table(table) for table in evaluation.tables if len(table.columns) > 1]
    pairs = [table for table in longer if table["signal"] is not None]
    measured_pairs, all_pairs = measurement.measured_pairs
    return {
        "one_way": _mean([table["expected_error"] for table in singles]),
        "two_way": _mean([table["expected_error"] for table in pairs]),
        "pairs": len(pairs),
        "guessed": sum(table["is_guess"] for table in pairs),
        "tables": [*singles, *longer],
        "unreleased": [
            {
                "column": measurement.schema.columns[rare.column].name,
                "share": rare.share,
                "written_as": "released values" if rare.is_replaced else "nothing",
            }
            for rare in unreleased_values(measurement, evaluation.residuals)
        ],
        "measured_pairs": measured_pairs,
        "all_pairs": all_pairs,
    }


class _Evaluation:
    """Counts of the records beside what was drawn."""

    def __init__(self, measurement: WorkloadMeasurement, cells: Ids, seed: int) -> None:
        self._schema = measurement.schema
        self._domain = domain_of(measurement.cells, measurement.schema)
        drawn = noisy_tables(measurement)
        self.tables = [table for table in drawn if table.columns]
        self.residuals = Residuals(self._domain, drawn)
        self._whole = max(1.0, self.residuals.total())
        singles = [(column,) for column in range(len(measurement.cells))]
        asked = dict.fromkeys([*singles, *(table.columns for table in self.tables)])
        counts = {columns: np.zeros(self._domain.shape(columns), np.int64) for columns in asked}
        for start in range(0, len(cells), _MOST_AT_ONCE):
            part = np.asfortranarray(cells[start : start + _MOST_AT_ONCE])
            for columns in asked:
                counts[columns] += table_counts(self._domain, columns, part)
        self._held: dict[ColumnNumbers, Floats] = {
            columns: held.astype(np.float64) * (self._whole / max(1, len(cells)))
            for columns, held in counts.items()
        }
        self._held[()] = np.array(self._whole)
        self._again = _estimated_again(domain_to_fit(measurement, self.residuals), drawn, self._held, seed)

    def table(self, table: NoisyTable) -> Json:
        """One measured set of columns.

        ``distance`` is the total variation between the records and the noisy table, in 0..1 (and above, where
        noise exceeds the counts), ``noise_distance`` what noise alone is expected to make of it, cells
        s sqrt(2 / pi) / (2 N). ``expected_error`` is that between the records' counts and an estimate from
        noise drawn anew round them, about the records' own distance from the truth; None beyond pairs.
        ``signal`` and ``is_guess`` are those of `deviation`, None where it says nothing.
        """
        held, again = self._held[table.columns], self._again.get(table.columns)
        signal, is_guess = self._signal(table.columns) or (None, None)
        return {
            "columns": [self._schema.columns[column].name for column in table.columns],
            "distance": self._distance(held, table.counts),
            "noise_distance": table.counts.size * table.variance**0.5 * _HALF_NORMAL / (2 * self._whole),
            "expected_error": None if again is None else self._distance(held, again),
            "signal": signal,
            "is_guess": is_guess,
        }

    def _distance(self, one: Floats, other: Floats) -> float:
        return float(np.abs(one - other).sum()) / (2 * self._whole)

    def _signal(self, columns: ColumnNumbers) -> tuple[float, bool] | None:
        """The pair's deviation from independence beside that of noise and chance."""
        if len(set(columns)) != 2 or len(columns) != 2 or self._domain.multi_valued & set(columns):
            return None
        sets = (columns, columns[:1], columns[1:], ())
        noise = PairNoise(*(self.residuals.residual(each).variance for each in sets))
        return deviation(self.residuals.marginal(columns), noise)


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
