"""Encoding, quote, delimiter and header are found by bytes and first records, and a person's word stands."""

import gzip

import pytest

from tasks.core.errors import InputError
from tasks.core.recognition.dialect import recognise_dialect
from tasks.core.recognition.init_answers import FileAnswers
from tasks.core.recognition.table import recognise_table
from tasks.core.tables.batches import read_batches

ROWS = [("name", "town", "age"), ("Ana", "Lyon, 3rd", "34"), ("Ben", "x|z", "9"), ("Eve", "", "71")]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_delimiter_is_found(delimiter, tmp_path):
    body = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in ROWS)
    (tmp_path / "t.txt").write_text(body)
    assert recognise_dialect(tmp_path / "t.txt").source.delimiter == delimiter


@pytest.mark.parametrize(
    ("encoding", "text", "wanted"),
    [
        ("utf-8", "name,town\nAna,Köln\n", "utf-8"),
        ("utf-8-sig", "name,town\nAna,Lyon\n", "utf-8"),
        ("utf-16", "name,town\nAna,Köln\n", "utf-16"),
        ("cp1252", "name,price\nAna,5 €\n", "cp1252"),
        ("latin-1", "name,town\nAna,Köln\n", "cp1252"),
        ("latin-1", "name,town\nAna,K\x81ln\n", "latin-1"),
        ("ascii", "name,town\nAna,Lyon\n", "utf-8"),
    ],
)
def test_the_encoding_is_one_that_has_every_byte(encoding, text, wanted, tmp_path):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    source = recognise_dialect(tmp_path / "t.csv").source
    assert source.encoding == wanted
    assert source.headers.names[0] == "name"


def test_letters_that_stand_far_behind_count_also_in_an_archive(tmp_path):
    text = "name,town\n" + "Ana,Lyon\n" * 200_000 + "Ben,Köln\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode("latin-1"), 1))
    assert recognise_dialect(tmp_path / "t.csv.gz").source.encoding == "cp1252"


