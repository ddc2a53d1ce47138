"""SynDiffix on heavy tails beside the published peer: quantiles, means and 1-way distances, column by column.

Generated tables with lognormal, Pareto and spiked columns, with and without ids, and incomes of a census,
over twenty salts. The peer takes a minute a table and salt.
"""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.data import Table
from tests.benchmarks.running import print_line
from tests.benchmarks.syndiffix import synthetic_table
from tests.benchmarks.syndiffix_tables import national_8, orders, tails
from tests.benchmarks.variation import numbers, variation

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)
SALTS = 20
_TIMES = 1.5  # of the peer's error that ours may have
_DEVIATIONS = 2  # of the peer's, by which a distance may be larger
Errors = dict[str, float]


def syndiffix_tails() -> None:
    """One line for each table and column."""
    for table, strategy in _cases():
        mine = [_errors("ours", table, salt, strategy) for salt in range(SALTS)]
        them = [_errors("peer", table, salt, strategy) for salt in range(SALTS)]
        for column in mine[0]:
            line = beside([each[column] for each in mine], [each[column] for each in them])
            print_line("syndiffix_tails", data=table.name, strategy=strategy, column=column, **line)


def _cases() -> list[tuple[Table, str]]:
    return [
        (orders(), "ids=customer"),
        (orders(), "without=customer"),
        (tails(), "ids=person"),
        (tails(), "without=person"),
        (national_8(), "default"),
    ]


def _errors(side: str, table: Table, salt: int, strategy: str) -> dict[str, Errors]:
    return column_errors(pq.read_table(table.path), synthetic_table(side, table, salt, strategy))


def column_errors(original: pa.Table, synthetic: pa.Table) -> dict[str, Errors]:
    """By column of the synthetic table its errors.

    ``distance`` is the 1-way total variation. Of numbers and times, quantiles and ``mean`` are differences in
    units of the original's range from its lower to its upper tenth, and ``sd`` is the ratio of deviations.
    """
    found = {}
    for name in synthetic.column_names:
        found[name] = {"distance": variation(original[name], synthetic[name])}
        if not pa.types.is_string(original[name].type):
            found[name] |= _of_numbers(*(_present(table[name]) for table in (original, synthetic)))
    return found


def _present(column: pa.ChunkedArray) -> np.ndarray:
    found = numbers(column)
    return found[~np.isnan(found)]


def _of_numbers(original: np.ndarray, synthetic: np.ndarray) -> Errors:
    unit = float(np.subtract(*np.quantile(original, (0.9, 0.1)))) or 1.0
    differences = np.quantile(synthetic, QUANTILES) - np.quantile(original, QUANTILES)
    found = {
        f"q{quantile}": float(each / unit) for quantile, each in zip(QUANTILES, differences, strict=True)
    }
    ratio = float(synthetic.std() / original.std()) if original.std() else 1.0
    return found | {"mean": float(synthetic.mean() - original.mean()) / unit, "sd": ratio}


def beside(mine: Sequence[Mapping[str, float]], them: Sequence[Mapping[str, float]]) -> dict[str, object]:
    """Mean absolute errors of ours and of the peer over salts, and whether ours are as good.

    Of a quantile or mean, at most 1.5 times the peer's; of the distance, at most two standard deviations of
    the peer's more. Ratios of standard deviations are told beside.
    """
    line: dict[str, object] = {}
    for key in mine[0]:
        a, b = ([each[key] if key == "sd" else abs(each[key]) for each in side] for side in (mine, them))
        most = mean(b) + _DEVIATIONS * stdev(b) if key == "distance" else _TIMES * mean(b)
        judged = {} if key == "sd" else {"as_good": mean(a) <= most}
        line[key] = {"ours": round(mean(a), 4), "peer": round(mean(b), 4)} | judged
    return line
