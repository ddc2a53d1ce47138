"""Release: a configuration file in, what it asks for released. The flow behind a deployment, and its form.

It reads the file when it runs, so the file stays where it is kept and reviewed, and Prefect keeps four short
parameters. What it then does is the flow of the file's protection, or its batch, in the same run.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from prefect import flow
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
from tasks.dataset_lock import dataset_lock
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
        asked = _limit_stages(read_batch(place, changes), last)
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


def _limit_stages(asked: Batch, last: str) -> Batch:
    """A batch without the stages after one; its file may ask for fewer, and the first is always done."""
    stages = tuple(stage for stage in asked.stages if reaches(last, stage))
    return replace(asked, stages=stages or STAGES[:1])
