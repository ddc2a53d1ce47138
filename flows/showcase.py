"""Showcase: the whole job. Measure, publish, and evaluate against the raw table for ``sensitive/``."""

from prefect import flow

from flows.evaluate import evaluating
from flows.measure import measuring
from flows.publish import STAGES, building, releasing, work_folder
from tasks.configuration import RunConfiguration
from tasks.storage import Workspace


@flow(name="showcase", flow_run_name="showcase-{configuration.dataset}", persist_result=False)
def showcase(configuration: RunConfiguration, last: str = STAGES[-1]) -> str:
    """Run every stage up to ``last`` and return the release's place in the workspace.

    Args:
        configuration: the run's.
        last: aggregate, generate, evaluate or navigate.
    """
    workspace = Workspace.of(configuration)
    measured = measuring(workspace, configuration)
    sensitive = (measured.table, measured.records)
    with work_folder(workspace, configuration) as work:
        built = building(workspace, configuration, measured.measurement, last, work)
        release = releasing(workspace, configuration, measured.measurement, built, sensitive)
        if configuration.evaluate_sensitive and STAGES.index(last) >= STAGES.index("evaluate"):
            evaluating(workspace, configuration, measured, built)
    return release.key
