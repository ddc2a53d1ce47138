"""``marginalia deploy``: a configuration file goes in, one deployment of it on a Prefect server comes out.

Relative paths of the file start where the command is called, as with ``run``: the deployment keeps that
folder. Deploying again renews what follows from the file, the folder and the code: version, form, hash of
what the file says. What a person has set on the server's pages stays, and what differs is told. A schedule
tells the two apart by a tag, which holds the schedule that the command made last:

    the server has what the tag says      nobody changed it: what is asked for now takes its place
    the server has something else         a person did: it stays
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, available_timezones

from prefect.client.schemas.actions import DeploymentScheduleCreate, DeploymentUpdate, WorkPoolCreate
from prefect.client.schemas.objects import (
    ConcurrencyLimitStrategy,
    ConcurrencyOptions,
    DeploymentSchedule,
    StateType,
    WorkPoolStatus,
)
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule, RRuleSchedule
from prefect.exceptions import ObjectNotFound
from pydantic import ValidationError

from flows.command import server
from flows.command.run import on_server, page_of
from tasks.configuration.flat_file import from_flat, read_json
from tasks.configuration.model import RunConfiguration
from tasks.configuration.overrides import without_secrets
from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import BudgetExhausted, LateInput, ParameterError
from tasks.messages import say
from tasks.request import FOLDER
from tasks.storage import Workspace

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient


#: The schedule that the command makes; all others of a deployment are a person's.
SLUG = "release"
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_OFF = ", off"
#: Intervals are counted from here, so that the same words mean the same times whenever they are said.
_ANCHOR = datetime(2024, 1, 1)


def parse_schedule(
    cron: str | None, every: str | None, timezone: str | None, *, paused: bool
) -> DeploymentScheduleCreate | None:
    """What is asked for, off where it is paused; None where nothing is. Raises ParameterError.

    Args:
        every: a whole number of minutes, hours or days: 30m, 2h, 1d.
        timezone: in which both are read; None: UTC.
    """
    if cron is None and every is None:
        options = [name for name, given in (("--timezone", timezone), ("--paused", paused)) if given]
        if options:
            raise ParameterError(f"{' and '.join(options)} must have a schedule: give --cron or --every.")
        return None
    zone = timezone or "UTC"
    span = None if every is None else re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", every.strip())
    problems = []
    if zone not in available_timezones():
        problems.append(f"--timezone must be a name such as Europe/Vienna or UTC, not {zone!r}.")
    if cron is not None and not _is_cron(cron):
        problems.append(
            "--cron must have five fields (minute, hour, day of the month, month, day of the week), such as "
            f'"0 4 1 * *" for four in the morning on the first of each month, not {cron!r}.'
        )
    if every is not None and span is None:
        problems.append(
            f"--every must be a number of minutes, hours or days, such as 30m, 2h or 1d, not {every!r}."
        )
    if problems:
        raise ParameterError(problems)
    schedule: CronSchedule | IntervalSchedule
    if span is None:
        schedule = CronSchedule(cron=" ".join(str(cron).split()), timezone=zone)
    else:
        anchor: Any = _ANCHOR.replace(tzinfo=ZoneInfo(zone))
        interval = int(span[1]) * _UNITS[span[2]]
        schedule = IntervalSchedule(interval=interval, anchor_date=anchor, timezone=zone)
    return DeploymentScheduleCreate(schedule=schedule, active=not paused, slug=SLUG)


def schedule_words(schedule: DeploymentScheduleCreate | DeploymentSchedule) -> str:
    kind = schedule.schedule
    if isinstance(kind, CronSchedule):
        said = kind.cron
    elif isinstance(kind, IntervalSchedule):
        fitting = [unit for unit in "dhm" if not kind.interval % _UNITS[unit]]
        seconds = f"{kind.interval.total_seconds():g}s"
        said = f"every {kind.interval // _UNITS[fitting[0]]}{fitting[0]}" if fitting else f"every {seconds}"
    else:
        said = kind.rrule if isinstance(kind, RRuleSchedule) else "never"
    zone = getattr(kind, "timezone", None) or "UTC"
    return f"{said} {zone}{'' if schedule.active else _OFF}"


def next_time(schedules: Iterable[DeploymentScheduleCreate | DeploymentSchedule]) -> datetime | None:
    """When the next run is due, in its schedule's time zone; None where no schedule is on."""
    from prefect.server.schemas import schedules as server

    found = []
    for schedule in schedules:
        kind: Any = getattr(server, type(schedule.schedule).__name__, None)
        if schedule.active and kind is not None:
            dates = kind.model_validate(schedule.schedule.model_dump()).get_dates(1)
            found += asyncio.run(dates)
    return min(found, default=None)


