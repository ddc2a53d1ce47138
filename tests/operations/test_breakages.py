"""Things break under a run of a real worker: what is seen, what was charged, and what the next run does.

The rows of the runbook's table "When things break"; workers that die have a file of their own.
"""

from pathlib import Path

import pytest

from tests.flows.processes import POINTS, assert_whole, configuration_file, releases, unfinished
from tests.operations.installation import Gate, Installation, awaited, small_disk

pytestmark = pytest.mark.operations

#: How long a server is away: what the issue's "a minute" means.
AWAY_SECONDS = 60


def started(worker: Installation, folder: Path, point: str, **changes: object) -> tuple[Gate, str, str]:
    """A run that stands at a point: the gate, its deployment and its id."""
    gate = Gate(folder / "gate", *POINTS[point])
    deployment = worker.deploy(configuration_file(folder, **changes))
    worker.start_worker(**gate.environment)
    run = worker.run(deployment, vintage="2026-11")
    gate.reached()
    return gate, deployment, run


def assert_released_once(worker: Installation, folder: Path, dataset: str) -> None:
    assert worker.phases(dataset) == ["commit"]
    assert releases(folder, dataset) == ["2026-11-1", "latest"]
    assert_whole(folder, dataset)
    assert unfinished(folder) == []


def test_a_server_that_is_away_for_a_minute_stops_no_run(tmp_path, worker):
    gate, _, run = started(worker, tmp_path, "during generate", dataset="away")
    worker.stop_server()
    gate.open()
    with pytest.raises(AssertionError):
        awaited(lambda: False, "nothing", seconds=AWAY_SECONDS)
    worker.start_server()
    assert worker.ended(run)["type"] == "COMPLETED"
    assert_released_once(worker, tmp_path, "away")


@pytest.mark.needs_postgresql
def test_a_database_of_prefect_that_restarts_stops_no_run(tmp_path, postgresql):
    url = postgresql.create("prefect").replace("postgresql://", "postgresql+asyncpg://")
    installation = Installation(tmp_path / "installation", url)
    installation.start_server()
    try:
        gate, _, run = started(installation, tmp_path, "during generate", dataset="restarted")
        postgresql.stop("immediate")
        postgresql.start()
        gate.open()
        assert installation.ended(run)["type"] == "COMPLETED"
        assert_released_once(installation, tmp_path, "restarted")
    finally:
        installation.close()


def test_two_runs_of_one_dataset_on_two_workers_go_one_after_the_other(tmp_path, worker):
    first = configuration_file(tmp_path, dataset="twice")
    second = first.with_name("second.json")
    second.write_text(first.read_text())
    deployments = [worker.deploy(first), worker.deploy(second)]
    worker.start_worker()
    other = worker.another_worker()
    try:
        runs = [
            worker.run(deployment, vintage=vintage)
            for deployment in deployments
            for vintage in ("2026-11", "2026-12")
        ]
        assert [worker.ended(run)["type"] for run in runs] == ["COMPLETED"] * 4
    finally:
        other()
    assert worker.phases("twice") == ["commit", "commit"]
    assert releases(tmp_path, "twice") == ["2026-11-1", "2026-12-1", "latest"]
    assert_whole(tmp_path, "twice")


@pytest.mark.needs_tmpfs
@pytest.mark.parametrize("zone", ["sensitive", "release"])
def test_a_full_disk_is_said_to_be_full_and_leaves_no_half_release(zone, tmp_path, worker):
    dataset = f"full-{zone}"
    deployment = worker.deploy(configuration_file(tmp_path, dataset=dataset))
    worker.start_worker()
    place = tmp_path / "out" / zone
    with small_disk(place, "16k"):
        state = worker.ended(worker.run(deployment, vintage="2026-11"))
        assert state["type"] == "FAILED"
        assert "is full" in state["message"] or "No space left" in state["message"], state
        assert_whole(tmp_path, dataset)
        assert [name for name in releases(tmp_path, dataset) if name != "latest"] == []
    assert worker.ended(worker.run(deployment, vintage="2026-11"))["type"] == "COMPLETED"
    assert_released_once(worker, tmp_path, dataset)
