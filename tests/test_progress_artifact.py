"""Progress on the run's page: an artifact of a long step on protected data, and of no other."""

from pathlib import Path

import httpx
import pytest
from prefect import flow
from prefect.context import FlowRunContext

from tasks.core.queries import QueryResources
from tasks.step import Output, ProgressArtifact, step
from tasks.storage import INTERMEDIATE, SENSITIVE, RunWorkspace, Workspace


def working(zone: str, folder: str, seconds: float):
    """A step of a zone whose clock says that it takes so long."""

    @step(zone, makes="work", folder=folder, cached=False)
    def work(into: Output) -> None:
        now = [0.0]
        if into.progress._shown is not None:
            into.progress._shown._clock = lambda: now[0]
            into.progress._shown._due = 2.0
        for tenth in range(11):
            now[0] = seconds * tenth / 10
            into.progress("records", tenth / 10)
        (into.folder / "done").touch()

    return work


@pytest.mark.server
def test_a_long_step_shows_how_far_it_is_unless_it_reads_the_table(
    tmp_path: Path, prefect_server: str
) -> None:
    @flow(persist_result=False)
    def three() -> str:
        Workspace(tmp_path).prepare()
        run = RunWorkspace(tmp_path, "people", "first", QueryResources())
        working(INTERMEDIATE, "long_work", 100.0)(run)
        working(INTERMEDIATE, "short_work", 1.0)(run)
        working(SENSITIVE, "closed_work", 100.0)(run)
        context = FlowRunContext.get()
        assert context is not None and context.flow_run is not None
        return str(context.flow_run.id)

    asked = {"artifacts": {"flow_run_id": {"any_": [three()]}}}
    found = httpx.post(f"{prefect_server}/artifacts/filter", json=asked, timeout=60).json()
    assert [(each["key"], each["type"], each["data"]) for each in found] == [
        ("progress-long-work", "progress", 100.0)
    ]


def test_outside_a_run_there_is_none() -> None:
    now = [0.0]
    progress = ProgressArtifact("work", lambda: now[0])
    now[0] = 100.0
    progress(0.5)
    progress.close()
    assert progress._artifact is None
