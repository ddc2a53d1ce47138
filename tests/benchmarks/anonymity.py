"""K-anonymous jobs, one JSON line each: ``python -m tests.benchmarks.anonymity [TABLE [MODE [LENGTH]]]``.

The core's whole job, from the table to the page and the evaluation against the raw table, at resolution 10:
CPU seconds by stage, microseconds of synthesis a record, and peak memory, each job in a process of its own.
TABLE: ``adult``, ``national2019`` (of shared data), ``million`` (15 columns), or ``wide`` (300 columns and 6
rows, ``row_seeded`` at resolution 2 and R = 2). Without arguments: every mode on adult and on a million
records at R = 4, ``row_seeded`` on national2019 at R = 3 and 4, and ``wide``.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.core_job import Stopwatch, schema_of
from tests.benchmarks.data import generated_parquet, made_once, shared_file, write_csv
from tests.benchmarks.running import peak_mb, print_line

MODES = ("row_seeded", "value_seeded", "oversampling", "unseeded", "aggregate_seeded", "held")
#: Of every table but ``wide``.
RESOLUTION = 10
WIDE_COLUMNS, WIDE_ROWS, WIDE_RESOLUTION, WIDE_LENGTH = 300, 6, 2, 2


def path_of(name: str) -> Path:
    """The table's file."""
    if name == "million":
        return generated_parquet(1_000_000)
    if name == "wide":
        return _wide_table()
    return shared_file(f"{name}.csv")


def _wide_table() -> Path:
    """Three values a column, by chance: some rows are alike in a set of columns, and some are rare."""
    values = np.random.default_rng(1).integers(3, size=(WIDE_ROWS, WIDE_COLUMNS))
    rows = [[f"c{column}" for column in range(WIDE_COLUMNS)], *values.tolist()]
    return made_once("wide.csv", lambda path: write_csv(path, rows))


