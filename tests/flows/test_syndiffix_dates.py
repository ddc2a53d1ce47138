"""``--date-format``: dates as they are written, in the command, its flow's configuration and a notebook."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from flows.command.notebook.runs import _options
from tests.flows.syndiffix_people import read, run, write

pytestmark = pytest.mark.usefixtures("own_ledger")

FIRST, ROWS = date(2023, 1, 1), 600


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Visits on days of two years, as most of Europe writes them, and one empty cell."""
    days = [FIRST + timedelta(days=row * 37 % 730) for row in range(ROWS)]
    cells = [(f"{day:%d/%m/%Y}", f"{day.month}") for day in days]
    return write(tmp_path / "visits.csv", [*cells, ("", "1")], ["Visit", "month"])


def test_declared_dates_keep_their_months_and_others_are_not_read_as_dates(
    visits, output, capfd, monkeypatch
):
    """Of 601 dates 364 came out empty and 236 with day and month swapped. The salt is one of no chance."""
    monkeypatch.setattr("secrets.token_bytes", bytes)
    assert run(visits, "--columns", "Visit", "month:i", "-o", output) == 0
    said = capfd.readouterr().err
    assert "Visit:s" in said and "100 % of its cells look like dates" in said
    declared = ("--columns", "Visit", "month:i", "--date-format", "visit=%d/%m/%Y", "-o", output)
    assert run(visits, *declared) == 0
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
        (["month=%Y"], "which is not synthesized"),
        (["Visit=%Q"], "date_formats must be made of parts"),
        (["Visit=%Y-%m-%d"], "dates as declared, and has none"),
    ],
)
def test_what_is_no_format_of_a_column_is_refused_before_a_salt_is_made(
    visits, output, own_ledger, items, said, capfd
):
    assert run(visits, "--columns", "Visit", "--date-format", *items, "-o", output) == 2
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
