"""Proposals: a draft that can be accepted as it stands, whose lists stay open."""

import csv
import doctest
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.demo_survey import write_survey
from tasks.configuration.flat_file import from_flat
from tasks.core.contracts import subject_names
from tasks.core.contracts.proposal import propose, round_edges
from tasks.core.contracts.public_schema import Declarations, build_schema
from tasks.core.contracts.translation import read_contract
from tasks.core.errors import InputError
from tasks.core.records.columns import Schema, bin_problems
from tasks.core.tables.header import InputFile, find_dialect


def accepted(path: Path) -> tuple[Schema, str]:
    """The schema and the contract of an operator who accepts everything."""
    flat, text = propose(path)
    declared = from_flat(flat).input
    contract = read_contract(text)
    headers = InputFile(path, delimiter=declared.delimiter).headers
    declarations = Declarations(
        subject_id=declared.subject_id,
        use_columns=declared.use_columns,
        multi_value_columns=declared.multi_value_columns,
        sensitive_zeros=declared.sensitive_zeros,
    )
    return build_schema(headers.names, declarations, contract, cap_required=True, types=headers.types), text


def test_rule_11_the_proposed_contract_is_accepted_and_its_lists_stay_open(tmp_path: Path) -> None:
    write_survey(tmp_path / "survey.csv", respondents=2000)
    schema, text = accepted(tmp_path / "survey.csv")
    by_name = {column.name: column for column in schema.columns}
    assert schema.subject_id == "respondent" and "respondent" not in by_name
    assert {name for name, column in by_name.items() if column.bins} == {"age", "commute_minutes"}
    assert all(column.is_open for column in schema.columns if column.bins is None)
    assert (by_name["services"].delimiter, by_name["services"].max_items) == (";", 8)
    assert by_name["commute_minutes"].zero_is_value
    assert "Fellside" in text and "drafted" in text


def test_a_draft_lists_no_rare_value_and_no_number_of_rows(tmp_path: Path) -> None:
    rows = ["kind,word"] + ["a,x"] * 40 + ["rare-canary,x"] * 19 + ["b,x"] * 20
    (tmp_path / "t.csv").write_text("\n".join(rows))
    _, text = propose(tmp_path / "t.csv")
    assert "rare-canary" not in text and "79" not in text
    assert "- a\n" in text and "- b\n" in text


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_delimiter_is_found(delimiter: str, tmp_path: Path) -> None:
    rows = [["a", "b", "c"], ["1, 2", "x", "y"], ["1", "x|z", "y"], ["1", "", "y;y"]]
    body = [delimiter.join(f'"{cell}"' for cell in row) for row in rows]
    (tmp_path / "t.txt").write_text("\n".join(body))
    assert find_dialect(tmp_path / "t.txt").delimiter == delimiter


def test_parquet_with_lists_and_booleans_is_proposed(tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": pa.array([True, False] * 50),
            "weight": pa.array([float(i) / 3 for i in range(100)]),
            "tags": pa.array([["x", "y"], ["z"]] * 50),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    schema, _ = accepted(tmp_path / "t.parquet")
    flag, weight, tags = schema.columns
    assert flag.domain == ("false", "true")
    assert weight.bins is not None and weight.bins[0] <= 0 and weight.bins[-1] >= 32
    assert tags.is_multi_valued


@pytest.mark.parametrize("text", ["a,b\n", "a,b\n1,2\n", "a,,b\n1,2,3\n"])
def test_small_tables_are_proposed(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    schema, _ = accepted(tmp_path / "t.csv")
    assert [column.name for column in schema.columns] == ["a", "b"]


def test_a_file_that_is_no_table_is_refused_without_its_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,canary,3\n")
    with pytest.raises(InputError) as caught:
        propose(tmp_path / "t.csv")
    assert "canary" not in str(caught.value)


@given(st.floats(-1e200, 1e200), st.floats(0, 1e200))
def test_round_edges_cover_the_range_and_can_be_bins(low: float, span: float) -> None:
    edges = round_edges(low, low + span)
    assert bin_problems(tuple(map(float, edges))) == []
    assert len(edges) <= 13


def test_a_declared_header_keeps_the_first_record_out_of_the_names(tmp_path: Path) -> None:
    (tmp_path / "t.data").write_text("".join(f"canary{i} {i}\n" for i in range(300)))
    source = InputFile(tmp_path / "t.data", delimiter=" ", header=("word", "number"))
    configuration, contract = propose(source)
    assert configuration["sensitive_microdata_header"] == ["word", "number"]
    assert configuration["sensitive_microdata_delimiter"] == " "
    assert [column.name for column in read_contract(contract).columns] == ["word", "number"]
    assert "canary" not in contract


def test_numbers_with_other_marks_are_found_and_the_draft_says_how_they_are_written(tmp_path: Path) -> None:
    rows = [f"{i},5;1.{i:03},5;{i};1\u202f{i:03};x" for i in range(100, 160)]
    (tmp_path / "t.csv").write_text("comma;grouped;plain;spaced;word\n" + "\n".join(rows), encoding="utf-8")
    schema, _ = accepted(tmp_path / "t.csv")
    formats = [(c.number_format.decimal, c.number_format.thousands) for c in schema.columns]
    assert formats == [(",", ""), (",", "."), (".", ""), (",", " "), (".", "")]
    edges = [column.bins for column in schema.columns]
    assert [None if each is None else (each[0], each[-1]) for each in edges] == [
        (100, 160),
        (1100, 1160),
        (100, 160),
        (1100, 1160),
        None,
    ]


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Personen-Nr.",
            "Pat.-ID",
            "patient id",
            "KundenNummer",
            "Kundennummer",
            "No. dossier",
            "N° dossier",
        ),
        *(
            "Nº de expediente",
            "numéro de patient",
            "PatientID",
            "Versicherten-Nr",
            "cod_paziente",
            "customer no",
        ),
        *("Schüler-Nr", "Mitglieds-Nr.", "patnr", "id пациента", "USUBJID", "HHID", "respondent"),
    ],
)
def test_whose_row_it_is_is_found_by_name_in_many_spellings(name: str, tmp_path: Path) -> None:
    """Each has about five rows, beside the number of the row and a column of few values."""
    header = ("visit id", name, "town")
    rows = [(visit, f"p{visit * 7 % 60:03}", "ab"[visit % 2]) for visit in range(300)]
    configuration, contract = propose(_write(tmp_path / "t.csv", header, rows))
    assert configuration["subject_id"] == name
    assert configuration["use_columns"] == ["town"] and "use_columns leaves out 'visit id'" in contract
    assert "300" not in contract and f"takes {name!r} to say whose a row is" in contract
    assert "Some subjects have several rows" in contract and "k-anonymity refuses" in contract


