"""A worker is killed in each step of a run and started again, and the run is retried from the UI.

Nothing is lost, no release has two draws, nothing is charged twice but what may have been seen, and no half
release is ever visible.
"""

from pathlib import Path

import pytest

from flows.command.dead_runs import SILENT_SECONDS
from tests.flows.processes import assert_whole, configuration_file, releases, unfinished
from tests.flows.test_resume import LOST, POINTS, PUBLISHED
from tests.operations.installation import Gate, Installation, awaited

pytestmark = pytest.mark.operations


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_is_killed_leaves_a_run_that_a_retry_finishes(
    point: str, tmp_path: Path, worker: Installation
) -> None:
    gate = Gate(tmp_path / "gate", *POINTS[point])
    path = configuration_file(tmp_path)
    deployment = worker.deploy(path)
    worker.start_worker(**gate.environment)
    run = worker.run(deployment, vintage="2026-11")
    gate.reached()
    worker.kill_worker()
    assert [name for name in releases(tmp_path) if name != "latest"] == ["2026-11-1"] * (point in PUBLISHED)
    assert_whole(tmp_path)
    worker.found_dead(run)
    worker.start_worker()
    worker.retry(run)
    assert worker.ended(run)["type"] == "COMPLETED"
    assert worker.phases("people") == LOST.get(point, ["commit"])
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_is_cancelled_in_the_ui_ends_and_the_next_one_finishes_it(
    point: str, tmp_path: Path, worker: Installation
) -> None:
    gate = Gate(tmp_path / "gate", *POINTS[point])
    path = configuration_file(tmp_path)
    deployment = worker.deploy(path)
    worker.start_worker(**gate.environment)
    run = worker.run(deployment, vintage="2026-11")
    gate.reached()
    worker.set_state(run, "CANCELLING")
    gate.open()
    assert worker.ended(run)["type"] == "CANCELLED"
    assert_whole(tmp_path)
    again = worker.run(deployment, vintage="2026-11")
    assert worker.ended(again)["type"] == "COMPLETED"
    charged = [phase for phase in worker.phases("people") if phase != "void"]
    assert charged in (["commit"], LOST.get(point, ["commit"]))
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []


def test_a_run_whose_worker_was_killed_is_marked_as_crashed_by_the_server(
    tmp_path: Path, worker: Installation
) -> None:
    gate = Gate(tmp_path / "gate", *POINTS["during generate"])
    deployment = worker.deploy(configuration_file(tmp_path))
    worker.start_worker(**gate.environment)
    run = worker.run(deployment, vintage="2026-11")
    gate.reached()
    awaited(lambda: worker.heartbeats(run), "the run gives a sign of life")
    worker.kill_worker()
    awaited(lambda: worker.state(run)["type"] == "CRASHED", "the run is marked", seconds=2 * SILENT_SECONDS)
    assert "Retry the run" in worker.state(run)["message"]
    worker.start_worker()
    worker.retry(run)
    assert worker.ended(run)["type"] == "COMPLETED"
    assert worker.phases("people") == ["commit"]
