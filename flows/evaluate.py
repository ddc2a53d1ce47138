"""Evaluate: synthetic records and released counts against the raw table. All of it stays in ``sensitive/``.

count (exact marginals) -> evaluate
"""

from prefect import flow

from flows.measure import Measured, measuring
from flows.publish import building, work_folder
from tasks.aggregate import count_records
from tasks.caching import cached
from tasks.configuration import RunConfiguration
from tasks.evaluate import evaluate_against_raw
from tasks.publish import Built
from tasks.resources import query_resources
from tasks.storage import Workspace


@flow(name="evaluate", flow_run_name="evaluate-{configuration.dataset}", persist_result=False)
def evaluate(configuration: RunConfiguration) -> str:
    """Evaluate the configured release against the raw table; return the place of the result."""
    workspace = Workspace.of(configuration)
    measured = measuring(workspace, configuration)
    with work_folder(workspace, configuration) as work:
        built = building(workspace, configuration, measured.measurement, "generate", work)
        return evaluating(workspace, configuration, measured, built)


def evaluating(
    workspace: Workspace, configuration: RunConfiguration, measured: Measured, built: Built
) -> str:
    """The steps of this flow on what the others made."""
    resources = query_resources(configuration, workspace)
    length = max(measured.described.parameters.reporting_length, 1)
    count = cached(count_records, workspace)
    marginals = count(workspace, measured.records, length, measured.run, resources)
    assert built.records is not None, "what is evaluated was generated"
    sensitive, released = (measured.records, marginals), (built.aggregates, built.records)
    found = evaluate_against_raw(workspace, configuration, sensitive, released, measured.run, resources)
    return found.key