def run_job(name: str, mode: str, length: int, folder: Path) -> dict[str, object]:
    """One job; see the module."""
    from tasks.configuration.model import RunConfiguration
    from tasks.configuration.parameters import aggregate_parameters
    from tasks.core.aggregates.interchange import (
        write_aggregates_json,
        write_reportable_parquet,
        write_reportable_tsv,
    )
    from tasks.core.aggregates.marginals import count_marginals
    from tasks.core.aggregates.protection import protect_counts
    from tasks.core.evaluation.raw import RawInputs, evaluate_raw
    from tasks.core.evaluation.release import compare_release, count_synthetic
    from tasks.core.evaluation.sensitive_aggregates import write_sensitive_aggregates
    from tasks.core.evaluation.sensitive_files import write_sensitive_files
    from tasks.core.navigation.fidelity import fidelity
    from tasks.core.navigation.inputs import ReportInputs
    from tasks.core.navigation.report import render_page
    from tasks.core.queries import QueryResources
    from tasks.core.records.encoding import EncodingOptions, encode
    from tasks.core.records.table import RecordTable
    from tasks.core.statement.k_anonymity import AnonymityFacts, anonymity_statement
    from tasks.core.synthesis.aggregate_seeded import draw_aggregate_seeded
    from tasks.core.synthesis.assembly import write_wide_tsv
    from tasks.core.synthesis.rows import common_rows
    from tasks.core.tables.header import InputFile
    from tasks.public.bundles import unit_of
    from tasks.sensitive.count import draw_from_rows

    for part in ("coded", "marginals", "aggregate", "evaluation"):
        (folder / part).mkdir()
    resources = QueryResources(folder, threads=2)
    configuration = RunConfiguration.model_validate(_configuration(mode))
    synthesis = configuration.synthesis
    resolution = WIDE_RESOLUTION if name == "wide" else RESOLUTION
    watch = Stopwatch()
    source = InputFile(path_of(name))
    schema = schema_of(source, cap_required=False)
    records = encode(source, schema, EncodingOptions(total=False, key=b"benchmark", resources=resources))
    records.write(folder / "coded")
    watch.stop("ingest")
    marginals = count_marginals(folder / "coded", folder / "marginals", length, resources)
    watch.stop("count")
    aggregates = protect_counts(marginals, resolution, resources)
    write_reportable_tsv(aggregates, folder / "aggregates.tsv")
    write_reportable_parquet(aggregates, folder / "aggregates.parquet")
    write_aggregates_json(aggregates, schema, folder / "aggregates.json", protected=True)
    watch.stop("protect")
    if synthesis.reads_records:
        rows = common_rows(records, resolution)
        synthetic = draw_from_rows(rows, aggregates, synthesis, 1, 0, lambda done: None)
        del rows
    else:
        synthetic = draw_aggregate_seeded(aggregates, aggregate_parameters(synthesis), 1, threads=0)
    watch.stop("generate")
    each = 1e6 * (watch.stages["generate"]) / max(synthetic.number_of_records, 1)
    write_wide_tsv(synthetic, folder / "synthetic.tsv")
    watch.stop("write records")
    counted = count_synthetic(synthetic.parts(), aggregates, schema)
    compared = compare_release(aggregates, counted, None, resources)
    (folder / "evaluation.json").write_text(json.dumps(compared))
    watch.stop("compare")
    facts = AnonymityFacts(
        dataset=name,
        vintage="1",
        unit=unit_of(schema),
        schema=schema,
        resolution=resolution,
        reporting_length=length,
        synthesis_mode=synthesis.mode,
        hold_resolution=mode == "held",
        oversampling=None,
        measurement_sha256="",
        contract_mode="none",
        unused_keys=(),
        record_limit=None,
    )
    inputs = ReportInputs(
        statement=anonymity_statement(facts, aggregates, "benchmark"),
        schema=schema,
        measurement=None,
        aggregates=aggregates,
        synthetic=synthetic,
        fidelity=fidelity(aggregates, counted),
    )
    (folder / "page.html").write_text(render_page(inputs), encoding="utf-8")
    watch.stop("navigate")
    write_sensitive_aggregates(
        RecordTable.in_folder(folder / "coded"), marginals, resolution, folder / "aggregate", "my", resources
    )
    watch.stop("describe")
    raw = RawInputs(RecordTable.in_folder(folder / "coded"), marginals, aggregates, synthetic, resolution)
    write_sensitive_files(evaluate_raw(raw, resources), folder / "evaluation", "my")
    watch.stop("evaluate")
    return {
        "cpu_s": round(sum(watch.stages.values()), 1),
        "stages": watch.stages,
        "records": synthetic.number_of_records,
        "synthesis_us_a_record": round(each, 1),
        "reported": sum(len(counts) for counts in aggregates.counts),
        "peak_mb": peak_mb(),
    }


def _configuration(mode: str) -> dict[str, object]:
    synthesis: dict[str, object] = {"mode": mode}
    if mode == "oversampling":
        synthesis = {"mode": "value_seeded", "oversampling_ratio": 0.1, "oversampling_tries": 10}
    if mode in ("aggregate_seeded", "held"):
        synthesis = {"mode": "aggregate_seeded", "use_synthetic_counts": False}
        synthesis["hold_resolution"] = mode == "held"
    return {
        "dataset": "benchmark",
        "input": {"path": "x"},
        "protection": {"regime": "k_anonymity"},
        "synthesis": synthesis,
    }


def main() -> None:
    """Run one job, or all of them."""
    if len(sys.argv) > 3:
        with tempfile.TemporaryDirectory() as folder:
            name, mode, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
            print_line(f"anonymity_{name}_{mode}_r{length}", **run_job(name, mode, length, Path(folder)))
        return
    wide = [("wide", "row_seeded", WIDE_LENGTH)]
    tables = sys.argv[1:2] or ["adult", "million"]
    jobs = [(name, mode, 4) for name in tables for mode in sys.argv[2:3] or MODES]
    if len(sys.argv) == 1:
        jobs += [("national2019", "row_seeded", 3), ("national2019", "row_seeded", 4), *wide]
    if tables == ["wide"]:
        jobs = wide
    for job in jobs:
        subprocess.run([sys.executable, "-m", "tests.benchmarks.anonymity", *map(str, job)], check=False)


if __name__ == "__main__":
    main()
