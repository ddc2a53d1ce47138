"""A schedule fires with the versions of the lock: a server, a worker, a deployment of ours, no hands."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.flows import pipeline
from tests.flows.processes import ROOT

pytestmark = pytest.mark.operations

POOL = "pool-of-a-test"
#: How long to wait for what must come: far beyond a slow machine's start of a server and of a run.
CREATED_SECONDS, FINISHED_SECONDS = 90, 300


@pytest.fixture
def environment(tmp_path: Path, own_ledger: Path, prefect_server: str) -> dict[str, str]:
    """What an operator exports before `make deploy` and before starting the worker, in a home of its own."""
    return dict(os.environ) | {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_API_URL": prefect_server,
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "MARGINALIA_ROOT": str(ROOT),
        "MARGINALIA_WORK_POOL": POOL,
    }


def prefect(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextlib.contextmanager
def working(environment: dict[str, str], log: Path) -> Iterator[None]:
    """A worker of the pool while it lasts."""
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL]
    with log.open("wb") as output:
        worker = subprocess.Popen(command, cwd=log.parent, env=environment, stdout=output, stderr=output)
    try:
        yield
    finally:
        worker.send_signal(signal.SIGINT)
        try:
            worker.wait(30)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def awaited(look: Callable[[], Any], seconds: float) -> Any:
    """What a look finds as soon as it is something; else what it found last."""
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return found


def test_a_scheduled_release_comes_by_itself(tmp_path, environment):
    """`monthly` with a schedule of now: the server creates the run, the worker makes the release."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import DeploymentScheduleCreate
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.client.schemas.schedules import IntervalSchedule

    configuration = pipeline.prepared_anonymous(
        tmp_path, pipeline.rows(100), dataset="scheduled", vintage=None
    )
    prefect(environment, "work-pool", "create", POOL, "--type", "process")
    prefect(environment, "deploy", "--prefect-file", "deployments/prefect.yaml", "--name", "monthly")
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("showcase/monthly")
        ours = FlowRunFilter.model_validate({"deployment_id": {"any_": [deployment.id]}})

        def runs() -> list[Any]:
            return list(client.read_flow_runs(flow_run_filter=ours))

        def ended() -> list[Any]:
            return [run for run in runs() if run.state.is_final()]

        # Later than a slow server looks for new schedules: it makes no run of a moment that has passed.
        soon = datetime.now(UTC) + timedelta(seconds=30)
        schedule = DeploymentScheduleCreate(
            schedule=IntervalSchedule(interval=timedelta(days=1), anchor_date=soon),
            active=True,
            parameters={"configuration": configuration.model_dump(mode="json"), "last": "aggregate"},
        )
        client._client.post(
            f"/deployments/{deployment.id}/schedules", json=[schedule.model_dump(mode="json")]
        ).raise_for_status()
        assert awaited(runs, CREATED_SECONDS), "the server creates no run of an active schedule"
        with working(environment, tmp_path / "worker.log"):
            (run, *_) = awaited(ended, FINISHED_SECONDS) or [None]
        log = (tmp_path / "worker.log").read_text()
        assert run is not None, f"no scheduled run ended:\n{log}"
    assert run.auto_scheduled and run.state.is_completed(), f"{run.state}\n{log}"
    release = pipeline.latest(configuration)
    assert release.name.startswith(f"{run.expected_start_time:%Y-%m-%d}")
    assert (release / "people_reportable_aggregates.tsv").exists()
