"""Two users, two queues: who publishes can open neither the table, nor ``sensitive/``, nor the ledger."""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.flows import pipeline
from tests.flows.processes import phases
from tests.operations.installation import POOL, ROOT, Installation

pytestmark = [pytest.mark.operations, pytest.mark.needs_root]

NOBODY = 65534


@pytest.fixture
def folder():
    """Not below pytest's own folder, which every session closes to other users."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def _as_nobody(command: list[str], environment: dict[str, str], **keywords: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, env=environment, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", **keywords
    )


def _python_for_others(environment: dict[str, str]) -> str:
    """An interpreter that another user may start: ours, or the system's of the same version."""
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        try:
            if _as_nobody([python, "-c", "import prefect, flows.publish"], environment).wait() == 0:
                return python
        except OSError:
            continue
    pytest.skip("needs a Python that another user may start (make setup PYTHON=/usr/bin/python3)")


def _environment(installation: Installation, home: Path) -> dict[str, str]:
    for folder in (home, home / "tmp"):  # of its own: Prefect's workers keep a folder of one name there
        folder.mkdir()
        shutil.chown(folder, user=NOBODY, group=NOBODY)
    own = {"HOME": str(home), "PREFECT_HOME": str(home / "prefect"), "MARGINALIA_CACHE": str(home / "cache")}
    own |= {"TMPDIR": str(home / "tmp")}
    own |= {"PYTHONPATH": f"{sysconfig.get_path('purelib')}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    kept = {name: installation.environment[name] for name in ("PREFECT_API_URL", "PATH")}
    return kept | own | {"PREFECT_WORKER_QUERY_SECONDS": "1", "MARGINALIA_ROOT": str(ROOT)}


@contextmanager
def _working(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _worker(python: str, queue: str) -> list[str]:
    return [python, "-m", "prefect", "worker", "start", "--pool", POOL, "--work-queue", queue]


def _deployed(installation: Installation, *names: str) -> list[str]:
    """The two halves of `prefect.yaml`, as the runbook deploys them; their ids."""
    environment = installation.environment | {"MARGINALIA_ROOT": str(ROOT), "MARGINALIA_WORK_POOL": POOL}
    commands = [["work-pool", "create", POOL, "--type", "process"]]
    commands += [["deploy", "--prefect-file", "deployments/prefect.yaml", "--name", name] for name in names]
    for command in commands:
        whole = [sys.executable, "-m", "prefect", "--no-prompt", *command]
        done = subprocess.run(whole, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return [str(installation.get(f"/deployments/name/{name}/{name}")["id"]) for name in names]


def test_the_publishing_user_publishes_and_can_read_nothing_else(folder, installation):
    environment = _environment(installation, folder / "home")
    python = _python_for_others(environment)
    configuration = pipeline.prepared(folder, pipeline.rows(200))
    out = folder / "out"
    for zone in ("intermediate", "release"):
        (out / zone).mkdir(parents=True)
        shutil.chown(out / zone, user=NOBODY, group=NOBODY)
    ledger = folder / "ledger"
    ledger.mkdir(mode=0o700)
    (folder / "people.csv").chmod(0o600)
    measure, publish = _deployed(installation, "measure", "publish")
    asked = {"configuration": configuration.model_dump(mode="json")}
    log = (folder / "workers.log").open("wb")
    mine = installation.environment | {"MARGINALIA_LEDGER": str(ledger)}
    with ExitStack() as workers:
        workers.enter_context(log)
        streams: dict[str, Any] = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL}
        of_measure = subprocess.Popen(_worker(sys.executable, "measure"), cwd="/", env=mine, **streams)
        workers.enter_context(_working(of_measure))
        of_publish = _as_nobody(_worker(python, "publish"), environment, **streams)
        workers.enter_context(_working(of_publish))
        said = (folder / "workers.log").read_text
        assert installation.ended(installation.run(measure, **asked))["type"] == "COMPLETED", said()
        assert installation.ended(installation.run(publish, **asked))["type"] == "COMPLETED", said()
        release = pipeline.latest(configuration)
        assert (release / "people_data_showcase.html").stat().st_uid == NOBODY
        # The other half, put into the wrong queue: it can begin nothing, and charges nothing.
        another = {"configuration": asked["configuration"] | {"vintage": "2026-12"}}
        body = {"parameters": another, "work_queue_name": "publish"}
        wrong = str(installation.post(f"/deployments/{measure}/create_flow_run", body)["id"])
        assert installation.ended(wrong)["type"] == "FAILED", said()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(ledger))
        assert phases() == ["commit"]
    for closed in (out / "sensitive", ledger, folder / "people.csv"):
        look = f"import os; (os.listdir if {closed.is_dir()} else open)({str(closed)!r})"
        done = _as_nobody([python, "-c", look], environment, stderr=subprocess.PIPE)
        assert b"PermissionError" in done.communicate()[1]
