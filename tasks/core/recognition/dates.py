"""Whether a column holds dates or times, how they are written, and what is left of them when they are cut.

Cells go in; a `DateColumn` or None comes out. A date never stands as it is: a list of days is a list of
nearly all rows.
"""

import re
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags
from tasks.core.recognition.cells import SeenColumn, flags, usual_number
from tasks.core.recognition.words import word_list
from tasks.core.tables.timestamps import written_moments

#: What dates look like, so that other texts are not parsed.
_LOOKS = r"[0-9\pL][0-9\pL ,./:T+-]{3,34}"
#: What may be the name of a month.
_NAMED = re.compile(r"[^\W\d_]{3}")
_ZONED = r".*:.*(?:Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)"
_TIME_BEHIND = re.compile(r"[ T]\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[AaPp][Mm])?$")
#: The share of filled cells that must be dates, and how many different texts beside half of them are words.
_MOST_ARE, _FEW_WORDS, _AT_LEAST = 0.95, 5, 0.5
_MOST_FORMATS, _SAMPLE = 4, 3000
#: How Excel counts days: from 1950 to 2090. How programs count seconds: from 2000 to 2040.
_SERIAL_DAYS, _EPOCH = (18_264, 69_400), (946_684_800, 2_208_988_800)
_FIRST_YEAR, _LAST_YEAR = np.datetime64("1850"), np.datetime64("2150")
_MONTHS_SPAN_YEARS, _BIRTH_SPAN_YEARS, _DAYS_FOR_HOURS = 3, 40, 3


@dataclass(frozen=True)
class DateColumn:
    """A column of dates or times.

    Attributes:
        formats: how they are written; none: ISO 8601.
        years: the first and the last; `days` lie between these.
        swapped: whether day and month could be taken for each other everywhere.
    """

    formats: tuple[str, ...]
    readable: Flags
    years: tuple[int, int]
    days: int
    has_time: bool
    has_zone: bool
    swapped: bool

    @property
    def is_time(self) -> bool:
        return _are_times(self.formats)

    @property
    def written(self) -> str:
        return " or ".join(self.formats) if self.formats else "year-month-day"


