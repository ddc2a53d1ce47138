"""Whether a column holds dates or times, how they are written, and what is left of them when they are cut.

Cells go in; a `DateColumn` or None comes out. A date never stands as it is: a list of days is a list of
nearly all rows.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Integers
from tasks.core.recognition.cells import SeenColumn, usual_number
from tasks.core.records.cell_reading import CellReading
from tasks.core.tables.timestamps import written_moments

_DAYS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d %b %Y",
    "%b %d, %Y",
    "%d-%b-%Y",
    "%d. %b %Y",
    "%d de %b de %Y",
    "%d %b %y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
)
_MONTHS = ("%Y-%m", "%m/%Y", "%m.%Y", "%m-%Y", "%b %Y", "%b-%y", "%b-%Y", "%b de %Y", "%Y/%m")
_TIMES = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%f")
#: Orders of day and month that must not be mixed in one column.
_SWAPPED = {
    "%d/%m/%Y": "%m/%d/%Y",
    "%m/%d/%Y": "%d/%m/%Y",
    "%d-%m-%Y": "%m-%d-%Y",
    "%m-%d-%Y": "%d-%m-%Y",
    "%d/%m/%y": "%m/%d/%y",
    "%m/%d/%y": "%d/%m/%y",
}
#: What dates look like, so that other texts are not parsed.
_LOOKS = r"[0-9\pL][0-9\pL ,./:T+-]{3,34}"
#: What may be the name of a month.
_NAMED = re.compile(r"[^\W\d_]{3}")
_HAS_DIGITS = r".*[0-9].*"
_ZONED = r".*:.*(?:Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)"
_TIME_BEHIND = re.compile(r"[ T]\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[AaPp][Mm])?$")
#: The share of filled cells that must be dates, and how many different texts beside half of them are words.
_MOST_ARE, _FEW_WORDS, _AT_LEAST = 0.95, 5, 0.5
_MOST_FORMATS = 4
_SAMPLE = 3000
#: How Excel counts days: from 1950 to 2090. How programs count seconds: from 2000 to 2040.
_SERIAL_DAYS, _EPOCH = (18_264, 69_400), (946_684_800, 2_208_988_800)
_YEARS = (1850, 2150)
_MONTHS_SPAN_YEARS, _BIRTH_SPAN_YEARS, _DAYS_FOR_HOURS = 3, 40, 3


@dataclass(frozen=True)
class DateColumn:
    """A column of dates or times.

    Attributes:
        formats: how they are written; none: ISO 8601.
        readable: which texts are dates in these formats.
        years: of the texts that are, the first and the last.
        days: between the first and the last.
        has_time: whether there are times of a day.
        is_time: whether there are times alone, without a day.
        is_month: whether they are months, without a day.
        has_zone: whether moments say their zone.
        swapped: whether day and month could be taken for each other everywhere.
    """

    formats: tuple[str, ...]
    readable: Flags
    years: tuple[int, int]
    days: int
    has_time: bool = False
    is_time: bool = False
    is_month: bool = False
    has_zone: bool = False
    swapped: bool = False

    @property
    def has_short_years(self) -> bool:
        """Whether some years have two digits."""
        return any("%y" in each for each in self.formats)

    @property
    def written(self) -> str:
        """How they are written, in words."""
        return " or ".join(self.formats) if self.formats else "year-month-day"

    def reading(self, cut: str) -> CellReading:
        """How a run reads them."""
        return CellReading(date_formats=self.formats, cut=cut)


def date_column(cells: SeenColumn, *, day_first: bool = True) -> DateColumn | None:
    """The column as dates, or None where too few cells are dates.

    Args:
        cells: without words for missing values.
        day_first: what to take where the cells don't tell days from months.
    """
    looks = cells.matching(_LOOKS) & cells.matching(_HAS_DIGITS)
    if cells.share(looks) < _AT_LEAST or cells.kind in ("int64", "int32", "double", "float", "bool"):
        return None
    iso = _moments(cells.array, ())
    if _are_enough(cells, _years_possible(iso)):
        return _described((), iso, cells)
    likely = cells.where(looks)
    step = max(1, len(likely.texts) // _SAMPLE)
    sample = _Sample(likely.texts[::step], likely.held[::step], max(1, cells.margin // step))
    formats, swapped = _formats(sample, day_first=day_first)
    if not formats:
        return None
    moments = _moments(cells.array, formats)
    readable = _is_time_only(formats) & ~np.isnat(moments) | _years_possible(moments)
    if not _are_enough(cells, readable):
        return None
    return _described(formats, moments, cells, swapped=swapped)


def _are_enough(cells: SeenColumn, dates: Flags) -> bool:
    """Whether the column holds dates: nearly alone, or beside a few words that recur."""
    share = cells.share(dates)
    others = usual_number(cells.held[~dates], cells.margin)
    return share >= _MOST_ARE or (share >= _AT_LEAST and others <= _FEW_WORDS)


def _described(
    formats: tuple[str, ...], moments: np.ndarray, cells: SeenColumn, *, swapped: bool = False
) -> DateColumn:
    is_time = _is_time_only(formats)
    readable = ~np.isnat(moments) if is_time else _years_possible(moments)
    order = np.sort(np.repeat(moments[readable], cells.held[readable]))
    beyond = min(cells.margin, len(order) // 4)
    ends = order[[beyond, len(order) - 1 - beyond]]
    first, last = (date.fromisoformat(str(end)[:10]) for end in ends)
    days = moments[readable].astype("datetime64[D]")
    has_time = not cells.is_few(_flags(readable, moments[readable] != days))
    return DateColumn(
        formats,
        readable,
        (first.year, last.year),
        (last - first).days,
        has_time=has_time or is_time,
        is_time=is_time,
        is_month=bool(formats) and all("%d" not in each for each in formats) and not is_time,
        has_zone=not cells.is_few(readable & cells.matching(_ZONED)),
        swapped=swapped,
    )


def _flags(chosen: Flags, among: Flags) -> Flags:
    """Of all texts those chosen ones that are chosen among them."""
    found = np.zeros(len(chosen), np.bool_)
    found[np.flatnonzero(chosen)[among]] = True
    return found


def _is_time_only(formats: Iterable[str]) -> bool:
    return all("%Y" not in each and "%y" not in each for each in formats) and bool(tuple(formats))


@dataclass(frozen=True)
class _Sample:
    """Some texts. Attributes: held: how many cells hold each. few: fewer decide nothing."""

    texts: tuple[str, ...]
    held: Integers
    few: int

    def count(self, chosen: Flags) -> int:
        """How many cells hold chosen texts."""
        return int(self.held[chosen].sum())


def _formats(sample: _Sample, *, day_first: bool) -> tuple[tuple[str, ...], bool]:
    """The formats that read most, one after the other; and whether hardly a cell tells days from months."""
    behind = np.array([_TIME_BEHIND.search(text) is not None for text in sample.texts], np.bool_)
    known = [*_DAYS, *_MONTHS, *_TIMES] if sample.count(~behind) >= sample.few else []
    if sample.count(behind) >= sample.few:
        known += [f"{day}{sign}{time}" for day in _DAYS for sign in " T" for time in _TIMES]
    if not any(_NAMED.search(text) for text in sample.texts):
        known = [each for each in known if "%b" not in each]
    texts = pa.array(sample.texts, pa.string())
    read = {each: _readable(texts, each) for each in known}
    chosen: list[str] = []
    left, swapped = np.ones(len(sample.texts), np.bool_), False
    for _ in range(_MOST_FORMATS):
        forbidden = {_swap(each) for each in chosen}
        best = max(
            (each for each in known if each not in forbidden),
            key=lambda each: (sample.count(read[each] & left), _is_preferred(each, day_first=day_first)),
            default=None,
        )
        if best is None or sample.count(read[best] & left) < sample.few:
            break
        other = _swap(best)
        if other in read and sample.count(read[best] & left) - sample.count(read[other] & left) < sample.few:
            swapped = True
            best = best if _is_preferred(best, day_first=day_first) else other
        chosen.append(best)
        left &= ~read[best]
    return tuple(chosen), swapped


def _is_preferred(format_: str, *, day_first: bool) -> bool:
    """Of two that read the same texts."""
    day, _, _ = format_.partition(" ")
    return day not in _SWAPPED or day.startswith("%d") == day_first


def _swap(format_: str) -> str | None:
    """The same with day and month in the other order."""
    day = next((day for day in _SWAPPED if format_.startswith(day)), None)
    return None if day is None else _SWAPPED[day] + format_.removeprefix(day)


def _readable(texts: pa.Array, format_: str) -> Flags:
    moments = _moments(texts, (format_,))
    return ~np.isnat(moments) if _is_time_only((format_,)) else _years_possible(moments)


def _moments(texts: pa.Array, formats: tuple[str, ...]) -> np.ndarray:
    return np.asarray(written_moments(texts, formats).to_numpy(zero_copy_only=False), "datetime64[us]")


def _years_possible(moments: np.ndarray) -> Flags:
    years = moments.astype("datetime64[Y]")
    first, last = (np.datetime64(str(year), "Y") for year in _YEARS)
    found: Flags = ~np.isnat(moments) & (years >= first) & (years <= last)
    return found


def proposed_cut(column: DateColumn, *, is_birth: bool, today: date) -> tuple[str, str]:
    """What is left of the dates, and why. Args: today: ages are those at the beginning of its year."""
    first, last = column.years
    if column.is_time:
        return "hour", "times of a day"
    if is_birth or (last - first > _BIRTH_SPAN_YEARS and last <= today.year and not column.has_time):
        reference = f"age on {today.year}-01-01"
        return reference, "its name says birth" if is_birth else f"days over {last - first} years"
    if column.has_time and column.days <= _DAYS_FOR_HOURS:
        return "hour", "moments within a few days"
    if last - first <= _MONTHS_SPAN_YEARS:
        return "month", f"days from {first} to {last}"
    return "year", f"days from {first} to {last}"


def counted_moments(low: float, high: float, *, is_named_date: bool) -> str:
    """What whole numbers seem to count that are moments in truth, in words; empty: nothing.

    Args:
        low: that hardly one is below.
        high: that hardly one is above.
        is_named_date: whether the column's name is of a date or an event.
    """
    if is_named_date and _SERIAL_DAYS[0] < low and high < _SERIAL_DAYS[1]:
        return "the numbers that Excel counts days by"
    for unit, a_second in (("seconds", 1), ("milliseconds", 1000)):
        first, last = (end * a_second for end in _EPOCH)
        if first <= low and high <= last:
            return f"{unit} since 1970"
    return ""
