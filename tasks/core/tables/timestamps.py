"""Texts that are dates and times: their one reader, whatever protects the people.

In: an Arrow array of texts. Out: timestamps, null where a text is none.

Without a declared format that is ISO 8601 alone: year-month-day, with its zeros, and behind it a time of 24
hours, with or without seconds, their fraction and a zone (Z, UTC, GMT, +hh, +hhmm or +hh:mm).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags, Integers

#: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and the languages of Scandinavia.
_NAMES = (
    "jan january januar jänner jän janvier janv enero ene gennaio gen janeiro januari stycznia styczeń sty",
    "feb february februar feber febr février fevrier févr fevr fév febrero febbraio fevereiro fev februari "
    "lutego luty lut",
    "mar march märz maerz mär mrz mars marzo março marco maart mrt marts marca marzec",
    "apr april avril avr abril abr aprile kwietnia kwiecień kwi",
    "may mai mayo maggio mag maio mei maj maja",
    "jun june juni juin junio giugno giu junho czerwca czerwiec cze",
    "jul july juli juillet juil julio luglio lug julho lipca lipiec lip",
    "aug august août aout agosto ago augustus augusti sierpnia sierpień sie",
    "sep september sept septembre septiembre settembre setembro set września wrzesień wrz",
    "oct october oktober okt octobre octubre ottobre ott outubro out października październik paź",
    "nov november novembre noviembre novembro listopada listopad lis",
    "dec december dezember dez décembre decembre déc diciembre dic dicembre dezembro desember des grudnia "
    "grudzień gru",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}


_PLAIN = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$"
_SECOND = r"(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?"
_ZONE = r"(?P<zone>Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)"
_ISO = (
    r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    rf"(?:[T ](?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}})(?::{_SECOND})?(?: ?{_ZONE})?)?$"
)
#: What each part of a format reads. Weekdays are passed over, in any language.
_PARTS = {
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<short_year>[0-9]{2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "b": r"(?P<month>\pL{3,12})\.?",
    "B": r"(?P<month>\pL{3,12})\.?",
    "d": r"(?P<day>[0-9]{1,2})",
    "j": r"(?P<day_of_year>[0-9]{1,3})",
    "a": r"\pL{2,12}\.?",
    "A": r"\pL{2,12}\.?",
    "H": r"(?P<hour>[0-9]{1,2})",
    "I": r"(?P<hour>[0-9]{1,2})",
    "p": r"(?P<half>[AaPp])\.?[Mm]\.?",
    "M": r"(?P<minute>[0-9]{1,2})",
    "S": r"(?P<second>[0-9]{1,2})",
    "f": r"(?P<fraction>[0-9]{1,9})",
    "%": "%",
}
#: A part of a format, blanks, or anything else.
_PIECE = re.compile(r"%-?(?P<part>.)|(?P<blank>\s+)|(?P<other>[^%\s]+|%)", re.DOTALL)
#: strptime's, where a format has no year, and where it has two digits of one.
_NO_YEAR, _TURN_OF_CENTURY = 1900, 69


def is_format(text: str) -> bool:
    """Whether dates can be written so: of parts as strptime has them, each once, that name a year or an hour.

    A zone is none of them: a date's day would depend on it.

    >>> [is_format(text) for text in ("%d.%m.%Y", "%H:%M", "%d.%m.", "%d %d %Y", "%I:%M", "%Y-%m-%dT%H%z")]
    [True, True, False, False, False, False]
    """
    parts = [match["part"] for match in _PIECE.finditer(text)]
    if any(part is not None and part not in _PARTS for part in parts) or "%" in "".join(
        match["other"] or "" for match in _PIECE.finditer(text)
    ):
        return False
    groups = re.findall(r"\(\?P<(\w+)>", _pattern(text))
    names_some_time = {"year", "short_year", "hour"} & set(groups)
    return bool(names_some_time) and len(groups) == len(set(groups)) and ("I" in parts) == ("half" in groups)


def written_moments(texts: pa.Array, formats: tuple[str, ...] = ()) -> pa.Array:
    """Texts as moments of microseconds, in these formats, the first that fits; none: ISO 8601.

    A zone is not looked at: the moment is the one that is written. Months have their names in several
    languages.

    >>> texts = pa.array(["3.11.2026", "2. März 2026", "31.2.2026", "2026-11-03"])
    >>> written_moments(texts, ("%d.%m.%Y", "%d. %b %Y")).cast(pa.date32()).cast(pa.string()).to_pylist()
    ['2026-11-03', '2026-03-02', None, None]
    """
    plain = None if formats else _cast_plain(texts)
    if plain is not None:
        return plain.cast(pa.timestamp("us"))
    found = _read_all(texts, tuple(map(_pattern, formats)) or (_ISO,))
    return pa.array(found.micros, mask=~found.is_moment).cast(pa.timestamp("us"))


def parse_timestamps(texts: pa.Array) -> pa.Array:
    """ISO 8601 as timestamps of seconds, milliseconds or microseconds, as fine as they are.

    Where a text has a zone all are in UTC, as one without a zone is taken to be; fractions are cut to
    microseconds.

    >>> texts = pa.array(["2023-01-24 14:25+0100", "2023-01-24", "24/1/2023"])
    >>> parse_timestamps(texts).cast(pa.string()).to_pylist()
    ['2023-01-24 13:25:00Z', '2023-01-24 00:00:00Z', None]
    """
    plain = _cast_plain(texts)
    if plain is not None:
        return plain
    found = _read_all(texts, (_ISO,))
    finest = int(found.digits.max(initial=0))
    unit, parts = ("s", 10**6) if finest == 0 else ("ms", 10**3) if finest <= 3 else ("us", 1)
    zone = "UTC" if found.has_zone.any() else None
    instants = found.micros - found.offset * 10**6
    return pa.array(instants // parts, mask=~found.is_moment).cast(pa.timestamp(unit, zone))


class _Read(NamedTuple):
    """What some texts say, (n,) each.

    Attributes:
        offset: seconds that it lies east of Greenwich.
        digits: of a second's fraction.
    """

    micros: Integers
    is_moment: Flags
    has_zone: Flags
    offset: Integers
    digits: Integers


def _cast_plain(texts: pa.Array) -> pa.Array | None:
    """The timestamps, fast, where all but empty texts are ISO 8601 in whole seconds without a zone."""
    given = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    if given.null_count == len(given) or not pc.all(pc.match_substring_regex(given, _PLAIN)).as_py():
        return None
    try:
        return given.cast(pa.timestamp("s"))
    except pa.ArrowInvalid:
        return None


def _pattern(format_: str) -> str:
    pieces = (
        _PARTS[match["part"]] if match["part"] else r"\s+" if match["blank"] else re.escape(match["other"])
        for match in _PIECE.finditer(format_)
    )
    return f"^{''.join(pieces)}$"


def _read_all(texts: pa.Array, patterns: tuple[str, ...]) -> _Read:
    nothing = np.zeros(len(texts), np.int64)
    found = _Read(nothing, nothing > 0, nothing > 0, nothing, nothing)
    for pattern in patterns:
        if pc.any(pc.match_substring_regex(texts, pattern)).as_py():
            read, known = _read(texts, pattern), found.is_moment
            found = _Read(*(np.where(known, one, other) for one, other in zip(found, read, strict=True)))
    return found


def _read(texts: pa.Array, pattern: str) -> _Read:
    parts = pc.extract_regex(texts, pattern)
    matched = parts.is_valid().to_numpy(zero_copy_only=False)
    fields: dict[str, pa.Array] = defaultdict(lambda: pa.nulls(len(texts), pa.string()))
    fields |= {field.name: parts.field(index) for index, field in enumerate(parts.type)}
    days, exists = _parse_days(fields)
    hour, minute, second = (_parse_digits(fields[name]) for name in ("hour", "minute", "second"))
    exists &= (hour < 24) & (minute < 60) & (second < 60)
    if "half" in fields:
        half = pc.utf8_lower(fields["half"]).to_numpy(zero_copy_only=False)
        exists &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * (half == "p")
    fraction = fields["fraction"].fill_null("")
    micros = _parse_digits(pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6))
    digits = pc.utf8_length(pc.utf8_rtrim(fraction, "0")).to_numpy().astype(np.int64)
    zone = fields["zone"].fill_null("")
    has_zone = pc.not_equal(zone, "").to_numpy(zero_copy_only=False)
    offset = _map_distinct(zone, _zone_offset)
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second
    is_moment = matched & exists
    micros = seconds * 10**6 + micros
    return _Read(micros, is_moment, has_zone & is_moment, offset, np.where(is_moment, digits, 0))


def _parse_days(fields: Mapping[str, pa.Array]) -> tuple[Integers, Flags]:
    """Days since 1970, and which of them are in the calendar."""
    year = _parse_digits(fields["year"], _NO_YEAR)
    if "short_year" in fields:
        short = _parse_digits(fields["short_year"])
        year = short + np.where(short < _TURN_OF_CENTURY, 2000, 1900)
    month = _map_distinct(fields["month"], _month_number) if "month" in fields else np.ones_like(year)
    day = _parse_digits(fields["day"], 1)
    exists = (year >= 1) & (month >= 1) & (month <= 12)
    # Months since 1970: numpy's calendar knows how long each is.
    first = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    length = 1
    if "day_of_year" in fields:
        first, length = year.astype("datetime64[Y]") - 1970, 12
        day = _parse_digits(fields["day_of_year"])
    days = first.astype("datetime64[D]").astype(np.int64)
    after = (first.astype("datetime64[M]") + length).astype("datetime64[D]").astype(np.int64)
    return days + day - 1, exists & (day >= 1) & (day <= after - days)


def _parse_digits(texts: pa.Array, default: int = 0) -> Integers:
    digits = pc.if_else(pc.equal(pc.binary_length(texts), 0), str(default), texts).fill_null(str(default))
    return np.asarray(digits.cast(pa.int64()).to_numpy())


def _month_number(text: str) -> int:
    """1 to 12, of digits or a name; another number for what is none."""
    return int(text) if text.isdigit() else MONTHS.get(text.lower(), 0)


def _map_distinct(texts: pa.Array, number: Callable[[str], int]) -> Integers:
    """A number for each of many texts of which few are distinct; 0 for none."""
    coded = texts.fill_null("").dictionary_encode()
    numbers = [number(text) if text else 0 for text in coded.dictionary.to_pylist()]
    found: Integers = np.array(numbers, np.int64)[coded.indices.to_numpy()]
    return found


def _zone_offset(zone: str) -> int:
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds
