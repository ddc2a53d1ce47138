"""``marginalia init``: messy tables, each of which runs as drafted, and so does next month's."""

import itertools
import json
import random
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from flows.command import main as command
from tasks.configuration.flat_file import from_flat
from tasks.configuration.model import RunConfiguration
from tasks.core.contracts.odcs import load_contract
from tasks.core.records.coded import CodedRecords
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.syndiffix.reading import read_table
from tasks.plan.describe import describe
from tests.flows import pipeline
from tests.flows.messy_tables import NEW, ROWS, TABLES

MONTHS = (0, 1)
PROTECTIONS = ("dp", "k_anonymity", "syndiffix")


def init(table: Path, *options: str) -> int:
    """Draft beside the table, accepting everything."""
    return command.main(["init", str(table), "--output", str(table.parent), "--yes", *options])


def drafted(folder: Path, name: str, protection: str = "dp", *options: str) -> Path:
    """The configuration that is drafted from the first month's table."""
    table, _ = (TABLES[name].write(folder, name, month) for month in MONTHS)
    assert init(table, "--protection", protection, *options) == 0
    return folder / f"{name}.json"


def written(folder: Path, name: str, *lines: str) -> Path:
    """A table of these lines."""
    path = folder / name
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def of_month(path: Path, month: int) -> RunConfiguration:
    """The draft as it stands, but for the vintage."""
    return from_flat(json.loads(path.read_text()) | {"vintage": f"2026-{month + 1:02}"})


def records(configuration: RunConfiguration) -> CodedRecords:
    """What is counted of a table."""
    described = describe(configuration)
    total = configuration.protection.is_drawn_once
    return encode(described.source, described.schema, EncodingOptions(total=total, key=b"k"))


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_reads_this_month_s_table_and_next_month_s(name, protection, tmp_path):
    path = drafted(tmp_path, name, protection)
    for month in MONTHS:
        configuration = of_month(path, month)
        if protection == "syndiffix":
            described = describe(configuration)
            selected = described.synthesized
            table = read_table(described.source, selected.table, selected.ids).columns
            assert table.num_rows == ROWS
            assert all(table.column(column).null_count < 0.6 * ROWS for column in selected.columns)
            continue
        assert configuration.input.subject_id == TABLES[name].subject
        found, counted = records(configuration), people(name, protection)
        assert found.number_of_records == counted
        for place, column in enumerate(found.schema.columns):
            held = np.zeros(counted, np.bool_)
            for slot, of_column in zip(found.slots, found.slot_columns, strict=True):
                held |= (of_column == place) & (slot > 0)
            assert held.mean() > 0.4, f"most of {column.name!r} is counted"
            if column.is_open:
                assert len(found.values[place]) <= 101, f"{column.name!r} has few values"
        named = {value for values in found.values for value in values}
        drawn = TABLES[name].write(tmp_path, name, month).read_text(TABLES[name].encoding)
        assert all((new in named) == (new in drawn) for new in NEW.values())


def people(name: str, protection: str) -> int:
    """How many records are counted: visits' rows are joined to people where records are counted."""
    return ROWS // 2 if name == "visits" and protection != "syndiffix" else ROWS


def _tolerance(release: Path, protection: str) -> float:
    """How many records may be off: 10 %, or under noise 5 standard deviations (1 in 1.7 million)."""
    if protection != "dp":
        return 0.1 * ROWS
    return 5 * json.loads((release / "privacy.json").read_text())["noisy_count"]["sd"]


def _each() -> list[ParameterSet]:
    """Every table under every protection; what differs little from one that is tried is slow's alone."""
    tried = [("visits", "dp"), ("excel", "k_anonymity"), ("titled", "syndiffix")]
    return [
        pytest.param(*each, marks=[] if each in tried else [pytest.mark.slow])
        for each in itertools.product(TABLES, PROTECTIONS)
    ]


@pytest.mark.server
@pytest.mark.parametrize(("name", "protection"), _each())
def test_a_draft_is_released_unchanged_and_so_is_next_month_s_table(name, protection, tmp_path):
    path = drafted(tmp_path, name, protection)
    for month in MONTHS:
        release = pipeline.run(of_month(path, month), "generate" if month else "navigate")
        [synthetic] = release.glob("*_synthetic_microdata.tsv")
        rows = len(synthetic.read_text(encoding="utf-8").splitlines()) - 1
        assert abs(rows - people(name, protection)) <= _tolerance(release, protection)


