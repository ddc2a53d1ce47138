"""Dates are read as ISO 8601 or as declared, and what then is none is told with its share."""

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.dropped import DroppedCells
from tasks.core.syndiffix.reading import ChosenColumn, TypedTable, parse_column, read_table

AS_DECLARED = CellReading(date_formats=("%d/%m/%Y",))
NEED_A_FORMAT = "need date_formats (in the command: --date-format COLUMN=%d/%m/%Y)"


def read(folder: Path, cells: list[str], column: ChosenColumn) -> TypedTable:
    path = folder / "t.csv"
    path.write_text("\n".join(["x,visit", *(f"1,{cell}" for cell in cells)]) + "\n", encoding="utf-8")
    return read_table(path, [column])


def test_dates_that_are_not_iso_have_no_type_of_their_own_and_the_share_that_looks_like_dates_is_told(
    tmp_path: Path,
) -> None:
    found = read(tmp_path, ["03/11/2026", "13/11/2026", "soon", ""], ChosenColumn("visit"))
    assert found.columns["visit"].to_pylist() == ["03/11/2026", "13/11/2026", "soon", None]
    (said,) = found.complaints
    assert said.startswith("Column 2 of the input has no type and is read as text, but 66.7 % of its cells")
    assert NEED_A_FORMAT in said and "visit" not in said, "nobody declared the name"


def test_a_date_column_with_an_odd_word_is_told_and_read_with_type_t(tmp_path: Path) -> None:
    cells = ["2026-11-03", "2026-11-04T10:00", "offen"]
    assert "66.7 % of its cells look like dates" in read(tmp_path, cells, ChosenColumn("visit")).complaints[0]
    found = read(tmp_path, cells, parse_column("visit:t"))
    assert found.columns["visit"].to_pylist() == [datetime(2026, 11, 3), datetime(2026, 11, 4, 10), None]
    (said,) = found.complaints
    assert "no dates or times, 33.3 % of those" in said and NEED_A_FORMAT in said and "offen" not in said


def test_type_t_swaps_no_day_and_month(tmp_path: Path) -> None:
    """`03/11/2026` was March 11, and `13/11/2026` nothing."""
    with pytest.raises(InputError, match="dates or times to be read as visit:t, and has none") as refused:
        read(tmp_path, ["03/11/2026", "13/11/2026"], parse_column("visit:t"))
    assert NEED_A_FORMAT in str(refused.value)


@pytest.mark.parametrize("letter", ["t", None])
def test_a_declared_format_is_used_and_what_does_not_fit_is_told(tmp_path: Path, letter: str | None) -> None:
    column = ChosenColumn("visit", letter, reading=AS_DECLARED)  # type: ignore[arg-type]
    found = read(tmp_path, ["03/11/2026", "13/11/2026", "2026-11-03", "soon"], column)
    assert found.columns["visit"].to_pylist() == [datetime(2026, 11, 3), datetime(2026, 11, 13), None, None]
    (said,) = found.complaints
    assert said.startswith("Column 'visit' has cells that are no dates as declared, 50 % of those")
    assert found.dropped == (DroppedCells("visit", "not a date or time", 2),)


def test_a_format_that_no_cell_has_is_refused(tmp_path: Path) -> None:
    for letter in ("t", "s", None):
        with pytest.raises(InputError, match="dates as declared, and has none: correct date_formats"):
            read(tmp_path, ["2026-11-03", "soon"], ChosenColumn("visit", letter, reading=AS_DECLARED))  # type: ignore[arg-type]
    assert read(tmp_path, ["", ""], ChosenColumn("visit", reading=AS_DECLARED)).complaints == ()


def test_dates_of_a_parquet_file_are_written_in_no_format(tmp_path: Path) -> None:
    days = [datetime(2026, 11, 3), None]
    table = pa.table({"visit": pa.array(days, pa.timestamp("s")), "born": ["03/11/2026", "x"]})
    pq.write_table(table, tmp_path / "t.parquet")
    columns = [ChosenColumn(name, reading=AS_DECLARED) for name in ("visit", "born")]
    found = read_table(tmp_path / "t.parquet", columns).columns
    assert found["visit"].to_pylist() == found["born"].to_pylist() == days
    assert "50 % of its cells look like dates" in read_table(tmp_path / "t.parquet").complaints[0]


@pytest.mark.parametrize("cells", [["1.2.3", "10.0.0.1"], ["01067", "12/7"], ["2026-11", "4711"]])
def test_other_texts_look_like_no_dates(tmp_path: Path, cells: list[str]) -> None:
    assert read(tmp_path, [*cells, "x"], ChosenColumn("visit")).complaints == ()