def fires_twice_a_day(schedule: DeploymentScheduleCreate | DeploymentSchedule) -> bool:
    kind = schedule.schedule
    if isinstance(kind, IntervalSchedule):
        return kind.interval < timedelta(days=1)
    return isinstance(kind, CronSchedule) and not re.match(r"@|[0-9]+ [0-9]+ ", kind.cron)


def _is_cron(cron: str) -> bool:
    try:
        CronSchedule(cron=cron, timezone="UTC")
    except ValidationError:
        return False
    return len(cron.split()) == 5 or cron.startswith("@")


NAME = "marginalia: mark a run without a sign of life as crashed"
#: How often a run gives one: the least that Prefect admits.
HEARTBEAT_SECONDS = 30
#: A server that is away for less than this marks no run when it is back.
SILENT_SECONDS = 300
#: Whatever the server hears of a run: its next sign, its end, that it waits for its retry.
_AWAITED = {"prefect.flow-run.*"}
#: What a run needs in its environment to give them.
ENVIRONMENT = {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS)}

_MESSAGE = (
    "The run's process has given no sign of life for five minutes: it was killed, or its machine is down. "
    "Nothing is lost. Retry the run when a worker runs again: it goes on where it stopped."
)


def mark_dead_runs(client: "SyncPrefectClient") -> bool:
    """Make the automation, unless the server has it; whether it was made.

    One that a person changed or switched off stays as it is: it is found by its name.
    """
    from prefect.events.actions import ChangeFlowRunState
    from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
    from prefect.events.schemas.events import ResourceSpecification

    if client.read_automations_by_name(NAME):
        return False
    client.create_automation(
        AutomationCore(
            name=NAME,
            description="Made by `marginalia deploy`, for runs of its deployments.",
            trigger=EventTrigger(
                after={"prefect.flow-run.heartbeat"},
                expect=_AWAITED,
                match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
                match_related=ResourceSpecification(
                    {"prefect.resource.role": "tag", "prefect.resource.id": "prefect.tag.marginalia"}
                ),
                for_each={"prefect.resource.id"},
                posture=Posture.Proactive,
                threshold=1,
                within=timedelta(seconds=SILENT_SECONDS),
            ),
            actions=[ChangeFlowRunState(name=None, state=StateType.CRASHED, message=_MESSAGE)],
        )
    )
    return True