def test_nothing_is_drafted_from_a_table_without_a_record(tmp_path, capsys):
    table = written(tmp_path, "people.csv", "person,age,town")
    assert init(table) == 2
    said = capsys.readouterr().err
    assert "no record below it" in said and "Put the records there" in said and "--header no" in said
    assert list(tmp_path.iterdir()) == [table]


def test_it_shows_what_it_saw_and_says_which_option_answers_what_it_did_not_ask(tmp_path, capsys):
    drafted(tmp_path, "semicolons")
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "encoding utf-8: it holds nothing but ASCII",
        "delimiter semicolons: cells in each of the first records: 5",
        "decimals commas: some numbers can't be read otherwise",
        "rows 400 looked at",
        "whose row it is",
        "Taken: Kundennummer. The answer is an option: --subject-id COLUMN or --one-row-each.",
        "Taken: yes. The answer is an option: --column COLUMN=WORD",
        "The answer is an option: --epsilon.",
        "The answer is an option: --releases.",
        "The answer is an option: --population TEXT.",
        "The answer is an option: --unit WORD.",
        "Both were drafted by looking at the table",
    ):
        assert words in said


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_no_file_that_is_written_holds_a_value_of_the_table(protection, tmp_path):
    rows = [
        f"P{place:04},canary{place % 3},{place % 28 + 1}.7.2026,{place * 7.31:.2f},odd {place} canary"
        for place in range(300)
    ]
    table = written(tmp_path, "t.csv", "person,town,visited,amount,note", *rows)
    assert init(table, "--protection", protection) == 0
    for name in ("t.json", "t_contract.yaml"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert not [word for word in ("canary", "P00", "7.2026", "odd", "validValues:") if word in text]


def test_nothing_that_is_there_is_replaced_unless_it_is_asked_for(tmp_path, capsys):
    path = drafted(tmp_path, "accents")
    path.write_text("{}")
    table = tmp_path / "accents-2026-01.csv"
    assert init(table) == 2
    assert "is there already and is left as it is" in capsys.readouterr().err
    assert path.read_text() == "{}"
    assert init(table, "--overwrite") == 0
    assert json.loads(path.read_text())["subject_id"] == "N° dossier"


def test_check_propose_is_the_same_command(tmp_path, capsys):
    path = drafted(tmp_path, "accents")
    first, shown = path.read_text(), capsys.readouterr().out
    table = str(tmp_path / "accents-2026-01.csv")
    options = ["--output", str(tmp_path), "--yes", "--overwrite", "--protection", "dp"]
    assert command.main(["check", table, "--propose", *options]) == 0
    assert (path.read_text(), capsys.readouterr().out) == (first, shown)


def test_options_are_the_answers(tmp_path):
    options = ["--subject-id", "PATIENT_ID", "--epsilon", "2.5", "--releases", "4", "--vintage", "first"]
    options += ["--population", "patients of Ely", "--purpose", "planning", "--unit", "visit"]
    options += ["--column", "ward=skip", "--column", "visited=year"]
    path = drafted(tmp_path, "visits", "dp", *options, "--column", "birth_year=bins:1950,1980")
    flat = json.loads(path.read_text())
    assert (flat["subject_id"], flat["noise_epsilon"], flat["vintage"]) == ("patient_id", 2.5, "first")
    assert flat["privacy"] == {"releases": 4, "population": "patients of Ely"}
    assert flat["purpose"] == "planning" and "ward" not in flat["use_columns"]
    contract = load_contract(tmp_path / "visits_contract.yaml")
    columns = {column.name: column for column in contract.columns}
    assert columns["visited"].cut == "year" and columns["birth_year"].bins == (1950, 1980)
    assert "A row is a visit" in (tmp_path / "visits_contract.yaml").read_text()
    assert "unit" not in flat, "a record of the release is a person"


@pytest.mark.parametrize("protection", ["dp", "k_anonymity", "syndiffix"])
def test_the_page_calls_rows_of_different_people_what_the_person_called_them(protection, tmp_path):
    path = drafted(tmp_path, "sentinels", protection, "--one-row-each", "--unit", "visit")
    assert from_flat(json.loads(path.read_text())).report.unit == "visit"


def test_an_id_of_each_row_is_told_from_one_of_people_with_several(tmp_path, capsys):
    rows = [f"{place},P{place % 150:04},{place % 7}" for place in range(300)]
    table = written(tmp_path, "t.csv", "case id,patient id,ward", *rows)
    told = "each row has its own 'case id', so a row is protected. 'patient id' recurs"
    for subject, is_told in (("case id", True), ("patient id", False)):
        assert init(table, "--overwrite", "--subject-id", subject) == 0
        assert (told in capsys.readouterr().out) == is_told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--column", "nowhere=skip"], "'nowhere' is not a column of the table"),
        (["--column", "sex=boolean"], "'boolean' is no word for what a column is"),
        (["--column", "sex"], "must be given as COLUMN=WORD"),
        (["--column", "sex=month"], "Say how they are written"),
        (["--column", "ward=bins"], "its cells are no numbers"),
        (["--column", "birth_year=bins:9,1"], "bins must increase"),
        (["--subject-id", "person"], "'person' is not a column of the table"),
        (["--one-row-each", "--unit", "patient"], "'patient' is a word for people. Give another"),
        (["--skip-lines", "-1"], "must be 0 or more, not -1"),
        (["--epsilon", "0"], "Epsilon must be a number above 0"),
        (["--releases", "0"], "must be 1 or more"),
    ],
)
def test_what_can_not_be_taken_is_refused_and_nothing_is_written(options, words, tmp_path, capsys):
    assert init(TABLES["visits"].write(tmp_path, "visits", 0), *options) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.glob("*.json")) and not list(tmp_path.glob("*.yaml"))


