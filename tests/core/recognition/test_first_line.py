"""A file without a header: whatever the first person's cells are, they must not become columns' names."""

import random

import pytest

from flows.command import main as command
from tasks.core.recognition.dialect import read_first_line, recognise_dialect
from tests.benchmarks.header_on_real_tables import TABLES, TUNED_ON, header_rates, table_files

OTHERS = "".join(
    f"Ann {i},{18 + i % 60},{1000 + i},{['healthy', 'asthma'][i % 2]},{2000 + i % 9}\n" for i in range(200)
)
TEXTS = "".join(f"Ann {i},{'fm'[i % 2]},{['healthy', 'asthma'][i % 2]}\n" for i in range(200))
DATES = "".join(f"A{i:04},2024-03-{1 + i % 28:02},{['healthy', 'asthma'][i % 2]}\n" for i in range(200))


#: First lines of a file without a header, each with "HIV positive" as somebody's diagnosis.
SHAPES = {
    "whole": ("Marta K,17,1234,HIV positive,2004", OTHERS),
    "n/a": ("Marta K,17,n/a,HIV positive,2004", OTHERS),
    "empty": ("Marta K,17,,HIV positive,2004", OTHERS),
    "all numbers missing": ("Marta K,,,HIV positive,", OTHERS),
    "all numbers unknown": ("Marta K,unknown,unknown,HIV positive,unknown", OTHERS),
    "three words": ("Marta K,n/a,unknown,HIV positive,refused", OTHERS),
    "a word of no list": ("Marta K,minor,1234,HIV positive,2004", OTHERS),
    "two words of no list": ("Marta K,minor,student,HIV positive,2004", OTHERS),
    "a word and an empty cell": ("Marta K,minor,,HIV positive,2004", OTHERS),
    "a word and a missing one": ("Marta K,minor,n/a,HIV positive,-", OTHERS),
    "two words alone": ("Marta K,minor,student,HIV positive,", OTHERS),
    "Excel's error": ("Marta K,#REF!,#N/A,HIV positive,#VALUE!", OTHERS),
    "dots": ("Marta K,.,..,HIV positive,...", OTHERS),
    "German": ("Marta K,k.A.,unbekannt,HIV positive,keine Angabe", OTHERS),
    "French": ("Marta K,inconnu,non renseigné,HIV positive,refus", OTHERS),
    "with units": ("Marta K,17 years,1234 EUR,HIV positive,year 2004", OTHERS),
    "at least": ("Marta K,>90,<1000,HIV positive,~2004", OTHERS),
    "numbers in words": ("Marta K,seventeen,n/a,HIV positive,2004", OTHERS),
    "counting up": ("Marta K,17,18,HIV positive,19", OTHERS),
    "quoted": ('"Marta K","n/a","",HIV positive,""', OTHERS),
    "texts": ("Marta K,f,HIV positive", TEXTS),
    "texts, a sex of its own": ("Marta K,diverse,HIV positive", TEXTS),
    "texts, an empty cell": ("Marta K,,HIV positive", TEXTS),
    "texts, no name": (",f,HIV positive", TEXTS),
    "texts, unknown": ("Marta K,unknown,HIV positive", TEXTS),
    "ids": ("A9999,unknown,HIV positive", DATES),
    "ids, and no date": ("A9999,,HIV positive", DATES),
    "ids, and a date": ("A9999,2024-01-01,HIV positive", DATES),
    "a date in words": ("Marta K,last May,HIV positive", DATES),
    "a mail address": ("marta@example.org,last May,HIV positive", DATES),
    "alone": ("Marta K,minor,HIV positive", ""),
    "few people": ("Marta K,minor,HIV positive", "Ann 1,44,healthy\nBen 2,31,asthma\n"),
    "a title above": ("Clinic of Ely,,,,\nMarta K,minor,n/a,HIV positive,2004", OTHERS),
    "a title above, no number": ("Clinic of Ely,,,,\nMarta K,minor,n/a,HIV positive,refused", OTHERS),
    "a title of a cell": ("Clinic of Ely\nMarta K,unknown,n/a,HIV positive,refused", OTHERS),
    "sparse people": ("Marta K,,,,\n,,,HIV positive,\nJo,minor,none,HIV positive,early", OTHERS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_is_never_taken_for_names_without_doubt(shape, tmp_path):
    first, others = SHAPES[shape]
    (tmp_path / "staff.csv").write_text(f"{first}\n{others}", encoding="utf-8")
    found = recognise_dialect(tmp_path / "staff.csv")
    assert found.doubt or "HIV positive" not in found.source.headers.names


def test_in_doubt_a_person_must_say_so(tmp_path, capsys):
    path = tmp_path / "staff.csv"
    path.write_text(f"Marta K,minor,n/a,HIV positive,2004\n{OTHERS}", encoding="utf-8")
    asked = ["init", str(path), "--output", str(tmp_path), "--yes"]
    assert command.main(asked) == 2
    error = capsys.readouterr().err
    assert "--header yes" in error and "HIV" not in error and "Marta" not in error
    assert "cell 3 is a word for a missing value; cell 5 begins as a number or date does" in error
    assert not (tmp_path / "staff.json").exists()
    assert command.main([*asked, "--header", "no"]) == 0
    written = (tmp_path / "staff_contract.yaml").read_text() + (tmp_path / "staff.json").read_text()
    assert "HIV" not in written and "Marta" not in written


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("name,age,income,state of health,year", OTHERS),
        ("Nom,âge,revenu,diagnostic,année", OTHERS),
        (",age,income,diagnosis,year", OTHERS),
        ("q1,q2,q3,q4,q5", OTHERS),
        ("person,sex,diagnosis", TEXTS),
        ("member id,visited on,diagnosis", DATES),
    ],
)
def test_a_header_of_plain_words_is_in_no_doubt(first, others, tmp_path):
    (tmp_path / "t.csv").write_text(f"{first}\n{others}", encoding="utf-8")
    found = recognise_dialect(tmp_path / "t.csv")
    assert not found.doubt and found.source.header == ()


