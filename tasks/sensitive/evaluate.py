"""Evaluate stage against the raw table, for ``sensitive/`` alone: what was lost, and utility on request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from tasks.configuration.model import Report
from tasks.configuration.sections import UtilityRequest
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.evaluation.sensitive_files import RecordsPromise
from tasks.core.synthesis.records import open_synthetic_records
from tasks.public.bundles import unit_of
from tasks.sensitive.export import write_sources
from tasks.sensitive.read import TABLE, open_records, open_table
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable

if TYPE_CHECKING:
    from tasks.core.evaluation.raw import RawInputs
    from tasks.core.navigation.inputs import Naming
    from tasks.core.navigation.owner_page import Answer


@step(SENSITIVE, makes="evaluation against the raw table", folder="evaluation", progress="evaluate")
def evaluate_against_raw(
    into: Output,
    resolution: int,
    prefix: str,
    promise: RecordsPromise,
    report: Report,
    records: StoredTable,
    marginals: StoredTable,
    aggregates: StoredTable,
    synthetic: StoredTable,
) -> None:
    """Judge synthetic records and reportable aggregates: SDS's files, ``evaluation.json``, a page.

    Args:
        report: what the release's page calls things, and the owner's does, too.
    """
    from tasks.core.evaluation.raw import RawInputs, evaluate_raw
    from tasks.core.evaluation.sensitive_files import write_sensitive_files
    from tasks.core.navigation.owner_page import answers_of_counts

    inputs = RawInputs(
        table=open_table(into, records),
        sensitive=read_marginals(into.path(marginals)),
        reportable=read_aggregates(into.path(aggregates)),
        synthetic=open_synthetic_records(into.path(synthetic)),
        resolution=resolution,
    )
    found = evaluate_raw(inputs, into.run.resources, into.progress.of("measures"))
    write_sensitive_files(found, into.folder, prefix, promise)
    _write_owner_page(into, owner_naming(report, prefix), inputs, answers_of_counts(found, promise))
    judged = into.path(synthetic)
    write_sources(into.folder, prefix, resolution, records, marginals, judged)


def owner_naming(report: Report, prefix: str) -> "Naming":
    from tasks.core.navigation.inputs import Naming, UnitName

    unit = UnitName.of(report.unit, report.units) if report.unit else None
    return Naming(prefix=prefix, unit=unit, value_names=report.value_names)


def store_owner_page(folder: Path, prefix: str, text: str) -> None:
    """Store a page of true counts for its owner's eyes alone, wherever the folder may be moved to."""
    folder.chmod(0o700)
    path = folder / f"{prefix}_owner_showcase.html"
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _write_owner_page(
    into: Output, naming: "Naming", inputs: "RawInputs", answers: "Sequence[Answer]"
) -> None:
    from tasks.core.navigation.inputs import ages_of
    from tasks.core.navigation.owner_page import (
        OwnerNames,
        payload_of_truth,
        render_owner_page,
        true_counts,
    )

    dataset, schema = into.run.dataset, inputs.sensitive.facts.schema
    names = OwnerNames(dataset, replace(naming, ages=ages_of(schema)), unit_of(schema))
    exact = true_counts(inputs.sensitive)
    payload = payload_of_truth(names, schema, exact, inputs.synthetic)
    page = render_owner_page(dataset, payload, answers)
    store_owner_page(into.folder, naming.prefix, page)


@step(SENSITIVE, makes="utility against the raw table", folder="utility", progress="utility")
def measure_worth(
    into: Output,
    request: UtilityRequest,
    prefix: str,
    raw: StoredTable,
    synthetic: StoredTable,
    bins: Mapping[str, tuple[float, ...]] | None = None,
) -> None:
    """Args: bins: public edges by numeric column of SynDiffix's typed tables; coded records have theirs."""
    from tasks.core.evaluation.utility.files import write_utility
    from tasks.core.evaluation.utility.measures import MOST_ROWS, measure_utility
    from tasks.core.evaluation.utility.table_pair import pair_of_records, pair_of_tables

    if bins is not None:
        typed, made = (pq.read_table(into.path(table) / TABLE) for table in (raw, synthetic))
        pair = pair_of_tables(typed, made, bins, MOST_ROWS)
    else:
        records = open_synthetic_records(into.path(synthetic))
        pair = pair_of_records(open_records(into.run, raw), records, MOST_ROWS)
    threads = into.run.resources.threads
    found = measure_utility(pair, request.target, request.group, threads, into.progress)
    write_utility(found, into.folder, prefix)