def test_a_person_at_the_terminal_is_asked(tmp_path, monkeypatch):
    table = TABLES["visits"].write(tmp_path, "visits", 0)
    typed = ["nobody", "patient_id", "ward=text", "sex=nonsense", "visited=year", ""]
    typed += ["none", "dp", "-1", "0.5", "6", "patients", "the council", "visit"]
    typed += ["ward=skip", ""]  # what the release would lose
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return typed.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    assert command.main(["init", str(table), "--output", str(tmp_path)]) == 0
    assert not typed and asked[0].startswith("Whose row is it? [patient_id]")
    flat = json.loads((tmp_path / "visits.json").read_text())
    assert (flat["subject_id"], flat["noise_epsilon"], flat["privacy"]["releases"]) == ("patient_id", 0.5, 6)
    assert load_contract(tmp_path / "visits_contract.yaml").column("visited").cut == "year"  # type: ignore[union-attr]
    assert "ward" not in flat["use_columns"]


def test_a_configuration_says_how_its_table_is_read(tmp_path):
    (tmp_path / "t.data").write_text("".join(f"canary{place % 5} {place % 40}\n" for place in range(300)))
    flat = {
        "sensitive_microdata_path": str(tmp_path / "t.data"),
        "sensitive_microdata_delimiter": " ",
        "sensitive_microdata_header": ["word", "number"],
    }
    assert init(written(tmp_path, "given.json", json.dumps(flat))) == 0
    found = json.loads((tmp_path / "t.json").read_text())
    assert {key: found[key] for key in flat} == flat


def test_an_id_that_may_be_a_person_s_and_recurs_is_taken_for_nobody_s_by_a_person_alone(tmp_path, capsys):
    generator = np.random.default_rng(5)
    rows = [f"{generator.integers(1000, 1900)},{generator.integers(0, 2)}" for _ in range(3_000)]
    table = written(tmp_path, "stays.csv", "Pat,sex", *rows)
    assert init(table, "--header", "yes") == 2
    said = capsys.readouterr().err
    assert "'Pat' recurs and may say whose row it is" in said
    assert "--subject-id 'Pat', or --one-row-each" in said
    assert "3,000" not in said, "an error holds no count of the table"
    assert not (tmp_path / "stays.json").exists()
    assert init(table, "--header", "yes", "--subject-id", "Pat") == 0
    assert json.loads((tmp_path / "stays.json").read_text())["subject_id"] == "Pat"


