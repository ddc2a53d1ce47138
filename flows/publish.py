"""Publish: one measurement in, a release out. Reads neither the table, nor ``sensitive/``, nor the ledger.

    measurement -> normalise -> generate -> compare -> page -> release        counts, then records
    measurement -> fit -> estimate           -> compare -> page -> release        records, then counts

May run as another user than the measure flow.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from prefect import flow

from tasks.caching import cached_publicly
from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import held_schema
from tasks.naming import run_label
from tasks.public.bundles.opening import (
    as_measured,
    find_measurement,
    open_bundle,
    require_made_as_configured,
)
from tasks.public.compare import compare_with_reportable, recount_records
from tasks.public.fit import estimate_counts, evaluate_fitted, fit_records
from tasks.public.generate import generate_records, normalise_counts
from tasks.public.lineage import record_lineage
from tasks.public.page import write_page
from tasks.public.publish import Release, publish_release
from tasks.public.release_files import Built, BuiltCounts
from tasks.public.state import state_privacy
from tasks.public.syndiffix import BuiltTables, state_tables, write_table_page
from tasks.stages import STAGES, reaches
from tasks.storage import INTERMEDIATE, StoredTable, Workspace


@flow(name="publish", flow_run_name="publish-{configuration.dataset}", persist_result=False)
def publish(configuration: RunConfiguration, measurement: str | None = None) -> str:
    """Build and publish everything from a measurement; return the release's place in the workspace.

    Args:
        configuration: the run's.
        measurement: its folder; None: the configured vintage's in the workspace, else its newest.
    """
    workspace = Workspace.of(configuration)
    workspace.clear_leftovers(configuration.dataset)
    found = find_measurement(workspace, configuration, measurement)
    configuration = as_measured(workspace, configuration, found)
    require_made_as_configured(workspace, configuration, found)
    workspace.prepare_publishing()
    with work_folder(workspace, configuration) as work:
        built: Built = BUILDING[configuration.protection.regime](
            workspace, configuration, found, STAGES[-1], work
        )
        return releasing(workspace, configuration, found, built).key


@contextmanager
def work_folder(workspace: Workspace, configuration: RunConfiguration) -> Iterator[str]:
    """A folder for what is between measurement and release, relative to the workspace.

    Later runs take from it what is still current; what none has used for a week goes.
    """
    try:
        yield f"{INTERMEDIATE}/{configuration.dataset}/{run_label()}"
    finally:
        workspace.clear_unused(configuration.dataset)


def build_steps(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, last: str, work: str
) -> BuiltCounts:
    """The steps up to a stage; every earlier one is run first, and none that is current."""
    configuration = configuration.without_raw_seed()
    make = _fitted if configuration.draws_workload else _counted
    built = make(workspace, configuration, measurement, last, work)
    if reaches(last, "navigate"):
        assert built.records is not None, "what is shown was generated"
        assert built.evaluation is not None, "what is shown was evaluated"
        page, counts = cached_publicly(write_page, workspace), (built.aggregates, built.recounted)
        report, evaluated = configuration.report, (built.records, built.evaluation)
        built.report = page(workspace, measurement, built.statement, counts, evaluated, report, work)
    return built


def _counted(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, last: str, work: str
) -> BuiltCounts:
    """Reportable aggregates from what was counted, then records from them, then the two compared."""
    aggregates = cached_publicly(normalise_counts, workspace)(workspace, measurement, work)
    built = BuiltCounts(state_privacy(workspace, configuration, measurement, aggregates, work), aggregates)
    if not reaches(last, "generate"):
        return built
    generate, jobs = cached_publicly(generate_records, workspace), configuration.resources.parallel_jobs
    schema = held_schema(configuration, open_bundle(workspace, measurement).schema())
    public, synthesis = (configuration.reporting_resolution, schema), configuration.synthesis
    records = generate(workspace, aggregates, measurement, synthesis, public, jobs, work)
    built.records = records
    if reaches(last, "evaluate"):
        recount = cached_publicly(recount_records, workspace)
        built.recounted = recount(workspace, measurement, aggregates, records, work)
        compare = cached_publicly(compare_with_reportable, workspace)
        built.evaluation = compare(workspace, measurement, aggregates, built.recounted, work)
    return built


def _fitted(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, last: str, work: str
) -> BuiltCounts:
    """Records from what was drawn, and reportable aggregates from both: needed up to whatever stage."""
    fit, jobs = cached_publicly(fit_records, workspace), configuration.resources.parallel_jobs
    records = fit(workspace, measurement, configuration.synthesis, jobs, work)
    estimate, length = cached_publicly(estimate_counts, workspace), configuration.reporting_length
    aggregates = estimate(workspace, measurement, records, length, work)
    built = BuiltCounts(state_privacy(workspace, configuration, measurement, aggregates, work), aggregates)
    if not reaches(last, "generate"):
        return built
    built.records = records
    if reaches(last, "evaluate"):
        built.evaluation = cached_publicly(evaluate_fitted, workspace)(workspace, measurement, records, work)
    return built


def building_tables(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, last: str, work: str
) -> BuiltTables:
    """The same for what SynDiffix handed over."""
    built = BuiltTables(state_tables(workspace, configuration, measurement, work))
    if reaches(last, "navigate"):
        page = cached_publicly(write_table_page, workspace)
        report, prefix = configuration.report, configuration.prefix
        built.report = page(workspace, measurement, built.statement, report, prefix, work)
    return built


#: How what was handed over is built from, by its regime.
BUILDING: dict[str, Callable[[Workspace, RunConfiguration, StoredTable, str, str], Built]] = {
    "differential_privacy": build_steps,
    "k_anonymity": build_steps,
    "syndiffix": building_tables,
}


def releasing(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    built: Built,
    sensitive: Sequence[StoredTable] = (),
) -> Release:
    """Put what was built in place, and record its lineage, back to the sensitive tables that are given."""
    configuration = configuration.without_raw_seed()
    release = publish_release(workspace, configuration, measurement, built)
    record_lineage(workspace, configuration, list(sensitive), measurement, release)
    return release
