"""Showcase: the whole job. Measure, publish, and evaluate against the raw table for ``sensitive/``."""

from importlib import import_module
from typing import Annotated

from prefect import Flow
from pydantic import Field

from flows.steps.guarded_flow import guarded_flow
from flows.steps.measure import (
    aggregate_step,
    evaluate_steps,
    measure_steps,
    record_release_for_reuse,
    utility_steps,
)
from flows.steps.publish import build_steps, opened_run, release_steps
from tasks.configuration.model import RunConfiguration
from tasks.engine import engine_of
from tasks.request import STAGES, UNCHANGED, reaches
from tasks.sensitive.retention import apply_retention
from tasks.storage import Workspace

#: A form offers the stages.
LastStage = Annotated[str, Field(json_schema_extra={"enum": list(STAGES)})]


@guarded_flow("showcase-{configuration.dataset}")
def showcase(configuration: RunConfiguration, last: LastStage = STAGES[-1]) -> dict[str, str]:
    """Run every stage up to ``last``.

    Args:
        configuration: What the run is asked to do. A file says the same in fewer words: see the deployments
            of the flow release.
        last: Where to stop. "navigate" does everything.

    Returns:
        Places in the workspace: ``release`` and, where made, ``aggregate``, ``evaluation`` and ``utility``.
        Where nothing new was released, ``unchanged`` is the vintage whose release it is.
    """
    meant = flow_of(configuration)
    if meant is not showcase:  # a deployment of this flow may be given any configuration
        return meant(configuration, last)
    workspace = Workspace.of(configuration)
    with apply_retention(workspace, configuration), engine_of(configuration):
        return _run_stages(workspace, configuration, last)


def _run_stages(workspace: Workspace, configuration: RunConfiguration, last: str) -> dict[str, str]:
    measured = measure_steps(workspace, configuration, "release", last)
    if measured.unchanged is not None and measured.unchanged.place is not None:
        return {"release": measured.unchanged.place, UNCHANGED: measured.unchanged.vintage}
    configuration = measured.configuration
    sensitive = [table for table in (measured.table, measured.records) if table is not None]
    made_from = None if measured.is_recalled else sensitive
    places = {}
    with opened_run(workspace, configuration) as run:
        built = build_steps(run, configuration, measured.measurement, last)
        release = release_steps(run, configuration, measured.measurement, built, made_from)
        record_release_for_reuse(workspace, measured, release)
        if configuration.evaluate_sensitive and sensitive:
            places["aggregate"] = aggregate_step(measured).key
        if configuration.evaluate_sensitive and sensitive and reaches(last, "evaluate"):
            places["evaluation"] = evaluate_steps(measured, built).key
        if sensitive and reaches(last, "evaluate"):
            utility = utility_steps(measured, built)
            places |= {} if utility is None else {"utility": utility.key}
    return places | {"release": release.key}


_WholeJob = Flow[[RunConfiguration, str], dict[str, str]]
#: Where the flow is that does a protection's whole job, by the name of its regime: only a run of SynDiffix
#: takes the time to load SynDiffix.
FLOWS = {
    "differential_privacy": "flows.showcase:showcase",
    "k_anonymity": "flows.showcase:showcase",
    "syndiffix": "flows.syndiffix:syndiffix",
}


def flow_of(configuration: RunConfiguration) -> _WholeJob:
    module, _, name = FLOWS[configuration.protection.regime].partition(":")
    flow: _WholeJob = getattr(import_module(module), name)
    return flow
