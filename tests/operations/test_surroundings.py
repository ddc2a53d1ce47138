"""What is around a run changes or fails: storage, code, the ledger's password; a schedule and a purge."""

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest

from tasks.ledger_place import PASSWORD_BLOCK
from tests.flows import pipeline
from tests.flows.processes import POINTS, assert_whole, configuration_file, configured, releases, unfinished
from tests.operations.faulty_storage import FaultyStorage, faulty_storage
from tests.operations.installation import GATES, POOL, ROOT, Gate, Installation, awaited
from tests.postgresql import programs, running

pytestmark = pytest.mark.operations
SECRET = "zqxsecretkey78"


@pytest.fixture
def storage():
    with faulty_storage() as made:
        yield made


def bucket(storage: FaultyStorage, installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of the storage; this process and the installation's have its credentials."""
    for name, value in storage.credentials("zqxkeyid78", SECRET).items():
        monkeypatch.setenv(name, value)
        monkeypatch.setitem(installation.environment, name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="closed")
    return client


def test_storage_that_is_slow_is_waited_for_and_one_that_refuses_is_named_by_its_code(
    tmp_path, worker, storage, monkeypatch
):
    client = bucket(storage, worker, monkeypatch)
    table = pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    client.put_object(Bucket="closed", Key="people.csv", Body=table.read_bytes())
    table.unlink()
    place = {"sensitive_microdata_path": "s3://closed/people.csv", "publish_to": "s3://closed/open"}
    deployment = worker.deploy(configured(tmp_path, dataset="stored", **place))
    gate = Gate(tmp_path / "gate", *POINTS["during publish"])
    worker.start_worker()

    def refused(run: str) -> str:
        state = worker.ended(run)
        assert state["type"] == "FAILED"
        message = str(state["message"])
        # A question about an object alone has no text in its answer, so there is only a number to tell.
        assert "(SlowDown)" in message or "(503)" in message, message
        assert "zqx" not in message
        return message

    # Refused while the table is read: nothing is drawn or charged.
    storage.refuses = True
    first = worker.run(deployment, vintage="2026-11")
    assert "s3://closed/people.csv must answer" in refused(first)
    assert worker.phases("stored") == []
    # Slow, and then refused once the release is drawn: it stays, and the message says where.
    storage.refuses, storage.seconds = False, 2
    asked = storage.asked
    second = worker.run(deployment, gate.environment, vintage="2026-11")
    gate.reached()
    assert storage.asked > asked
    storage.refuses, storage.seconds = True, 0
    gate.open()
    assert "The release itself is finished" in refused(second)
    assert releases(tmp_path, "stored") == ["2026-11-1", "latest"]
    # Mended: the same run, retried, copies it; nothing is drawn or charged anew.
    storage.refuses = False
    worker.retry(second)
    assert worker.ended(second)["type"] == "COMPLETED"
    assert worker.phases("stored") == ["commit"]
    listed = client.list_objects_v2(Bucket="closed", Prefix="open/")["Contents"]
    names = {entry["Key"] for entry in listed}
    release = tmp_path / "out" / "release" / "stored" / "2026-11-1"
    assert {f"open/stored/2026-11-1/{name}" for name in pipeline.tree(release)} <= names
    assert "open/stored/latest" in names
    for log in ("worker.log", "server.log"):
        assert SECRET not in (worker.folder / log).read_text()


def checkout(folder: Path) -> Path:
    """A clone of the code as it stands here, to be changed."""
    git = ["git", "-C", str(ROOT)]
    folder.mkdir()
    listed = subprocess.run([*git, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if name.startswith(("flows/", "tasks/", "sql/")) or name in (".gitignore", "pyproject.toml"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)  # kernels are kept by the time of their source
    if (ROOT / ".kernels").is_dir():
        shutil.copytree(ROOT / ".kernels", folder / ".kernels")
    subprocess.run(["git", "init", "-q", folder], check=True)
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    """Commit what is there; its id."""
    git = ["git", "-C", str(folder), "-c", "user.name=a test", "-c", "user.email=test@example.org"]
    subprocess.run([*git, "add", "flows", "tasks", "sql", "pyproject.toml"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "A change."], check=True)
    found = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def test_code_that_changes_between_two_runs_of_a_release_makes_another_one_from_the_same_draw(
    tmp_path, worker
):
    """A draw is named by public settings alone: new code can't draw anew, and publishes from what is kept."""
    code = checkout(tmp_path / "checkout")
    there = {"PYTHONPATH": str(code)}
    path = configuration_file(tmp_path, dataset="recoded")
    deploy = ["deploy", str(path), "--pool", POOL, "--name", "recoded"]
    done = subprocess.run(
        [sys.executable, "-m", "flows", *deploy], cwd=code, env=worker.environment | there, check=False
    )
    assert done.returncode == 0
    deployment = worker.get("/deployments/name/release/recoded")["id"]
    gate = Gate(tmp_path / "gate", *POINTS["during generate"])
    gated = gate.environment | {"PYTHONPATH": f"{code}{os.pathsep}{GATES}"}
    worker.start_worker(**there)
    run = worker.run(deployment, gated, vintage="2026-11")
    gate.reached()
    worker.kill_worker()
    gate.open()
    measured = pipeline.tree(tmp_path / "out" / "measurement" / "recoded")

    def changed() -> str:
        with (code / "tasks" / "core" / "figures.py").open("a") as file:
            file.write("\n#: Another line.\n")
        return commit(code)

    def manifest(name: str) -> Any:
        return pipeline.json_of(tmp_path / "out" / "release" / "recoded" / name / "MANIFEST.json")

    # Between a killed run and its retry: one release, by the new code, of the draw that was kept.
    second = changed()
    worker.found_dead(run)
    worker.free_turn("recoded")
    worker.start_worker(**there)
    worker.retry(run)
    assert worker.ended(run)["type"] == "COMPLETED"
    assert releases(tmp_path, "recoded") == ["2026-11-1", "latest"]
    assert manifest("2026-11-1")["code_version"] == second
    # After a release: it stays as it was, and the same vintage is published anew under the next number.
    before = pipeline.tree(tmp_path / "out" / "release" / "recoded" / "2026-11-1")
    third = changed()
    again = worker.run(deployment, vintage="2026-11")
    assert worker.ended(again)["type"] == "COMPLETED"
    assert releases(tmp_path, "recoded") == ["2026-11-1", "2026-11-2", "latest"]
    assert manifest("2026-11-2")["code_version"] == third
    assert pipeline.tree(tmp_path / "out" / "release" / "recoded" / "2026-11-1") == before
    assert pipeline.tree(tmp_path / "out" / "measurement" / "recoded") == measured
    assert worker.phases("recoded") == ["commit"]
    assert_whole(tmp_path, "recoded")
    assert unfinished(tmp_path) == []
    said = "made anew from the measurement of an earlier run: nothing was drawn and nothing was charged"
    awaited(lambda: any(said in line for line in worker.logs(again)), "the run's log says so")


def prefect(worker: Installation, *arguments: str, **environment: str) -> None:
    """Prefect's own command, with what an operator exports before `make deploy`."""
    told = worker.environment | {"MARGINALIA_ROOT": str(ROOT), "MARGINALIA_WORK_POOL": POOL} | environment
    command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_scheduled_release_comes_by_itself(tmp_path, worker):
    """`monthly` with a schedule of now: the server creates the run, the worker makes the release."""
    configuration = pipeline.prepared_anonymous(
        tmp_path, pipeline.rows(100), dataset="scheduled", vintage=None
    )
    prefect(worker, "work-pool", "create", POOL, "--type", "process", "--overwrite")
    prefect(worker, "deploy", "--prefect-file", "deployments/prefect.yaml", "--name", "monthly")
    deployment = worker.get("/deployments/name/showcase/monthly")["id"]
    # Later than a slow server looks for new schedules: it makes no run of a moment that has passed.
    soon = datetime.now(UTC) + timedelta(seconds=30)
    schedule = {
        "schedule": {"interval": 86400, "anchor_date": soon.isoformat()},
        "active": True,
        "parameters": {"configuration": configuration.model_dump(mode="json"), "last": "aggregate"},
    }
    worker.post(f"/deployments/{deployment}/schedules", [schedule])
    asked = {"flow_runs": {"deployment_id": {"any_": [deployment]}}, "sort": "EXPECTED_START_TIME_ASC"}
    awaited(lambda: worker.post("/flow_runs/filter", asked), "the server creates a run")
    worker.start_worker()
    run = worker.post("/flow_runs/filter", asked)[0]
    state = worker.ended(run["id"])
    assert run["auto_scheduled"] and state["type"] == "COMPLETED", state
    release = pipeline.latest(configuration)
    assert release.name.startswith(run["expected_start_time"][:10])
    assert (release / "people_reportable_aggregates.tsv").exists()


def test_a_purge_that_a_schedule_starts_removes_what_is_too_old(tmp_path, worker):
    path = configuration_file(tmp_path, dataset="purged", retention_days=30)
    deployment = worker.deploy(path)
    worker.start_worker()
    assert worker.ended(worker.run(deployment, vintage="2026-11"))["type"] == "COMPLETED"
    home = tmp_path / "out" / "sensitive" / "purged"
    tables = [each.parent for each in home.rglob("*.parquet")]
    assert tables
    for each in [*home.rglob("*"), home]:
        os.utime(each, (1e9, 1e9))
    deploy = ("deploy", "--prefect-file", "deployments/prefect.yaml", "--name", "purge")
    prefect(worker, *deploy, MARGINALIA_PRODUCTION_CONFIGURATION=str(path))
    purge = worker.get("/deployments/name/purge/purge")
    (schedule,) = purge["schedules"]
    assert schedule["active"] is False
    often = {"active": True, "schedule": {"interval": 60}}
    address = f"/deployments/{purge['id']}/schedules/{schedule['id']}"
    worker.patch(address, often)
    asked = {
        "flow_runs": {"deployment_id": {"any_": [purge["id"]]}, "state": {"type": {"any_": ["COMPLETED"]}}}
    }
    awaited(lambda: worker.post("/flow_runs/filter", asked), "a purge ends")
    worker.patch(address, {"active": False})
    assert not any(each.exists() for each in tables)
    before = pipeline.tree(tmp_path / "out" / "release")
    assert worker.ended(worker.run(deployment, vintage="2026-11"))["type"] == "COMPLETED"
    assert pipeline.tree(tmp_path / "out" / "release") == before
    assert worker.phases("purged") == ["commit"]


@pytest.mark.needs_postgresql
def test_a_worker_takes_the_password_of_the_ledger_from_a_secret_block(
    tmp_path,
    tmp_path_factory,
    worker,
    monkeypatch,
):
    if programs() is None:
        pytest.skip("needs the programs of PostgreSQL (Debian: apt-get install postgresql)")
    password = "zqxpassword78"
    with running(tmp_path_factory.mktemp("closed")) as server:
        server.create("ledger")
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"create role marginalia login password '{password}'")
            connection.execute("alter database ledger owner to marginalia")
            rules = server.folder / "pg_hba.conf"
            rules.write_text(f"host ledger marginalia 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
            connection.execute("select pg_reload_conf()")
        address = f"postgresql://marginalia@127.0.0.1:{server.port}/ledger"
        worker.environment["MARGINALIA_LEDGER"] = address
        monkeypatch.setitem(worker.environment, PASSWORD_BLOCK, "ledger-of-operations")
        body = "from prefect.blocks.system import Secret; Secret(value={!r}).save('ledger-of-operations')"
        command = [sys.executable, "-c", body.format(password)]
        subprocess.run(command, env=worker.environment, check=True)
        deployment = worker.deploy(configuration_file(tmp_path, dataset="closed"))
        worker.start_worker()
        run = worker.run(deployment, vintage="2026-11")
        assert worker.ended(run)["type"] == "COMPLETED"
        assert releases(tmp_path, "closed") == ["2026-11-1", "latest"]
        # A block that is not there, and none: nothing is drawn, and the message says which.
        for block, words in (
            ("no-such-block", f"{PASSWORD_BLOCK} must name a Prefect block"),
            ("", "PostgreSQL says"),
        ):
            refused = worker.run(deployment, {PASSWORD_BLOCK: block}, vintage="2026-12")
            state = worker.ended(refused)
            assert state["type"] == "FAILED" and words in state["message"], state
        assert releases(tmp_path, "closed") == ["2026-11-1", "latest"]
        told = [worker.logs(run), worker.get(f"/flow_runs/{run}"), worker.post("/artifacts/filter", {})]
        assert password not in json.dumps(told)
    for log in ("worker.log", "server.log"):
        assert password not in (worker.folder / log).read_text()
