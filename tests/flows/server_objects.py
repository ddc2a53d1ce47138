"""What a Prefect server knows of the flow runs of one dataset."""

import asyncio
import json
import re
import time
from typing import Any, NamedTuple


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
    """What the server knows, once it has taken in the last state of every step."""
    deadline = time.monotonic() + 120
    while True:
        found = known(url, dataset)
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


def text_of_everything(url: str, dataset: str) -> str:
    """All of it as one text."""
    return json.dumps(known(url, dataset)._asdict(), ensure_ascii=False)
