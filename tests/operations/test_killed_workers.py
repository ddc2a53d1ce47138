"""A worker is killed in each step of a run and started again, and the run is retried from the UI.

Nothing is lost, no release has two draws, nothing is charged twice but what may have been seen, and no half
release is ever visible. All cases have one deployment: each is a run of a file and a ledger of its own.
"""

from pathlib import Path

import pytest

from flows.command.deploy import SILENT_SECONDS
from tests.flows.processes import (
    LOST,
    POINTS,
    PUBLISHED,
    assert_whole,
    configuration_file,
    releases,
    unfinished,
)
from tests.operations.installation import Gate, Installation, awaited

pytestmark = pytest.mark.operations


@pytest.fixture(scope="module")
def deployment(installation, tmp_path_factory):
    """Its id; the worker that cases share is killed in the end."""
    yield installation.deploy(configuration_file(tmp_path_factory.mktemp("deployed")))
    installation.kill_worker()


def started(worker: Installation, deployment: str, folder: Path, point: str) -> tuple[Gate, str, Path]:
    """A run that stands at a point: its gate, its id, its configuration."""
    gate = Gate(folder / "gate", *POINTS[point])
    path = configuration_file(folder)
    worker.environment["MARGINALIA_LEDGER"] = str(folder / "ledger")
    worker.need_worker()
    return gate, again(worker, deployment, path, gate), path


def again(worker: Installation, deployment: str, path: Path, gate: Gate | None = None) -> str:
    """Start a run of a file with the ledger beside it; its id."""
    environment = {"MARGINALIA_LEDGER": str(path.parent / "ledger")}
    environment |= gate.environment if gate is not None else {}
    run = worker.run(deployment, environment, configuration=str(path), vintage="2026-11")
    if gate is not None:
        gate.reached()
    return run


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_is_killed_leaves_a_run_that_a_retry_finishes(
    point, tmp_path, installation, deployment
):
    _, run, _ = started(installation, deployment, tmp_path, point)
    installation.kill_worker()
    assert [name for name in releases(tmp_path) if name != "latest"] == ["2026-11-1"] * (point in PUBLISHED)
    assert_whole(tmp_path)
    installation.found_dead(run)
    installation.free_turn("people")  # instead of the minute until it is given back; the last test waits
    installation.start_worker()
    installation.retry(run)
    assert installation.ended(run)["type"] == "COMPLETED"
    assert installation.phases("people") == LOST.get(point, ["commit"])
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_is_cancelled_in_the_ui_ends_and_the_next_one_finishes_it(
    point, tmp_path, installation, deployment
):
    gate, run, path = started(installation, deployment, tmp_path, point)
    installation.set_state(run, "CANCELLING")
    gate.open()
    # Prefect may call it Crashed for some seconds: where the signal that ends it was quicker than the worker.
    installation.ended(run, ("CANCELLED",))
    assert_whole(tmp_path)
    following = again(installation, deployment, path)
    assert installation.ended(following)["type"] == "COMPLETED"
    charged = [phase for phase in installation.phases("people") if phase != "void"]
    assert charged in (["commit"], LOST.get(point, ["commit"]))
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []


def test_a_run_whose_worker_was_killed_is_marked_as_crashed_by_the_server(tmp_path, installation, deployment):
    _, run, _ = started(installation, deployment, tmp_path, "during generate")
    awaited(lambda: installation.heartbeats(run), "the run gives a sign of life")
    installation.kill_worker()
    awaited(
        lambda: installation.state(run)["type"] == "CRASHED", "the run is marked", seconds=2 * SILENT_SECONDS
    )
    assert "Retry the run" in installation.state(run)["message"]
    installation.start_worker()
    installation.retry(run)
    assert installation.ended(run)["type"] == "COMPLETED"
    assert installation.phases("people") == ["commit"]