def _members(folder: Path, rows: int = 900) -> Path:
    """People who joined in one of 36 months, with codes of four letters and a sex of 1 or 2."""
    lines = [
        f"M{place:04},{2022 + place % 3}-{place // 3 % 12 + 1:02}-{place % 28 + 1:02},"
        f"{'AB'[place % 2]}{place // 2 % 90:03},{place % 2 + 1},{place % 40}"
        for place in range(rows)
    ]
    return written(folder, "members.csv", "member,joined,region code,sex,town", *lines)


def test_what_the_release_would_lose_is_told_with_what_keeps_it(tmp_path, capsys):
    table, options = _members(tmp_path), ["--overwrite", "--subject-id", "member"]
    months = ["--column", "town=text", "--column", "region code=prefix:3"]
    assert init(table, *options, *months) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ATTENTION: '")]
    assert [line.split("'")[1] for line in told] == ["joined", "region code", "town"]
    assert "likely be empty in the release: at epsilon 1 a value needs about" in told[0]
    assert told[0].endswith("Read it coarser: --column 'joined'=year.")
    assert told[1].endswith("Read it coarser: --column 'region code'=prefix:2.")
    assert told[2].endswith("or leave it out (--column 'town'=skip).")
    better = ["--column", "joined=year", "--column", "region code=prefix:2", "--column", "town=bins"]
    assert init(table, *options, *better) == 0
    assert "ATTENTION: '" not in capsys.readouterr().out
    assert init(table, *options, *months, "--epsilon", "16") == 0
    assert "ATTENTION: 'joined'" not in capsys.readouterr().out, "at a larger epsilon months are kept"
    assert init(_members(tmp_path, 300), *options, "--protection", "k_anonymity") == 0
    said = capsys.readouterr().out
    assert "ATTENTION: 'joined' will likely be empty in the release: a value needs about 10 people" in said
    assert "ATTENTION: 'sex'" not in said


def test_a_wall_of_lost_columns_is_one_sentence_and_a_file_that_stays_with_the_table(tmp_path, capsys):
    names = [f"answer_{letter}" for letter in "abcdefghijkl"]
    drawn = random.Random(1)
    rows = [",".join(f"w{drawn.randrange(90):02}" for _ in names) for _ in range(900)]
    assert init(written(tmp_path, "wide.csv", ",".join(names), *rows), "--one-row-each") == 0
    said = capsys.readouterr().out
    (told,) = [line for line in said.splitlines() if "will likely be empty" in line]
    lost = int(told.removeprefix("ATTENTION: in the release, ").split()[0])
    assert lost > 3 and f"{lost} columns will likely be empty ('answer_a', " in told
    assert told.count("a value needs about") == 1, "one example"
    (listed,) = tmp_path.rglob("lost_columns.txt")
    assert str(listed) in said and "sensitive" in listed.parts
    assert (tmp_path / "workspace" / "sensitive").stat().st_mode & 0o777 == 0o700
    assert len(listed.read_text().splitlines()) >= lost


def test_what_codes_mean_is_asked_and_written(tmp_path, capsys):
    table, options = _members(tmp_path), ["--overwrite", "--subject-id", "member"]
    assert init(table, *options) == 0
    asked = "Not asked: What do the codes of 'sex' mean? Taken: nothing."
    assert f"{asked} The answer is an option: --value-names COLUMN:CODE=WORD,CODE=WORD." in (
        capsys.readouterr().out
    )
    assert "value_names" not in json.loads((tmp_path / "members.json").read_text())
    for protection in PROTECTIONS:
        said = ["--protection", protection, "--value-names", "SEX:1=men,2=women,9=not known"]
        assert init(table, *options, *said) == 0
        shown = capsys.readouterr().out
        assert "LOOK: no cell of 'sex' holds '9'." in shown and "What do the codes" not in shown
        flat = json.loads((tmp_path / "members.json").read_text())
        assert from_flat(flat).report.value_names == {"sex": {"1": "men", "2": "women", "9": "not known"}}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("sex", "must be given as COLUMN:CODE=WORD"),
        ("sex:1=", "must be given as COLUMN:CODE=WORD"),
        ("sexe:1=men", "'sexe' is not a column of the table: did you mean 'sex'?"),
        ("member:M0001=Ann", "it is not in the release"),
        ("town:1=Lyon", "its values are ranges of numbers"),
    ],
)
def test_what_codes_can_not_mean_is_refused(said, words, tmp_path, capsys):
    assert init(_members(tmp_path), "--subject-id", "member", "--value-names", said) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "members.json").exists()


