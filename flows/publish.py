"""Publish: one measurement in, a release out. Reads neither the table, nor ``sensitive/``, nor the ledger.

    measurement -> normalise -> generate -> compare -> page -> release

May run as another user than the measure flow.
"""

import os
import shutil
from collections.abc import Sequence

from prefect import flow
from tasks.release_evaluation import compare_with_reportable

from tasks.configuration import RunConfiguration
from tasks.generate import generate_records, normalise_counts
from tasks.handover import find_measurement
from tasks.lineage import record_lineage
from tasks.navigate import write_page
from tasks.publish import Built, Release, publish_release
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
    found = find_measurement(workspace, configuration, measurement)
    return publishing(workspace, configuration, found, STAGES[-1]).release.key


class Published:
    """What was made on the public side; ``records`` is None where the stages stopped before."""

    def __init__(self, release: Release, records: StoredTable | None) -> None:
        """See the class."""
        self.release, self.records = release, records


def publishing(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    last: str,
    sensitive: Sequence[StoredTable] = (),
) -> Published:
    """The steps of this flow up to a stage; every earlier one is run first.

    Args:
        workspace: where to work.
        configuration: the run's.
        measurement: what to publish from.
        last: the last stage.
        sensitive: what the measurement was made from, for the lineage alone.
    """
    work = f"release/{configuration.dataset}/.work-{os.getpid()}"
    reached = STAGES.index(last)
    try:
        aggregates = normalise_counts(workspace, measurement, work)
        statement = state_privacy(workspace, configuration, measurement, aggregates, work)
        built = Built(statement, aggregates)
        if reached >= 1:
            jobs = configuration.resources.parallel_jobs
            built.records = generate_records(
                workspace, aggregates, measurement, configuration.synthesis, jobs, work
            )
        if reached >= 2:
            built.evaluation = compare_with_reportable(workspace, measurement, built, work)
        if reached >= 3:
            built.report = write_page(workspace, configuration, measurement, built, work)
        release = publish_release(workspace, configuration, measurement, built)
        record_lineage(workspace, configuration, list(sensitive), measurement, release)
        return Published(release, built.records)
    finally:
        shutil.rmtree(workspace.root / work, ignore_errors=True)
