"""Evaluate: released records and counts against the raw table. Its steps are in `flows.steps.evaluate`."""

from flows.steps.dataset_flow import dataset_flow
from flows.steps.evaluate import evaluate_steps, utility_steps
from flows.steps.measure import measure_steps
from flows.steps.publish import build_steps, opened_run
from tasks.configuration.model import RunConfiguration
from tasks.engine import engine_of
from tasks.sensitive.retention import apply_retention
from tasks.storage import Workspace


@dataset_flow
def evaluate(configuration: RunConfiguration) -> str:
    """Compare released records and counts with the raw table; return the comparison's place in the workspace.

    Args:
        configuration: What the run is asked to do.
    """
    workspace = Workspace.of(configuration)
    with apply_retention(workspace, configuration), engine_of(configuration):
        measured = measure_steps(workspace, configuration)
        configuration = measured.configuration
        with opened_run(workspace, configuration) as run:
            built = build_steps(run, configuration, measured.measurement, "generate")
            utility_steps(configuration, measured, built)
            return evaluate_steps(configuration, measured, built).key
