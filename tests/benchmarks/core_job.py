"""The core called directly, without Prefect: what the benchmarks time."""

import json
import math
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.dp.accounting import sigma_proportions_named
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.table import RecordTable
from tasks.core.tables.header import InputFile
from tests.benchmarks.data import generated_codes, made_once

EPSILON = 4.0


def coded(path: Path, *, tags: bool = False) -> CodedRecords:
    """A table's coded records, every domain open and every zero a value."""
    source = InputFile(path)
    options = EncodingOptions(total=True, key=b"benchmark", tags=tags, resources=QueryResources(threads=1))
    return encode(source, schema_of(source), options)


def schema_of(source: InputFile, *, cap_required: bool = True) -> Schema:
    """Every column open, and under differential privacy a cap of one value each."""
    names = source.headers.names
    return build_schema(names, Declarations(sensitive_zeros=names), cap_required=cap_required)


def generated_records(records: int, columns: int) -> CodedRecords:
    """The records of the table that `data.generated` writes, in memory."""
    codes = generated_codes(records, columns)
    schema = Schema(tuple(Column(f"c{place}") for place in range(columns)))
    values = tuple(tuple(f"v{code}" for code in range(1, int(own.max()) + 1)) for own in codes)
    return CodedRecords(schema, tuple(codes), schema.slot_columns, values, records)


def generated_folder(records: int, columns: int) -> Path:
    """The same as coded records on disk, made once."""

    def write(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        generated_records(records, columns).write(folder)

    return made_once(f"codes-{records}x{columns}", write)


def parameters_of(records: CodedRecords, length: int, accountant: str) -> DpParameters:
    """pac-synth's defaults: epsilon 4, delta 1 / (n ln n), long combinations first, nothing suppressed."""
    number = records.number_of_records
    zcdp = accountant == "zcdp"
    return DpParameters(
        epsilon=EPSILON,
        delta=1 / (number * math.log(number)),
        reporting_length=length,
        accountant="zcdp" if zcdp else "gdp",
        count_share=0.005 if zcdp else 0.01,
        sigma_proportions=tuple(sigma_proportions_named("long", length)),
        contribution="percentile" if zcdp else "schema",
        thresholds=ReleaseThresholds("adaptive", {}, 1.0),
    )


def aggregates_of_peer(path: Path) -> Aggregates:
    """The aggregates that the peer released in its ``sample`` section, for both to draw from."""
    body = json.loads(Path(f"{path}.aggregates.json").read_text())
    counted = {tuple(sorted(text.split(";"))): count for text, count in body["aggregates"].items() if text}
    texts = sorted(key[0] for key in counted if len(key) == 1)
    place = {text: index for index, text in enumerate(texts)}
    headers = tuple(body["rows"][0])
    split = [text.split(":", 1) for text in texts]
    attributes = tuple(Attribute(header, value, headers.index(header)) for header, value in split)
    ids, counts = [], []
    for length in range(1, max(map(len, counted)) + 1):
        found = sorted((tuple(place[t] for t in key), n) for key, n in counted.items() if len(key) == length)
        ids.append(np.array([row for row, _ in found], np.int32).reshape(-1, length))
        counts.append(np.array([count for _, count in found], np.int64))
    return Aggregates(headers, attributes, body["records"], tuple(ids), tuple(counts))


def mean_errors(path: Path) -> tuple[list[float], list[float]]:
    """Mean absolute 2- and 3-way count errors of full runs, ours and the peer's, against its aggregates."""
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters, draw_aggregate_seeded

    aggregates = aggregates_of_peer(path)
    records = draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1)
    mine = [
        [int(i) for i in records.attribute_ids[records.offsets[r] : records.offsets[r + 1]]]
        for r in range(records.number_of_records)
    ]
    place = {(a.header, a.value): index for index, a in enumerate(aggregates.attributes)}
    rows = json.loads(Path(f"{path}.aggregates.json").read_text())["rows"]
    theirs = [
        sorted(place[pair] for pair in zip(rows[0], row, strict=True) if pair[1] != "") for row in rows[1:]
    ]
    return _errors(aggregates, mine), _errors(aggregates, theirs)


def _errors(aggregates: Aggregates, records: list[list[int]]) -> list[float]:
    found = []
    for length in (2, 3):
        counted: dict[tuple[int, ...], int] = {}
        for record in records:
            for key in combinations(record, length):
                counted[key] = counted.get(key, 0) + 1
        pairs = zip(
            aggregates.combinations[length - 1].tolist(), aggregates.counts[length - 1].tolist(), strict=True
        )
        found.append(float(np.mean([abs(counted.get(tuple(row), 0) - count) for row, count in pairs])))
    return found


def draw(records: CodedRecords, parameters: DpParameters) -> Measurement:
    """The noisy counts of records in memory."""
    from tasks.core.dp.release import draw_lengths
    from tasks.core.dp.sampling.stream import WordStream

    table = RecordTable.in_memory(records)
    return draw_lengths(table, parameters, WordStream(), before_first_word=lambda: None)


class Stopwatch:
    """CPU seconds by stage."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.process_time()

    def stop(self, stage: str) -> None:
        """End a stage, which began where the one before ended."""
        now = time.process_time()
        self.stages[stage] = round(now - self._last, 2)
        self._last = now


def run_core_job(path: Path, length: int, folder: Path) -> dict[str, float]:
    """CSV to page: code, measure, normalise, synthesize, compare, write every file; CPU seconds by stage."""
    from tasks.core.aggregates.interchange import write_reportable_tsv
    from tasks.core.dp.normalization import normalised_counts
    from tasks.core.evaluation.release import compare_release, count_synthetic
    from tasks.core.navigation.fidelity import fidelity
    from tasks.core.navigation.inputs import ReportInputs
    from tasks.core.navigation.report import render_page
    from tasks.core.statement.differential_privacy.statement import accounted_statement
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters, draw_aggregate_seeded
    from tasks.core.synthesis.assembly import write_wide_tsv

    watch = Stopwatch()
    records = coded(path)
    watch.stop("ingest")
    parameters = parameters_of(records, length, "gdp")
    measurement = draw(records, parameters)
    watch.stop("protect")
    aggregates = normalised_counts(measurement)
    write_reportable_tsv(aggregates, folder / "aggregates.tsv")
    watch.stop("normalise")
    synthetic = draw_aggregate_seeded(aggregates, AggregateSeededParameters(), 1)
    write_wide_tsv(synthetic, folder / "synthetic.tsv")
    watch.stop("generate")
    schema, resources = measurement.schema, QueryResources(folder, threads=1)
    counted = count_synthetic(synthetic.parts(), aggregates, schema)
    compared = compare_release(aggregates, counted, measurement, resources)
    (folder / "evaluation.json").write_text(json.dumps(compared))
    watch.stop("evaluate")
    from tests.oracles.releases import ledger_facts

    facts = ledger_facts(dataset="adult", unit="row", population="", vintage="1")
    words = accounted_statement(measurement, facts, "benchmark")
    inputs = ReportInputs(words, schema, aggregates, measurement, synthetic, fidelity(aggregates, counted))
    (folder / "page.html").write_text(render_page(inputs), encoding="utf-8")
    watch.stop("navigate")
    return watch.stages
