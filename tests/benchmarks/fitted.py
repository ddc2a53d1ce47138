"""How good fitted synthesis is: table and epsilons in, JSON lines out.

``python -m tests.benchmarks.fitted TABLE EPSILON [options]``. For each seed: the exact draw (of the seeded
test engine), the fit, CPU seconds of both, peak memory of the process so far, and how close the records come
(see `fitted_scores`). delta is 1 / (n ln n). Tables: see `fitted_tables`. `--learn` adds what takes minutes:
propensity, discriminator, train-synthetic-test-real. `--without LEVER` takes a part of the method out,
`--ablation` each in turn.
"""

import argparse
import contextlib
import json
import math
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload import draw as drawing
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.dp.workload.parameters import LongerSets, Shares, Step, WorkloadParameters, default_steps
from tasks.core.fitting import fit as fitting
from tasks.core.fitting import targets as aims
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.fitted import draw_fitted
from tasks.core.synthesis.records import SyntheticRecords
from tests.benchmarks.fitted_scores import learning_scores, marginal_scores, variation_of
from tests.benchmarks.fitted_tables import Cells, CellTable, table_named

Scores = dict[str, float]
LEVERS = ("allocation", "shrinkage", "levels", "chains", "annealing", "triples", "other")


def parameters_for(table: CellTable, options: argparse.Namespace) -> WorkloadParameters:
    """The parameters that suit an epsilon, as a release takes them."""
    number, columns = len(table.cells), len(table.sizes)
    steps = default_steps(all_declared=not options.open, columns=columns, tables=math.comb(columns, 2))
    plain = tuple(step for step in steps if not step.longer.lengths)
    if "triples" in options.without:
        steps = plain
    elif options.length is not None:
        chosen, scores = Fraction(options.share), Fraction(3, 100)
        rest, shares = 1 - chosen - scores, plain[-1].shares
        shares = Shares(rest * shares.count, rest * shares.values, rest * shares.tables, scores, chosen)
        steps = (Step(0.0, shares, LongerSets(tuple(options.length), options.most)),)
    target = table.headers.index(table.target) if options.target and table.target else None
    return WorkloadParameters(
        options.epsilon,
        1 / (number * math.log(number)),
        steps[0].shares,
        longer=steps[0].longer,
        steps=steps[1:],
        target=target,
        allocation="equal" if "allocation" in options.without else "effective",
    )


@contextlib.contextmanager
def without(levers: list[str]) -> Iterator[None]:
    """Run with parts of the method taken out; `triples` and `allocation` are parameters, not parts."""
    cold = (0.0,) * 4
    parts: dict[str, list[tuple[Any, str, Any]]] = {
        "shrinkage": [(aims, "shrunk_by_levels", lambda deviations, expected, variance, levels: deviations)],
        "levels": [(aims, "levels_of", lambda margin: None), (fitting, "levels_of", lambda margin: None)],
        "chains": [(aims, "_MOST_CHAINS", 0)],
        "annealing": [(fitting, name, cold) for name in ("LONG_ANNEALING", "_BEFORE", "_WARM")],
        "other": [(drawing, "ColumnCells", _cells_without_other)],
    }
    with contextlib.ExitStack() as stack:
        for lever in levers:
            for module, name, instead in parts.get(lever, []):
                stack.enter_context(mock.patch.object(module, name, instead))
        yield


def _cells_without_other(values: tuple[str, ...], **about: Any) -> ColumnCells:
    """What was not released counts as absent."""
    return ColumnCells(values, **about | {"has_other": False})


def measured(table: CellTable, options: argparse.Namespace, seed: int) -> tuple[Scores, Cells]:
    """One draw and one fit: CPU seconds and sizes, and the records as codes of the table."""
    records = table.records(declared=not options.open)
    parameters = parameters_for(table, options)
    with without(options.without):
        begun = time.process_time()
        drawn = drawing.draw_workload(
            RecordTable.in_memory(records), parameters, SeededStream(seed), before_first_word=lambda: None
        )
        between = time.process_time()
        made = draw_fitted(drawn, seed, threads=options.threads)
        ended = time.process_time()
    longer = sum(len(columns.columns) > 2 for columns in drawn.tables)
    return {
        "draw_cpu_s": between - begun,
        "fit_cpu_s": ended - between,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "longer_sets": longer,
        "records": made.records.number_of_records,
    }, codes_of(made.records, len(table.sizes))


def codes_of(records: SyntheticRecords, columns: int) -> Cells:
    """int64 (n, columns): each cell's value as a number, -1 where it is empty."""
    codes = np.full((records.number_of_records, columns), -1)
    rows = np.repeat(np.arange(records.number_of_records), np.diff(records.offsets))
    ids = records.attribute_ids
    if len(ids):
        column = np.array([attribute.column for attribute in records.attributes])
        code = np.array([int(attribute.value) for attribute in records.attributes])
        codes[rows, column[ids]] = code[ids]
    return codes


def scored(table: CellTable, options: argparse.Namespace, seed: int) -> Scores:
    """All figures of one seed."""
    figures, made = measured(table, options, seed)
    figures |= marginal_scores(table, made)
    for columns in table.planted:
        figures["planted_tvd"] = variation_of(table, made, columns)
    return figures | (learning_scores(table, made) if options.learn else {})


def report(table: CellTable, options: argparse.Namespace) -> None:
    """One line: the means over all seeds."""
    runs = [scored(table, options, seed) for seed in range(1, options.seeds + 1)]
    means = {name: round(statistics.mean(run[name] for run in runs), 5) for name in runs[0]}
    asked = {
        "table": table.name,
        "epsilon": options.epsilon,
        "seeds": options.seeds,
        **({"domains": "open"} if options.open else {}),
        **({"target": table.target} if options.target else {}),
        **({"length": options.length} if options.length is not None else {}),
        **({"without": options.without} if options.without else {}),
    }
    print(json.dumps(asked | means), flush=True)


def main() -> int:
    """Parse, run, print; the exit code."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.fitted", description=__doc__)
    parser.add_argument("table")
    parser.add_argument("epsilon", type=float, nargs="+")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--open", action="store_true", help="no domain is declared")
    parser.add_argument("--target", action="store_true", help="declare the table's target")
    parser.add_argument("--learn", action="store_true", help="propensity, discriminator, learning")
    parser.add_argument(
        "--length", type=int, nargs="+", help="of the longer sets among which the draw chooses"
    )
    parser.add_argument("--most", type=int, default=15, help="longer sets that are chosen, at most")
    parser.add_argument("--share", default="0.15", help="of the budget, for the longer sets that are chosen")
    parser.add_argument("--without", action="append", choices=LEVERS, default=[])
    parser.add_argument("--ablation", action="store_true", help="all levers, then each taken out")
    options = parser.parse_args()
    table, epsilons = table_named(options.table), options.epsilon
    measured(
        replace(table, cells=table.cells[:500]), argparse.Namespace(**vars(options) | {"epsilon": 1.0}), 0
    )
    for options.epsilon in epsilons:
        for levers in [[], *([lever] for lever in LEVERS)] if options.ablation else [options.without]:
            options.without = levers
            report(table, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
