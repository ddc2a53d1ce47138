"""What columns are taken for, as a person would take them; no treatment shows a value of the table."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import ParameterError
from tasks.core.recognition.edges import AGE_BANDS
from tasks.core.recognition.init_answers import FileAnswers, parse_correction
from tasks.core.recognition.table import RecognisedTable, recognise_table
from tasks.core.recognition.treatment import NOT_A_NUMBER, OTHER, Recognised
from tasks.core.tables.number_format import BOOKKEEPING, NumberFormat
from tests.flows.messy_tables import TABLES

TODAY = date(2026, 11, 25)
ROWS = 400
DRAW = np.random.default_rng(11)


def table_of(folder: Path, **columns: Sequence[object]) -> RecognisedTable:
    """A table of these columns, ``_`` in a name standing for a blank."""
    path = folder / "t.csv"
    rows = zip(*columns.values(), strict=True)
    quoted = [";".join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows]
    path.write_text("\n".join([";".join(columns), *quoted]) + "\n", encoding="utf-8")
    return recognise_table(path, today=TODAY)


def one(folder: Path, name: str, cells: Sequence[object]) -> Recognised:
    """One column, beside one that says nothing of it."""
    found = table_of(folder, **{name: cells, "beside": [place % 3 for place in range(len(cells))]})
    return found.columns[0]


def repeated(values: Sequence[object], rows: int = ROWS) -> list[object]:
    return [values[place % len(values)] for place in range(rows)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("smokes", ["0.0", "1.0", ""], "boolean"),
        ("smokes", ["0,00", "1,00", "1,00", ""], "boolean"),
        ("children", ["0.0", "1.0", "2.0", ""], "number, few values"),
        ("children", ["0,00", "1,00", "2,00", "3"], "number, few values"),
    ],
)
def test_whole_numbers_with_zeros_behind_the_mark_are_whole_numbers(name, values, kind, tmp_path):
    found = one(tmp_path, name, repeated(values))
    treatment = found.treatment
    assert found.kind == kind and treatment.is_used
    assert treatment.domain in (None, ("0", "1")) and treatment.bins is None
    read = (treatment.domain is not None) or treatment.reading.cut == "whole"
    assert read and not any("1.0" in text or "1,0" in text for text in treatment.domain or ())


def test_numbers_with_a_fraction_beside_whole_ones_stay_what_they_are(tmp_path):
    found = one(tmp_path, "version", repeated(["1.0", "1.1", "2.0"]))
    assert found.treatment.reading.cut == ""


@pytest.mark.parametrize("name", TABLES)
def test_messy_tables_are_taken_for_what_a_person_would_say(name, tmp_path):
    messy = TABLES[name]
    found = recognise_table(messy.write(tmp_path, name, 0), today=TODAY)
    assert found.candidates[0].is_proposed and found.candidates[0].name == messy.subject
    taken = {
        column.name: column.kind if column.treatment.is_used else "out"
        for column in found.columns
        if column.name != messy.subject
    }
    assert set(taken) == set(messy.said)
    assert [name for name, said in messy.said.items() if not taken[name].startswith(said)] == []


@pytest.mark.parametrize(
    ("months", "written", "format_"),
    [
        ("janvier février mars avril mai juin juillet août", "{day} {month} {year}", "%d %b %Y"),
        ("Jän. Feb. März Apr. Mai Juni Juli Aug.", "{day}. {month} {year}", "%d. %b %Y"),
        ("enero febrero marzo abril mayo junio julio agosto", "{day} de {month} de {year}", "%d de %b de %Y"),
        ("gen feb mar apr mag giu lug ago", "{month} {year}", "%b %Y"),
    ],
)
def test_months_are_read_in_the_languages_of_the_tables(months, written, format_, tmp_path):
    names = months.split()
    days = [date(2025, 1, 1) + timedelta(days=place * 7 % 240) for place in range(ROWS)]
    cells = [written.format(day=d.day, month=names[d.month - 1], year=d.year) for d in days]
    found = one(tmp_path, "visited", cells).treatment
    assert (found.reading.date_formats, found.reading.cut) == ((format_,), "month")
    read = found.reading.read(cells).texts
    assert read == [f"{day:%Y-%m}" for day in days]


MADE = {
    "hexadecimal": [f"{place * 7919:016x}" for place in range(1000, 1040)],
    "accounts": [f"DE{place + 10} 3704 0044 0532 0130 {place + 10}" for place in range(40)],
    "tokens": [f"tok_live_{place * 7919:06}_aZx81" for place in range(40)],
}


@pytest.mark.parametrize("kind", MADE)
def test_ids_that_a_program_made_are_left_out_however_often_each_stands(kind, tmp_path):
    found = one(tmp_path, "thing", repeated(MADE[kind]))
    assert (found.kind, found.treatment.is_used) == ("id", False)


@pytest.mark.parametrize("below", ["({:,.2f})", "{:,.2f}-", "({:,.2f}) €", "€ {:,.2f}-"])
def test_amounts_below_zero_as_bookkeepers_write_them_are_read_where_enough_are(below, tmp_path):
    cells = [below.format(place + 0.5) if place % 3 else f"{place * 10:,.2f}" for place in range(1, ROWS)]
    found = one(tmp_path, "balance", cells)
    assert found.kind == "money" and found.treatment.number_format == NumberFormat(".", ",", BOOKKEEPING)
    assert found.treatment.bins is not None and found.treatment.bins[0] < 0
    assert "(120.00) and 120.00- below zero" in found.treatment.words
    few = one(tmp_path, "balance", [*cells[2::3], below.format(1.5), below.format(2.5)])
    assert few.treatment.number_format.negative == "", "a few rows decide nothing"


@pytest.mark.parametrize("below", ["-${:,.2f}", "(${:,.2f})"])
def test_amounts_whose_minus_no_run_can_read_are_left_out_with_the_reason(below, tmp_path):
    cells = [below.format(place + 0.5) if place % 3 else f"{place * 10:,.2f}" for place in range(1, ROWS)]
    found = one(tmp_path, "balance", cells)
    assert (found.kind, found.treatment.is_used) == ("money", False) and "write them as -1.5" in found.reason


@pytest.mark.parametrize(
    ("cells", "kind"),
    [(["x", "", ""], "a mark, or nothing"), (["yes", "yes", "yes"], "one value"), (["", "", ""], "empty")],
)
def test_a_mark_in_some_cells_is_kept_and_a_constant_is_not(cells, kind, tmp_path):
    found = one(tmp_path, "choir", repeated(cells))
    assert (found.kind, found.treatment.is_used) == (kind, cells[0] == "x")


def test_a_sign_behind_a_value_parts_no_items(tmp_path):
    for bands in (["<18", "18-30", "31-50", "51+"], ["<18", "18+"]):
        found = one(tmp_path, "band", repeated(bands))
        assert (found.kind, found.treatment.delimiter) == ("text", None)


def test_several_formats_in_one_column_are_all_read(tmp_path):
    days = [date(2025, 1, 1) + timedelta(days=place * 7 % 500) for place in range(ROWS)]
    formats = ("%d.%m.%Y", "%Y/%m/%d", "%b %d, %Y", "%d-%b-%y")
    cells = [day.strftime(formats[place % 4]) for place, day in enumerate(days)]
    assert set(one(tmp_path, "visited", cells).treatment.reading.date_formats) == set(formats)


def test_days_and_months_that_nothing_tells_apart_are_doubted(tmp_path):
    cells = [f"{place % 12 + 1:02}/{place % 11 + 1:02}/2025" for place in range(ROWS)]
    found = one(tmp_path, "visited", cells)
    assert "day and month could be swapped" in found.doubt
    assert found.treatment.reading.date_formats == ("%d/%m/%Y",)


def test_days_over_many_years_are_cut_to_the_year_births_to_ages_and_moments_of_a_day_to_hours(tmp_path):
    days = [date(2005, 1, 1) + timedelta(days=place * 17) for place in range(ROWS)]
    assert one(tmp_path, "opened", days).treatment.reading.cut == "year"
    births = [date(1930, 1, 1) + timedelta(days=place * 70) for place in range(ROWS)]
    for name in ("Geburtsdatum", "opened"):
        found = one(tmp_path, name, births).treatment
        assert (found.reading.cut, found.bins) == ("age on 2026-01-01", AGE_BANDS)
    moments = [f"2026-11-03 {place % 24:02}:{place % 60:02}:00" for place in range(ROWS)]
    assert one(tmp_path, "picked up", moments).treatment.reading.cut == "hour"
    times = [f"{place % 24:02}:{place % 60:02}" for place in range(ROWS)]
    found = one(tmp_path, "arrival", times).treatment
    assert (found.reading.cut, found.reading.date_formats) == ("hour", ("%H:%M",))


@pytest.mark.parametrize(
    ("cells", "strip", "marks"),
    [
        (lambda x: f"{x:.2f}", "", (".", "")),
        (lambda x: f"{x:.2f}".replace(".", ","), "", (",", "")),
        (lambda x: f"{x:,.2f}", "", (".", ",")),
        (lambda x: f"{x:,.2f}".translate(str.maketrans(",.", ".,")), "", (",", ".")),
        (lambda x: f"{x:,.2f}".translate(str.maketrans(",.", " ,")), "", (",", " ")),
        (lambda x: f"{x:,.2f}".replace(",", "'"), "", (".", "'")),
        (lambda x: f"€ {x:.2f}", "€", (".", "")),
        (lambda x: f"{x:,.0f} EUR", "EUR", (".", ",")),
        (lambda x: f"${x:,.2f}", "$", (".", ",")),
        (lambda x: f"{x:.1f} kg", "kg", (".", "")),
        (lambda x: f"{x:.1f}m", "m", (".", "")),
        (lambda x: f"{x:.1f} degrees".replace(".", ","), "degrees", (",", "")),
        (lambda x: f"{x:.1f}µg/l", "µg/l", (".", "")),
        (lambda x: f"{x:.1f}" + (" b" if x > 1000 else ""), "bcdefnprsuz", (".", "")),
        (lambda x: f"{x:.1f}" + ("†" if x > 1000 else ""), "†‡*§", (".", "")),
        (lambda x: f"{x:.1f}" + ("(p)" if x > 1000 else ""), "bcdefnprsuz()", (".", "")),
    ],
)
def test_numbers_are_found_as_they_are_written(cells, strip, marks, tmp_path):  # type: ignore[no-untyped-def]
    amounts = np.random.default_rng(2).lognormal(7, 1, ROWS)
    found = one(tmp_path, "measure", [cells(amount) for amount in amounts]).treatment
    assert found.bins is not None and set(found.reading.strip) == set(strip)
    assert (found.number_format.decimal, found.number_format.thousands) == marks


def test_points_in_threes_are_thousands_where_the_table_has_decimal_commas(tmp_path):
    found = table_of(
        tmp_path,
        price=[f"{place},5" for place in range(ROWS)],
        sold=[f"{place % 90 + 10}.{place % 1000:03}" for place in range(ROWS)],
    )
    assert found.column("sold").treatment.number_format.thousands == "."
    assert not found.column("sold").doubt
    alone = one(tmp_path, "sold", [f"{place % 90 + 10}.{place % 1000:03}" for place in range(ROWS)])
    assert alone.treatment.number_format.thousands == "" and "not for 10000;" in alone.doubt


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("salary", [f"{place % 9 + 1}.{place % 1000:03}" for place in range(ROWS)]),
        ("sold", [f"{place % 9}.{place % 1000:03}".removeprefix("0.") for place in range(ROWS)]),
    ],
)
def test_points_in_threes_are_likely_thousands_of_money_and_beside_whole_numbers(name, cells, tmp_path):
    found = one(tmp_path, name, cells)
    assert found.treatment.number_format == NumberFormat(",", ".") and found.treatment.bins is not None
    assert found.treatment.bins[-1] == 10_000 and "it is taken for 1" in found.doubt


def test_points_before_other_digits_are_decimals_without_doubt(tmp_path):
    for cells in ([f"{place / 1000:.3f}" for place in range(ROWS)], [place / 125 for place in range(ROWS)]):
        found = one(tmp_path, "salary", cells)
        assert found.treatment.number_format == NumberFormat() and not found.doubt


def test_there_is_an_edge_at_a_limit_and_none_beyond(tmp_path):
    ages = ["90+" if place % 9 == 0 else 18 + place % 72 for place in range(ROWS)]
    assert one(tmp_path, "age", ages).treatment.bins == (*AGE_BANDS, 90)
    found = one(tmp_path, "crp", ["<0.5" if place % 9 == 0 else place / 50 + 0.5 for place in range(ROWS)])
    assert found.treatment.bins is not None and found.treatment.bins[:2] == (0, 0.5)
    assert found.treatment.other is None and found.treatment.number_format == NumberFormat()


def test_several_units_or_letters_behind_each_number_are_never_taken_off(tmp_path):
    several = [f"{place} {'kg' if place % 2 else 'g'}" for place in range(ROWS)]
    classes = [f"{place % 13}{'bcdef'[place % 5]}" for place in range(ROWS)]
    for cells in (several, classes, repeated(["36 months", "60 months"])):
        found = one(tmp_path, "held", cells).treatment
        assert found.reading.strip == "" and found.bins is None


def test_a_unit_is_no_money_and_neither_is_a_logarithm_of_money(tmp_path):
    kilograms = one(tmp_path, "load", [f"{place / 7:.1f} kg" for place in range(ROWS)])
    logarithms = one(tmp_path, "ln_wage", [f"{place / 70:.2f}" for place in range(ROWS)])
    assert (kilograms.kind, logarithms.kind) == ("number", "number")


def test_a_flag_in_the_place_of_a_number_is_a_missing_value(tmp_path):
    cells = ["c" if place % 11 == 0 else "- c" if place % 12 == 0 else place for place in range(ROWS)]
    found = one(tmp_path, "points", cells).treatment
    assert found.reading.missing == ("- c", "c") and found.other is None


@pytest.mark.parametrize("code", ["9999", "999", "-1", "-9"])
def test_numbers_that_lie_apart_stand_for_missing_values_and_stretch_no_bins(code, tmp_path):
    ages = [code if DRAW.random() < 0.1 else str(DRAW.integers(0, 90)) for _ in range(600)]
    found = one(tmp_path, "score", ages).treatment
    assert found.reading.missing == (code,) and found.bins == tuple(range(0, 101, 10))


def test_a_number_of_nines_among_others_is_a_number_and_namibia_is_no_missing_value(tmp_path):
    found = one(tmp_path, "weight", [str(place % 120) for place in range(1000)]).treatment
    assert found.reading.missing == () and found.bins == tuple(range(0, 161, 20))
    countries = one(tmp_path, "country", repeated(["NA", "ZA", "BW", "DE"]))
    assert countries.kind.startswith("countries") and countries.treatment.reading.missing == ()


@pytest.mark.parametrize(
    "word", ["NA", "n/a", "#N/A", ".", "-", "?", "NULL", "k.A.", "k. A.", "\\N", ":", "*", "\u2013", "\u2014"]
)
def test_words_for_missing_values_count_as_empty_among_numbers_and_texts(word, tmp_path):
    numbers = one(tmp_path, "points", [word if place % 9 == 0 else place for place in range(ROWS)])
    texts = one(tmp_path, "ward", [word if place % 9 == 0 else "xy"[place % 2] for place in range(ROWS)])
    assert numbers.treatment.reading.missing == texts.treatment.reading.missing == (word,)
    assert numbers.treatment.bins is not None and numbers.treatment.other is None


def test_other_words_among_numbers_are_called_what_they_are_not(tmp_path):
    cells = ["canary" if place % 5 == 0 else place for place in range(ROWS)]
    found = one(tmp_path, "points", cells).treatment
    assert found.other == NOT_A_NUMBER and "canary" not in found.words


@pytest.mark.parametrize(
    ("name", "cells", "kind", "domain"),
    [
        ("smokes", ["0", "1"], "boolean", 2),
        ("sex", ["F", "M"], "sexes", 2),
        ("sex", ["female", "male", "other"], "sexes", 3),
        ("Geschlecht", ["m", "w", "d"], "sexes", 3),
        ("month", ["Jan", "Feb", "Mar", "Apr", "Jul", "Dec"], "months", 12),
        ("day", ["Mo", "Di", "Mi"], "weekdays", 7),
        ("state", ["AL", "AK", "CA", "NY", "TX"], "US states", None),
        ("country", ["DE", "FR", "CH"], "countries", None),
        ("currency", ["EUR", "USD"], "currencies", None),
    ],
)
def test_public_lists_are_known_and_declared_where_most_of_them_is_seen(name, cells, kind, domain, tmp_path):
    found = one(tmp_path, name, repeated(cells))
    assert kind in found.kind
    assert found.treatment.domain is None if domain is None else len(found.treatment.domain or ()) == domain
    if domain:
        assert found.treatment.other == (None if kind == "boolean" else OTHER)


@pytest.mark.parametrize(
    ("name", "cells", "cut"),
    [
        ("PLZ", [f"{place * 37 % 99999:05}" for place in range(ROWS)], "2"),
        ("zip", [f"{place * 37 % 89999 + 10000}" for place in range(ROWS)], "2"),
        ("postcode", [f"SW{place % 9}A {place % 7}AB" for place in range(ROWS)], "2"),
        ("diagnosis", [f"{'ABCD'[place % 4]}{place % 91:02}.{place % 7}" for place in range(ROWS)], "2"),
        ("area", [f"0{place % 200 * 37:04}" for place in range(ROWS)], "3"),
        ("icd", repeated(["A10", "B20", "C30"]), ""),
    ],
)
def test_codes_are_cut_to_beginnings_of_which_there_are_few(name, cells, cut, tmp_path):
    found = one(tmp_path, name, cells)
    assert found.treatment.is_used and found.treatment.bins is None
    assert found.treatment.reading.cut == cut
    assert len({cell[: int(cut or 9)] for cell in cells}) <= 100


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("token", [f"{place:08x}" for place in range(ROWS)]),
        ("number", list(range(ROWS))),
        ("surname", [f"Name{place % 100}" for place in range(ROWS)]),
        ("contact", [f"a{place}@x.org" for place in range(ROWS)]),
        ("Bemerkung", [f"text {place % 90}" for place in range(ROWS)]),
        ("said", [f"a few words that differ {place} each time" for place in range(ROWS)]),
        ("visit id", [f"v{place // 2}" for place in range(ROWS)]),
        ("street", [f"Main Street {place}" for place in range(ROWS)]),
        ("constant", ["x"] * ROWS),
        ("nothing", [""] * ROWS),
    ],
)
def test_what_names_people_or_says_nothing_is_left_out(name, cells, tmp_path):
    assert not one(tmp_path, name, cells).treatment.is_used


@pytest.mark.parametrize(
    ("cells", "delimiter", "strip"),
    [
        (["a;b", "b", "a;b;c", ""], ";", ""),
        (["red, blue", "blue", "red"], ",", ""),
        (['["red", "blue"]', "[]", '["blue"]'], ",", "[](){}'\""),
        (["{a|b}", "{a}", "{b}"], "|", "[](){}'\""),
    ],
)
def test_several_items_are_split_where_they_recur(cells, delimiter, strip, tmp_path):
    found = one(tmp_path, "speaks", repeated(cells)).treatment
    assert (found.delimiter, found.reading.strip) == (delimiter, strip)


@pytest.mark.parametrize(
    "cells",
    [
        [f"word{place}; other{place}" for place in range(ROWS)],
        [f"{place},5" for place in range(ROWS)],
        repeated(["3/4", "1/2"]),
        repeated(["Lyon", "Nice"]),
        [f"{place % 28 + 1}/{place % 12 + 1}/2025" for place in range(ROWS)],
    ],
)
def test_no_items_are_seen_where_they_do_not_recur(cells, tmp_path):
    assert one(tmp_path, "x", cells).treatment.delimiter is None


def test_a_double_is_left_out_and_a_column_that_follows_is_told(tmp_path):
    towns = repeated(["Ely", "Deal", "Hove", "Bath", "York", "Rye", "Wick"])
    found = table_of(
        tmp_path,
        town=towns,
        town_code=[str(town).upper()[:2] + "x" for town in towns],
        region=["north" if town in ("York", "Wick") else "south" for town in towns],
        chance=["ab"[int(DRAW.integers(0, 2))] for _ in towns],
    )
    assert not found.column("town_code").treatment.is_used
    assert "says the same as town" in found.column("town_code").reason
    assert found.column("region").treatment.is_used and "follows from town" in found.column("region").reason
    assert "follows from" not in found.column("chance").reason


def test_parquet_with_lists_booleans_dates_and_codes_is_recognised(tmp_path):
    days = [date(2025, 1, 1) + timedelta(days=place) for place in range(300)]
    columns = {
        "flag": pa.array([True, False] * 150),
        "weight": pa.array([float(i) / 3 if i % 10 else -9.0 for i in range(300)]),
        "tags": pa.array([["x", "y"], ["z"]] * 150),
        "visited": pa.array(days),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    found = {column.name: column.treatment for column in recognise_table(tmp_path / "t.parquet").columns}
    assert found["flag"].domain == ("false", "true")
    assert found["weight"].bins is not None and found["weight"].reading.missing == ("-9",)
    assert found["tags"].delimiter is not None
    assert found["visited"].reading.cut == "month"


@pytest.mark.parametrize("text", ["a,b\n", "a,b\n1,2\n", "a,,b\n1,2,3\n", "a,b\n,\n,\n"])
def test_of_the_smallest_tables_something_is_used(text, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    found = recognise_table(tmp_path / "t.csv", FileAnswers(has_header=True))
    assert [column.name for column in found.used(None)] == ["a", "b"]


def test_a_person_s_word_stands_against_everything(tmp_path):
    table = table_of(
        tmp_path,
        age=[place % 90 for place in range(ROWS)],
        born=[f"{place % 28 + 1}.{place % 12 + 1}.{1940 + place % 60}" for place in range(ROWS)],
        zip=[f"{place * 37 % 99999:05}" for place in range(ROWS)],
        kind=repeated(["a+b", "b", "c"]),
    )
    said = [
        *("age=bins:0,30,60", "born=year", "zip=prefix:3", "kind=items:+", "kind=missing:c,x"),
        *("zip=missing:00000",),
    ]
    found = table.corrected(map(parse_correction, said))
    assert found.column("age").treatment.bins == (0, 30, 60) and found.column("age").is_said
    assert found.column("born").treatment.reading.cut == "year"
    assert found.column("born").treatment.reading.date_formats == ("%d.%m.%Y",)
    assert found.column("zip").treatment.reading.cut == "3"
    assert found.column("zip").treatment.reading.missing == ("00000",)
    assert found.column("kind").treatment.delimiter == "+"
    assert found.column("kind").treatment.reading.missing == ("c", "x")
    values = table.corrected([parse_correction("kind=values:a,b,c"), parse_correction("zip=text")])
    assert values.column("kind").treatment.domain == ("a", "b", "c")
    assert values.column("zip").treatment.reading.cut == ""
    assert (
        table.corrected([parse_correction("born=age:2020-06-30")]).column("born").treatment.bins == AGE_BANDS
    )


def test_no_treatment_holds_a_value_that_only_the_table_has(tmp_path):
    table = table_of(
        tmp_path,
        town=repeated(["canaryville", "canaryton"]),
        code=[f"canary{place:03}" for place in range(ROWS)],
        points=["canary" if place % 7 == 0 else place for place in range(ROWS)],
        items=repeated(["canary;b", "b"]),
    )
    assert all("canary" not in repr(column.treatment) for column in table.columns)


def test_values_that_differ_in_case_only_are_told_of_an_open_column_alone(tmp_path):
    spelt = one(tmp_path, "club", repeated(["North", "north", "South", "Wöst", "WÖST", "East"]))
    assert spelt.doubt == (
        "values differ in case only ('North' and 'north', 'WÖST' and 'Wöst'), and each is counted by itself: "
        "write them alike"
    )
    assert not one(tmp_path, "club", repeated(["North", "South", "East"])).doubt
    assert not one(tmp_path, "sum", repeated(["1e3", "1E3", *range(300)])).doubt, "bins take both"


@pytest.mark.parametrize("code", ["99", "-9"])
def test_a_code_for_a_missing_value_counts_in_all_columns_with_the_same_answers(code, tmp_path):
    answers = {name: DRAW.integers(1, 6, ROWS).astype(str).tolist() for name in ("q1", "q2", "q3", "q4")}
    answers["score"] = DRAW.integers(1, 9, ROWS).astype(str).tolist()
    for name, cells in (("q1", 60), ("q2", 30), ("q3", 3), ("score", 3)):
        answers[name][:cells] = [code] * cells
    found = table_of(tmp_path, **answers)
    missing = {column.name: column.treatment.reading.missing for column in found.columns}
    assert missing == dict.fromkeys(("q1", "q2", "q3", "q4"), (code,)) | {"score": ()}
    assert f"{code} as well, as in q1: the same answers" in found.column("q3").reason


def test_a_slip_in_what_a_person_says_is_told_in_a_question_with_one_mark(tmp_path):
    found = table_of(tmp_path, club=repeated(["a", "b"]), sex=repeated(["F", "M"]))
    with pytest.raises(ParameterError, match=r"did you mean 'club'\?$"):
        found.corrected([parse_correction("clup=skip")])
    with pytest.raises(ParameterError, match=r"did you mean bins\?$"):
        parse_correction("club=bin")
