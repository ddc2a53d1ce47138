"""The image's recipe and the services, without a container: each command as it stands, in an empty folder.

What is not seen here is the engine's own part: the base image, the volumes, the network, the user.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.flows import pipeline
from tests.operations.installation import awaited

pytestmark = pytest.mark.operations

ROOT = Path(__file__).resolve().parents[2]


class Image:
    """The recipe's commands in a folder that stands for the root of the image.

    Attributes:
        root: the folder.
        environment: what ENV sets, with its paths in the folder.
    """

    def __init__(self, root: Path) -> None:
        """Args: root: an empty folder."""
        self.root = root
        self.home = root / "opt" / "marginalia"
        (root / "bin").mkdir(parents=True)
        (root / "bin" / "python").symlink_to(getattr(sys, "_base_executable", sys.executable))
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PREFECT", "MARGINALIA"))
        }
        self.environment = kept | {"PATH": f"{root / 'bin'}:/usr/bin:/bin"}

    def placed(self, text: str) -> str:
        """A command or a value with the image's paths in the folder."""
        text = re.sub(r"(?<![\w.])/(opt/marginalia|var/lib)(?=[/\s\"':\\\\]|$)", rf"{self.root}/\1", text)
        return text if os.geteuid() == 0 else re.sub(r"--(owner|group)=\d+ ", "", text)

    def build(self) -> list[str]:
        """Do what the recipe says, line by line; the commands that were run."""
        text = (ROOT / "deployments" / "Containerfile").read_text().replace("\\\n", " ")
        done = []
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "WORKDIR":
                self.home.mkdir(parents=True)
            elif word == "COPY":
                *sources, target = rest.split()
                for source in sources:
                    self._copy(ROOT / source, self.home / target)
            elif word == "ENV":
                given = dict(each.split("=", 1) for each in shlex.split(rest))
                self.environment |= {name: self.placed(value) for name, value in given.items()}
            elif word == "RUN":
                self.run(rest)
                done.append(rest)
        return done

    def _copy(self, source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target if target.suffix else self.home / source.name)

    def run(self, command: str) -> str:
        """Run a command in the image's working folder; what it printed."""
        done = subprocess.run(
            ["sh", "-c", self.placed(command)],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def start(self, command: list[str], environment: dict[str, str], log: Path) -> "subprocess.Popen[bytes]":
        """Start a service."""
        with log.open("wb") as output:
            return subprocess.Popen(
                ["sh", "-c", f"exec {shlex.join(command)}"],
                cwd=self.home,
                env=self.environment | environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


@pytest.mark.needs_postgresql
def test_every_command_of_the_recipe_and_of_the_services_works(tmp_path, postgresql):
    image = Image(tmp_path / "image")
    assert len(image.build()) == 7
    assert "usage: marginalia" in image.run("marginalia --help")
    assert not (image.home / ".git").exists() and not (image.home / "tests").exists()

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])

    database = postgresql.create("recipe").partition("://")[2]

    def here(value: Any) -> Any:
        """The same where the other service is this machine, and the database that of the tests."""
        if isinstance(value, list):
            return [here(each) for each in value]
        if isinstance(value, dict):
            return {name: here(each) for name, each in value.items()}
        text = re.sub(r"\bserver:4200|\blocalhost:4200", f"127.0.0.1:{port}", value).replace(
            "0.0.0.0", "127.0.0.1"
        )
        text = re.sub(r"(?<=postgresql\+asyncpg://).*", database, text.replace("4200", port))
        return image.placed(text)

    services = yaml.safe_load((ROOT / "deployments" / "compose.yaml").read_text())["services"]
    (tmp_path / "data").mkdir()
    pipeline.write(tmp_path / "data" / "people.csv", pipeline.rows(100))
    body = pipeline.anonymous(tmp_path / "data", dataset="recipe")
    del body["vintage"]
    path = tmp_path / "data" / "recipe.json"
    path.write_text(json.dumps(body))
    started = []
    try:
        server, worker = (
            {key: here(services[name][key]) for key in ("command", "environment")}
            for name in ("server", "worker")
        )
        started.append(image.start(server["command"], server["environment"], tmp_path / "server.log"))
        health = shlex.join(here(services["server"]["healthcheck"]["test"][1:]))

        def is_healthy() -> bool:
            done = subprocess.run(
                ["sh", "-c", health], cwd=image.home, env=image.environment, capture_output=True, check=False
            )
            return done.returncode == 0

        awaited(is_healthy, "the server's health check passes")
        started.append(image.start(worker["command"], worker["environment"], tmp_path / "worker.log"))
        image.environment |= worker["environment"]
        said = image.run(f"marginalia deploy {path} --every 1m")
        # The command that starts a worker is told only where the server has not heard of one yet.
        told = (f"{image.home}/.venv/bin/prefect worker start", "and one of the pool marginalia does")
        assert "Deployed release/recipe." in said and any(each in said for each in told)
        asked = {"flow_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED"]}}}}
        url = f"http://127.0.0.1:{port}/api/flow_runs/filter"
        awaited(lambda: httpx.post(url, json=asked, timeout=60).json(), "a scheduled run ends")
        assert httpx.post(url, json=asked, timeout=60).json()[0]["state"]["type"] == "COMPLETED"
        assert list(
            (tmp_path / "data" / "out" / "release" / "recipe" / "latest").glob("*_data_showcase.html")
        )
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
