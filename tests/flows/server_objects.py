"""What a Prefect server knows of the flow runs of one dataset; and a server that only answers."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NamedTuple


@contextmanager
def answering(status: int, body: Any) -> Iterator[str]:
    """The address of a server on loopback that gives one answer, as JSON, whatever it is asked."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *words: Any) -> None:
            """Nothing on the terminal."""

    server = HTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Known(NamedTuple):
    """The flow runs of a dataset, oldest first, with all that hangs on them."""

    flow_runs: list[Any]
    task_runs: list[Any]
    logs: list[Any]
    artifacts: list[Any]


def known(url: str, dataset: str) -> Known:
    """Everything that the server holds of a dataset."""
    return asyncio.run(_known(url, dataset))


async def _known(url: str, dataset: str) -> Known:
    from prefect.client.orchestration import PrefectClient

    async with PrefectClient(url) as client:

        async def every(path: str, body: dict[str, Any]) -> list[Any]:
            found: list[Any] = []
            while True:
                page = {"limit": 200, "offset": len(found), **body}
                answer = (await client._client.post(path, json=page)).json()
                found += answer
                if len(answer) < 200:
                    return found

        runs = await every("/flow_runs/filter", {"sort": "START_TIME_ASC"})
        runs = [run for run in runs if _dataset(run) == dataset]
        ids = {"any_": [run["id"] for run in runs]}
        tasks = await every("/task_runs/filter", {"flow_runs": {"id": ids}})
        logs = await every("/logs/filter", {"logs": {"flow_run_id": ids}})
        artifacts = await every("/artifacts/filter", {"artifacts": {"flow_run_id": ids}})
        return Known(runs, tasks, logs, artifacts)


def _dataset(run: dict[str, Any]) -> str | None:
    """Of a flow run's parameters; None where they name it in a file alone."""
    given = run["parameters"].get("configuration")
    return given.get("dataset") if isinstance(given, dict) else None


def settled(url: str, dataset: str, steps: int) -> Known:
    """What the server knows of the first and the last run, once it has the last state of all their steps."""
    deadline = time.monotonic() + 120
    while True:
        every = known(url, dataset)
        ends = {run["id"] for run in (*every.flow_runs[:1], *every.flow_runs[-1:])}
        found = Known(
            [run for run in every.flow_runs if run["id"] in ends],
            *([each for each in hung if each["flow_run_id"] in ends] for hung in every[1:]),
        )
        finished = [run for run in found.task_runs if run["state_type"] in ("COMPLETED", "FAILED", "CRASHED")]
        if len(finished) == len(found.task_runs) == steps or time.monotonic() > deadline:
            return found
        time.sleep(0.3)


def step(run: dict[str, Any]) -> str:
    """The name of the task of a task run."""
    return re.sub(r"-[0-9a-f]{8}$", "", run["task_key"]).rpartition(".")[2]


def steps_done(url: str, dataset: str, before: Known, last: str) -> set[str]:
    """The steps that a run did since, as the server knows them once it has taken in the one named last."""
    known_before = {run["id"] for run in before.task_runs}
    deadline = time.monotonic() + 60
    while True:
        runs = [run for run in known(url, dataset).task_runs if run["id"] not in known_before]
        is_done = {run["state_type"] for run in runs} == {"COMPLETED"} and last in map(step, runs)
        if is_done or time.monotonic() > deadline:
            return {step(run) for run in runs if run["state_name"] == "Completed"}
        time.sleep(0.3)


def logged(url: str, dataset: str, last: str) -> Known:
    """What the server knows of a run once it has its last line and all its steps: they come after states."""
    deadline = time.monotonic() + 60
    while True:
        found = known(url, dataset)
        steps = sum(line["message"].startswith("Step ") for line in found.logs)
        ended = any(line["message"].startswith(last) and line["task_run_id"] is None for line in found.logs)
        if ended and len(found.task_runs) >= steps:
            return found
        assert time.monotonic() < deadline, found.logs
        time.sleep(0.3)


def text_of_everything(url: str, dataset: str) -> str:
    """All of it as one text."""
    return json.dumps(known(url, dataset)._asdict(), ensure_ascii=False)