def test_under_syndiffix_dates_are_drafted_whole_with_their_formats(tmp_path):
    days = [date(2024, 1, 1) + timedelta(days=place * 7 % 700) for place in range(300)]
    rows = []
    for place, day in enumerate(days):
        paid, said, born = (days[place // step * 11 % 77] for step in (3, 7, 11))
        rows.append(f"{day:%d/%m/%Y},{day:%Y-%m},{paid},{said:%d.%m.%Y},{1950 + place % 50}{born:-%m-04}")
    table = written(tmp_path, "t.csv", "seen,month,paid,said,born", *rows)
    options = ["--one-row-each", "--protection", "syndiffix", "--header", "yes", "--column", "said=year"]
    assert init(table, *options) == 0
    drafted = json.loads((tmp_path / "t.json").read_text())
    assert drafted["date_formats"] == {"seen": ["%d/%m/%Y"], "month": ["%Y-%m"], "said": ["%d.%m.%Y"]}
    assert drafted["syndiffix"]["columns"] == ["seen:t", "month:s", "paid:t", "said:s", "born:r"]
    described = describe(from_flat(drafted))
    read = read_table(described.source, described.synthesized.table)
    assert [moment.date() for moment in read.columns["seen"].to_pylist()] == days and not read.complaints
    assert read.columns["month"].to_pylist() == [f"{day:%Y-%m}" for day in days]
    assert set(read.columns["said"].to_pylist()) == {"2024", "2025"}


#: Excel's line, names that differ in case, keywords and marks as names, backslashes, a word in two forms.
_LETTERS, _HEAT = "aabbaab", ("hot", "mild", "cool", "dry")
_SUMMERS = ("e\u0301te\u0301", "\u00e9t\u00e9")
ODD = "sep=;\nSex;sex;select;a:b;;note\n" + "".join(
    f'{"mf"[i % 2]};{i % 3};{_LETTERS[i % 7]};{i % 5 + 20};x;"{_SUMMERS[i % 2]} \\"{_HEAT[i % 4]}\\""' + "\n"
    for i in range(ROWS)
)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_file_of_an_odd_form_is_read_as_it_was_drafted(protection, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD, encoding="utf-8")
    said = ["--header", "yes", "--one-row-each", "--protection", protection, "--vintage", "2026-01"]
    assert init(tmp_path / "odd.csv", *said) == 0
    configuration = of_month(tmp_path / "odd.json", 0)
    if protection == "syndiffix":
        described = describe(configuration)
        table = read_table(described.source, described.synthesized.table).columns
        assert table.column_names == ["Sex", "sex_2", "select", "a:b", "note"]
        assert len(set(table.column("note").to_pylist())) == 4
        return
    found = records(configuration)
    assert found.number_of_records == ROWS
    assert [column.name for column in found.schema.columns] == ["Sex", "sex_2", "select", "a<colon>b", "note"]


def test_a_column_that_follows_is_offered_and_check_says_what_leaving_it_costs(tmp_path, capsys):
    regions = {"Ely": "east", "Deal": "south", "Rye": "south", "Looe": "west"}
    towns = [*regions] * 100
    rows = [f"{town},{regions[town]},{place % 7 % 2}" for place, town in enumerate(towns)]
    table = written(tmp_path, "t.csv", "town,region,member", *rows)
    assert init(table, "--one-row-each") == 0
    assert "region follows from town" in capsys.readouterr().out
    assert command.main(["check", str(tmp_path / "t.json")]) == 0
    said = capsys.readouterr().out
    assert "note: region seems to follow from town" in said and "init with --declare region" in said
    assert init(table, "--one-row-each", "--overwrite", "--declare", "region") == 0
    assert load_contract(tmp_path / "t_contract.yaml").functional_dependencies[0].values == regions
    capsys.readouterr()
    assert command.main(["check", str(tmp_path / "t.json")]) == 0
    assert "seems to follow" not in capsys.readouterr().out
    assert init(table, "--one-row-each", "--overwrite", "--declare", "member") == 2
    assert "'member' has none: give one of 'region', or all" in capsys.readouterr().err
