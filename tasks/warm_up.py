"""Compiles every kernel, so that the first run does not wait for it: ``python -m tasks.warm_up``.

Runs the core once on tables of a few made-up rows and keeps nothing but compiled kernels, which it publishes
in the checkout for all users. Two processes, as SynDiffix and the rest share next to no kernels; each line
says what is compiled.
"""

import gc
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from tasks.configuration import AggregateSeeded as Held
from tasks.configuration import RowSeeded, Unseeded, ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.aggregates_json import write_aggregates_json
from tasks.core.aggregates.interchange import write_reportable_tsv
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.protection import protect_counts
from tasks.core.aggregates.sensitive_aggregates import write_sensitive_aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.compiling import keep_quiet
from tasks.core.dp.normalization import normalise
from tasks.core.dp.parameters import AccountantName, ContributionName, DpParameters
from tasks.core.dp.release import measure
from tasks.core.dp.stream import WordStream
from tasks.core.evaluation.raw import RawInputs, evaluate_raw
from tasks.core.evaluation.sensitive_files import write_sensitive_files
from tasks.core.kernel_cache import publish
from tasks.core.queries import Resources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.reading import InputFile
from tasks.core.syndiffix.parameters import AnonymizationParameters
from tasks.core.syndiffix.strategies import DefaultClustering
from tasks.core.syndiffix.synthesizer import SynDiffixParameters, Synthesizer
from tasks.core.synthesis.aggregate_seeded import AggregateSeeded, synthesize
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.rows import common_rows
from tasks.synthesis import draw_from_rows

_ROWS = "id,a,b,c\n1,x,p;q,1\n1,y,p,2\n2,x,q,30\n3,,,\n"
_SCHEMA = Schema(
    (
        Column("a", domain=("x", "y")),
        Column("b", domain=("p", "q"), delimiter=";", max_items=2),
        Column("c", domain=("<0", "[0,9]", ">9"), bins=(0.0, 9.0)),
    ),
    subject_id="id",
)
_WAYS: tuple[tuple[AccountantName, ContributionName], ...] = (
    ("gdp", "schema"),
    ("gdp", "profile"),
    ("zcdp", "percentile"),
)
_MODES = (
    RowSeeded(),
    ValueSeeded(),
    ValueSeeded(oversampling_ratio=0.5),
    Unseeded(),
    Held(hold_resolution=True),
)


def main() -> None:
    """Run the core once, every way that a release can be made."""
    _prepare()
    syndiffix = multiprocessing.get_context("spawn").Process(target=_synthesize)
    syndiffix.start()
    _release()
    syndiffix.join()
    if syndiffix.exitcode:
        sys.exit(syndiffix.exitcode)
    if publish() is None:
        own = os.environ["NUMBA_CACHE_DIR"]
        sys.stdout.write(f"  for this user alone, in {own}: this checkout is another user's\n")


def _prepare() -> None:
    """Each line says what is compiled, so no other need; and little of what a compiler makes is garbage."""
    keep_quiet()
    gc.set_threshold(1_000_000, 50, 100)


def _release() -> None:
    """Releases with differential privacy and with k-anonymity."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "table.csv").write_text(_ROWS, encoding="utf-8")
        resources = Resources(scratch=root)
        options = EncodingOptions(total=True, key=b"warm-up", tags=True, resources=resources)
        records = encode(InputFile(root / "table.csv"), _SCHEMA, options)
        aggregates = _draw(records)
        _tell("noisy counts")
        synthetic = synthesize(aggregates, AggregateSeeded(), 1)
        write_wide_tsv(synthetic, root / "synthetic.tsv")
        _tell("synthesis from counts")
        (root / "coded").mkdir()
        (root / "marginals").mkdir()
        (root / "files").mkdir()
        records.write(root / "coded")
        counted = count_marginals(root / "coded", root / "marginals", 3, resources)
        inputs = RawInputs(root / "coded", counted, aggregates, synthetic, 1)
        write_sensitive_files(evaluate_raw(inputs, resources), root / "files", "warm-up")
        write_sensitive_aggregates(root / "coded", counted, 2, root / "files", "warm-up", resources)
        _tell("evaluation")
        _round(records, counted, root)
        _tell("synthesis from records")


def _tell(what: str) -> None:
    sys.stdout.write(f"  compiled: {what}\n")
    sys.stdout.flush()


def _draw(records: CodedRecords) -> Aggregates:
    """Every way that a measurement is drawn."""
    for accountant, contribution in _WAYS:
        parameters = DpParameters(
            100.0, 1e-6, 3, accountant=accountant, contribution=contribution, threshold_delta_share=0.0
        )
        measurement = measure(records, parameters, WordStream(), before_first_word=lambda: None)
    return normalise(measurement)


def _round(records: CodedRecords, counted: Marginals, root: Path) -> None:
    """Rounded counts, their files, and every mode that reads raw records."""
    aggregates = protect_counts(counted, 1)
    write_reportable_tsv(aggregates, root / "reportable.tsv")
    write_aggregates_json(aggregates, records.schema, root / "reportable.json", protected=True)
    rows = common_rows(records, 1)
    for synthesis in _MODES:
        draw_from_rows(rows, aggregates, synthesis, 1, 1, lambda done: None)


def _synthesize() -> None:
    """SynDiffix of rows and of entities, with clusters that are solved and stitched."""
    _prepare()
    places = range(300)
    columns = {
        name: pa.array([float(place % size) for place in places]) for size, name in enumerate("abcde", 2)
    }
    table = pa.table({"id": pa.array([str(place // 2) for place in places]), **columns})
    clustering = DefaultClustering(max_weight=4.0, solver_alpha=1.0)
    parameters = SynDiffixParameters(AnonymizationParameters(bytes(32)), clustering=clustering)
    for ids in ([], ["id"]):
        Synthesizer(table, parameters, ids=ids).sample()
    _tell("SynDiffix")


if __name__ == "__main__":
    main()
