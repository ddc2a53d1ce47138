"""Cells are read as declared, each by itself, before anything looks at them, under every protection alike."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.configuration.flat_file import from_flat
from tasks.configuration.parameters import declarations
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.parameters import DpParameters
from tasks.core.errors import ParameterError
from tasks.core.records.cell_reading import AS_IT_STANDS, CUTS, CellReading
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import DroppedCells
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.statement.preparation import preparation_paragraph
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import contract_of, judged

GERMAN = CellReading(missing=("n/a", "-"), date_formats=("%d.%m.%Y",))


def read(reading: CellReading, *texts: str | None) -> list[str | None]:
    return reading.read(texts).texts


def test_what_nothing_is_declared_of_stays_as_it_is():
    assert read(AS_IT_STANDS, " a ", "", None) == [" a ", "", None]


@pytest.mark.parametrize(
    ("reading", "texts", "wanted"),
    [
        (CellReading(missing=("NA", "-9")), ["na", " NA ", "-9", "-9.0", "x"], ["", "", "", "-9.0", "x"]),
        (CellReading(strip="€%"), ["€ 1.200", "12 %", "1\u00a0€", "a€b"], ["1.200", "12", "1", "a€b"]),
        (CellReading(strip="[]'\""), ["['red'", ' "blue"]', "[]"], ["red", "blue", ""]),
        (CellReading(strip="$", missing=("n/a",)), ["$n/a", "$5"], ["", "5"]),
        (CellReading(cut="2"), ["01067", "9", " ab c"], ["01", "9", "ab"]),
        (GERMAN, ["3.11.2026", "31.02.2026", "2026-11-03", "-"], ["2026-11-03", "", "", ""]),
        (replace(GERMAN, cut="month"), ["03.11.2026"], ["2026-11"]),
        (replace(GERMAN, cut="year"), ["03.11.2026"], ["2026"]),
        (
            CellReading(cut="month"),
            ["2026-11-03", "2026-11-03 14:05:00", "03.11.2026"],
            ["2026-11", "2026-11", ""],
        ),
        (CellReading(cut="day"), ["2026-11-03T23:30:00-05:00"], ["2026-11-03"]),
        (CellReading(cut="hour", date_formats=("%H:%M",)), ["14:05", "25:00"], ["14", ""]),
        (
            CellReading(date_formats=("%d/%m/%Y", "%b %d, %Y")),
            ["3/4/2020", "Apr 3, 2020"],
            ["2020-04-03"] * 2,
        ),
        (CellReading(date_formats=("%d.%m.%Y %H:%M",)), ["3.4.2020 07:30"], ["2020-04-03 07:30:00"]),
        # A word for a missing value may hold what is taken off, and a flag alone is empty.
        (
            CellReading(strip="bcepn", missing=("n/a", ":")),
            ["12.3 b", "5e", "N/A", ": c", "c", "7"],
            ["12.3", "5", "", "", "", "7"],
        ),
        (CellReading(cut="month"), [], []),
    ],
)
def test_cells_are_read_as_declared(reading, texts, wanted):
    assert read(reading, *texts) == wanted


@given(st.dates(date(1900, 1, 1), date(2026, 12, 31)), st.dates(date(2000, 1, 1), date(2030, 12, 31)))
def test_an_age_is_in_full_years(born, day):
    [found] = read(CellReading(cut=f"age on {day}"), born.isoformat())
    had_birthday = (day.month, day.day) >= (born.month, born.day)
    assert found == str(day.year - born.year - (not had_birthday))


@given(st.lists(st.text(max_size=12)), st.sampled_from(["", "3", *CUTS]), st.integers(0, 20))
def test_no_cell_changes_how_another_is_read(texts, cut, place):
    reading = CellReading(strip="'", missing=("na",), cut=cut)
    alone = [read(reading, text)[0] for text in texts]
    assert read(reading, *texts) == alone
    rest = texts[:place] + texts[place + 1 :]
    assert read(reading, *rest) == alone[:place] + alone[place + 1 :]


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (CellReading(cut="week"), "cut must be"),
        (CellReading(cut="age on 2026-13-01"), "cut must be"),
        (CellReading(cut="0"), "cut must be"),
        (CellReading(date_formats=("%Q",)), "'%Q'"),
        (CellReading(date_formats=("%d.%m.%Y %z",)), "without a zone"),
        (CellReading(date_formats=("tomorrow",)), "'tomorrow'"),
        (CellReading(date_formats=("%Y%",)), "'%Y%'"),
        (CellReading(date_formats=("%Y",), cut="2"), "keep one of the two"),
    ],
)
def test_what_can_not_be_meant_is_refused(reading, words):
    [problem] = reading.problems
    assert words in problem


DECLARED = {
    "missing_values": {"*": ("NA",), "price": ("-9",)},
    "strip": {"price": "€"},
    "date_formats": {"visited": ("%d.%m.%Y",)},
    "cut": {"visited": "month", "postcode": "2"},
}
TABLE = "visited;postcode;price\n3.11.2026;01067;€ 5\nNA;01099;-9\nsoon;NA;7 €\n"


def schema_of(**more: object) -> Schema:
    declared = Declarations(bins={"price": (0, 6, 10)}, **(DECLARED | more))  # type: ignore[arg-type]
    return build_schema(["visited", "postcode", "price"], declared, cap_required=True)


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
def test_records_hold_cells_as_they_are_read_and_what_is_lost_is_told(tmp_path, total):  # type: ignore[no-untyped-def]
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    lost: list[DroppedCells] = []
    options = EncodingOptions(total=total, key=b"k", report_dropped=lost.append)
    found = encode(InputFile(tmp_path / "t.csv", delimiter=";"), schema_of(), options)
    held = [
        [values[code - 1] if code else None for code in slot.tolist()]
        for slot, values in zip(found.slots, found.values, strict=True)
    ]
    assert held == [["2026-11", None, None], ["01", "01", None], ["[0,6)", None, "[6,10]"]]
    assert lost == [DroppedCells("visited", "not a date or time", 1)]


def test_syndiffix_reads_the_same(tmp_path):  # type: ignore[no-untyped-def]
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    columns = [ChosenColumn(column.name, reading=column.reading) for column in schema_of().columns]
    found = read_table(InputFile(tmp_path / "t.csv", delimiter=";"), columns)
    assert found.columns.to_pydict() == {
        "visited": ["2026-11", None, None],
        "postcode": ["01", "01", None],
        "price": [5, None, 7],
    }
    assert found.dropped == (DroppedCells("visited", "not a date or time", 1),)


def test_syndiffix_has_nothing_of_a_text_for_a_missing_value(tmp_path):  # type: ignore[no-untyped-def]
    (tmp_path / "t.csv").write_text("town,x\nNA,1\nLyon,2\n,3\n", encoding="utf-8")
    column = ChosenColumn("town", "s", reading=CellReading(missing=("NA",)))
    found = read_table(InputFile(tmp_path / "t.csv"), [column])
    assert found.columns.to_pydict() == {"town": [None, "Lyon", None]}


COLUMNS = """\
      - name: ward
      - name: visited
        logicalType: date
        customProperties:
          - {property: dateFormats, value: ["%d.%m.%Y"]}
          - {property: missingValues, value: NA}
      - name: tags
        logicalType: array
        logicalTypeOptions: {maxItems: 2}
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [new, vip]}}]
        customProperties:
          - {property: delimiter, value: ","}
          - {property: strip, value: "[]"}