@pytest.mark.parametrize(
    "name",
    [
        *("number of patients", "person type", "Hausnummer", "valid", "covid", "zip code", "user rating"),
        *("income", "paid", "education-num", "customer segment", "Personenzahl", "grid"),
    ],
)
def test_what_only_sounds_like_an_id_is_no_subject(name: str, tmp_path: Path) -> None:
    rows = [(f"v{place % 30}", "ab"[place % 2]) for place in range(300)]
    configuration, _ = propose(_write(tmp_path / "t.csv", (name, "town"), rows))
    assert "subject_id" not in configuration


def test_the_example_of_likeness_is_true() -> None:
    assert doctest.testmod(subject_names).failed == 0


def test_an_id_of_something_must_differ_from_row_to_row(tmp_path: Path) -> None:
    header = ("region id", "id", "town")
    rows = [(place % 30, place, "ab"[place % 2]) for place in range(300)]
    configuration, _ = propose(_write(tmp_path / "t.csv", header, rows))
    assert configuration["subject_id"] == "id"


@pytest.mark.parametrize("code", ["N", "-", "k. A.", "n/a"])
def test_numbers_beside_a_code_get_bins_and_the_code_a_name(code: str, tmp_path: Path) -> None:
    rows = [(code if place % 5 == 0 else str(20 + place % 40), "ab"[place % 2]) for place in range(300)]
    schema, text = accepted(_write(tmp_path / "t.csv", ("age", "town"), rows))
    age = schema.columns[0]
    assert age.bins is not None and (age.bins[0], age.bins[-1]) == (20, 60)
    assert age.other == code and "logicalType: integer" in text


def test_several_codes_beside_numbers_are_called_what_they_are_not(tmp_path: Path) -> None:
    codes = ("N", "-", "rare-canary")
    rows = [(codes[place // 140] if place % 3 == 0 else str(place % 90),) for place in range(300)]
    rows = [(place, *row) for place, row in enumerate(rows)]
    schema, text = accepted(_write(tmp_path / "t.csv", ("place", "age"), rows))
    assert schema.columns[0].other == "not a number" and "rare-canary" not in text


@pytest.mark.parametrize("code", ["9999", "999", "-1", "-9"])
def test_numbers_that_are_codes_do_not_stretch_the_bins(code: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    ages = [code if generator.random() < 0.1 else str(generator.integers(0, 90)) for _ in range(600)]
    rows = [(age, "ab"[place % 2]) for place, age in enumerate(ages)]
    schema, text = accepted(_write(tmp_path / "t.csv", ("age", "town"), rows))
    assert schema.columns[0].bins == tuple(range(0, 91, 10))
    assert f"In 'age' {code} may stand for something that is no number" in text


def test_a_word_for_a_missing_value_is_pointed_out(tmp_path: Path) -> None:
    rows = [("NA" if place % 5 == 0 else "north", "ab"[place % 2]) for place in range(300)]
    _, text = accepted(_write(tmp_path / "t.csv", ("ward", "town"), rows))
    assert "In 'ward', 'NA' may stand for a missing value." in text and text.count("may stand for") == 1


def test_a_number_of_nines_in_the_range_is_a_number(tmp_path: Path) -> None:
    rows = [(str(place % 120), "ab"[place % 2]) for place in range(4000)]
    schema, text = accepted(_write(tmp_path / "t.csv", ("weight", "town"), rows))
    assert schema.columns[0].bins == tuple(range(0, 121, 20)) and "may stand for" not in text


def test_texts_of_many_kinds_beside_numbers_are_no_codes(tmp_path: Path) -> None:
    rows = [(str(place) if place % 2 else f"street {place}",) for place in range(300)]
    schema, _ = accepted(_write(tmp_path / "t.csv", ("address",), rows))
    assert schema.columns[0].bins is None
