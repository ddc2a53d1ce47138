"""Events: they arrive, with public figures alone, and they never stop a run."""

import os
import subprocess
import sys
import time

import httpx
import pytest
from prefect import flow

from tasks.events import announce


@flow
def _announcing(event: str) -> None:
    announce(event, "survey", runs_left=1)


@pytest.mark.server
def test_an_event_of_a_run_arrives_with_its_dataset_and_its_run(prefect_server):
    state = _announcing("tests.heard", return_state=True)
    found: list[dict[str, object]] = []
    deadline = time.monotonic() + 60
    while not found and time.monotonic() < deadline:
        asked = {"filter": {"event": {"name": ["marginalia.tests.heard"]}}}
        found = httpx.post(f"{prefect_server}/events/filter", json=asked).json()["events"]
        time.sleep(0.1)
    (event,) = found
    assert event["payload"] == {"dataset": "survey", "runs_left": 1}
    assert event["resource"] == {
        "prefect.resource.id": "marginalia.dataset.survey",
        "prefect.resource.name": "survey",
    }
    run = f"prefect.flow-run.{state.state_details.flow_run_id}"
    assert run in {related["prefect.resource.id"] for related in event["related"]}  # type: ignore[attr-defined]


@pytest.mark.server
def test_what_an_event_can_not_hold_stops_no_run(prefect_server):
    @flow
    def run() -> str:
        announce("tests.unheard", "survey", figure=object())  # type: ignore[arg-type]
        announce("tests.unheard", "survey", figure="x" * 10_000_000)
        return "done"

    assert run() == "done"


def test_without_a_server_nothing_is_announced_and_none_is_started():
    code = (
        "import sys; from tasks.events import announce; announce('late', 'survey'); "
        "worker = sys.modules.get('prefect.events.worker'); print(worker and worker.EventsWorker._instances)"
    )
    clean = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean, check=True)
    assert told.stdout.strip() in ("{}", "None")
    assert told.stderr == ""