CHECKOUT = Path(__file__).resolve().parents[2]
FLOW = "release"
POOL = "marginalia"
_FILE, _HASH, _SCHEDULE = "file:", "sha256:", "schedule:"
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Attributes:
        pool: of workers; None: that of the deployment, or the usual one.
        folder: where relative paths of the file start.
    """

    file: Path
    name: str
    schedule: DeploymentScheduleCreate | None
    pool: str | None
    overwrite: bool
    folder: Path

    @property
    def place(self) -> str:
        return str(self.file.resolve())


@dataclass
class Merged:
    """What becomes of a deployment that is there already: what differs and who wins is `told`, a line each.

    Attributes:
        schedule: put in place of the command's own one; None: it stays.
    """

    changes: dict[str, Any] = field(default_factory=dict)
    schedule: DeploymentScheduleCreate | None = None
    removed: list[DeploymentSchedule] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def deploy(options: argparse.Namespace) -> int:
    configurations = require_deployable(options.configuration)
    name = deployment_name(options.name, options.configuration)
    schedule = parse_schedule(options.cron, options.every, options.timezone, paused=options.paused)
    request = Request(options.configuration, name, schedule, options.pool, options.overwrite, Path.cwd())
    is_local = server.configured_api_url() is None
    with on_server(Workspace.of(configurations[0]), verbose=False) as url:
        from prefect.client.orchestration import get_client

        with get_client(sync_client=True) as client:
            deployed = put_deployment(client, request)
            if mark_dead_runs(client):
                say("Made an automation that marks a run as crashed whose process is gone.")
            pool = deployed.work_pool_name
            is_served = pool is not None and client.read_work_pool(pool).status == WorkPoolStatus.READY
        tell_deployed(deployed)
        programs = Path(sys.executable).parent
        settings = f"PREFECT_API_URL={url} PREFECT_WORKER_QUERY_SECONDS=2"
        worker = f": {settings} {programs / 'prefect'} worker start --pool {pool}"
        if is_local:
            worker = f": {programs / 'marginalia'} serve --pool {pool}"
        if is_served:
            worker = f", and one of the pool {pool} does."
        say(f"A worker must run for that{worker}")
    return 0


def require_deployable(path: Path) -> list[RunConfiguration]:
    """The file's configuration, or those of its runs.

    Refuses what ``check`` would, and a name that the form would not take. It only warns of an exhausted
    budget and of a table that is not there yet.
    """
    from flows.command.checking import report
    from tasks.batch.budget import require_budget
    from tasks.batch.file import is_batch, read_batch, require_inputs

    if path.suffix != ".json":
        raise ParameterError(
            f"The configuration file must be named *.json, but it is {path.name}: rename it."
        )
    body = read_json(path)
    if is_batch(body):
        asked = read_batch(path)
        found = [run.configuration for run in asked.runs]
        with _warn_of_refusals():
            require_inputs(asked)
            require_budget(found)
    else:
        found = [from_flat(body)]
        with _warn_of_refusals(), redirect_stdout(StringIO()):
            report(found[0])
    if any(configuration.vintage for configuration in found):
        say(
            "note: The file names a vintage. A scheduled run does not take it, but is named by its date. A "
            "run by hand takes it where the form names none."
        )
    return found


@contextmanager
def _warn_of_refusals() -> Iterator[None]:
    """Warn of what refuses a run today and may not do so when it is due: no budget, or no table yet."""
    try:
        yield
    except BudgetExhausted as error:
        say(f"ATTENTION: Runs of a new vintage will be refused. {error}")
    except LateInput as error:
        say(f"ATTENTION: The table could not be checked, as it is not there yet. {error}")


def deployment_name(given: str | None, file: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-") if given is None else given
    if not _SLUG.fullmatch(name):
        raise ParameterError(
            f"--name must be of small letters and digits, with single '-' between them, not {name!r}."
        )
    return name


def put_deployment(client: "SyncPrefectClient", request: Request) -> DeploymentResponse:
    try:
        kept = client.read_deployment_by_name(f"{FLOW}/{request.name}")
    except ObjectNotFound:
        _create(client, request)
        say(f"Deployed {FLOW}/{request.name}.")
    else:
        merged = merge(kept, request)
        _update(client, kept, merged)
        say(f"Deployed {FLOW}/{request.name} again.")
        for line in merged.told:
            say(f"  {line}")
    return client.read_deployment_by_name(f"{FLOW}/{request.name}")


def merge(kept: DeploymentResponse, request: Request) -> Merged:
    """What of a deployment is renewed, and what stays because a person set it.

    Raises:
        ParameterError: the name is taken by another file.
    """
    merged, tags = Merged(), set(kept.tags)
    ours = {tag for tag in tags if tag == "marginalia" or tag.startswith((_FILE, _HASH, _SCHEDULE))}
    is_ours = _merge_parameters(kept, request, merged)
    base = next((tag.removeprefix(_SCHEDULE) for tag in tags if tag.startswith(_SCHEDULE)), None)
    base = _merge_schedules(kept, request, base, merged)
    made = {"marginalia", *_file_tags(request.file)} if is_ours else {"marginalia", *ours}
    made = {tag for tag in made if not tag.startswith(_SCHEDULE)} | ({_SCHEDULE + base} if base else set())
    theirs = tags - ours
    if theirs:
        merged.told.append(_difference_words("tags", ", ".join(sorted(theirs)), request))
    merged.changes["tags"] = sorted(made if request.overwrite else made | theirs)
    _merge_rest(kept, request, merged)
    return merged


def _merge_parameters(kept: DeploymentResponse, request: Request, merged: Merged) -> bool:
    """Whether the deployment is of the file; parameters that a person set stay."""
    before = (kept.parameters or {}).get("configuration")
    is_by_hand = before is not None and _FILE + Path(before).name not in kept.tags
    is_ours = request.overwrite or before in (None, request.place) or not is_by_hand
    if not request.overwrite and before is not None and before != request.place:
        if is_by_hand:
            merged.told.append(_difference_words("configuration", before, request))
        elif (_folder_of(kept) / before).exists():
            raise ParameterError(
                f"The deployment {kept.name} is of another file, {before}. Give --name for a deployment of "
                "its own, or --overwrite to put this file in place of the other."
            )
    set_by_hand = sorted(set(kept.parameters or {}) - {"configuration"})
    if set_by_hand:
        merged.told.append(_difference_words("parameters", ", ".join(set_by_hand), request))
    parameters = {} if request.overwrite else dict(kept.parameters or {})
    merged.changes["parameters"] = parameters | ({"configuration": request.place} if is_ours else {})
    return is_ours


def _merge_schedules(
    kept: DeploymentResponse, request: Request, base: str | None, merged: Merged
) -> str | None:
    """Decide on the command's own schedule; return what it made last, for the tag."""
    if request.schedule is None:
        return base
    own = [schedule for schedule in kept.schedules if schedule.slug == SLUG]
    others = [schedule for schedule in kept.schedules if schedule.slug != SLUG]
    asked, now = schedule_words(request.schedule), schedule_words(own[0]) if own else None
    for schedule in others:
        merged.told.append(_difference_words("a further schedule", schedule_words(schedule), request))
    if request.overwrite:
        if now not in (None, asked):
            merged.told.append(_difference_words("schedule", now, request))
        merged.removed, merged.schedule = [*own, *others], request.schedule
        return asked
    if asked == now:
        return asked
    if now == base:  # nobody has changed it, or there has been none
        merged.removed, merged.schedule = own, request.schedule
        merged.told.append(f"schedule: {asked} takes the place of {now or 'none'}.")
        return asked
    said = now or "none, as a person deleted it"
    merged.told.append(_difference_words("schedule", f"{said} (you ask for {asked})", request))
    return base


