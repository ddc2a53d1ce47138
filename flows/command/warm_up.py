"""Compiles kernels, so that the first run does not wait for it: ``python -m flows.command.warm_up [all]``.

Runs the core once on made-up rows and publishes the kernels of a default run, or all, in the checkout for all
users. Two processes compile all, as SynDiffix and the rest share next to no kernels.
"""

import gc
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow.csv import read_csv

from tasks.configuration.synthesis import FLAT_MODES, AggregateSeeded, ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.aggregates.grouping import FilledCells, add_up
from tasks.core.aggregates.interchange import (
    write_aggregates_json,
    write_reportable_parquet,
    write_reportable_tsv,
)
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.protection import protect_counts
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.compiling.decorator import keep_quiet, load_declarations
from tasks.core.compiling.kernel_cache import publish_kernels
from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.parameters import AccountantName, ContributionName, DpParameters
from tasks.core.dp.release import draw_lengths
from tasks.core.dp.sampling.stream import WordStream
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.measurement import read_workload_measurement
from tasks.core.dp.workload.parameters import WorkloadParameters, default_steps
from tasks.core.evaluation.raw import RawInputs, evaluate_raw
from tasks.core.evaluation.release import count_in_parts
from tasks.core.evaluation.sensitive_aggregates import write_sensitive_aggregates
from tasks.core.evaluation.sensitive_files import write_sensitive_files
from tasks.core.fitting.implied import ImpliedCounts
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, read_coded_records
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.table import RecordTable
from tasks.core.syndiffix.settings import AnonymizationParameters, DefaultClustering, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer
from tasks.core.synthesis import fitted
from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters, draw_aggregate_seeded
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.records import SyntheticRecords, read_synthetic_records
from tasks.core.synthesis.rows import common_rows
from tasks.core.tables.header import InputFile
from tasks.sensitive.count import draw_from_rows

#: So many that each step does what it does with many records, too.
_PEOPLE = 400
_RESOLUTION = 10
_EPSILON = 1.0


def _made_up_table() -> str:
    lines = ["id,a,b,c"]
    for person in range(_PEOPLE):
        items = ("p;q", "q", "", "p")[person % 4]
        lines.append(f"{person},{'y' if person < 5 else 'x'},{items},{person * person % 31}")
        if person % 9 == 0:
            lines.append(f"{person},,{items},")
    return "\n".join(lines) + "\n"


_SCHEMA = Schema(
    (
        Column("a", domain=("x", "y")),
        Column("b", domain=("p", "q"), delimiter=";", max_items=2),
        Column("c", domain=("<0", "[0,9]", ">9"), bins=(0.0, 9.0)),
    ),
    subject_id="id",
)
#: As under k-anonymity.
_WITHOUT_CAP = Schema(
    tuple(replace(column, max_items=0) if column.delimiter else column for column in _SCHEMA.columns),
    subject_id="id",
)
_Read = TypeVar("_Read")
_WAYS: tuple[tuple[AccountantName, ContributionName], ...] = (
    ("gdp", "schema"),
    ("gdp", "profile"),
    ("zcdp", "percentile"),
)
_MODES = (
    *(mode() for mode in FLAT_MODES if mode().reads_records),
    ValueSeeded(oversampling_ratio=0.5),
    AggregateSeeded(hold_resolution=True),
)


def warm_up(*, everything: bool) -> None:
    _prepare()
    # A fork has all that is imported, which takes seconds; macOS does not allow it.
    way = "fork" if sys.platform == "linux" else "spawn"
    syndiffix = multiprocessing.get_context(way).Process(target=_synthesize)  # type: ignore[attr-defined]
    if everything:
        syndiffix.start()
    _release(everything=everything)
    if everything:
        syndiffix.join()
        if syndiffix.exitcode:
            sys.exit(syndiffix.exitcode)
    if publish_kernels() is None:
        own = os.environ["NUMBA_CACHE_DIR"]
        print(f"  kept for this user alone, in {own}: another user owns this checkout")


def _prepare() -> None:
    """Each line says what is compiled, so no other need; and little of what a compiler makes is garbage.

    What numba and Arrow load when they are first used is loaded before the fork, once.
    """
    keep_quiet()
    gc.set_threshold(1_000_000, 50, 100)
    pa.array([0])
    load_declarations()


