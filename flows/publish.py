"""Publish: one measurement in, a release out. Reads neither the table, nor ``sensitive/``, nor the ledger.

    measurement -> normalise -> generate -> compare -> page -> release

May run as another user than the measure flow.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from prefect import flow

from tasks.configuration import RunConfiguration
from tasks.generate import generate_records, normalise_counts
from tasks.handover import find_measurement, require_drawn_as_configured
from tasks.leftovers import mark
from tasks.lineage import record_lineage
from tasks.navigate import write_page
from tasks.publish import Built, Release, publish_release
from tasks.release_evaluation import compare_with_reportable, recount_records
from tasks.statement import state_privacy
from tasks.storage import StoredTable, Workspace

STAGES = ("aggregate", "generate", "evaluate", "navigate")


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
    require_drawn_as_configured(workspace, configuration, found)
    with work_folder(workspace, configuration) as work:
        built = building(workspace, configuration, found, STAGES[-1], work)
        return releasing(workspace, configuration, found, built).key


@contextmanager
def work_folder(workspace: Workspace, configuration: RunConfiguration) -> Iterator[str]:
    """A folder for what is between measurement and release, relative to the workspace; gone afterwards."""
    work = f"release/{configuration.dataset}/.work-{mark()}"
    try:
        yield work
    finally:
        shutil.rmtree(workspace.root / work, ignore_errors=True)


def building(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, last: str, work: str
) -> Built:
    """The steps up to a stage; every earlier one is run first."""
    reached = STAGES.index(last)
    aggregates = normalise_counts(workspace, measurement, work)
    statement = state_privacy(workspace, configuration, measurement, aggregates, work)
    built = Built(statement, aggregates)
    if reached >= STAGES.index("generate"):
        jobs = configuration.resources.parallel_jobs
        built.records = generate_records(
            workspace, aggregates, measurement, configuration.synthesis, jobs, work
        )
    if reached >= STAGES.index("evaluate") and built.records is not None:
        built.recounted = recount_records(workspace, measurement, aggregates, built.records, work)
        built.evaluation = compare_with_reportable(workspace, measurement, aggregates, built.recounted, work)
    if reached >= STAGES.index("navigate"):
        # Without what the page is not made from: Prefect would draw an edge from it.
        shown = replace(built, evaluation=None)
        built.report = write_page(workspace, configuration, measurement, shown, work)
    return built


def releasing(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    built: Built,
    sensitive: Sequence[StoredTable] = (),
) -> Release:
    """Put what was built in place, and record its lineage, back to the sensitive tables that are given."""
    release = publish_release(workspace, configuration, measurement, replace(built, recounted=None))
    record_lineage(workspace, configuration, list(sensitive), measurement, release)
    return release
