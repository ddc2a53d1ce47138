"""Publish: one measurement in, a release out. Reads neither the table, nor ``sensitive/``, nor the ledger.

    measurement -> normalise -> generate -> compare -> page -> release        counts, then records
    measurement -> fit -> estimate           -> compare -> page -> release        records, then counts

May run as another user than the measure flow.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import held_schema
from tasks.core.queries import QueryResources
from tasks.public.bundles import open_bundle
from tasks.public.generate import (
    compare_with_reportable,
    estimate_counts,
    evaluate_fitted,
    fit_records,
    generate_records,
    normalise_counts,
    recount_records,
)
from tasks.public.page import PageSettings, state_privacy, write_page
from tasks.public.publish import (
    Built,
    BuiltCounts,
    Release,
    copy_release,
    publish_release,
    write_release_files,
)
from tasks.public.summary import record_lineage, summarise_release
from tasks.public.syndiffix import BuiltTables, state_tables, write_table_page
from tasks.request import reaches
from tasks.step import as_lookup
from tasks.storage import RunWorkspace, StoredTable, Workspace


@contextmanager
def opened_run(workspace: Workspace, configuration: RunConfiguration) -> Iterator[RunWorkspace]:
    """A run's workspace for what is between measurement and release.

    Later runs take from it what is still current; what none has used for a week goes.
    """
    try:
        yield RunWorkspace.begin(workspace, configuration.dataset, QueryResources())
    finally:
        workspace.clear_unused(configuration.dataset)


def build_steps(
    run: RunWorkspace, configuration: RunConfiguration, measurement: StoredTable, last: str
) -> BuiltCounts:
    """The steps up to a stage; every earlier one is run first, and none that is current."""
    configuration = configuration.without_raw_seed()
    make = _build_from_records if configuration.draws_workload else _build_from_counts
    built = make(run, configuration, measurement, last)
    if reaches(last, "navigate"):
        assert built.records is not None, "what is shown was generated"
        assert built.evaluation is not None, "what is shown was evaluated"
        counts, evaluated = (built.aggregates, built.recounted), (built.records, built.evaluation)
        settings = PageSettings.of(configuration)
        built.page = write_page(run, measurement, built.statement, counts, evaluated, settings)
    return built


def _build_from_counts(
    run: RunWorkspace, configuration: RunConfiguration, measurement: StoredTable, last: str
) -> BuiltCounts:
    """Reportable aggregates from what was counted, then records from them, then the two compared."""
    aggregates = normalise_counts(run, measurement)
    built = BuiltCounts(state_privacy(run, configuration, measurement, aggregates), aggregates)
    if not reaches(last, "generate"):
        return built
    schema = held_schema(configuration, open_bundle(run, measurement).schema())
    synthesis, jobs = configuration.synthesis, configuration.resources.parallel_jobs
    resolution = configuration.reporting_resolution
    records = generate_records(run, aggregates, measurement, synthesis, resolution, schema, jobs)
    built.records = records
    if reaches(last, "evaluate"):
        built.recounted = recount_records(run, measurement, aggregates, records)
        built.evaluation = compare_with_reportable(run, measurement, aggregates, built.recounted)
    return built


def _build_from_records(
    run: RunWorkspace, configuration: RunConfiguration, measurement: StoredTable, last: str
) -> BuiltCounts:
    """Records from what was drawn, and reportable aggregates from both: needed up to whatever stage."""
    jobs = configuration.resources.parallel_jobs
    records = fit_records(run, measurement, configuration.synthesis, jobs)
    aggregates = estimate_counts(run, measurement, records, configuration.reporting_length)
    built = BuiltCounts(state_privacy(run, configuration, measurement, aggregates), aggregates)
    if not reaches(last, "generate"):
        return built
    built.records = records
    if reaches(last, "evaluate"):
        built.evaluation = evaluate_fitted(run, measurement, records)
    return built


def build_table_steps(
    run: RunWorkspace, configuration: RunConfiguration, measurement: StoredTable, last: str
) -> BuiltTables:
    built = BuiltTables(state_tables(run, configuration, measurement))
    if reaches(last, "navigate"):
        built.page = write_table_page(run, measurement, built.statement, PageSettings.of(configuration))
    return built


#: How what was handed over is built from, by its regime.
BUILDERS: dict[str, Callable[[RunWorkspace, RunConfiguration, StoredTable, str], Built]] = {
    "differential_privacy": build_steps,
    "k_anonymity": build_steps,
    "syndiffix": build_table_steps,
}


def release_steps(
    run: RunWorkspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    built: Built,
    sensitive: Sequence[StoredTable] | None = None,
) -> Release:
    """Put what was built in place, sum it up, and record its lineage.

    Args:
        sensitive: what the measurement was made of, in order; None where an earlier run made it.
    """
    configuration = configuration.without_raw_seed()
    written = write_release_files(run, configuration.as_released(), measurement, built)
    release = publish_release(run, configuration, measurement, written)
    summarise_release(run, configuration, release, is_recalled=sensitive is None)
    if configuration.publish_to is not None:
        copy_release(run, configuration, release)
    record_lineage(run, configuration, as_lookup(list(sensitive or ())), release)
    return release