def _release(*, everything: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "table.csv").write_text(_made_up_table(), encoding="utf-8")
        resources = QueryResources(scratch=root)
        options = EncodingOptions(total=True, key=b"warm-up", tags=True, resources=resources)
        encoded = encode(InputFile(root / "table.csv"), _SCHEMA, options)
        # Runs read what the step before has stored: arrays that can't be written are of another type.
        records = _stored(encoded, read_coded_records, root / "coded")
        workload = WorkloadParameters(_EPSILON, 1e-6, default_steps()[0].shares)
        table = RecordTable.in_memory(records)
        drawn = draw_workload(table, workload, WordStream(), before_first_word=lambda: None)
        measurement = _stored(drawn, read_workload_measurement, root / "measured")
        made = fitted.draw_fitted(measurement, 1, threads=1)
        synthetic = _stored(made.records, read_synthetic_records, root / "fitted")
        write_wide_tsv(synthetic, root / "synthetic.tsv")
        longer_set = (0, 1, 2)  # as longer sets are scored
        ImpliedCounts(Domain((2, 2, 2)), np.zeros((1, 3), np.int32)).of(longer_set)
        _tell("fitted records")
        reported = count_in_parts(synthetic.parts(), _SCHEMA, 3)
        aggregates = _stored(reported, read_aggregates, root / "reported")
        write_reportable_tsv(aggregates, root / "reported.tsv")
        counted = _evaluate(root, aggregates, synthetic, resources)
        _tell("evaluation")
        if everything:
            _release_otherwise(records, counted, root, options)


def _evaluate(
    root: Path, aggregates: Aggregates, synthetic: SyntheticRecords, resources: QueryResources
) -> Marginals:
    (root / "marginals").mkdir()
    (root / "files").mkdir()
    counted = count_marginals(root / "coded", root / "marginals", 3, resources)
    for kind in (np.uint32, np.int64):  # as cells of very many records are added up
        add_up([FilledCells((np.zeros(1, np.uint8),), np.ones(1, kind))] * 2, [2])
    table = RecordTable.in_folder(root / "coded")
    # Whatever the noise was, some combinations are rare: most are held by fewer than all people.
    inputs = RawInputs(table, counted, aggregates, synthetic, resolution=_PEOPLE)
    write_sensitive_files(evaluate_raw(inputs, resources), root / "files", "warm-up")
    write_sensitive_aggregates(table, counted, 2, root / "files", "warm-up", resources)
    return counted


def _release_otherwise(
    records: CodedRecords, counted: Marginals, root: Path, options: EncodingOptions
) -> None:
    encode(InputFile(root / "table.csv"), _WITHOUT_CAP, replace(options, total=False))
    aggregates = _stored(_draw(records), read_aggregates, root / "aggregates")
    _tell("noisy counts")
    draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1)
    _tell("synthesis from counts")
    _round(records, counted, root)
    _tell("synthesis from records")


def _stored(made: Any, read: Callable[[Path], _Read], folder: Path) -> _Read:
    folder.mkdir()
    made.write(folder)
    return read(folder)


def _tell(what: str) -> None:
    print(f"  compiled: {what}", flush=True)


def _draw(records: CodedRecords) -> Aggregates:
    for accountant, contribution in _WAYS:
        parameters = DpParameters(
            100.0, 1e-6, 3, accountant=accountant, contribution=contribution, threshold_delta_share=0.0
        )
        measurement = draw_lengths(
            RecordTable.in_memory(records), parameters, WordStream(), before_first_word=lambda: None
        )
    return normalised_counts(measurement)


def _round(records: CodedRecords, counted: Marginals, root: Path) -> None:
    aggregates = _stored(protect_counts(counted, _RESOLUTION), read_aggregates, root / "rounded")
    write_reportable_tsv(aggregates, root / "reportable.tsv")
    write_reportable_parquet(aggregates, root / "reportable.parquet")
    write_aggregates_json(aggregates, records.schema, root / "reportable.json", protected=True)
    rows = common_rows(records, _RESOLUTION)
    for synthesis in _MODES:
        draw_from_rows(rows, aggregates, synthesis, 1, 1, lambda done: None)


def _synthesize() -> None:
    _prepare()
    lines = [f"i{place // 2}" + "".join(f",{place % size}.0" for size in range(2, 7)) for place in range(300)]
    # Read as text, since Arrow imports pandas to make a column of Python's objects.
    table = read_csv(BytesIO("\n".join(["id,a,b,c,d,e", *lines]).encode()))
    clustering = DefaultClustering(max_weight=4.0, solver_alpha=1.0)
    parameters = SynDiffixParameters(AnonymizationParameters(bytes(32)), clustering=clustering)
    for ids in ([], ["id"]):
        Synthesizer(table, parameters, ids=ids).sample()
    _tell("SynDiffix")


if __name__ == "__main__":
    warm_up(everything=sys.argv[1:] == ["all"])
