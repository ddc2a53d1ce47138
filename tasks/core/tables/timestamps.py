"""Texts that are dates and times, in the many ways that people write them.

In: an Arrow array of texts. Out: timestamps, null where a text is none; in UTC where a text has a zone.

Loosely read are year-month-day, month/day/year, and days with the English name of the month, each alone or
with a time, in 24 or twice 12 hours, fractions of a second, and a zone (Z, UTC, GMT, +hh, +hhmm or +hh:mm).
Strictly read is ISO 8601 alone: year-month-day, with its zeros, and a time of 24 hours.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags, Integers

_ZONE = r"(?P<zone>Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_SECOND = r"(?::(?P<second>[0-9]{2})(?P<fraction>[.,][0-9]{1,9})?)?"
_ISO_TIME = rf"(?:[T ](?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}){_SECOND}"
_PLAIN = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$"
_STRICT = (rf"^(?P<year>[0-9]{{4}})-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}}){_ISO_TIME}{_ZONE})?$",)
_TIME = (
    rf"(?:(?:T|,? +)(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}}){_SECOND}"
    rf"(?: *(?P<half>[AaPp])\.?[Mm]\.?)? *{_ZONE})?$"
)
_YEAR, _DAY, _NUMBER = r"(?P<year>[0-9]{4})", r"(?P<day>[0-9]{1,2})", r"(?P<month>[0-9]{1,2})"
_WEEKDAY, _NAME = r"(?:[A-Za-z]{3,9},? +)?", r"(?P<month>[A-Za-z]{3,9})\.?"
_LOOSE = (
    rf"^{_YEAR}[-/.]{_NUMBER}[-/.]{_DAY}{_TIME}",
    rf"^{_NUMBER}[-/]{_DAY}[-/]{_YEAR}{_TIME}",
    rf"^{_WEEKDAY}{_DAY}[ -]{_NAME}[ -]{_YEAR}{_TIME}",
    rf"^{_WEEKDAY}{_NAME} +{_DAY},? +{_YEAR}{_TIME}",
)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SHORTEST_NAME = 3


@dataclass(frozen=True)
class _Read:
    """Moments of some texts: microseconds since 1970 (n,), and which texts are moments, have a zone."""

    micros: Integers
    is_moment: Flags
    has_zone: Flags
    digits: Integers


def parse_timestamps(texts: pa.Array, *, strict: bool = False) -> pa.Array:
    """Texts as timestamps of seconds, milliseconds or microseconds, as fine as they are.

    A text without a zone is taken as UTC where others have one; fractions are cut to microseconds. Strictly
    read is ISO 8601 alone.

    >>> texts = pa.array(["2023-01-24 14:25", "1/24/2023", "24 Jan 2023 2:25 pm", "yesterday"])
    >>> parse_timestamps(texts).cast(pa.string()).to_pylist()
    ['2023-01-24 14:25:00', '2023-01-24 00:00:00', '2023-01-24 14:25:00', None]
    """
    plain = _plain(texts)
    if plain is not None:
        return plain
    count = len(texts)
    micros, digits = np.zeros(count, np.int64), np.zeros(count, np.int64)
    found, zoned = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for pattern in _STRICT if strict else _LOOSE:
        if not pc.any(pc.match_substring_regex(texts, pattern)).as_py():
            continue
        read = _read(texts, pattern)
        new = read.is_moment & ~found
        micros[new], digits[new], zoned[new] = read.micros[new], read.digits[new], read.has_zone[new]
        found |= new
    finest = int(digits.max(initial=0))
    unit, parts = ("s", 10**6) if finest == 0 else ("ms", 10**3) if finest <= 3 else ("us", 1)
    zone = "UTC" if zoned.any() else None
    return pa.array(micros // parts, mask=~found).cast(pa.timestamp(unit, zone))


def _plain(texts: pa.Array) -> pa.Array | None:
    """The timestamps, fast, where all but empty texts are ISO 8601 in whole seconds without a zone."""
    given = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    if given.null_count == len(given) or not pc.all(pc.match_substring_regex(given, _PLAIN)).as_py():
        return None
    try:
        return given.cast(pa.timestamp("s"))
    except pa.ArrowInvalid:
        return None


def _read(texts: pa.Array, pattern: str) -> _Read:
    """The texts that have the form of a pattern, and are a day and a time that exist."""
    parts = pc.extract_regex(texts, pattern)
    matched = parts.is_valid().to_numpy(zero_copy_only=False)
    fields = {field.name: parts.field(index) for index, field in enumerate(parts.type)}
    month = _months(fields["month"])
    year, day = _numbers(fields["year"]), _numbers(fields["day"])
    hour, minute, second = (_numbers(fields[name]) for name in ("hour", "minute", "second"))
    exists = (year >= 1) & (month >= 1) & (month <= 12) & (hour < 24) & (minute < 60) & (second < 60)
    if "half" in fields:
        half = pc.utf8_lower(fields["half"]).to_numpy(zero_copy_only=False)
        twelve = (half == "a") | (half == "p")
        exists &= ~twelve | ((hour >= 1) & (hour <= 12))
        hour = np.where(twelve, hour % 12 + 12 * (half == "p"), hour)
    # Months since 1970: numpy's calendar knows how long each is.
    first = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = first.astype("datetime64[D]").astype(np.int64)
    month_days = (first + 1).astype("datetime64[D]").astype(np.int64) - days
    exists &= (day >= 1) & (day <= month_days)
    fraction, digits = _fractions(fields["fraction"])
    offset, has_zone = _offsets(fields["zone"])
    seconds = (days + day - 1) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return _Read(seconds * 10**6 + fraction, matched & exists, has_zone, digits)


def _numbers(texts: pa.Array) -> Integers:
    """Digits as a number; 0 where there are none."""
    digits = pc.if_else(pc.equal(pc.binary_length(texts), 0), "0", texts).fill_null("0")
    return np.asarray(digits.cast(pa.int64()).to_numpy())


def _months(texts: pa.Array) -> Integers:
    """Numbers 1 to 12 of months, as digits or English names of at least three letters; 0 for others."""
    names = {name[:length]: k for k, name in enumerate(_MONTHS, 1) for length in range(_SHORTEST_NAME, 10)}
    return _mapped(texts, lambda text: int(text) if text.isdigit() else names.get(text.lower(), 0))


def _mapped(texts: pa.Array, number: Callable[[str], int]) -> Integers:
    """A number for each of many texts of which few are distinct; 0 for none."""
    coded = texts.fill_null("").dictionary_encode()
    numbers = [number(text) if text else 0 for text in coded.dictionary.to_pylist()]
    found: Integers = np.array(numbers, np.int64)[coded.indices.to_numpy()]
    return found


def _fractions(texts: pa.Array) -> tuple[Integers, Integers]:
    """Fractions such as ``.25`` in microseconds, and their digits."""
    digits = pc.utf8_slice_codeunits(texts.fill_null(""), 1)
    written = pc.utf8_rtrim(digits, "0")
    micros = _numbers(pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 6, "0"), 0, 6))
    return micros, pc.utf8_length(written).to_numpy().astype(np.int64)


def _offsets(texts: pa.Array) -> tuple[Integers, Flags]:
    """Zones in seconds east of Greenwich, and whether there is one."""
    has_zone = pc.greater(pc.binary_length(texts), 0).fill_null(False)
    return _mapped(texts, _offset), np.asarray(has_zone.to_numpy(zero_copy_only=False))


def _offset(zone: str) -> int:
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds
