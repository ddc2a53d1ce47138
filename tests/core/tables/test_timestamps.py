"""Dates and times are read as ISO 8601 or as declared, each by itself, like a slow reader reads them."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.tables.timestamps import is_format, parse_timestamps, written_moments
from tests.oracles.moments import iso_moment, moment_in

MOMENT = datetime(2023, 1, 24, 14, 25, 47)
FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%y", "%Y%m%d", "%d %b %Y", "%B %d, %Y", "%Y-%m", "%H:%M", "%I:%M:%S %p"),
    *("%Y-%jT%H:%M:%S.%f", "%d/%m/%Y %I:%M %p", "100%% %Y"),
)
#: Moments as somebody writes them, in ISO 8601 and otherwise, some of them with a mistake in one letter.
_SPELLED = st.builds(
    lambda moment, format_: moment.strftime(format_),
    st.datetimes(datetime(1000, 1, 1)),
    st.sampled_from([*FORMATS, "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]),
)
_ZONED = st.builds(
    lambda text, zone: text + zone,
    _SPELLED,
    st.sampled_from(["", "Z", " UTC", "+0100", "-05:30", "+02", "+1"]),
)
TEXTS = st.builds(
    lambda text, place, sign: text[: place % (len(text) + 1)] + sign + text[place % (len(text) + 1) + 1 :],
    _ZONED,
    st.integers(0, 40),
    st.sampled_from([*"0123456789-/.: TZ", "", "\n"]),
)


def in_formats(texts: list[str], *formats: str) -> list[datetime | None]:
    found: list[datetime | None] = written_moments(pa.array(texts, pa.string()), formats).to_pylist()
    return found


@given(st.lists(_ZONED | TEXTS, min_size=1))
def test_iso_texts_are_read_as_a_slow_reader_reads_them(texts):
    wanted = [iso_moment(text) for text in texts]
    assert in_formats(texts) == [each and each[0] for each in wanted]
    # In numbers: moments of the years 1 and 9999 leave Python's calendar where they are led back to UTC.
    found = parse_timestamps(pa.array(texts, pa.string())).cast(pa.timestamp("us")).cast(pa.int64())
    epoch = datetime(1970, 1, 1)
    assert found.to_pylist() == [
        each and ((each[0] - epoch) - (each[1] or epoch - epoch)) // (datetime.resolution) for each in wanted
    ]


@given(st.lists(_SPELLED | TEXTS, min_size=1), st.lists(st.sampled_from(FORMATS), min_size=1, max_size=3))
def test_texts_in_formats_are_read_as_strptime_reads_them(texts, formats):
    assert in_formats(texts, *formats) == [moment_in(text, formats) for text in texts]


@given(st.lists(_ZONED | TEXTS), _ZONED | TEXTS, st.sampled_from([(), ("%d.%m.%Y", "%Y-%m")]))
def test_no_text_changes_how_another_is_read(texts, other, formats):
    assert in_formats([*texts, other], *formats)[:-1] == in_formats(texts, *formats)


def test_the_first_format_that_fits_is_taken():
    assert in_formats(["3/11/2026", "13/11/2026"], "%m/%d/%Y", "%d/%m/%Y") == [
        datetime(2026, 3, 11),
        datetime(2026, 11, 13),
    ]


def test_a_declared_zone_leads_back_to_utc_and_is_not_looked_at_where_a_date_is_cut():
    for text in ("2023-01-24T14:25:47Z", "2023-01-24 16:25:47 +0200", "2023-01-24T09:25:47-05:00"):
        found = parse_timestamps(pa.array([text, "2023-01-24 14:25:47"]))
        assert found.to_pylist() == [MOMENT.replace(tzinfo=UTC)] * 2
        assert in_formats([text]) == [datetime.fromisoformat(text[:19])]


@pytest.mark.parametrize(
    ("format_", "texts"),
    [
        ("%d %b %Y", ["4 May 2026", "04 mai 2026", "4 maj 2026", "4 mag. 2026", "4  MAYO 2026"]),
        ("%d. %B %Y", ["4. Mai 2026", "04. May 2026"]),
        ("%A, %d.%m.%Y", ["Montag, 4.5.2026", "Mon., 4.5.2026", "lundi, 04.05.2026"]),
        ("%d/%m/%Y %I:%M %p", ["4/5/2026 12:00 a.m.", "4/5/2026 12:00AM", "4/5/2026 12:00 am"][::2]),
    ],
)
def test_names_of_months_and_days_are_read_in_several_languages(format_, texts):
    assert in_formats(texts, format_) == [datetime(2026, 5, 4)] * len(texts)
    assert in_formats(["4 maybe 2026", "4 Foo 2026", "4 2026"], format_) == [None] * 3


def test_fractions_make_the_unit_as_fine_as_they_are():
    for text, unit in ((".000", "s"), (".5", "ms"), (".123456789", "us")):
        assert parse_timestamps(pa.array([f"2023-01-24 14:25:47{text}"])).type == pa.timestamp(unit)


@pytest.mark.parametrize(
    "format_",
    ["", "%d", "%Q", "%Y%", "%Y %z", "%d %d %Y", "%m %b %Y", "%H %I", "%I:%M", "%H:%M %p", "tomorrow"],
)
def test_what_no_date_can_be_written_in_is_no_format(format_):
    assert not is_format(format_)
    assert all(map(is_format, FORMATS))


@pytest.mark.parametrize(
    "text",
    ["03/11/2026", "2023/01/24", "24 Jan 2023", "Jan 24, 2023", "2023-1-24", "2023-01", "20230124", "14:25"],
)
def test_what_is_not_iso_is_no_moment_without_a_format(text):
    assert in_formats([text, "2023-01-24"]) == [None, datetime(2023, 1, 24)]
    assert parse_timestamps(pa.array([text])).to_pylist() == [None]
