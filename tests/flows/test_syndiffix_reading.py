"""How the command, its flow and a notebook read dates and numbers as they are declared to be written."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.command.notebook.runs import _options
from tasks.configuration.flat_file import from_flat
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.tables.number_format import NumberFormat
from tasks.core.tables.texts import parse_as, parse_inferred
from tasks.plan.describe import describe
from tests.flows import visits
from tests.flows.syndiffix_people import read, run, write

pytestmark = pytest.mark.usefixtures("own_ledger")

FIRST, ROWS = date(2023, 1, 1), 600


@pytest.fixture
def dated_visits(tmp_path):
    """Visits on days of two years, as most of Europe writes them, and one empty cell."""
    days = [FIRST + timedelta(days=row * 37 % 730) for row in range(ROWS)]
    cells = [(f"{day:%d/%m/%Y}", f"{day.month}") for day in days]
    return write(tmp_path / "visits.csv", [*cells, ("", "1")], ["Visit", "month"])


def test_declared_dates_keep_their_months_and_others_are_not_read_as_dates(
    dated_visits, output, capfd, monkeypatch
):
    """Of 601 dates 364 came out empty and 236 with day and month swapped. The salt is one of no chance."""
    monkeypatch.setattr("secrets.token_bytes", bytes)
    assert run(dated_visits, "--columns", "Visit", "month:i", "-o", output) == 0
    said = capfd.readouterr().err
    assert "Visit:s" in said and "100 % of its cells look like dates" in said
    declared = ("--columns", "Visit", "month:i", "--date-format", "visit=%d/%m/%Y", "-o", output)
    assert run(dated_visits, *declared) == 0
    assert "Visit:t" in capfd.readouterr().err
    made = read(output)[1:]
    dates = [(date.fromisoformat(day), int(month)) for day, month in made if day]
    assert len(dates) >= 0.98 * len(made)
    assert all(FIRST <= day < FIRST + timedelta(days=730) for day, _ in dates)
    assert sum(day.month == month for day, month in dates) > 0.6 * len(dates)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["%d/%m/%Y"], "--date-format must be COLUMN= and a format"),
        (["vist=%Y"], "did you mean 'Visit'"),
        (["month=%Y"], "--date-format must name selected columns, and 'month' is not one"),
        (["Visit=%Q"], "date_formats must be made of parts"),
        (["Visit=%Y-%m-%d"], "dates as declared, and has none"),
    ],
)
def test_what_is_no_format_of_a_column_is_refused_before_a_salt_is_made(
    dated_visits, output, own_ledger, items, said, capfd
):
    assert run(dated_visits, "--columns", "Visit", "--date-format", *items, "-o", output) == 2
    assert said in capfd.readouterr().err
    assert not output.exists() and not (own_ledger / "salts").exists()


def test_it_may_be_given_several_times_and_a_name_may_have_an_equals_sign(tmp_path, output):
    rows = [(f"{1 + row % 28}.{1 + row % 2}.2024" if row % 3 else "2024-01-05", "x") for row in range(300)]
    table = write(tmp_path / "t.csv", rows, ["a=b", "c"])
    formats = ("--date-format", "a=b=%d.%m.%Y", "--date-format", "a=b=%Y-%m-%d")
    assert run(table, "--columns", "a=b:t", *formats, "-o", output) == 0
    assert all(date.fromisoformat(day).year == 2024 for (day,) in read(output)[1:])


def test_a_call_s_formats_are_the_option_s(tmp_path):
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"visit": ["x"], "end": ["x"]}), file)
    asked = {"date_formats": {"visit": "%d/%m/%Y", "end": ["%Y", "%d.%m.%Y"]}}
    found = _options(asked, file.getvalue())
    assert found.date_formats == ["visit=%d/%m/%Y", "end=%Y", "end=%d.%m.%Y"]


GERMAN, SPACED = NumberFormat(",", "."), NumberFormat(",", " ")


def german(folder: Path) -> Path:
    """A thousand people with an amount such as ``1.234,56``, a year, and a rate such as ``0.25``."""
    draw = np.random.default_rng(1)
    path = folder / "amounts.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("pid;amount;year;rate\n")
        for person in range(1000):
            amount = f"{draw.lognormal(7, 0.5):,.2f}".translate(str.maketrans(",.", ".,"))
            file.write(f"{person};{amount};{2000 + person % 3};{(person % 4) / 4:.2f}\n")
    return path


def texts(*found: str) -> pa.Array:
    """Cells as they are read."""
    return pa.array(found, pa.string())


def test_reals_and_integers_have_their_marks():
    assert parse_as("r", texts("1.234,5", "12,34,5", "1.5"), GERMAN).to_pylist() == [1234.5, None, None]
    assert parse_as("i", texts("1\u202f234", "12 34", "7,0"), SPACED).to_pylist() == [1234, None, None]
    assert parse_as("r", texts("1,234.5", "1,5")).to_pylist() == [1234.5, None]
    assert parse_inferred(texts("1.234,5", "", "7"), GERMAN).to_pylist() == [1234.5, None, 7.0]
    assert parse_inferred(texts("1.234", "7"), GERMAN).type == pa.int64()
    assert parse_inferred(texts("1.23", "7"), GERMAN).type == pa.string()
    assert parse_inferred(texts("007", "1,5"), GERMAN).type == pa.string()
    assert parse_inferred(texts("1,5", "NaN"), GERMAN).to_pylist() == [1.5, None]


def test_typed_cells_of_a_parquet_file_have_no_marks(tmp_path):
    table = pa.table({"x": pa.array([1.5, 2.5]), "y": texts("1,5", "2,5")})
    pq.write_table(table, tmp_path / "t.parquet")
    columns = [ChosenColumn("x", "r", GERMAN), ChosenColumn("y", "r", GERMAN)]
    assert read_table(tmp_path / "t.parquet", columns).columns.to_pydict() == {
        "x": [1.5, 2.5],
        "y": [1.5, 2.5],
    }
    assert read_table(tmp_path / "t.parquet", [ChosenColumn("x", "s", GERMAN)]).columns.to_pydict() == {
        "x": ["1.5", "2.5"]
    }


def test_the_command_reads_a_table_with_decimal_commas(tmp_path):
    asked = ("--columns", "amount", "year", "rate", "--aidcolumns", "pid", "-o", tmp_path / "out.parquet")
    assert run(german(tmp_path), *asked, "--decimal", ",", "rate=.", "--thousands", ".", "rate=") == 0
    made = pq.read_table(tmp_path / "out.parquet")
    assert [str(kind) for kind in made.schema.types] == ["double", "int64", "double"]
    assert 900 < np.median(made["amount"].to_numpy()) < 1300
    assert set(made["rate"].to_pylist()) <= {0.0, 0.25, 0.5, 0.75}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--decimal", ";"), "--decimal must be '.' or ','"),
        (("--decimal", "=,"), "--decimal must be"),
        (("--decimal", ",", "--thousands", ","), "give '.' as decimal"),
        (("--decimal", "amunt=,"), "did you mean 'amount'"),
        (("--decimal", ",", "."), "two marks"),
    ],
)
def test_marks_that_can_not_be_meant_are_refused(tmp_path, arguments, words, capfd):
    assert run(german(tmp_path), "--columns", "amount", "rate", *arguments) == 2
    assert words in capfd.readouterr().err


def test_a_run_reads_each_column_with_its_own_marks(tmp_path):
    path = german(tmp_path)
    body = visits.flat(tmp_path, {"columns": ["amount", "rate:r"]})
    body |= {
        "sensitive_microdata_path": str(path),
        "sensitive_microdata_delimiter": ";",
        "subject_id": "pid",
        "decimal": {"*": ",", "RATE": "."},
        "thousands": {"amount": "."},
    }
    described = describe(from_flat(body))
    formats = {column.name: column.number_format for column in described.synthesized.table}
    assert formats == {"amount": GERMAN, "year": NumberFormat(","), "rate": NumberFormat(".")}