def date_column(cells: SeenColumn, *, day_first: bool = True) -> DateColumn | None:
    """The column as dates; None where too few cells are. Args: day_first: to take where no cell tells."""
    looks = cells.matching(_LOOKS) & cells.matching(r".*[0-9].*")
    if cells.share(looks) < _AT_LEAST or cells.kind in ("int64", "int32", "double", "float", "bool"):
        return None
    formats: tuple[str, ...] = ()
    swapped = False
    moments = _parse_moments(cells.array, formats)
    if not _are_enough(cells, _readable_dates(moments, formats)):
        formats, swapped = _find_formats(cells.where(looks), day_first=day_first)
        moments = _parse_moments(cells.array, formats)
        if not formats or not _are_enough(cells, _readable_dates(moments, formats)):
            return None
    readable = _readable_dates(moments, formats)
    order = np.sort(np.repeat(moments[readable], cells.held[readable]))
    beyond = min(cells.margin, len(order) // 4)
    first, last = (date.fromisoformat(str(order[end])[:10]) for end in (beyond, len(order) - 1 - beyond))
    has_time = not cells.is_few(readable & (moments != moments.astype("datetime64[D]")))
    return DateColumn(
        formats,
        readable,
        (first.year, last.year),
        (last - first).days,
        has_time=has_time or _are_times(formats),
        has_zone=not cells.is_few(readable & cells.matching(_ZONED)),
        swapped=swapped,
    )


def _are_enough(cells: SeenColumn, dates: Flags) -> bool:
    share = cells.share(dates)
    others = usual_number(cells.held[~dates], cells.margin)
    return share >= _MOST_ARE or (share >= _AT_LEAST and others <= _FEW_WORDS)


def _are_times(formats: tuple[str, ...]) -> bool:
    return bool(formats) and not any("%Y" in each or "%y" in each for each in formats)


def _parse_moments(texts: pa.Array, formats: tuple[str, ...]) -> np.ndarray:
    return np.asarray(written_moments(texts, formats).to_numpy(zero_copy_only=False), "datetime64[us]")


def _readable_dates(moments: np.ndarray, formats: tuple[str, ...]) -> Flags:
    years = moments.astype("datetime64[Y]")
    is_possible = (years >= _FIRST_YEAR) & (years <= _LAST_YEAR)
    found: Flags = ~np.isnat(moments) & (is_possible | _are_times(formats))
    return found


def _find_formats(cells: SeenColumn, *, day_first: bool) -> tuple[tuple[str, ...], bool]:
    """The formats that read most, one after the other; and whether hardly a cell tells days from months."""
    step = max(1, cells.distinct // _SAMPLE)
    texts, held, few = cells.texts[::step], cells.held[::step], max(1, cells.margin // step)
    behind = flags(texts, _TIME_BEHIND.search)
    days, months, times = (word_list("date", key) for key in ("days", "months", "times"))
    known = [*days, *months, *times] if held[~behind].sum() >= few else []
    if held[behind].sum() >= few:
        known += [f"{day}{sign}{time}" for day in days for sign in " T" for time in times]
    if not any(map(_NAMED.search, texts)):
        known = [each for each in known if "%b" not in each]
    array = pa.array(texts, pa.string())
    read = {each: _readable_dates(_parse_moments(array, (each,)), (each,)) for each in known}

    def is_preferred(format_: str) -> bool:
        return _swap_day_and_month(format_) == format_ or format_.startswith("%d") == day_first

    chosen: list[str] = []
    left, swapped = np.ones(len(texts), np.bool_), False
    for _ in range(_MOST_FORMATS):
        rows = {each: int(held[of_each & left].sum()) for each, of_each in read.items()}
        for each in chosen:
            rows.pop(_swap_day_and_month(each), None)
        best = max(rows, key=lambda each: (rows[each], is_preferred(each)), default="")
        if not best or rows[best] < few:
            break
        other = _swap_day_and_month(best)
        if other != best and other in rows and rows[best] - rows[other] < few:
            swapped = True
            best = best if is_preferred(best) else other
        chosen.append(best)
        left &= ~read[best]
    return tuple(chosen), swapped


def _swap_day_and_month(format_: str) -> str:
    """The same with day and month in the other order, where they stand in digits and without points."""
    return re.sub(r"^(%[dm])([/-])(%[dm])", r"\3\2\1", format_)


def proposed_cut(column: DateColumn, *, is_birth: bool, today: date) -> tuple[str, str]:
    """What is left of the dates, and why: ages are those at the beginning of this year."""
    first, last = column.years
    has_days = not column.formats or any("%d" in each for each in column.formats)
    if not has_days and not column.is_time and not is_birth:
        return "month" if last - first <= _MONTHS_SPAN_YEARS else "year", "months"
    if column.is_time:
        return "hour", "times of a day"
    if is_birth or (last - first > _BIRTH_SPAN_YEARS and last <= today.year and not column.has_time):
        reference = f"age on {today.year}-01-01"
        return reference, "its name says birth" if is_birth else f"days over {last - first} years"
    if column.has_time and column.days <= _DAYS_FOR_HOURS:
        return "hour", "moments within a few days"
    return "month" if last - first <= _MONTHS_SPAN_YEARS else "year", f"days from {first} to {last}"


def counted_moments(low: float, high: float, *, is_named_date: bool) -> str:
    """What whole numbers seem to count that are moments in truth, in words; empty: nothing."""
    if is_named_date and _SERIAL_DAYS[0] < low and high < _SERIAL_DAYS[1]:
        return "the numbers that Excel counts days by"
    for unit, a_second in (("seconds", 1), ("milliseconds", 1000)):
        if _EPOCH[0] * a_second <= low and high <= _EPOCH[1] * a_second:
            return f"{unit} since 1970"
    return ""
