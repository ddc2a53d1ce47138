"""Whose row it is is found by name and by repetition; what only sounds like an id is none."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.core.recognition.init_answers import Correction
from tasks.core.recognition.table import RecognisedTable, recognise_table
from tasks.core.recognition.words import WHOSE, subject_likeness


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
def test_whose_row_it_is_is_said_by_names_in_many_spellings(name):
    assert subject_likeness(name) == WHOSE


def test_a_name_and_rows_that_recur_make_a_person(tmp_path):
    rows = [(visit, f"p{visit * 7 % 60:03}", "ab"[visit % 2]) for visit in range(300)]
    found = recognised(tmp_path / "t.csv", ("visit id", "N° dossier", "town"), rows)
    assert proposed(found) == "N° dossier" and found.candidates[0].several
    assert "60 different in 300 rows, 5.0 rows each" in found.candidates[0].reason
    assert [column.name for column in found.used("N° dossier")] == ["town"]


def test_an_id_that_some_rows_lack_is_taken_only_where_people_have_several_rows(tmp_path):
    once = [*((f"p{row:03}", "ab"[row % 2]) for row in range(200)), ("", "")]
    found = recognised(tmp_path / "once.csv", ("patient id", "town"), once)
    assert not found.candidates and [column.name for column in found.used(None)] == ["town"]
    rows = [*((f"p{row % 50:03}", "ab"[row % 2]) for row in range(200)), ("", "a")]
    found = recognised(tmp_path / "often.csv", ("patient id", "town"), rows)
    assert proposed(found) == "patient id"
    assert "missing in 1 of 201 rows, which k-anonymity and SynDiffix refuse" in found.candidates[0].reason


@pytest.mark.parametrize(
    "name",
    [
        *("number of patients", "person type", "Hausnummer", "valid", "covid", "zip code", "user rating"),
        *("income", "paid", "education-num", "customer segment", "Personenzahl", "grid"),
    ],
)
def test_what_only_sounds_like_an_id_is_not_proposed(name, tmp_path):
    rows = [(f"v{place % 30}", "ab"[place % 2]) for place in range(300)]
    assert proposed(recognised(tmp_path / "t.csv", (name, "town"), rows)) is None


def test_an_id_of_something_must_differ_from_row_to_row(tmp_path):
    rows = [(place % 30, place, "ab"[place % 2]) for place in range(300)]
    assert proposed(recognised(tmp_path / "t.csv", ("region id", "id", "town"), rows)) == "id"


def test_an_id_without_a_name_is_found_by_repetition_and_by_what_never_differs_in_it(tmp_path):
    rows = [
        (f"{place * 7919 % 100 + 2**40:x}", place * 7919 % 100 % 7, place % 11, f"{place}")
        for place in range(400)
    ]
    found = recognised(tmp_path / "t.csv", ("hash", "born in", "ward", "bed"), rows)
    assert proposed(found) == "hash"
    assert "born in hardly ever differs within it" in found.candidates[0].reason


def test_a_column_that_a_person_names_is_taken_whatever_it_looks_like(tmp_path):
    rows = [(place // 2, "ab"[place % 2]) for place in range(300)]
    found = recognised(tmp_path / "t.csv", ("licence", "town"), rows)
    assert proposed(found) is None
    assert found.candidate("Licence ").several


def interviews(number: int = 400) -> list[tuple[object, ...]]:
    """100 people with up to seven interviews, three columns of a person and two of an interview."""
    people = [place * place // 1_600 for place in range(number)]
    return [
        (10_000 + who, 40 + who * 7 % 23, who % 3, "ab"[who % 2], place * 13 % 17, 70 + place % 9)
        for place, who in enumerate(people)
    ]


_OF_INTERVIEWS = ("born", "race", "origin", "weeks", "wave")


def test_a_whole_number_that_others_follow_from_is_whose_row_it_is_and_no_number(tmp_path):
    found = recognised(tmp_path / "t.csv", ("idcode", *_OF_INTERVIEWS), interviews())
    assert proposed(found) == "idcode"
    assert "born, race, origin hardly ever differ within it" in found.candidates[0].reason
    assert found.column("idcode").kind == "id" and not found.column("idcode").treatment.is_used


def test_what_others_follow_from_is_asked_about_where_its_name_says_nothing(tmp_path):
    found = recognised(tmp_path / "t.csv", ("zper", *_OF_INTERVIEWS), interviews())
    assert proposed(found) is None
    assert [(each.name, each.several) for each in found.candidates] == [("zper", True)]


@pytest.mark.parametrize("name", ["place", "Standort", "station_id", "plot", "school", "stratum", "country"])
def test_what_has_numbers_and_a_history_as_people_have_is_nobody(name, tmp_path):
    rows = [(f"P{who - 9_999:03}", *rest) for who, *rest in interviews()]
    assert recognised(tmp_path / "t.csv", (name, *_OF_INTERVIEWS), rows).candidates == ()


def test_texts_that_look_like_ids_are_none_where_nothing_follows_from_them(tmp_path):
    rows = [(f"P{place * 7919 % 300 + 1:03}", place % 11, "ab"[place % 2]) for place in range(2_100)]
    assert recognised(tmp_path / "t.csv", ("spot", "ward", "town"), rows).candidates == ()


@pytest.mark.parametrize(
    "name", ["cases", "patients", "Fälle", "Faelle", "employees", "emp", "household", "case"]
)
def test_whole_numbers_under_a_word_for_people_count_them(name, tmp_path):
    rows = [(int(1.02 ** (place * 17 % 500)), "ab"[place % 2]) for place in range(1_000)]
    found = recognised(tmp_path / "t.csv", (name, "town"), rows)
    assert found.candidates == ()
    assert found.column(name).kind == "number" and found.column(name).treatment.bins is not None


def test_a_number_that_begins_anew_in_each_family_is_nobody_s(tmp_path):
    rows = [
        (f"{place // 5:03}", place % 5 % (place // 5 % 5 + 1) + 1, place // 5 % 9, place % 13)
        for place in range(600)
    ]
    found = recognised(tmp_path / "t.csv", ("family", "childNum", "father", "height"), rows)
    assert [each.name for each in found.candidates] == ["family"]


def test_a_household_stands_behind_who_lives_in_it(tmp_path):
    rows = [(place // 12, place // 4, place // 12 % 5, place // 4 % 7, place % 11) for place in range(960)]
    found = recognised(tmp_path / "t.csv", ("hhid", "pid", "area", "born", "wage"), rows)
    assert [each.name for each in found.candidates] == ["pid", "hhid"]


def test_names_and_contacts_are_left_out_whatever_they_hold(tmp_path):
    names = ("first_name", "Last Name", "surname", "e-mail", "phone", "Phone number", "address", "Vorname")
    rows = [(*[place % 3] * len(names), "ab"[place % 2]) for place in range(300)]
    found = recognised(tmp_path / "t.csv", (*names, "town"), rows)
    assert {found.column(name).kind for name in names} == {"names a person"}
    assert [column.name for column in found.used(None)] == ["town"]
    assert found.corrected([Correction("phone", "text")]).column("phone").treatment.is_used


def test_what_is_about_a_contact_is_no_contact(tmp_path):
    rows = [(place % 2, place % 3, place % 5) for place in range(300)]
    found = recognised(tmp_path / "t.csv", ("phone_service", "voice mail plan", "mobile minutes"), rows)
    assert all(column.treatment.is_used for column in found.columns)


@pytest.mark.parametrize("name", ["nr", "child", "subject", "unique_id", "person", "hhid"])
def test_a_name_and_what_follows_from_its_numbers_make_a_person(name, tmp_path):
    found = recognised(tmp_path / "t.csv", (name, *_OF_INTERVIEWS), interviews())
    assert proposed(found) == name
