"""A slow and obvious reader of one date: Python's own, and for ISO 8601 a few lines."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?")
_ZONE = re.compile(r" ?(?:(Z|z|UTC|GMT)|([+-])(\d\d):?(\d\d)?)")


def iso_moment(text: str) -> tuple[datetime, timedelta | None] | None:
    """What is written, and how far east of Greenwich; None where it is no moment."""
    if not text.isascii() or not re.fullmatch(r"\d{4}-\d\d-\d\d(?:[T ].*)?", text):
        return None
    try:
        day = datetime.strptime(text[:10], "%Y-%m-%d")
        if len(text) == 10:
            return day, None
        time = _TIME.match(text, 11)
        if time is None:
            return None
        hour, minute, second = (int(part or 0) for part in time.groups()[:3])
        moment = day.replace(
            hour=hour, minute=minute, second=second, microsecond=int((time[4] or "").ljust(6, "0")[:6])
        )
        rest = text[time.end() :]
        zone = _ZONE.fullmatch(rest)
        if rest and (zone is None or rest.endswith(":")):
            return None
    except ValueError:
        return None
    if zone is None:
        return moment, None
    east = timedelta(hours=int(zone[3] or 0), minutes=int(zone[4] or 0))
    return moment, -east if zone[2] == "-" else east


def moment_in(text: str, formats: Sequence[str]) -> datetime | None:
    """The moment by the first format that fits; English names of months alone."""
    for format_ in formats:
        try:
            return datetime.strptime(text, format_)
        except ValueError:
            continue
    return None
