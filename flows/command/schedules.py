"""Schedules: what a command line asks for in, Prefect's schedule out, and each of them in a few words.

The words are what two schedules are compared by: ``0 4 1 * * Europe/Vienna``, ``every 2h UTC, off``.
"""

import asyncio
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule, RRuleSchedule
from pydantic import ValidationError

from tasks.core.errors import ParameterError

#: The schedule that the command makes; all others of a deployment are a person's.
SLUG = "release"
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_OFF = ", off"
#: Intervals are counted from here, so that the same words mean the same times whenever they are said.
_ANCHOR = datetime(2024, 1, 1)


def schedule_of(
    cron: str | None, every: str | None, timezone: str | None, *, paused: bool
) -> DeploymentScheduleCreate | None:
    """What is asked for; None where nothing is.

    Args:
        cron: five fields.
        every: a whole number of minutes, hours or days: 30m, 2h, 1d.
        timezone: in which both are read; None: UTC.
        paused: it is off until a person turns it on.

    Raises:
        ParameterError: all that is wrong with these.
    """
    if cron is None and every is None:
        options = [name for name, given in (("--timezone", timezone), ("--paused", paused)) if given]
        if options:
            raise ParameterError(f"{' and '.join(options)} must have a schedule: give --cron or --every.")
        return None
    zone = timezone or "UTC"
    problems = [] if zone in available_timezones() else [_no_zone(zone)]
    problems += [] if cron is None else _cron_problems(cron)
    problems += [] if every is None or _span(every) else [_no_span(every)]
    if problems:
        raise ParameterError(problems)
    schedule: CronSchedule | IntervalSchedule
    if cron is not None:
        schedule = CronSchedule(cron=" ".join(cron.split()), timezone=zone)
    else:
        span = _span(every or "") or timedelta()
        anchor: Any = _ANCHOR.replace(tzinfo=ZoneInfo(zone))
        schedule = IntervalSchedule(interval=span, anchor_date=anchor, timezone=zone)
    return DeploymentScheduleCreate(schedule=schedule, active=not paused, slug=SLUG)


def words_of(schedule: DeploymentScheduleCreate | DeploymentSchedule) -> str:
    """A schedule in a few words."""
    kind = schedule.schedule
    if isinstance(kind, CronSchedule):
        said = kind.cron
    elif isinstance(kind, IntervalSchedule):
        said = f"every {_short(kind.interval)}"
    else:
        said = kind.rrule if isinstance(kind, RRuleSchedule) else "never"
    zone = getattr(kind, "timezone", None) or "UTC"
    return f"{said} {zone}{'' if schedule.active else _OFF}"


def next_time(schedules: Iterable[DeploymentScheduleCreate | DeploymentSchedule]) -> datetime | None:
    """When the next run is due, in its schedule's time zone; None where no schedule is on."""
    from prefect.server.schemas import schedules as server

    found = []
    for each in schedules:
        kind: Any = getattr(server, type(each.schedule).__name__, None)
        if each.active and kind is not None:
            dates = kind.model_validate(each.schedule.model_dump()).get_dates(1)
            found += asyncio.run(dates)
    return min(found, default=None)


def fires_twice_a_day(schedule: DeploymentScheduleCreate | DeploymentSchedule) -> bool:
    """Whether two runs share a date, and so a release."""
    kind = schedule.schedule
    if isinstance(kind, IntervalSchedule):
        return kind.interval < timedelta(days=1)
    return isinstance(kind, CronSchedule) and not re.match(r"@|[0-9]+ [0-9]+ ", kind.cron)


def _short(span: timedelta) -> str:
    for unit in ("d", "h", "m"):
        number, rest = divmod(span, _UNITS[unit])
        if not rest:
            return f"{number}{unit}"
    return f"{span.total_seconds():g}s"


def _span(every: str) -> timedelta | None:
    """How long; None where it is said in another way."""
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", every.strip())
    return int(found[1]) * _UNITS[found[2]] if found else None


def _no_span(every: str) -> str:
    return f"--every must be a number of minutes, hours or days, such as 30m, 2h or 1d, not {every!r}."


def _cron_problems(cron: str) -> list[str]:
    try:
        CronSchedule(cron=cron, timezone="UTC")
        is_cron = len(cron.split()) == 5 or cron.startswith("@")
    except ValidationError:
        is_cron = False
    if is_cron:
        return []
    return [
        "--cron must have five fields (minute, hour, day of the month, month, day of the week), such as "
        f'"0 4 1 * *" for four in the morning on the first of each month, not {cron!r}.'
    ]


def _no_zone(zone: str) -> str:
    return f"--timezone must be a name such as Europe/Vienna or UTC, not {zone!r}."


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC: its date names a scheduled release."""
    return moment.astimezone(UTC)
