"""Measure: the sensitive table in, one protected measurement out. Its steps are in `flows.steps.measure`."""

from flows.steps.guarded_flow import guarded_flow
from flows.steps.measure import measure_steps, record_release_for_reuse
from tasks.configuration.model import RunConfiguration
from tasks.engine import engine_of
from tasks.sensitive.retention import apply_retention
from tasks.storage import Workspace


@guarded_flow("measure-{configuration.dataset}")
def measure(configuration: RunConfiguration) -> str:
    """Make the configured measurement, or find it drawn; return its place in the workspace.

    Args:
        configuration: What the run is asked to do.
    """
    workspace = Workspace.of(configuration)
    with apply_retention(workspace, configuration), engine_of(configuration):
        measured = measure_steps(workspace, configuration, "measurement")
    if measured.unchanged is not None and measured.unchanged.place is not None:
        return measured.unchanged.place
    record_release_for_reuse(workspace, measured, measured.measurement)
    return measured.measurement.key
