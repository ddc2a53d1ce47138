"""What the privacy statement of a fitted release says of its draw: a measurement goes in, its law comes out.

What every statement has (claim, account, conditions) is in
`tasks.core.statement.differential_privacy.statement`. Here stand the tables that were measured, the noise of
each, what each costs, and the formulas that join them: whoever adds up the charges finds that they don't
exceed mu^2, which is the whole of the proof that can be checked by numbers.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tasks.core.arrays import ColumnNumbers, Json
from tasks.core.dp.claim_limits import DISTANCE, MOST_SAMPLING_DELTA, sampling_delta
from tasks.core.dp.workload.measurement import NoisyScores, WorkloadMeasurement
from tasks.core.dp.workload.tables import MeasuredTable, sensitivity
from tasks.core.errors import InternalError
from tasks.core.statement.differential_privacy import constants as statement_constants
from tasks.core.statement.differential_privacy import law
from tasks.core.statement.differential_privacy.noise import error_bar_of

#: Which numbers of the statement are not recomputed from others, by where they come from.
INPUTS_OF_WORKLOAD: dict[str, list[str]] = {
    "chosen": [
        "columns[].bins[]",
        "columns[].domain_size",
        "columns[].max_items",
        "contract.least_records",
        "group_privacy[].rows",
        "guarantee.attack.false_alarm",
        "guarantee.sampling_exactness.at_most",
        "guarantee.sampling_exactness.distance",
        "parameters.*",
        "sampling.expected_size",
    ],
    "drawn": [
        "choices[].candidates",
        "choices[].chosen",
        "choices[].sensitivity_squared",
        "columns[].cells",
        "columns[].noisy_total.survivors",
        "columns[].noisy_total.value",
        "noisy_count.value",
        "tables[].cells",
        "tables[].score",
        "tables[].sensitivity",
        "tables[].total",
        "values.counts[][]",
        "values.open.survivors",
    ],
    "account": statement_constants.INPUTS_BY_LENGTHS["account"],
}

_INPUTS_SENTENCE = (
    "Every number of this statement can be worked out from others by the formulas given here, but for these: "
    "what was chosen (parameters and declarations), what was drawn from the data or follows from noisy "
    "counts drawn before (all of it differentially private), and what the ledger's account says of other "
    "releases and of the caps."
)
_THEOREM = (
    "Gaussian differential privacy of an adaptive draw: the number of records, every value, every cell of "
    "every table and every score get a rounded Gaussian of their own; which tables, their cells and their "
    "noise follow from public constants and from noisy integers drawn before; on every path the sum of "
    "sensitivity^2 / s^2 stays within mu^2; values that nobody else holds pass the one threshold, that of "
    "single values, with at most delta_threshold"
)
_RULE = (
    "mu is that of the claim times 1 - 1e-9; the shares are those of parameters, or of the last of "
    "parameters.steps whose signal is at most noisy_count.signal; "
    "s_0 = ceil(64 sqrt(1 / (f_count mu^2))) / 64; "
    "s_1 = ceil(64 sqrt(W / (f_values mu^2))) / 64; of a table T, Delta_T = max(1, prod C(w_c, k_c)), w_c "
    "the most items of a column (never more than its cells but absent, never less than 1) and k_c how often "
    "it stands in the table; "
    "s_T = ceil(64 sqrt(Delta_T / (f mu^2 p_T))) / 64, f the share tables (less the part pair_scores of it "
    "where pairs were chosen), of a table of the stage chosen the share chosen, and of the stage second what "
    "all that was drawn before left of mu^2, as a part of it; "
    "p_T, the table's own part of f, is floor(2^20 q_T) / 2^20, q_T = r_T / sum r, r_T = max(v_T / sum v, "
    "1 / (20 m)), sums over the m tables that share f; "
    "v_T = e_T^(2/3), times target_factor where the target is in a table of the workload; "
    "e_T is 1 by the allocation equal, the number of cells by size, the score (at least 0) in the stage "
    "chosen, and by effective the sum of min(1, x / s) over the table's cells (half of it where a column "
    "stands twice), x = N prod(n_c / N) over its columns, n_c and N by values.counts_rule, "
    "s = sqrt(m / (f mu^2)); "
    "what no stage spent buys the stage second, in which the tables of the stage workload have the same p_T "
    "again (where there are none, each column is a table); "
    "whatever was drawn costs Delta / s^2, and all of it together no more than mu^2"
)
_SIGNAL = (
    "the noisy number of records, at least 0 and at most parameters.expected_size where there is one, times "
    "mu: the more records stand above the noise, the less goes to single values and the more to longer sets"
)
_SHARES = (
    "How the tables share what they may cost follows from the allocation. effective: by how many of a "
    "table's cells are expected to rise above the noise, going by the noisy counts of single values; size: "
    "by how many cells it has; equal: all alike. A table that holds the target gets more."
)
_COUNTS_RULE = (
    "counts are, column by column, the noisy counts of its values in the order of their code points (of a "
    "declared column, of the declaration), then of absent, unless the column is always filled. n_c are those "
    "of a column: before absent comes other where the column is open, N less the column's counts (0 if it "
    "has several items); then all are brought to the nearest that are not negative and add up to N (with "
    "several items, each within 0 and N; all N / cells where none is above 0). N = max(1, T rounded), T the "
    "mean, weighted by 1 / variance, of noisy_count.value (variance s_0^2 + 1/12) and of the totals of all "
    "tables drawn before that count each record once (variance s^2 + 1/12, times the cells): those of "
    "columns with one item each, single values of declared columns alone. Of a sample the noisy count is "
    "left out; where there is no such table, p noisy_count.value stands alone."
)
_CELLS = (
    "A column's cells are its values, other where the column is open, and absent. A column that is always "
    "filled has no absent: there an empty cell counts as the declared value for what is outside. A record is "
    "in exactly one cell of a column with one value, and in one cell for each of its different items "
    "otherwise; all items that were not released count as one other. So a record changes only a few cells of "
    "a table, by one each, and at most so many as the table's sensitivity says."
)
_THRESHOLD = (
    "tau = max(1, ceil(1.5 + s_1 z + 1e-9)), z = Phi^-1((1 - delta_threshold)^(1/Delta_open)), "
    "Delta_open = min(W, items of open columns), for values of open columns; nothing else has a threshold"
)
_OTHER = (
    "How many values stayed below the threshold, and how many records hold them, is not known to this "
    "release: other is never made from counts below it, and it is there whether or not a value missed."
)
#: What a score is measured against, by what is chosen.
_EXPECTED = {
    "pairs": "what single values would give if columns were independent",
    "longer sets": "what the pairs of records fitted to everything drawn before imply",
}
_SCORE = (
    "g = floor(sum max(|16 C - M16| - c16, 0) / 16) over the cells of a candidate, C its counts, M16 {}, in "
    "sixteenths, by noisy counts alone, c16 = ceil(sqrt(s^2 + M) sixteenths); one record changes g by at "
    "most Delta_T; all scores get noise of scale s_Q = ceil(64 sqrt(sensitivity_squared / (f mu^2))) / 64, "
    "sensitivity_squared = sum Delta_T^2; chosen are at most so many from s_Q Phi^-1(1 - 1/candidates) on "
    "(of one or two candidates from 0 on)"
)
_SAMPLED = (
    "The noisy counts are of the sample, the noisy number of records is of all. Reported counts and ranges "
    "are of all: whoever is in the sample stands for 1 / p, and ranges allow for who is in it. No "
    "amplification by sampling is claimed."
)


def draw_part(measurement: WorkloadMeasurement, unit: str) -> Json:
    """The statement's part on the draw.

    Raises:
        InternalError: the noise does not carry the nominal charge (rule 9).
    """
    realised = _require_covered(measurement)
    return {
        "inputs": {"how": _INPUTS_SENTENCE, **INPUTS_OF_WORKLOAD},
        "parameters": _chosen(measurement),
        "noisy_count": _count(measurement),
        "values": _values(measurement),
        "tables": _tables(measurement),
        "choices": [_choice(measurement, *each) for each in _choices(measurement)],
        "mu_squared_realised": float(realised),
        "cells": _CELLS,
        "shares": _SHARES,
        "noise": _noise(measurement),
        "contribution": {
            **law.joining(measurement.schema, unit),
            "rule": _CELLS,
            "width": measurement.schema.measured.width,
        },
        "sampling": _sampling(measurement),
    }


def guarantee_part(measurement: WorkloadMeasurement) -> Json:
    """What the claim says of its accountant."""
    delta, delta_t = measurement.parameters.delta, measurement.threshold_delta
    return {
        "delta_given": {"rule": "a public constant"},
        "delta_applied": delta,
        "delta_threshold_applied": delta_t,
        "delta_noise": (delta - delta_t) / (1 - delta_t),
        "identity": "delta = delta_threshold + (1 - delta_threshold) * delta_noise",
        "accountant": {
            "name": "gdp",
            "theorem": _THEOREM,
            "conversion": law.CONVERSION,
            "rule": _RULE,
            "text": _SHARES,
        },
        "sampling_exactness": _exactness(measurement),
    }


def _charges(measurement: WorkloadMeasurement) -> Iterator[tuple[int, float]]:
    """Square of the sensitivity and noise scale of everything that was drawn."""
    yield 1, measurement.count_scale
    if measurement.values:
        yield measurement.values[0].sensitivity, measurement.values[0].scale
    for table in measurement.tables:
        yield table.sensitivity, table.scale
    for _, scores in _choices(measurement):
        yield _squares(measurement, scores), scores.scale


def _require_covered(measurement: WorkloadMeasurement) -> Fraction:
    """The sum of all charges, in exact fractions, refused above the nominal one."""
    spent = sum((square / Fraction(scale) ** 2 for square, scale in _charges(measurement)), Fraction(0))
    if spent > Fraction(measurement.mu_squared):
        raise InternalError("The noise of a release must cover its charge: sum of Delta / s^2 <= mu^2.")
    return spent


def _choices(measurement: WorkloadMeasurement) -> list[tuple[str, NoisyScores]]:
    """The private choices that were made, by what was chosen."""
    both = (("pairs", measurement.pair_scores), ("longer sets", measurement.scores))
    return [(what, scores) for what, scores in both if scores is not None]


def _squares(measurement: WorkloadMeasurement, scores: NoisyScores) -> int:
    return sum(sensitivity(measurement.cells, columns) ** 2 for columns in scores.candidates)


def _chosen(measurement: WorkloadMeasurement) -> Json:
    """Every parameter of the draw, columns by name."""
    body: dict[str, Any] = measurement.parameters.as_settings()
    names = [column.name for column in measurement.schema.columns]
    target, tables = measurement.parameters.target, measurement.parameters.tables
    for longer in (body["longer"], *(step["longer"] for step in body["steps"])):
        longer["holding"] = None if longer["holding"] is None else names[longer["holding"]]
    return body | {
        "expected_size": body.pop("record_limit"),
        "target": None if target is None else names[target],
        "tables": None if tables is None else [[names[column] for column in each] for each in tables],
        "filled": [names[column] for column in measurement.parameters.filled],
    }


def _count(measurement: WorkloadMeasurement) -> Json:
    scale = measurement.count_scale
    return {
        "value": measurement.number_of_records,
        "scale": scale,
        "mu_squared": 1 / scale**2,
        "law": "rounded Gaussian",
        **error_bar_of(scale),
        "signal": measurement.signal,
        "signal_rule": _SIGNAL,
    }


def _values(measurement: WorkloadMeasurement) -> Json | None:
    """Length 1."""
    first = measurement.length_one
    if first is None:
        return None
    columns = measurement.schema.measured.columns
    opened = [place for place, column in enumerate(columns) if column.is_open]
    items = sum(columns[place].max_items for place in opened)
    return {
        "scale": first.scale,
        "sensitivity": first.sensitivity,
        "mu_squared": first.sensitivity / first.scale**2,
        "error_bar": error_bar_of(first.scale),
        "threshold": first.threshold if opened else None,
        "threshold_rule": _THRESHOLD if opened else "none: every column's domain is declared",
        "counts": [table.counts.tolist() for table in measurement.values],
        "counts_rule": _COUNTS_RULE,
        "open": {
            "columns": len(opened),
            "items": items,
            "sensitivity": min(first.sensitivity, items),
            "survivors": sum(len(measurement.cells[place].values) for place in opened),
            "suppressed": None,
            "why": _OTHER,
        },
    }


def _stages(measurement: WorkloadMeasurement) -> Iterator[str]:
    """In which stage each table was measured: ``workload``, ``chosen`` (for its score) or ``second``."""
    scored = set(measurement.scores.candidates if measurement.scores else ())
    before: set[ColumnNumbers] = set()
    for columns in (table.columns for table in measurement.tables):
        # A single column is a table only where there was no other to measure again.
        again = columns in before or len(columns) == 1
        yield "second" if again else "chosen" if columns in scored else "workload"
        before.add(columns)


def _tables(measurement: WorkloadMeasurement) -> list[Json]:
    """The tables in the order in which they were measured."""
    scores = {
        columns: score
        for _, each in _choices(measurement)
        for columns, score in zip(each.candidates, each.scores, strict=True)
    }
    both = zip(measurement.tables, _stages(measurement), strict=True)
    return [
        {"stage": stage, "score": scores.get(table.columns)} | _table(measurement, table)
        for table, stage in both
    ]


def _table(measurement: WorkloadMeasurement, table: MeasuredTable) -> Json:
    counts_once = all(measurement.cells[column].cap == 1 for column in table.columns)
    return {
        "columns": [measurement.schema.columns[column].name for column in table.columns],
        "total": int(table.counts.sum()) if counts_once else None,
        "cells": int(table.counts.size),
        "sensitivity": table.sensitivity,
        "scale": table.scale,
        "mu_squared": table.sensitivity / table.scale**2,
        "error_bar": error_bar_of(table.scale),
    }


def _choice(measurement: WorkloadMeasurement, what: str, scores: NoisyScores) -> Json:
    drawn = {table.columns for table in measurement.tables}
    square = _squares(measurement, scores)
    return {
        "what": what,
        "candidates": len(scores.candidates),
        "chosen": sum(columns in drawn for columns in scores.candidates),
        "sensitivity_squared": square,
        "scale": scores.scale,
        "mu_squared": square / scores.scale**2,
        "against": _EXPECTED[what],
        "rule": _SCORE.format(_EXPECTED[what]),
    }


def _noise(measurement: WorkloadMeasurement) -> Json:
    return {
        "law": "round(N(0, s^2)), exact, for every cell of every table, zero cells included",
        "lattice": "s is a multiple of 1/64 of a record",
        "generator": "AES-256-CTR" if measurement.private else "a seeded test engine: no privacy",
        "error_bar": law.ERROR_BAR_RULE,
    }


def _sampling(measurement: WorkloadMeasurement) -> Json | None:
    limit = measurement.parameters.record_limit
    return None if limit is None else {**law.sample_of(limit), "text": _SAMPLED}


def _exactness(measurement: WorkloadMeasurement) -> Json:
    """What inexact sampling adds to delta (rule 20)."""
    scores: Sequence[int] = [len(each.candidates) for _, each in _choices(measurement)]
    sensitivities = [table.sensitivity for table in (*measurement.values[:1], *measurement.tables)]
    return {
        "delta_sampling": sampling_delta(measurement.parameters.epsilon, [*sensitivities, *scores]),
        "distance": DISTANCE,
        "at_most": MOST_SAMPLING_DELTA,
        "rule": "delta_sampling = (1 + exp(epsilon)) (1 + sum (Delta + 2)) t over length 1, all tables and, "
        "by their candidates, all choices; t = 2^-280 bounds the distance of each draw from its law; it adds "
        "to delta and is below the constant at_most for every epsilon up to 100, the largest admitted",
    }