"""


@pytest.mark.parametrize(("cell", "holds"), [("3.11.2026", True), ("NA", True), ("soon", False)])
def test_a_strict_contract_judges_cells_as_they_are_read(tmp_path, cell, holds):  # type: ignore[no-untyped-def]
    path = tmp_path / "t.csv"
    rows = f'1;n;{cell};"[new,vip]"\n2;n;4.11.2026;[]\n3;n;;\n'
    path.write_text("person;ward;visited;tags\n" + rows, encoding="utf-8")
    found = judged(InputFile(path, delimiter=";"), contract_of(COLUMNS))
    assert (found.broken == []) is holds


def test_a_contract_and_a_configuration_declare_it_alike():
    text = COLUMNS.split("      - name: tags")[0]
    promised = build_schema(
        ["person", "ward", "visited"], Declarations(), contract_of(text), cap_required=True
    )
    flat = {"missing_values": {"visited": "NA"}, "date_formats": {"visited": "%d.%m.%Y"}, "cut": {"ward": 3}}
    table = {"sensitive_microdata_path": "t.csv", "dataset": "t", "subject_id": "person"}
    declared = declarations(from_flat(table | flat))
    found = build_schema(["person", "ward", "visited"], declared, cap_required=True)
    assert found.columns[1].reading == promised.columns[1].reading
    assert found.columns[0].reading == CellReading(cut="3")
    with pytest.raises(ParameterError, match="declared otherwise in missing_values than in the contract"):
        build_schema(
            ["person", "ward", "visited"],
            Declarations(missing_values={"visited": ("x",)}),
            contract_of(text),
            cap_required=True,
        )
    with pytest.raises(ParameterError, match="cut must be"):
        build_schema(["ward"], Declarations(cut={"ward": "weekly"}), cap_required=True)
    with pytest.raises(ParameterError, match="must have 1 entries"):
        contract_of(text.replace("value: NA", "value: []"))


def test_it_is_in_a_release_s_name_and_where_nothing_is_declared_names_are_as_before():
    parameters = DpParameters(epsilon=1.0, delta=1e-6, reporting_length=2)
    plain, cut = Schema((Column("town"),)), Schema((Column("town", reading=CellReading(cut="2")),))
    assert configuration_digest(plain, parameters) != configuration_digest(cut, parameters)
    assert "reading" not in plain.to_json() and Schema.from_json(cut.to_json()) == cut
    plainly = from_flat({"sensitive_microdata_path": "t.csv", "dataset": "t"}).model_dump(mode="json")
    assert plainly["input"] == {"path": "t.csv", "contract_mode": "strict"}


def test_the_statement_says_how_cells_are_read():
    words = preparation_paragraph(schema_of(missing_values={"price": ("-9",)}))
    for said in (
        "In 'price' these words are no values, in capitals or not: '-9'.",
        "In 'price' these characters are taken off both ends of a cell: '€'.",
        "In 'visited' a date stands for its month, and anything that is not a date is no value.",
        "In 'postcode' a cell stands for its first 2 characters.",
    ):
        assert said in words