def _merge_rest(kept: DeploymentResponse, request: Request, merged: Merged) -> None:
    """The pool, and settings that the command gives a new deployment alone."""
    limit = kept.global_concurrency_limit.limit if kept.global_concurrency_limit else None
    paused, pool = bool(kept.paused), kept.work_pool_name
    settings: tuple[tuple[str, str, object, object], ...] = (
        ("concurrency_limit", "runs at once", limit, 1),
        ("paused", "paused", paused, False),
        ("work_pool_name", "work pool", pool, request.pool or pool or POOL),
    )
    for name, what, now, wanted in settings:
        is_lost = name == "work_pool_name" and now is None  # its pool was deleted
        if now != wanted and not is_lost:
            merged.told.append(_difference_words(what, now or "no limit", request))
        if now != wanted and (request.overwrite or is_lost):
            merged.changes[name] = wanted
    variables: dict[str, Any] = {} if request.overwrite else dict(kept.job_variables or {})
    environment = ENVIRONMENT | variables.get("env", {}) | {FOLDER: str(request.folder)}
    merged.changes["job_variables"] = variables | {"env": environment}
    before = _folder_of(kept)
    if before != request.folder:
        merged.told.append(f"folder: relative paths start at {request.folder} now, no longer at {before}.")
    merged.changes |= _code_fields()


