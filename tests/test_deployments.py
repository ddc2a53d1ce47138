"""The files in `deployments`: each can be read by what reads it, and they say the same."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.command import server
from flows.command.deploy import POOL

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deployments"
UNITS = sorted((FOLDER / "systemd").glob("*.service"))


def variables() -> dict[str, str]:
    """What .env.example sets."""
    lines = (FOLDER / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / "compose.yaml").read_text()))


def unit(path: Path) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read(path)
    return parser["Service"]


def test_every_deployment_of_the_yaml_is_of_a_flow_and_queues():
    import importlib

    body = yaml.safe_load((FOLDER / "prefect.yaml").read_text())
    assert [each["name"] for each in body["deployments"]][:2] == ["staging", "production"]
    for each in body["deployments"]:
        module, _, name = each["entrypoint"].rpartition(".")
        assert getattr(importlib.import_module(module), name).name == name
        assert each["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
        assert each["version"] == "{{ commit.stdout }}" and "marginalia" in each["tags"]
        for schedule in each.get("schedules", []):
            assert set(schedule) == {"slug", "cron", "timezone", "active"} and schedule["active"] is False


def test_what_the_yaml_reads_from_the_environment_is_in_the_example():
    named = set(re.findall(r"\{\{ \$(\w+) \}\}", (FOLDER / "prefect.yaml").read_text()))
    assert named == {name for name in variables() if name.startswith("MARGINALIA_")} - {
        "MARGINALIA_LEDGER", "MARGINALIA_CACHE", "MARGINALIA_DATA"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["compose", "systemd"])
def test_servers_send_nothing_away_and_keep_the_turns_of_runs_on_disk(name):
    wanted = server.OFFLINE | server.LEASES
    if name == "systemd":
        assert wanted.items() <= variables().items()
        assert all(unit(path)["EnvironmentFile"] == "/etc/marginalia.env" for path in UNITS)
        return
    image = (FOLDER / "Containerfile").read_text()
    given = dict(re.findall(r"(\w+)=(\S+)", image)) | compose()["services"]["server"]["environment"]
    assert wanted.items() <= given.items()


def test_workers_are_of_the_pool_that_deploy_takes():
    worker = " ".join(compose()["services"]["worker"]["command"])
    (started,) = [unit(path)["ExecStart"] for path in UNITS if "worker" in path.name]
    assert f"worker start --pool {POOL} --type process" in worker
    assert started.endswith(worker.removeprefix("prefect "))
    assert variables()["MARGINALIA_WORK_POOL"] == POOL
    assert unit(FOLDER / "systemd" / "marginalia-worker.service")["KillSignal"] == "SIGINT"
    assert compose()["services"]["worker"]["stop_signal"] == "SIGINT"


def test_what_compose_must_be_told_is_in_the_example():
    text = (FOLDER / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)", text)) <= set(variables())
    for each in compose()["services"].values():
        assert set(each) <= {
            "image", "build", "restart", "init", "command", "depends_on", "environment", "ports", "volumes",
            "healthcheck", "stop_signal", "stop_grace_period",
        }  # fmt: skip
        assert all(":" in volume for volume in each.get("volumes", []))
        assert not any(port.startswith("4200") for port in each.get("ports", [])), "open to everybody"


def compose_program() -> list[str]:
    """Docker's plugin or Debian's docker-compose: either reads the file without a container engine."""
    plugin = shutil.which("docker") and subprocess.run(
        ["docker", "compose", "version"], capture_output=True, check=False
    ).returncode == 0  # fmt: skip
    if plugin:
        return ["docker", "compose"]
    if shutil.which("docker-compose") is None:
        pytest.skip("needs compose (Debian: apt-get install docker-compose)")
    return ["docker-compose"]


@pytest.mark.needs_compose
@pytest.mark.parametrize("password", ["x", ""])
def test_compose_itself_accepts_the_file_once_the_example_is_filled_in(password, tmp_path):
    copy = shutil.copytree(FOLDER, tmp_path / "deployments")
    example = (copy / ".env.example").read_text()
    (copy / ".env").write_text(example.replace("POSTGRES_PASSWORD=", f"POSTGRES_PASSWORD={password}"))
    environment = {name: value for name, value in os.environ.items() if name not in variables()}
    command = [*compose_program(), "--file", str(copy / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == bool(password), done.stderr
    assert password or "fill in .env" in done.stderr


@pytest.mark.needs_systemd
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_itself_accepts_the_units(path, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze (Debian: apt-get install systemd)")
    # It looks for the program and for the user, which are an installation's.
    text = path.read_text().replace("/opt/marginalia", str(ROOT)).replace("User=marginalia\n", "")
    (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / path.name)], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if path.name in line]
    assert done.returncode == 0 and said == [], done.stderr


def test_the_image_installs_the_lock_by_its_hashes_and_nothing_else():
    text = (FOLDER / "Containerfile").read_text()
    installs = [line for line in text.splitlines() if re.search(r"\b(pip|uv|apt-get|curl|wget) ", line)]
    assert len(installs) == 1 and "--require-hashes --no-deps --requirement requirements.lock" in installs[0]
    copied = {name for line in re.findall(r"^COPY (\S+) ", text, re.M) for name in line.split()}
    ignored = (FOLDER / "Containerfile.dockerignore").read_text().splitlines()
    assert copied == {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    assert "deployments/.env" in ignored
