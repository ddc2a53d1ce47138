"""Whose row it is is found by name and by repetition; what only sounds like an id is none."""

import csv
import doctest
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.core.recognition import subject_names
from tasks.core.recognition.table import RecognisedTable, recognise_table


def recognised(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> RecognisedTable:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return recognise_table(path)


def proposed(found: RecognisedTable) -> str | None:
    likely = next(iter(found.candidates), None)
    return likely.name if likely is not None and likely.is_proposed else None


@pytest.mark.parametrize(
    "name",
    [
        *("Personen-Nr.", "Pat.-ID", "patient id", "KundenNummer", "Kundennummer", "No. dossier"),
        *("N° dossier", "Nº de expediente", "numéro de patient", "PatientID", "Versicherten-Nr"),
        *("cod_paziente", "customer no", "Schüler-Nr", "Mitglieds-Nr.", "patnr", "id пациента"),
        *("USUBJID", "HHID", "respondent", "customer_ref", "Identifiant répondant", "UPN"),
    ],
)
def test_whose_row_it_is_is_found_by_name_in_many_spellings(name: str, tmp_path: Path) -> None:
    """Each has about five rows, beside the number of the row and a column of few values."""
    rows = [(visit, f"p{visit * 7 % 60:03}", "ab"[visit % 2]) for visit in range(300)]
    found = recognised(tmp_path / "t.csv", ("visit id", name, "town"), rows)
    assert proposed(found) == name
    assert (
        found.candidates[0].several
        and "60 different in 300 rows, 5.0 rows each" in found.candidates[0].reason
    )
    assert [column.name for column in found.used(name)] == ["town"]


@pytest.mark.parametrize(
    "name",
    [
        *("number of patients", "person type", "Hausnummer", "valid", "covid", "zip code", "user rating"),
        *("income", "paid", "education-num", "customer segment", "Personenzahl", "grid"),
    ],
)
def test_what_only_sounds_like_an_id_is_not_proposed(name: str, tmp_path: Path) -> None:
    rows = [(f"v{place % 30}", "ab"[place % 2]) for place in range(300)]
    assert proposed(recognised(tmp_path / "t.csv", (name, "town"), rows)) is None


def test_the_example_of_likeness_is_true() -> None:
    assert doctest.testmod(subject_names).failed == 0


def test_an_id_of_something_must_differ_from_row_to_row(tmp_path: Path) -> None:
    rows = [(place % 30, place, "ab"[place % 2]) for place in range(300)]
    assert proposed(recognised(tmp_path / "t.csv", ("region id", "id", "town"), rows)) == "id"


def test_an_id_without_a_name_is_found_by_repetition_and_by_what_never_differs_in_it(tmp_path: Path) -> None:
    rows = [
        (f"{place * 7919 % 100 + 2**40:x}", place * 7919 % 100 % 7, place % 11, f"{place}")
        for place in range(400)
    ]
    found = recognised(tmp_path / "t.csv", ("hash", "born in", "ward", "bed"), rows)
    assert proposed(found) == "hash"
    assert found.candidates[0].differ == ("ward", "bed")
    assert "born in hardly ever differs within it" in found.candidates[0].reason


def test_a_column_that_a_person_names_is_taken_whatever_it_looks_like(tmp_path: Path) -> None:
    rows = [(place // 2, "ab"[place % 2]) for place in range(300)]
    found = recognised(tmp_path / "t.csv", ("licence", "town"), rows)
    assert proposed(found) is None
    assert found.candidate("Licence ").several and found.candidate("licence").differ == ("town",)
