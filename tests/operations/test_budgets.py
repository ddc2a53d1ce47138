"""Budgets over scheduled runs on a real server and worker: who is told, what stops, what releases cost."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.flows.processes import configuration_file, configured
from tests.operations.installation import awaited

pytestmark = pytest.mark.operations
SECRET = "hook-canary-51c7"
NAMES = {f"marginalia: {name}" for name in ("failed run", "crashed run", "budget low")}


class Hook:
    """A webhook on loopback, and what it was sent."""

    def __init__(self) -> None:
        told: list[str] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert SECRET in self.path
                body = self.rfile.read(int(self.headers["content-length"]))
                told.append(json.loads(body)["text"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.told = told
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/{SECRET}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def heard(self, words: str) -> str:
        """Wait for a message with these words, less long than Prefect keeps one back; the message."""
        awaited(lambda: any(words in text for text in self.told), f"somebody is told {words!r}", 300)
        return next(text for text in self.told if words in text)

    def close(self) -> None:
        self._server.shutdown()


@contextmanager
def hook() -> Iterator[Hook]:
    made = Hook()
    try:
        yield made
    finally:
        made.close()


def test_who_asks_for_it_is_told_of_low_and_exhausted_budgets_failed_runs_and_late_tables(tmp_path, worker):
    with hook() as told:
        first = worker.command("notify", "--webhook", told.address)
        assert first.count("Made the automation") == 3
        again = worker.command("notify", "--webhook", told.address, "--try")
        assert again.count("Updated the automation") == 3
        assert "a trial message" in told.heard("Notifications of Marginalia arrive here")
        assert SECRET not in first + again
        found = worker.post("/automations/filter", {})
        assert len([each for each in found if each["name"] in NAMES]) == 3
        told.told.clear()
        blocks = worker.post("/block_documents/filter", {"include_secrets": False})
        assert SECRET not in json.dumps(blocks)

        deployment = worker.deploy(
            configuration_file(tmp_path, dataset="told", privacy={"releases": 2, "low_budget": 2})
        )
        worker.start_worker()
        one = worker.run(deployment, vintage="2026-01")
        assert worker.ended(one)["type"] == "COMPLETED"
        low = told.heard("budget of told is low")
        assert "Releases left at this setting: 1." in low
        assert f"/v2/runs/flow-run/{one}" in low
        two = worker.run(deployment, vintage="2026-02")
        assert worker.ended(two)["type"] == "COMPLETED"
        three = worker.run(deployment, vintage="2026-03")
        assert worker.ended(three)["type"] == "FAILED"
        failed = told.heard("release of people: the privacy budget is exhausted")
        assert "does not cover this release" in failed
        assert f"/v2/runs/flow-run/{three}" in failed
        late = configured(tmp_path, dataset="told", sensitive_microdata_path=str(tmp_path / "{vintage}.csv"))
        four = worker.run(deployment, configuration=str(late), vintage="2026-04")
        assert worker.ended(four)["type"] == "FAILED"
        message = told.heard("release of people: the table is late")
        assert "The input of vintage '2026-04' must be at" in message
        assert f"/v2/runs/flow-run/{four}" in message
        # A server whose SQLite is locked sends the same once more.
        assert len(set(told.told)) == 4, "two of low budgets, and one of each run that failed"
        artifacts = worker.post("/artifacts/filter", {"artifacts": {"key": {"any_": ["ledger-told"]}}})
        assert len(artifacts) == 3
        newest = max(artifacts, key=lambda artifact: artifact["created"])
        assert "**No more release** at this setting" in newest["data"]


def test_a_run_that_crashed_is_told_of_and_one_that_is_cancelled_after_all_is_not(tmp_path, worker):
    with hook() as told:
        worker.command("notify", "--webhook", told.address)
        deployment = worker.deploy(configuration_file(tmp_path, dataset="ended"))  # no worker takes its runs
        cancelled, crashed = (worker.run(deployment, vintage=vintage) for vintage in ("2026-01", "2026-02"))
        for run in (cancelled, crashed):
            worker.set_state(run, "CRASHED", message="Its process is gone.")
        worker.set_state(cancelled, "CANCELLED")
        message = told.heard("release of people: Crashed")
        assert "Its process is gone." in message
        assert f"/v2/runs/flow-run/{crashed}" in message
        # What would be told of the other one was due before: its crash came first.
        assert not [text for text in told.told if cancelled in text]


def test_a_run_that_a_schedule_started_is_told_of_at_once(tmp_path, worker):
    """Its first state has no event of the server's own, and events that follow it would wait 15 minutes."""
    with hook() as told:
        worker.command("notify", "--webhook", told.address)
        late = configuration_file(
            tmp_path, dataset="soon", sensitive_microdata_path=str(tmp_path / "{vintage}.csv")
        )
        worker.start_worker()
        deployment = worker.deploy(late, "--every", "1m")
        message = told.heard("release of people: the table is late")
        worker.patch(f"/deployments/{deployment}", {"paused": True})
        run = message.rpartition("/")[2].strip()
        assert worker.get(f"/flow_runs/{run}")["auto_scheduled"]


def test_a_schedule_whose_budget_has_run_out_is_paused_and_its_run_says_so(tmp_path, worker):
    file = configuration_file(tmp_path, dataset="scheduled", privacy={"releases": 1})
    deployment = worker.deploy(file, "--cron", "* * * * *", "--paused")
    # One release is all that the first run registers, and this one takes it.
    worker.start_worker()
    assert worker.ended(worker.run(deployment, vintage="2026-01"))["type"] == "COMPLETED"

    def schedules() -> list[bool]:
        return [each["active"] for each in worker.get(f"/deployments/{deployment}")["schedules"]]

    (schedule,) = worker.get(f"/deployments/{deployment}")["schedules"]
    worker.patch(f"/deployments/{deployment}/schedules/{schedule['id']}", {"active": True})
    assert schedules() == [True]
    awaited(lambda: schedules() == [False], "the schedule is paused")
    asked = {"flow_runs": {"deployment_id": {"any_": [deployment]}}, "limit": 50}
    # On a busy server several minutes may be due before the first run has ended: each is refused.
    runs = [each["id"] for each in worker.post("/flow_runs/filter", asked) if each["auto_scheduled"]]
    states = [worker.ended(run) for run in runs]
    assert runs and {state["type"] for state in states} == {"FAILED"}
    others = [state["message"] for state in states if "does not cover this release" not in state["message"]]
    assert not others
    said = "is paused. When the cap is raised"
    awaited(lambda: any(said in line for run in runs for line in worker.logs(run)), "a log says so")
    assert len(worker.post("/flow_runs/filter", asked)) == 1 + len(runs), "no other one is made"
    assert worker.phases("scheduled") == ["commit"]
