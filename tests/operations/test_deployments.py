"""What `marginalia deploy` puts on a server is run: by itself, by hand, in turn; and it is redeployed."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.flows import pipeline
from tests.flows.processes import configuration_file, releases
from tests.operations.installation import POOL, Gate, Installation, awaited

pytestmark = pytest.mark.operations


def anonymous_file(folder: Path, dataset: str, **changes: Any) -> Path:
    """A table and its configuration under k-anonymity, named after the dataset; without a vintage."""
    folder.mkdir(exist_ok=True)
    pipeline.write(folder / "people.csv", pipeline.rows(100))
    body = pipeline.anonymous(folder, dataset=dataset, **changes)
    del body["vintage"]
    path = folder / f"{dataset}.json"
    path.write_text(json.dumps(body))
    return path


def runs(installation: Installation, deployment: str, *types: str) -> list[dict[str, Any]]:
    """Of a deployment, in some states or in any."""
    asked: dict[str, Any] = {"deployments": {"id": {"any_": [deployment]}}, "sort": "EXPECTED_START_TIME_ASC"}
    if types:
        asked["flow_runs"] = {"state": {"type": {"any_": types}}}
    return list(installation.post("/flow_runs/filter", asked))


def test_a_schedule_fires_by_itself_and_makes_the_release_of_its_date_where_it_was_deployed(tmp_path, worker):
    anonymous_file(tmp_path, "by-itself", sensitive_microdata_path="people.csv", output_dir="out")
    (tmp_path / "tasks").mkdir()  # the operator's own, which must not be imported in place of ours
    (tmp_path / "tasks" / "__init__.py").write_text("raise AssertionError")
    schedule = ("--cron", "* * * * *", "--timezone", "Europe/Vienna")
    deployment = worker.deploy(Path("by-itself.json"), *schedule, folder=tmp_path)
    awaited(lambda: runs(worker, deployment, "SCHEDULED"), "runs are scheduled")
    worker.start_worker()

    def done() -> list[dict[str, Any]]:
        return runs(worker, deployment, "COMPLETED", "FAILED", "CRASHED")

    awaited(done, "a scheduled run ends")
    run = done()[0]
    assert run["auto_scheduled"] and run["state"]["type"] == "COMPLETED", run["state"]
    made = releases(tmp_path, "by-itself")
    date = run["expected_start_time"][:10]
    assert f"{date}-1" in made and run["name"] == f"by-itself-{date}"
    said = worker.command("deploy", "by-itself.json", "--pool", POOL, folder=tmp_path)
    assert f"A worker must run for that, and one of the pool {POOL} does." in said
    # What a run's process writes when it is taken down does not bury the worker's log.
    assert "nanobind" not in (worker.folder / "worker.log").read_text()


def test_a_run_by_hand_without_a_vintage_is_refused_with_the_sentence_that_says_how(tmp_path, worker):
    path = configuration_file(tmp_path, dataset="by-hand", vintage=None)
    deployment = worker.deploy(path)
    worker.start_worker()
    refused, made = worker.run(deployment), worker.run(deployment, vintage="2026-11", last="aggregate")
    state = worker.ended(refused)
    assert state["type"] == "FAILED"
    assert "you must name its vintage: start it again with a vintage such as 2026-11" in state["message"]
    assert worker.ended(made)["type"] == "COMPLETED"
    assert releases(tmp_path, "by-hand") == ["2026-11-1", "latest"]


def test_a_seed_in_the_form_is_refused_before_anything_is_stored(tmp_path, installation):
    deployment = installation.deploy(anonymous_file(tmp_path, "seeded"))
    with pytest.raises(httpx.HTTPStatusError) as caught:
        installation.run(deployment, overrides={"random_seed": 4711})
    assert caught.value.response.status_code == 409
    assert "random_seed" in caught.value.response.text and "4711" not in caught.value.response.text
    assert runs(installation, deployment) == []


def test_runs_of_one_dataset_wait_for_each_other_whichever_deployment_they_are_of(tmp_path, worker):
    gate = Gate(tmp_path / "gate", "mkdir", r"/\.marginals-")
    first = worker.deploy(anonymous_file(tmp_path / "a", "shared", output_dir=str(tmp_path / "out")))
    other = tmp_path / "a" / "other.json"
    other.write_text((tmp_path / "a" / "shared.json").read_text())
    second = worker.deploy(other)
    worker.start_worker(**gate.environment)
    held = worker.run(first, vintage="1")
    gate.reached()
    waiting = worker.run(second, vintage="2")
    awaited(lambda: any("waits for it" in line for line in worker.logs(waiting)), "the second run waits")
    assert worker.steps(waiting) == {} and worker.state(held)["type"] == "RUNNING"
    gate.open()
    assert [worker.ended(run)["type"] for run in (held, waiting)] == ["COMPLETED", "COMPLETED"]


def test_ten_redeployments_with_changes_on_both_sides_lose_nothing_that_a_person_set(tmp_path, installation):
    path = anonymous_file(tmp_path, "changing")

    def deploy(*options: str) -> dict[str, Any]:
        installation.command("deploy", path, "--pool", POOL, *options)
        return dict(installation.get("/deployments/name/release/changing"))

    def patch(where: str, body: dict[str, Any]) -> None:
        installation.patch(where, body)

    def schedules(now: dict[str, Any]) -> dict[str | None, dict[str, Any]]:
        return {each["slug"]: each for each in now["schedules"]}

    now = deploy("--cron", "0 4 1 * *", "--timezone", "Europe/Vienna", "--paused")
    home = f"/deployments/{now['id']}"

    # 1: the person turns the schedule on.
    own = schedules(now)["release"]
    patch(f"{home}/schedules/{own['id']}", {"active": True})
    now = deploy("--cron", "0 4 1 * *", "--timezone", "Europe/Vienna", "--paused")
    assert schedules(now)["release"]["active"] is True
    # 2: and changes its time, while the command line asks for another one.
    patch(f"{home}/schedules/{own['id']}", {"schedule": own["schedule"] | {"cron": "15 5 1 * *"}})
    now = deploy("--cron", "0 6 1 * *", "--timezone", "Europe/Vienna")
    assert schedules(now)["release"]["schedule"]["cron"] == "15 5 1 * *"
    # 3: a second schedule with parameters of its own, and a third one without a slug.
    further = [
        {
            "schedule": {"interval": 86400},
            "slug": "rehearsal",
            "active": False,
            "parameters": {"last": "generate"},
        },
        {"schedule": {"rrule": "FREQ=YEARLY", "timezone": "UTC"}, "active": False},
    ]
    installation.post(f"{home}/schedules", further)
    now = deploy()
    assert set(schedules(now)) == {"release", "rehearsal", None}
    assert schedules(now)["rehearsal"]["parameters"] == {"last": "generate"}
    # 4: parameters; the file's content changes on the other side.
    patch(
        home, {"parameters": now["parameters"] | {"last": "evaluate", "overrides": {"reporting_length": 2}}}
    )
    before = set(now["tags"])
    path.write_text(path.read_text().replace("{", '{"report_title": "People", ', 1))
    now = deploy()
    assert now["parameters"] == {
        "configuration": str(path),
        "last": "evaluate",
        "overrides": {"reporting_length": 2},
    }
    (new,) = set(now["tags"]) - before
    assert new.startswith("sha256:")
    # 5: a tag. 6: a description.
    patch(home, {"tags": [*now["tags"], "quarterly"]})
    now = deploy()
    patch(home, {"description": "Ask the statistician first."})
    now = deploy()
    assert "quarterly" in now["tags"] and now["description"] == "Ask the statistician first."
    # 7: the limit of runs at once. 8: settings of its processes.
    patch(home, {"concurrency_limit": 2})
    now = deploy()
    patch(home, {"job_variables": {"env": {"LANG": "C.UTF-8"}}})
    now = deploy("--every", "1d")
    assert now["global_concurrency_limit"]["limit"] == 2
    assert now["job_variables"]["env"]["LANG"] == "C.UTF-8"
    # 9: it is paused. 10: the command's schedule is deleted.
    httpx.post(f"{installation.api}{home}/pause_deployment", timeout=60).raise_for_status()
    now = deploy("--every", "1d")
    httpx.delete(f"{installation.api}{home}/schedules/{own['id']}", timeout=60).raise_for_status()
    now = deploy("--every", "1d")
    assert now["paused"] is True and set(schedules(now)) == {"rehearsal", None}
    # All of it is still there; and told.
    assert (now["parameters"]["last"], now["description"]) == ("evaluate", "Ask the statistician first.")
    assert "quarterly" in now["tags"] and now["global_concurrency_limit"]["limit"] == 2
    said = installation.command("deploy", path, "--pool", POOL, "--every", "1d")
    for what in ("schedule", "a further schedule", "parameters", "tags", "runs at once", "paused"):
        assert f"\n  {what}: " in said, said
    # Told to, the command takes it all back.
    now = deploy("--every", "1d", "--overwrite")
    assert set(schedules(now)) == {"release"} and now["parameters"] == {"configuration": str(path)}
    assert now["paused"] is False and now["global_concurrency_limit"]["limit"] == 1