def test_at_the_terminal_the_person_is_shown_the_line_and_asked(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.csv").write_text(f"Marta K,minor,n/a,HIV positive,2004\n{OTHERS}")
    asked: list[str] = []
    typed = ["", "perhaps", "no"]

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if not typed:
            raise EOFError
        return typed.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    assert command.main(["init", str(tmp_path / "t.csv"), "--output", str(tmp_path)]) == 0
    assert [prompt.startswith("Does it name the columns") for prompt in asked[:4]] == [True] * 3 + [False]
    assert "Marta K | minor | n/a | HIV positive | 2004" in capsys.readouterr().out
    assert "column_2" in (tmp_path / "t_contract.yaml").read_text()
    assert command.main(["init", str(tmp_path / "t.csv"), "--output", str(tmp_path), "--overwrite"]) == 2


#: Headers of real tables, of words that no list holds, each with some records below it.
HEADERS = {
    "above numbers": ("price,lotsize,bedrooms", [f"{9000 + 17 * i},{500 + i},{i % 5}" for i in range(60)]),
    "above numbers, few": ("gdpb,impo,expo", [f"0.{i},{i},{3 * i}" for i in range(1, 7)]),
    "above powers of ten": ("qx,lx", [f"{i}.5e-05,{i}e-7" for i in range(1, 60)]),
    "above moments": (
        "who,when,kind",
        [f"p{i},2024-03-{1 + i % 28:02}T10:00:00,{'ab'[i % 2]}" for i in range(60)],
    ),
    "above booleans": ("coed,lunch,urban", ["TRUE,no,F", "FALSE,yes,T"] * 30),
    "one recurs": ("age,hispanic,bmi,wt", [f"{i},{['hispanic', 'not'][i % 2]},{i}.5,{i}" for i in range(60)]),
    "a word for nothing": (
        "gear,carb,mpg,other,wt,hp,qsec",
        [f"{i},{i % 4},{i}.2,{i},2,3,4" for i in range(60)],
    ),
    "a letter that may say confidential": ("NOx,C,E", [f"{i / 7:.3f},{i % 4},{i}.2" for i in range(60)]),
    "of a table of frequencies": (
        "Manage,Super,Freq",
        [f"{'ab'[i % 2]},{'cd'[i // 4]},{9 * i}" for i in range(8)],
    ),
    "of pandas": (",gear,mpg", [f"{i},{i % 4},{i}.2" for i in range(60)]),
    "of pandas, named rows": (",gear,mpg", [f"Mazda RX{i},{i % 4},{i}.2" for i in range(60)]),
    "quoted": ('"gear","mpg"', [f'"{i % 4}","{i}.2"' for i in range(60)]),
    "of years": ("Country,1990,1991,1992", [f"{'ABCD'[i % 4]},{i}.2,{3 * i},{i / 7:.2f}" for i in range(60)]),
    "above codes alone": ("Mois,Manag,Use,Manure", ["M1,SF,U2,C4", "M2,BF,U1,C2", "M1,HF,U2,C2"] * 20),
    "keywords": (
        "select,order,count,null,group by,a:b,x;y,where",
        ["a,b,a,b,a,b,a,a", "b,a,a,a,b,b,b,a"] * 50,
    ),
    "with numbers": (
        "50s_x,401k_active,gear,mpg,wt,hp",
        [f"{i % 2},{i % 3},{i},{i},{i},{i}" for i in range(60)],
    ),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_is_in_no_doubt_where_records_could_hardly_be_so_and_none_of_these_becomes_one(
    kind, tmp_path
):
    first, rows = HEADERS[kind]
    (tmp_path / "t.csv").write_text("\n".join([first, *rows]) + "\n")
    found = recognise_dialect(tmp_path / "t.csv")
    assert (found.doubt, found.source.header) == ("", ())
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    found = recognise_dialect(tmp_path / "t.csv")
    assert found.doubt or found.source.header


def test_a_record_that_fits_every_column_is_asked_about_by_nobody():
    rows = [[f"Ann {i}", str(18 + i % 60), "fm"[i % 2], str(1000 + i)] for i in range(50)]
    assert read_first_line(rows).doubt == "" and not read_first_line(rows).is_header


def test_two_years_beside_a_word_of_headers_are_asked_about():
    rows = [["Brazil", "80488", "213766"], ["Afghanistan", "745", "2666"], ["China", "212258", "1272915272"]]
    assert read_first_line([["country", "1999", "2000"], *rows]).doubt


def test_years_above_years_are_no_header():
    rows = [["Ann", str(1990 + i % 9), str(1991 + i % 9), str(1992 + i % 9)] for i in range(50)]
    assert not read_first_line(rows).is_header or read_first_line(rows).doubt


_NAMES = ("Ana", "Ben", "Eve", "Jo", "Li", "Mia", "Tom", "Uwe", "Zoe", "maria", "DE LA CRUZ", "O'Neil")
_LISTS = (("f", "m"), ("healthy", "asthma", "diabetes"), ("Bonn", "Ulm", "Kiel"), ("yes", "no"), ("A1", "B2"))
_ODD = ("", "n/a", "unknown", "minor", "diverse", "HIV positive", "see notes", "-", "twelve", "2024", "x")

_PLAIN = {"minor", "diverse", "twelve", "x"}


def _column(draw: random.Random, rows: int) -> list[str]:
    kind = draw.randrange(7)
    values = draw.choice(_LISTS)
    makers = (
        lambda: f"{draw.choice(_NAMES)} {draw.choice(_NAMES)}",
        lambda: draw.choice(_NAMES),
        lambda: draw.choice(values),
        lambda: str(draw.randrange(90)),
        lambda: f"{draw.lognormvariate(7, 1):.2f}",
        lambda: f"20{draw.randrange(10, 25)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
        lambda: f"P{draw.randrange(10**4):04}",
    )
    return [makers[kind]() for _ in range(rows)]


def _headerless(draw: random.Random) -> list[list[str]]:
    """Records, of which each cell of the first is odd with a chance of one in five."""
    rows = draw.choice([1, 2, 5, 20, 80])
    columns = [_column(draw, rows) for _ in range(draw.choice([1, 2, 3, 5, 8]))]
    for column in columns:
        column[0] = draw.choice(_ODD) if draw.random() < 0.2 else column[0]
    return [list(record) for record in zip(*columns, strict=True)]


@pytest.mark.parametrize("tables", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_of_files_without_a_header_none_gives_names(tables):
    draw = random.Random(tables)
    for _ in range(tables):
        records = _headerless(draw)
        found = read_first_line(records)
        passes = set(records[0]) <= _PLAIN  # nothing but the meaning of the words tells it
        assert found.doubt or not found.is_header or passes, records[:3]


# --- a few real tables: the benchmark's rates are of 300


def test_of_real_tables_no_record_becomes_names_and_hardly_a_header_is_asked_about():
    rates = header_rates(table_files()[TUNED_ON + 2 * TABLES :], 20)
    assert rates["records_taken_for_headers"] == 0 == rates["headers_taken_for_records"]
    assert rates["headers_asked_about"] <= 0.05
