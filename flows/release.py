"""Release: a configuration file in, what it asks for released. The flow behind a deployment, and its form.

It reads the file when it runs, so the file stays where it is kept and reviewed, and Prefect keeps four short
parameters. What it then does is the flow of the file's protection, or its batch, in the same run.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.runtime import flow_run
from pydantic import Field

from flows.batch import batch_steps
from flows.showcase import flow_of
from tasks.batch.file import Batch, is_batch, read_batch, require_inputs
from tasks.configuration.flat_file import from_flat, read_json
from tasks.configuration.model import RunConfiguration
from tasks.configuration.overrides import NO_SECRETS, apply_overrides
from tasks.core.errors import ParameterError
from tasks.core.ledger.place import require_absolute
from tasks.events import announce_schedule
from tasks.failures import guard_flow
from tasks.messages import tell
from tasks.request import FOLDER, STAGES, reaches, scheduled_date

_NO_VINTAGE = (
    "A run that is started by hand has no scheduled date, so you must name its vintage: start it again with "
    "a vintage such as 2026-11. A name that has a release already returns that release; a new name draws "
    "new noise, and is charged."
)

#: The server's tag on runs that a schedule created.
_AUTO_SCHEDULED = "auto-scheduled"


def _run_name() -> str:
    parameters = flow_run.get_parameters()
    vintage = parameters.get("vintage") or ""
    if not vintage and _AUTO_SCHEDULED in flow_run.get_tags():
        vintage = f"{flow_run.get_scheduled_start_time():%Y-%m-%d}"
    return "-".join(filter(None, [Path(parameters["configuration"]).stem, vintage]))


@flow(name="release", flow_run_name=_run_name, on_running=[announce_schedule], persist_result=False)
def release(
    configuration: Annotated[
        str, Field(pattern=r"\.json$", examples=["deployments/configurations/survey.json"])
    ],
    vintage: str = "",
    last: Literal["aggregate", "generate", "evaluate", "navigate"] = "navigate",
    overrides: Annotated[dict[str, Any], Field(json_schema_extra=NO_SECRETS)] = {},  # noqa: B006
) -> dict[str, str]:
    """Make one release of a configuration file.

    Args:
        configuration: The configuration file. Relative paths, here and in the file, start at the folder in
            which this deployment was made.
        vintage: The name of this release, such as 2026-11. A name that has a release already returns that
            release. A new name is a new release and, under differential privacy, a new charge. Leave it empty
            where a schedule starts the run, whose date is then the name, or where the file names one.
        last: Where to stop. "navigate" does everything. "aggregate" makes the counts, "generate" the
            synthetic records too, "evaluate" also compares them with the counts.
        overrides: Keys of the configuration file that are to be different in this run, for example
            {"reporting_length": 2}. They may change how much is made and how it looks, not its protection.
            A key with null is left out. Nothing secret, such as a seed.

    Returns:
        What the flow of its protection returns, or the batch: places in the workspace.
    """
    request = _read_request(configuration, vintage, last, overrides)
    if isinstance(request, Batch):
        with dataset_lock([run.configuration.dataset for run in request.runs]):
            return guard_flow(batch_steps)(request)
    with dataset_lock([request.dataset]):
        return flow_of(request).fn(request, last)


@guard_flow
def _read_request(
    configuration: str, vintage: str, last: str, overrides: dict[str, Any]
) -> Batch | RunConfiguration:
    _enter_folder()
    place = Path(configuration)
    body, scheduled = read_json(place), scheduled_date()
    label = vintage or scheduled
    changes = apply_overrides({}, overrides) | ({"vintage": label} if label else {})
    if is_batch(body):
        asked = read_batch(place, changes)
        stages = tuple(stage for stage in asked.stages if reaches(last, stage))
        asked = replace(asked, stages=stages or STAGES[:1])  # the first is always done
        _require_named([run.configuration for run in asked.runs])
        require_inputs(asked)
        return asked
    if scheduled and not vintage and body.get("vintage"):
        tell(f"The file names a vintage, but a scheduled run is named by its date: {scheduled}.")
    settled = from_flat(body | changes)
    _require_named([settled])
    return settled


def _enter_folder() -> None:
    """Work where the deployment was made, if it was made by the command."""
    require_absolute()
    try:
        os.chdir(os.environ.get(FOLDER, "."))
    except OSError as error:
        raise ParameterError(
            "The folder in which this deployment was made must be on the worker's machine, but "
            f"{os.environ[FOLDER]} can't be entered ({error.strerror}). Deploy again where the worker can go."
        ) from None


def _require_named(configurations: Sequence[RunConfiguration]) -> None:
    if any(asked.protection.is_drawn_once and asked.vintage is None for asked in configurations):
        raise ParameterError(_NO_VINTAGE)


#: A run that was killed gives its turn back after so long, the least that the server admits.
LEASE_SECONDS = 60


def limit_of(dataset: str) -> str:
    return f"marginalia-{dataset}"


@contextmanager
def dataset_lock(datasets: Collection[str]) -> Iterator[None]:
    """Wait until no other run of these datasets is at work, and keep others waiting.

    The queue is a global concurrency limit of the Prefect server, one a dataset, which anybody can see and
    free on the server's page. It keeps runs from getting in each other's way; that a budget is never
    overspent is the ledger's work, and does not hang on it.
    """
    limits = sorted({limit_of(dataset) for dataset in datasets})
    if _taken(limits):
        names = " and ".join(limits)
        tell(
            "Another run of the same dataset is at work: this one waits for it. If there is none, free "
            f"the concurrency limit {names}: prefect gcl update NAME --active-slots 0."
        )
    with concurrency(limits, lease_duration=LEASE_SECONDS):
        yield


def _taken(limits: Collection[str]) -> bool:
    """Whether others are at work. Limits that are not there are made; one that somebody changed stays."""
    taken = False
    with get_client(sync_client=True) as client:
        for name in limits:
            try:
                limit = client.read_global_concurrency_limit_by_name(name)
                taken = taken or limit.active_slots >= limit.limit
            except ObjectNotFound:
                with suppress(ObjectAlreadyExists):  # another run was quicker
                    client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=name, limit=1))
    return taken