def _difference_words(what: str, now: object, request: Request) -> str:
    if request.overwrite:
        return f"{what}: {now} was replaced."
    return f"{what}: {now} was set on the server and stays; --overwrite replaces it."


def _file_tags(file: Path) -> Iterable[str]:
    """Its name, and a hash of what it says without secrets: whoever sees the server could try all seeds."""
    said = canonical(without_secrets(read_json(file)))
    return (_FILE + file.name, _HASH + sha256_of(said)[:12])


def _folder_of(kept: DeploymentResponse) -> Path:
    return Path((kept.job_variables or {}).get("env", {}).get(FOLDER, CHECKOUT))


def _code_fields() -> dict[str, Any]:
    from prefect.utilities.callables import parameter_schema

    from flows.release import release
    from tasks.version import code_version

    step = {"prefect.deployments.steps.set_working_directory": {"directory": str(CHECKOUT)}}
    return {
        "version": code_version(),
        "entrypoint": "flows.release.release",
        "path": ".",
        "pull_steps": [step],
        "parameter_openapi_schema": parameter_schema(release).model_dump_for_openapi(),
    }


def _create(client: "SyncPrefectClient", request: Request) -> None:
    pool = request.pool or POOL
    _require_pool(client, pool)
    schedules = [] if request.schedule is None else [request.schedule]
    client.create_deployment(
        flow_id=client.create_flow_from_name(FLOW),
        name=request.name,
        description=f"Makes releases of `{request.place}`. Deployed by `marginalia deploy`.",
        parameters={"configuration": request.place},
        enforce_parameter_schema=True,
        tags=[
            "marginalia",
            *_file_tags(request.file),
            *(_SCHEDULE + schedule_words(schedule) for schedule in schedules),
        ],
        schedules=schedules,
        paused=False,
        work_pool_name=pool,
        job_variables={"env": ENVIRONMENT | {FOLDER: str(request.folder)}},
        concurrency_limit=1,
        concurrency_options=ConcurrencyOptions(collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
        **_code_fields(),
    )


def _update(client: "SyncPrefectClient", kept: DeploymentResponse, merged: Merged) -> None:
    if pool := merged.changes.get("work_pool_name"):
        _require_pool(client, pool)
    for schedule in merged.removed:
        client.delete_deployment_schedule(kept.id, schedule.id)
    if merged.schedule is not None:
        body = [merged.schedule.model_dump(mode="json", exclude={"replaces"})]
        client.request("POST", "/deployments/{id}/schedules", path_params={"id": kept.id}, json=body)
    client.update_deployment(kept.id, DeploymentUpdate(**merged.changes))


def _require_pool(client: "SyncPrefectClient", name: str) -> None:
    from prefect.workers.process import ProcessWorker

    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
        say(f"There was no work pool {name}: made one, of processes.")


def tell_deployed(deployed: DeploymentResponse) -> None:
    say(f"Its page: {page_of('deployments/deployment', str(deployed.id))}")
    due = None if deployed.paused else next_time(deployed.schedules)
    if due is None:
        on = "Its schedules are off: turn one on there." if deployed.schedules else "It has no schedule."
        say(f"{on} Start a run there, by Run, and name its vintage.")
    else:
        label = f"{due.astimezone(UTC):%Y-%m-%d}"
        say(f"Its next run: {due:%Y-%m-%d %H:%M %Z}, of the vintage {label} (the date in UTC).")
        if label != f"{due:%Y-%m-%d}":
            say("note: At that hour the date in UTC is another one. Choose one at which both are the same.")
    if any(schedule.active and fires_twice_a_day(schedule) for schedule in deployed.schedules):
        say("note: Runs of one date have one vintage: after the first of a day, they return its release.")
