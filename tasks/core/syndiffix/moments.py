"""Dates, times and durations as seconds, and back.

In: an Arrow array of timestamps (of any unit, with or without a time zone), dates, times of a day or
durations. Out: seconds as floats, timestamps and dates counted from 1800-01-01 (in UTC where there is a
zone), times and durations from 0; and from such floats the array again.

Whole seconds and milliseconds are exact; microseconds from the year 1528 to 2072, beyond to a few of them.
Nanoseconds are rounded to microseconds.
"""

from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.syndiffix.intervals import Selected, Values

I8 = npt.NDArray[np.int64]
_DAY = 86_400
_FROM_1800 = (date(1970, 1, 1) - date(1800, 1, 1)).days * _DAY
_FIRST = (date(1, 1, 1) - date(1800, 1, 1)).days * _DAY
_LAST = (date(9999, 12, 31) - date(1800, 1, 1)).days * _DAY + _DAY - 1
_MOST_SECONDS = 1 << 52
_FINEST = 10**6
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

#: Seconds a value is a multiple of, and parts of a second it is a multiple of: coarse first.
UNITS = ((_DAY, 1), (3600, 1), (60, 1), (1, 1), (1, 10**3), (1, _FINEST))


def is_moment(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of a timestamp, a date, a time or a duration."""
    return bool(pa.types.is_temporal(kind)) and not pa.types.is_interval(kind)


def seconds_of(array: pa.Array) -> tuple[I8, I8] | None:
    """Whole seconds, int64 (n,), and microseconds from 0 to 10^6; None if a value is no date of any use.

    Where the array is null, both are 0.
    """
    whole, micros = _divided(array)
    if len(whole) and max(-int(whole.min()), int(whole.max())) > _MOST_SECONDS:
        return None
    return whole + _origin(array.type), micros


def any_floats_of(array: pa.Array) -> Values:
    """Seconds with their fraction, of dates of no use, too; anything where the array is null."""
    whole, micros = _divided(array)
    return (whole.astype(np.float64) + _origin(array.type)) + micros / float(_FINEST)


def _divided(array: pa.Array) -> tuple[I8, I8]:
    """Whole seconds since the type's own start, and microseconds from 0 to 10^6."""
    kind = array.type
    stored = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    ticks = stored.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_date32(kind):
        return ticks * _DAY, np.zeros_like(ticks)
    parts = _parts(kind)
    whole, rest = np.divmod(ticks, parts)
    if parts > _FINEST:
        return whole, (rest + parts // _FINEST // 2) // (parts // _FINEST)
    return whole, rest * (_FINEST // parts)


def floats_of(whole: I8, micros: I8) -> Values:
    """Seconds with their fraction."""
    return whole.astype(np.float64) + micros / float(_FINEST)


def lies_on(unit: tuple[int, int], whole: I8, micros: I8) -> Selected:
    """Which of the moments are multiples of a unit of `UNITS`."""
    multiple, parts = unit
    on_unit: Selected = (whole % multiple == 0) & (micros % (_FINEST // parts) == 0)
    return on_unit


def array_of_seconds(seconds: Values, missing: Selected, kind: pa.DataType, finest: int) -> pa.Array:
    """An array of a type that holds such seconds; null where missing. Dates: the day they fall on.

    Args:
        seconds: (m,).
        missing: (m,).
        kind: the type.
        finest: they are rounded to this part of a second, or the type's own.
    """
    seconds = np.where(missing, 0.0, seconds)
    whole = np.floor(seconds)
    since = whole.astype(np.int64) - _origin(kind)
    if pa.types.is_date(kind):
        return pa.array((since // _DAY).astype(np.int32), mask=missing).view(pa.date32()).cast(kind)
    parts = _parts(kind)
    known = min(parts, finest)
    ticks = (since * known + np.rint((seconds - whole) * known).astype(np.int64)) * (parts // known)
    stored = ticks.astype(np.int32) if kind.bit_width == 32 else ticks
    return pa.array(stored, mask=missing).view(kind)


def bounds_of(kind: pa.DataType) -> tuple[float, float]:
    """The least and the largest seconds that a type holds: of dates, years 1 to 9999."""
    parts = _parts(kind)
    if pa.types.is_time(kind):
        return 0.0, _DAY - 1 / min(parts, _FINEST)
    most = min((2**63 - 1) // parts - 1, _MOST_SECONDS)
    origin = _origin(kind)
    if pa.types.is_duration(kind):
        return float(-most), float(most)
    return float(max(_FIRST, origin - most)), float(min(_LAST, origin + most))


def _origin(kind: pa.DataType) -> int:
    return _FROM_1800 if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else 0


def _parts(kind: pa.DataType) -> int:
    """Parts of a second that the type counts in."""
    if pa.types.is_date32(kind):
        return 1
    return _TICKS["ms"] if pa.types.is_date64(kind) else _TICKS[kind.unit]
