"""Fitted synthesis in shards beside one process: table and epsilon in, JSON lines out.

``python -m tests.benchmarks.sharded TABLE EPSILON [--shards 2 4 8] [--seeds 3]``. For each seed one
exact draw (of the seeded test engine), then the records that are fitted to it: by one process, and in so many
shards by one worker. Of each: CPU seconds of the fit, by how much the counts of columns, pairs and longer
sets are off their targets (total variation), and the scores of `fitted_scores`. Last the means, and how far
those of shards are from those of one process, in %.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.workload import draw as drawing
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.fit import fit
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.fitting.targets import Target
from tasks.core.parts.shards import ShardPlace
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.fitted import domain_to_fit, write_fitted
from tasks.core.synthesis.records import CELLS, read_synthetic_records
from tests.benchmarks.fitted import codes_of, parameters_for
from tests.benchmarks.fitted_scores import marginal_scores
from tests.benchmarks.fitted_tables import Cells, table_named

Figures = dict[str, float]


def made_in(
    measurement: WorkloadMeasurement, seed: int, shards: int, targets: tuple[Target, ...]
) -> tuple[Figures, Cells]:
    """Records in so many shards: seconds and distances, and the records as codes of the table."""
    number = max(1, measurement.number_of_records)
    with tempfile.TemporaryDirectory() as folder:
        place = ShardPlace(-(-number // shards), PartStore(folder), "shards", InProcess())
        (made := Path(folder) / "made").mkdir()
        begun = time.process_time()
        write_fitted(measurement, seed, made, place, threads=1)
        seconds = time.process_time() - begun
        cells = [np.load(made / CELLS)]
        codes = codes_of(read_synthetic_records(made), len(measurement.schema.columns))
    found = distances(domain_to_fit(measurement), targets, cells)
    return {"fit_cpu_s": seconds} | found, codes


def distances(domain: Domain, targets: tuple[Target, ...], shards: list[np.ndarray]) -> Figures:
    """By length the mean total variation between the counts of all shards and their targets."""
    number = sum(map(len, shards))
    found: dict[str, list[float]] = {}
    for target in targets:
        counts = sum(table_counts(domain, target.columns, np.asfortranarray(cells)) for cells in shards)
        off = float(np.abs(counts - target.counts).sum()) / 2 / max(1, number)
        found.setdefault(f"off{min(3, len(target.columns))}", []).append(off)
    return {length: statistics.mean(own) for length, own in found.items()}


def main() -> int:
    """Parse, run, print; the exit code."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.sharded", description=__doc__)
    parser.add_argument("table")
    parser.add_argument("epsilon", type=float)
    parser.add_argument("--shards", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    table = table_named(options.table)
    asked = argparse.Namespace(epsilon=options.epsilon, open=False, target=False, length=None, without=[])
    runs: dict[int, list[Figures]] = {}
    for seed in range(1, options.seeds + 1):
        measurement = drawing.draw_workload(
            RecordTable.in_memory(table.records(declared=True)),
            parameters_for(table, asked),
            SeededStream(seed),
            before_first_word=lambda: None,
        )
        number = max(0, measurement.number_of_records)
        _, targets = fit(domain_to_fit(measurement), noisy_tables(measurement), number, seed)
        for shards in (1, *options.shards):
            figures, codes = made_in(measurement, seed, shards, targets)
            figures |= marginal_scores(table, codes)
            runs.setdefault(shards, []).append(figures)
            print(json.dumps({"table": table.name, "seed": seed, "shards": shards} | figures), flush=True)
    means = {
        shards: {name: statistics.mean(run[name] for run in own) for name in own[0]}
        for shards, own in runs.items()
    }
    for shards, figures in means.items():
        line = {name: round(value, 5) for name, value in figures.items()}
        print(json.dumps({"mean_of": options.seeds, "shards": shards} | line), flush=True)
        if shards > 1:
            apart = {
                name: round(100 * (value / means[1][name] - 1), 2)
                for name, value in figures.items()
                if means[1][name]
            }
            print(json.dumps({"percent_from_one": shards} | apart), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