@pytest.mark.parametrize(
    ("lines", "has_header"),
    [
        (["name,age", "Ana,34", "Ben,9"], True),
        (["Ana,34", "Ben,9", "Eve,71", "Ana,3"], False),
        (["34,1.5", "9,2.5", "71,0.1"], False),
        (["town,2019,2020", "Lyon,5,7", "Lille,3,4", "Nice,8,1"], False),
        (["a,b", "x,y", "z,w"], True),
        (["red,yes", "blue,no", "red,no", "blue,yes"], False),
        (["2024-01-03,5", "2024-02-03,6"], False),
        (["name", "Ana", "Ben"], True),
        (["a,b"], True),
    ],
)
def test_a_first_line_like_those_below_it_is_no_header(lines, has_header, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    source = recognise_dialect(tmp_path / "t.csv").source
    assert (source.header == ()) is has_header
    if not has_header:
        assert source.header == tuple(f"column_{place}" for place in range(1, len(lines[0].split(",")) + 1))
    said = FileAnswers(has_header=not has_header)
    assert (recognise_dialect(tmp_path / "t.csv", said).source.header == ()) is not has_header


def test_a_quote_that_is_left_open_early_hides_no_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{place},north,{place % 7}" for place in range(40_000)]
    lines[30] = '30,"north,2'
    path.write_text("\n".join(["id,ward,size", *lines]) + "\n")
    found = recognise_dialect(path)
    assert found.source.delimiter == "," and found.source.headers.names == ("id", "ward", "size")
    with pytest.raises(InputError, match="every quote must be closed"):
        list(read_batches(found.source, [0]))


def test_single_quotes_are_found(tmp_path):
    (tmp_path / "t.csv").write_text("name,town\n" + "'Ana','Lyon, 3rd'\n'O\"Neil','Nice'\n" * 5)
    found = recognise_dialect(tmp_path / "t.csv")
    assert (found.source.quote, found.source.delimiter) == ("'", ",")
    assert recognise_table(tmp_path / "t.csv").cells[1].texts == ("Lyon, 3rd", "Nice")


def test_what_a_person_says_stands(tmp_path):
    (tmp_path / "t.csv").write_text("a;b,c\n1;2,3\n4;5,6\n")
    found = recognise_dialect(tmp_path / "t.csv", FileAnswers("latin-1", ";", "'", True))
    assert (found.source.encoding, found.source.delimiter, found.source.quote) == ("latin-1", ";", "'")
    assert found.reasons["delimiter"] == "semicolons: you say so"


@pytest.mark.parametrize(("text", "words"), [("", "is empty"), ("a,b\n1,2\n1,canary,3\n", "as many cells")])
def test_a_file_that_is_no_table_is_refused_without_its_cells(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        recognise_table(tmp_path / "t.csv")
    assert "canary" not in str(caught.value)


TITLED = {
    "a title": ("Members,,\n\nname,town,age\nAna,Lyon,34\n", 2),
    "without the other cells": ("Members of the club\nname,town,age\nAna,Lyon,34\nBen,Nice,9\n", 1),
    "a title of two lines": ('"Members\n2026",,\nname,town,age\nAna,Lyon,34\n', 2),
    "none": ("name,town,age\nAna,Lyon,34\n", 0),
    "few names": ("id,,,\n1,2,3,4\n5,6,7,8\n", 0),
    "two columns": ("name,\nage,town\nAna,Lyon\n", 0),
}


@pytest.mark.parametrize("kind", TITLED)
def test_lines_above_the_header_are_left_out(kind, tmp_path):
    text, wanted = TITLED[kind]
    (tmp_path / "t.csv").write_text(text)
    found = recognise_dialect(tmp_path / "t.csv")
    assert found.source.skip_lines == wanted and ("title" in found.reasons) == (wanted > 0)
    assert not wanted or found.source.headers.names == ("name", "town", "age")


def test_a_person_says_how_many_lines_stand_above_the_header(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\nname,town,age\nAna,Lyon,34\n")
    source = recognise_dialect(tmp_path / "t.csv", FileAnswers(skip_lines=1)).source
    assert source.headers.names == ("name", "town", "age")


def test_a_row_of_totals_is_told(tmp_path):
    (tmp_path / "t.csv").write_text("name,town,age\nAna,Lyon,34\nBen,Nice,9\nTotal,,43\n")
    assert recognise_table(tmp_path / "t.csv").total == "Total"
    (tmp_path / "t.csv").write_text("name,town,age\nTotal,,43\nAna,Lyon,34\nBen,Nice,9\n")
    assert recognise_table(tmp_path / "t.csv").total == ""


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_that_tells_excel_the_delimiter_is_no_header(line, end, tmp_path):
    body = end.join([line, "town;price", "Lyon;1,5", "Nice;2,5", ""])
    (tmp_path / "t.csv").write_bytes(("\ufeff" + body).encode())
    found = recognise_dialect(tmp_path / "t.csv")
    assert found.source.delimiter == ";" and found.source.headers.names == ("town", "price")
    assert recognise_table(tmp_path / "t.csv").cells[1].texts == ("1,5", "2,5")


def test_below_excel_s_line_a_title_is_left_out_with_it(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\nMembers;;\nname;town;age\nAna;Lyon;34\nBen;Nice;9\n")
    found = recognise_dialect(tmp_path / "t.csv").source
    assert (found.skip_lines, found.headers.names) == (2, ("name", "town", "age"))
    said = recognise_dialect(tmp_path / "t.csv", FileAnswers(skip_lines=2)).source
    assert said.headers.names == ("name", "town", "age")


@pytest.mark.parametrize(
    ("escape", "cell"),
    [
        *(("\\", cell) for cell in (r"said \"hi\", left", r"a\"", r"\"", r"5\" x 7\"")),
        *(('"', cell) for cell in ("C:\\dir\\", 'said ""hi""', r'a\""b', "\\")),
    ],
)
def test_backslashes_before_quotes_are_found_and_those_that_stand_for_themselves_stay(escape, cell, tmp_path):
    (tmp_path / "t.csv").write_text("note,town\n" + f'"{cell}",Lyon\n"a, b",Nice\n' * 5)
    found = recognise_table(tmp_path / "t.csv")
    held = cell.replace("\\", "") if escape == "\\" else cell.replace('""', '"')
    assert found.source.escape == escape and held in found.cells[0].texts


def test_names_that_differ_by_case_alone_are_names_and_told_apart(tmp_path):
    rows = [f"{'mf'[i % 2]},{i % 2},{['Bonn', 'Ulm', 'Kiel', 'Trier'][i % 4]}" for i in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["Sex,sex,SEX ", *rows]), encoding="utf-8")
    found = recognise_table(tmp_path / "t.csv")
    assert (found.doubt, found.rows) == ("", 600) and "Sex, sex_2, SEX_3" in found.reasons["names"]
    assert [column.name for column in found.columns] == ["Sex", "sex_2", "SEX_3"]


def test_a_column_without_a_name_is_told(tmp_path):
    (tmp_path / "t.csv").write_text("age,,grade\n1,x,C\n2,y,B\n")
    assert recognise_table(tmp_path / "t.csv", FileAnswers(has_header=True)).reasons["nameless"] == (
        "column 2 left out: no name"
    )


def test_one_word_in_two_unicode_forms_is_one_value(tmp_path):
    (tmp_path / "t.csv").write_text("cafe\u0301,town\n" + "e\u0301te\u0301,Lyon\n\u00e9t\u00e9,Nice\n" * 5)
    found = recognise_table(tmp_path / "t.csv")
    assert found.columns[0].name == "caf\u00e9" and found.cells[0].texts == ("\u00e9t\u00e9",)
