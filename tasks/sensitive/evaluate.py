"""Evaluate stage against the raw table, for ``sensitive/`` alone: what was lost, and utility on request."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from tasks.configuration.model import Report, RunConfiguration
from tasks.configuration.sections import Model, UtilityRequest
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.evaluation.sensitive_files import RecordsPromise
from tasks.core.synthesis.records import open_synthetic_records
from tasks.sensitive.export import Sources
from tasks.sensitive.read import open_records, open_table
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable, Workspace

if TYPE_CHECKING:
    from tasks.core.evaluation.raw import RawInputs
    from tasks.core.evaluation.utility.table_pair import TablePair
    from tasks.core.navigation.inputs import Naming
    from tasks.core.navigation.owner_page import Answer


class EvaluationSettings(Model):
    """What of a run's configuration the evaluation depends on."""

    resolution: int
    prefix: str
    promise: RecordsPromise
    report: Report  # what the release's page calls things, and the owner's does, too

    @classmethod
    def of(cls, configuration: RunConfiguration) -> "EvaluationSettings":
        return cls(
            resolution=configuration.reporting_resolution,
            prefix=configuration.prefix,
            promise=RecordsPromise(
                configuration.protection.is_drawn_once,
                configuration.synthesis.reads_records,
                configuration.is_fitted,
            ),
            report=configuration.report.words,
        )


@step(SENSITIVE, makes="evaluation against the raw table", folder="evaluation", progress="evaluate")
def evaluate_against_raw(
    into: Output,
    settings: EvaluationSettings,
    records: StoredTable,
    marginals: StoredTable,
    aggregates: StoredTable,
    synthetic: StoredTable,
) -> None:
    """Judge synthetic records and reportable aggregates: SDS's files, ``evaluation.json``, a page."""
    from tasks.core.evaluation.raw import RawInputs, evaluate_raw
    from tasks.core.evaluation.sensitive_files import write_sensitive_files
    from tasks.core.navigation.owner_page import answers_of_counts

    inputs = RawInputs(
        table=open_table(into, records),
        sensitive=read_marginals(into.path(marginals)),
        reportable=read_aggregates(into.path(aggregates)),
        synthetic=open_synthetic_records(into.path(synthetic)),
        resolution=settings.resolution,
    )
    found = evaluate_raw(inputs, into.run.resources, into.progress.of("measures"))
    write_sensitive_files(found, into.folder, settings.prefix, settings.promise)
    _write_owner_page(into, settings, inputs, answers_of_counts(found, settings.promise))
    sources = Sources.of(settings.prefix, settings.resolution, records, marginals)
    sources.write(into.folder, into.path(synthetic))


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
    into: Output, settings: EvaluationSettings, inputs: "RawInputs", answers: "Sequence[Answer]"
) -> None:
    from tasks.core.navigation.inputs import ages_of
    from tasks.core.navigation.owner_page import (
        OwnerNames,
        payload_of_truth,
        render_owner_page,
        true_counts,
    )

    dataset, schema = into.run.dataset, inputs.sensitive.facts.schema
    naming = replace(owner_naming(settings.report, settings.prefix), ages=ages_of(schema))
    names = OwnerNames(dataset, naming, "subject" if schema.subject_id else "row")
    exact = true_counts(inputs.sensitive)
    payload = payload_of_truth(names, schema, exact, inputs.synthetic)
    page = render_owner_page(dataset, payload, answers)
    store_owner_page(into.folder, settings.prefix, page)


class UtilitySettings(Model):
    """What of a run's configuration the measures depend on."""

    request: UtilityRequest
    prefix: str
    #: Public edges by numeric column of SynDiffix's typed tables; None of coded records, which have theirs.
    bins: dict[str, tuple[float, ...]] | None = None

    @classmethod
    def of(
        cls, configuration: RunConfiguration, bins: dict[str, tuple[float, ...]] | None = None
    ) -> "UtilitySettings | None":
        request = configuration.evaluate_utility
        return None if request is None else cls(request=request, prefix=configuration.prefix, bins=bins)


@step(SENSITIVE, makes="utility against the raw table", folder="utility", progress="utility")
def measure_worth(into: Output, settings: UtilitySettings, raw: StoredTable, synthetic: StoredTable) -> None:
    from tasks.core.evaluation.utility.files import write_utility
    from tasks.core.evaluation.utility.measures import measure_utility

    asked, threads = settings.request, into.run.resources.threads
    pair = _pair(into.run, settings, raw, synthetic)
    found = measure_utility(pair, asked.target, asked.group, threads, into.progress)
    write_utility(found, into.folder, settings.prefix)


def _pair(
    workspace: Workspace, settings: UtilitySettings, raw: StoredTable, synthetic: StoredTable
) -> "TablePair":
    from tasks.core.evaluation.utility.measures import MOST_ROWS
    from tasks.core.evaluation.utility.table_pair import pair_of_records, pair_of_tables
    from tasks.sensitive.syndiffix.trees import TABLE

    if settings.bins is not None:
        typed, made = (pq.read_table(workspace.path(table) / TABLE) for table in (raw, synthetic))
        return pair_of_tables(typed, made, settings.bins, MOST_ROWS)
    records = open_synthetic_records(workspace.path(synthetic))
    return pair_of_records(open_records(workspace, raw), records, MOST_ROWS)
