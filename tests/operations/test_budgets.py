"""Budgets over scheduled runs on a real server and worker: who is told, what stops, what releases cost."""

import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.flows import pipeline
from tests.flows.processes import configuration_file, configured
from tests.operations.installation import Installation, awaited

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


def test_who_asks_for_it_is_told_of_low_and_exhausted_budgets_failed_runs_and_late_tables(
    tmp_path: Path, worker: Installation
) -> None:
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


def test_a_run_that_crashed_is_told_of_and_one_that_is_cancelled_after_all_is_not(
    tmp_path: Path, worker: Installation
) -> None:
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


def test_a_run_that_a_schedule_started_is_told_of_at_once(tmp_path: Path, worker: Installation) -> None:
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


def test_a_schedule_whose_budget_has_run_out_is_paused_and_its_run_says_so(
    tmp_path: Path, worker: Installation
) -> None:
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


def test_twelve_releases_of_a_changing_table_cost_the_vector_and_the_thirteenth_is_refused(
    tmp_path: Path, worker: Installation
) -> None:
    """D16: each (1, 1e-6, share .1), all at delta 1e-5."""
    dataset = "twelve"
    cap = ("--cap", "3.4878892116", "1e-5", "--threshold-delta", "1.2e-6")
    worker.command("ledger", dataset, *cap)
    deployment = worker.deploy(configuration_file(tmp_path, dataset=dataset, noise_epsilon=1, delta=1e-6))
    worker.start_worker()
    for month in range(1, 13):
        pipeline.write(tmp_path / "people.csv", pipeline.rows(300 + 10 * month))
        assert worker.ended(worker.run(deployment, vintage=f"2026-{month:02}"))["type"] == "COMPLETED"
    facts = json.loads(worker.command("ledger", dataset, "--json"))
    assert facts["spent"]["mu_squared"] ** 0.5 == pytest.approx(0.8158009704, abs=1e-9)
    assert facts["spent"]["threshold_delta"] == pytest.approx(1.19999934e-06, rel=1e-8)
    assert facts["spent"]["epsilon"] == pytest.approx(3.487889197, abs=1e-8)
    assert facts["spent"]["releases"] == 12
    assert facts["left"]["runs"] == 0
    state = worker.ended(worker.run(deployment, vintage="2027-01"))
    assert state["type"] == "FAILED"
    assert "12 releases were charged so far" in state["message"]
    worker.command("ledger", dataset, "--export", tmp_path / "export.jsonl")
    assert "entries verified" in worker.command("ledger", "--verify", tmp_path / "export.jsonl")
    again = worker.run(deployment, vintage="2026-05")
    assert worker.ended(again)["type"] == "COMPLETED"
    said = "nothing was drawn and nothing was charged"
    awaited(lambda: any(said in line for line in worker.logs(again)), "the run's log says so")
    assert worker.phases(dataset) == ["commit"] * 12


@pytest.mark.parametrize("kind", ["folder", pytest.param("database", marks=pytest.mark.needs_postgresql)])
def test_five_races_of_two_workers_for_one_budget_have_one_winner_each(
    kind: str, tmp_path: Path, worker: Installation, request: pytest.FixtureRequest
) -> None:
    if kind == "database":
        address = request.getfixturevalue("postgresql").create(tmp_path.name)
        worker.environment["MARGINALIA_LEDGER"] = address
    worker.start_worker()
    end_other = worker.another_worker()
    try:
        for number in range(5):
            dataset, folder = f"race-{kind}-{number}", tmp_path / str(number)
            folder.mkdir()
            # Room for one release of this configuration; the same columns need a reason for another budget.
            worker.command("ledger", dataset, "--cap", "6", "1e-6", "--reason", "other people")
            file = configuration_file(folder, dataset=dataset, privacy={"releases": 1})
            # Two deployments: runs of one wait for each other.
            deployments = [worker.deploy(Path(shutil.copy(file, folder / f"{name}.json"))) for name in "ab"]
            # The turns of one dataset's runs would keep them apart: what is raced for is the ledger itself.
            worker.post("/v2/concurrency_limits/", {"name": f"marginalia-{dataset}", "limit": 2})
            runs = [worker.run(each, vintage=f"2026-0{month}") for month, each in enumerate(deployments, 1)]
            assert sorted(worker.ended(each)["type"] for each in runs) == ["COMPLETED", "FAILED"]
            assert worker.phases(dataset) == ["commit"]
    finally:
        end_other()
    assert "entries verified" in worker.command("ledger")
