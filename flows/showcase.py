"""Showcase: the whole job. Measure, publish, and evaluate against the raw table for ``sensitive/``."""

from prefect import Flow, flow

from flows.evaluate import evaluate_steps, utility_steps
from flows.measure import aggregate_step, measure_steps
from flows.publish import build_steps, publishing, releasing
from flows.syndiffix import syndiffix
from tasks.configuration.model import RunConfiguration
from tasks.request import STAGES, reaches, scheduled_date
from tasks.sensitive.recall import told_as_committed
from tasks.storage import Workspace


@flow(name="showcase", flow_run_name="showcase-{configuration.dataset}", persist_result=False)
def showcase(configuration: RunConfiguration, last: str = STAGES[-1]) -> dict[str, str]:
    """Run every stage up to ``last``.

    Args:
        configuration: the run's.
        last: aggregate, generate, evaluate or navigate.

    Returns:
        Places in the workspace: ``release`` and, where made, ``aggregate``, ``evaluation`` and ``utility``.
    """
    meant = flow_of(configuration)
    if meant is not showcase:  # a deployment of this flow may be given any configuration
        return meant(configuration, last)
    workspace = Workspace.of(configuration)
    configuration = told_as_committed(configuration, scheduled_date())
    measured = measure_steps(workspace, configuration, last)
    sensitive = [table for table in (measured.table, measured.records) if table is not None]
    places = {}
    with publishing(workspace, configuration) as run:
        built = build_steps(run, configuration, measured.measurement, last)
        release = releasing(run, configuration, measured.measurement, built, sensitive)
        if configuration.evaluate_sensitive and sensitive:
            places["aggregate"] = aggregate_step(configuration, measured).key
        if configuration.evaluate_sensitive and sensitive and reaches(last, "evaluate"):
            places["evaluation"] = evaluate_steps(configuration, measured, built).key
        if sensitive and reaches(last, "evaluate"):
            worth = utility_steps(configuration, measured, built)
            places |= {} if worth is None else {"utility": worth.key}
    return places | {"release": release.key}


def flow_of(configuration: RunConfiguration) -> Flow[[RunConfiguration, str], dict[str, str]]:
    """The flow that does a configuration's whole job."""
    return FLOWS[configuration.protection.regime]


#: The flow that does a protection's whole job, by the name of its regime.
FLOWS: dict[str, Flow[[RunConfiguration, str], dict[str, str]]] = {
    "differential_privacy": showcase,
    "k_anonymity": showcase,
    "syndiffix": syndiffix,
}
