"""Values on a scale: from the text of a number, a bin, a date or a time to the ends of what it may stand for.

What a text can't tell has no ends, and stands in no order with anything.
"""

import itertools
import re
from datetime import UTC, datetime, time

from tasks.core.records.columns import Column, bin_labels
from tasks.core.records.constraints import OrderedScale

#: A year, or a year and a month, of ISO 8601.
_MONTH = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?", re.ASCII)
#: A place on a scale: a number, and -1 or 1 where what ends there is just below or just above it.
End = tuple[float, int]
Ends = tuple[End, End]


def ends_of_values(column: Column, scale: OrderedScale) -> dict[str, Ends]:
    """The ends of each declared value of a column, for those that have them."""
    if column.bins is not None:
        ends = dict(zip(bin_labels(column.bins), _ends_of_bins(column.bins), strict=True))
        return {label: ends[label] for label in bin_labels(column.bins, column.minimum, column.maximum)}
    found = ((value, ends_of_text(value, column, scale)) for value in column.domain or ())
    return {value: ends for value, ends in found if ends is not None}


def ends_of_text(text: str, column: Column, scale: OrderedScale) -> Ends | None:
    """The ends of one text of a column without bins; None for a text that has none.

    A number or a moment has one place. A year or a month has two: where it begins, and just below the next.

    >>> ends_of_text("12.5", Column("weight"), "number"), ends_of_text("heavy", Column("weight"), "number")
    (((12.5, 0), (12.5, 0)), None)
    """
    text = text.replace("<colon>", ":").replace("<semicolon>", ";")
    if scale == "moment" and column.value_format is None and _MONTH.fullmatch(text):
        return _ends_of_months(text)
    try:
        at = _number(text, column) if scale == "number" else _moment(text, column.value_format, scale)
    except (ValueError, OverflowError):
        return None
    return ((at, 0), (at, 0)) if at == at else None  # NaN has no place


def _ends_of_months(text: str) -> Ends | None:
    """Of a year or a month of ISO 8601: all its moments, the first of the next one left out."""
    year, _, month = text.partition("-")
    first = int(year) * 12 + (int(month) - 1 if month else 0)
    after = first + (1 if month else 12)
    if int(year) == 0:
        return None  # no calendar of Python's has it
    return (_begin_of(first), 0), (_begin_of(after), -1)


def _begin_of(month: int) -> float:
    """When a month begins, counted from the year 0; what no calendar of Python's has never does."""
    if month >= 10_000 * 12:
        return float("inf")
    return datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp()


def _ends_of_bins(edges: tuple[float, ...]) -> list[Ends]:
    """Bins are closed below and open above; the last inner one is closed, and those at the ends are open.

    label     <0            [0,18)        [18,65]      >65
    from      (-inf, 0)     (0, 0)        (18, 0)      (65, 1): just above 65
    to        (0, -1)       (18, -1)      (65, 0)      (inf, 0)
    """
    inner: list[Ends] = [((low, 0), (high, -1)) for low, high in itertools.pairwise(edges)]
    inner[-1] = (inner[-1][0], (edges[-1], 0))
    below: Ends = ((float("-inf"), 0), (edges[0], -1))
    return [below, *inner, ((edges[-1], 1), (float("inf"), 0))]


def _number(text: str, column: Column) -> float:
    plain = column.number_format.plain_text(text)
    return float("nan") if plain is None else float(plain)


def _moment(text: str, value_format: str | None, scale: OrderedScale) -> float:
    """Seconds since 1970, or since midnight."""
    if value_format is not None:
        read = datetime.strptime(text, value_format)
        at = read.time() if scale == "time" else read
    else:
        at = time.fromisoformat(text) if scale == "time" else datetime.fromisoformat(text)
    if isinstance(at, time):
        return at.hour * 3600.0 + at.minute * 60 + at.second + at.microsecond * 1e-6
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()
