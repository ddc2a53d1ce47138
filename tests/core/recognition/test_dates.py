"""Dates and moments are found as they are written, odd words among them or not; so are booleans."""

from datetime import date, timedelta

import pytest

from tasks.core.recognition.edges import AGE_BANDS
from tasks.core.recognition.init_answers import parse_correction
from tests.core.recognition.test_columns import ROWS, one, repeated, table_of

DAYS = [date(2024, 1, 1) + timedelta(days=place * 7 % 500) for place in range(ROWS)]


def with_words(every: int, *words: str) -> list[str]:
    """Days with words in place of some of them."""
    return [
        words[place // every % len(words)] if place % every == 0 else str(day)
        for place, day in enumerate(DAYS)
    ]


#: Ways to write a date, with the formats that are found: none for ISO 8601, else the same, but for a few.
ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S")
WRITTEN = [
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d-%b-%Y", "%m/%d/%Y %I:%M %p", "%d.%m.%Y %H:%M"),
    *("%Y-%m", "%m-%Y", "%b %Y", "%d/%m/%y"),
]
FOUND = {"%d %B %Y": "%d %b %Y", "%B. %Y": "%b %Y"} | {each: each for each in WRITTEN}


@pytest.mark.parametrize("written", [*ISO, *FOUND])
def test_dates_are_found_as_they_are_written_and_cut_to_the_month(written, tmp_path):
    formats = () if written in ISO else (FOUND[written],)
    cells = [day.strftime(written) for day in DAYS]
    found = one(tmp_path, "visited", cells)
    assert (found.treatment.reading.date_formats, found.treatment.reading.cut) == (formats, "month")
    assert found.kind == "date" and found.treatment.domain is None and found.treatment.bins is None
    read = found.treatment.reading.read(cells).texts
    assert read == [f"{day:%Y-%m}" for day in DAYS]


@pytest.mark.parametrize("zone", ["+0100", "+01:00", "-05", "Z", " UTC"])
def test_a_time_with_a_zone_is_a_moment(zone, tmp_path):
    for time in ("T00:00:00", f"T{ROWS % 24:02}:30:00.250"):
        cells = [f"{day}{time}{zone}" for day in DAYS]
        found = one(tmp_path, "paid", cells)
        assert (found.kind, found.treatment.reading.cut) == ("moment", "month")
        read = found.treatment.reading.read(cells)
        assert read.texts == [f"{day:%Y-%m}" for day in DAYS] and not read.unread.any()


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(["tbc", *map(str, DAYS[1:])], id="one"),
        pytest.param(with_words(3, "offen"), id="a third"),
        pytest.param(
            [
                day if "-" not in day else f"{date.fromisoformat(day):%d.%m.%Y}"
                for day in with_words(5, "offen", "tbc")
            ],
            id="two",
        ),
    ],
)
def test_odd_words_make_no_text_of_dates_and_are_told(cells, tmp_path):
    found = one(tmp_path, "paid", cells)
    assert (found.kind, found.treatment.reading.cut) == ("date", "month")
    assert "beside them words such as" in found.reason and ("offen" in found.reason) == ("offen" in cells)
    assert "offen" not in repr(found.treatment), "nobody said that the word is public"
    read = found.treatment.reading.read(cells).texts
    assert [not text for text in read] == [cell in ("tbc", "offen") for cell in cells]


def test_many_different_words_beside_dates_make_a_text(tmp_path):
    words = [f"word {letter}" for letter in "abcdefgh"]
    assert one(tmp_path, "paid", with_words(3, *words)).kind != "date"


def test_told_what_is_missing_a_column_is_looked_at_again(tmp_path):
    table = table_of(
        tmp_path,
        born=["offen" if place % 5 else str(date(1950 + place % 50, 3, 4)) for place in range(ROWS)],
        score=["offen" if place % 5 else str(place * 0.7) for place in range(ROWS)],
        town=["offen" if place % 4 == 0 else "AB"[place % 2] for place in range(ROWS)],
        cut=[*map(str, DAYS)],
    )
    assert {table.column(name).kind for name in ("born", "score")} <= {"text", "rare texts"}
    said = [f"{name}=missing:offen" for name in ("born", "score", "town")]
    found = table.corrected(map(parse_correction, [*said, "cut=year", "cut=missing:-"]))
    assert (found.column("born").kind, found.column("born").treatment.bins) == ("date of birth", AGE_BANDS)
    assert found.column("score").kind == "number" and found.column("score").treatment.bins is not None
    assert found.column("town").kind == "text"
    missing = {column.name: column.treatment.reading.missing for column in found.columns}
    assert missing == {"born": ("offen",), "score": ("offen",), "town": ("offen",), "cut": ("-",)}
    assert found.column("cut").treatment.reading.cut == "year", "what was said before stands"
    twice = table.corrected(map(parse_correction, ["born=missing:x", "born=missing:offen"]))
    assert twice.column("born").treatment.reading.missing == ("x", "offen")


@pytest.mark.parametrize(
    ("name", "first", "step", "said"),
    [
        ("visit", 45_000, 7, "Excel counts days"),
        ("epoch", 1_600_000_000, 86_400, "seconds since 1970"),
        ("created", 1_600_000_000_000, 86_400_000, "milliseconds since 1970"),
        ("mileage", 45_000, 7, ""),
        ("salary", 1_600_000_000, 86_400, ""),
    ],
)
def test_numbers_that_count_days_or_seconds_are_told(name, first, step, said, tmp_path):
    doubt = one(tmp_path, name, [first + step * (place % 137) for place in range(ROWS)]).doubt
    assert said in doubt and bool(doubt) == bool(said)


@pytest.mark.parametrize(
    ("spelled", "values"),
    [
        (["TRUE", "False"], {"TRUE", "False"}),
        (["yes", "no", "Yes"], {"yes", "no", "Yes"}),
        (["ja", "Nein"], {"ja", "Nein"}),
        (["Y", "n"], {"Y", "n"}),
        (["True", "FALSE", "true", "false"], {"True", "FALSE", "true", "false"}),
    ],
)
def test_booleans_are_found_in_any_spelling(spelled, values, tmp_path):
    found = one(tmp_path, "smokes", [*repeated(spelled, ROWS - 1), "soon"])
    assert (found.kind, set(found.treatment.domain or ())) == ("boolean", values)
    assert ("differ in case only" in found.doubt) == (len(spelled) > 2)
