from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError, ParameterError
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.dropped import DroppedCells
from tasks.core.syndiffix.reading import ChosenColumn, TypedTable, parse_column, read_table
from tasks.core.tables.number_format import NumberFormat


@pytest.fixture
def write(tmp_path):
    def write_(content, name="input.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_


def columns(*items):
    return [parse_column(item) for item in items]


def test_a_column_is_split_after_its_last_colon():
    assert parse_column("age:i") == ChosenColumn("age", "i")
    assert parse_column("a:b:s") == ChosenColumn("a:b", "s")
    assert parse_column("age") == ChosenColumn("age", None)
    for item in ("age:", "age:x", "age:I", ":i", "", "age:ir"):
        with pytest.raises(ParameterError, match="must be given as name:letter"):
            parse_column(item)


def test_declared_columns_are_read_in_their_order_with_their_types(write):
    path = write('a,b,c,d,e\n1,"1,5",t,2023-01-24, x \n2,2.5,0,,\n')
    table = read_table(path, columns("e:s", "a:i", "c:b", "d:t")).columns
    assert table.column_names == ["e", "a", "c", "d"]
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "bool", "timestamp[s]"]
    assert table["e"].to_pylist() == ["x", ""]
    assert table["c"].to_pylist() == [True, False]
    assert table["d"].to_pylist()[1] is None


def test_columns_without_a_letter_are_inferred_and_the_empty_cell_is_null(write):
    table = read_table(write('id,n,s\n1,1.5,\n2,,"x,y"\n3,2,z\n'), None, ["id"])
    assert table.columns.to_pydict() == {"n": [1.5, None, 2.0], "s": [None, "x,y", "z"]}
    assert table.ids.to_pydict() == {"id": ["1", "2", "3"]}


def test_what_cannot_be_read_is_null_and_told_of_by_column_alone(write):
    read = read_table(write("a,b,c\n1,secret,x\nnone,2.5,\n,,\n"), columns("a:i", "b:r", "c:s"))
    assert read.columns.to_pydict() == {"a": [1, None, None], "b": [None, 2.5, None], "c": ["x", "", ""]}
    assert read.complaints == (
        "Column 'a' has cells that are no integers, 50 % of those that aren't empty. They count as missing.",
        "Column 'b' has cells that are no real numbers, 50 % of those that aren't empty. They count as "
        "missing.",
    )


def test_a_type_that_no_cell_has_is_refused_and_an_empty_column_has_any(write):
    path = write("a,b,c\nsecret,7,\nx,nine,\n,,\n")
    with pytest.raises(InputError) as refused:
        read_table(path, columns("a:i", "b:t", "c:r"))
    assert [problem.partition(",")[0] for problem in refused.value.problems] == [
        "Column 'a' must have cells that are integers to be read as a:i",
        "Column 'b' must have cells that are dates or times to be read as b:t",
    ]
    assert "secret" not in str(refused.value)
    assert read_table(path, columns("a:s", "b:i", "c:r")).columns["c"].to_pylist() == [None] * 3


def test_ids_are_trimmed_text_missing_where_empty_of_any_spelling_and_perhaps_columns_too(write):
    path = write("a,p,q\n1, 007,x\n2,,\n3,7,y\n")
    table = read_table(path, columns("a:i"), ["q", "p"])
    assert table.ids.to_pydict() == {"q": ["x", None, "y"], "p": ["007", None, "7"]}
    table = read_table(path, columns("a:i", "p:s"), ["a"])
    assert (table.columns["a"].to_pylist(), table.ids["a"].to_pylist()) == ([1, 2, 3], ["1", "2", "3"])
    assert read_table(path, None, ["P"]).columns.column_names == ["a", "q"]


def test_more_rows_than_one_block_are_read(write):
    rows = 400_000
    content = "a,b\n" + "".join(f"{k},text number {k % 1000} of some length {k % 7}\n" for k in range(rows))
    table = read_table(write(content)).columns
    assert table["a"].to_pylist() == list(range(rows))
    assert table["b"][-1].as_py() == f"text number {(rows - 1) % 1000} of some length {(rows - 1) % 7}"


def test_missing_rows_and_columns_are_told(write):
    with pytest.raises(InputError, match="must hold rows"):
        read_table(write("a,b\n"))
    path = write("a,b\n1,2\n")
    with pytest.raises(InputError, match="'z' is declared") as raised:
        read_table(path, columns("a:i", "z:i"), ["y"])
    assert len(raised.value.problems) == 2
    with pytest.raises(ParameterError, match="'a' is listed twice"):
        read_table(path, columns("a:i", "a:s"))
    with pytest.raises(InputError, match="besides those of ids"):
        read_table(path, None, ["a", "b"])


@pytest.fixture
def parquet(tmp_path):
    table = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int16()),
            "d": pa.array([date(2020, 1, 1), None, date(2021, 1, 1)]),
            "s": ["", "1", None],
            "c": pa.array(["x", "y", "x"]).dictionary_encode(),
            "m": pa.array([Decimal("1.5"), None, Decimal("2.25")]),
            "nested": [[1], [2], []],
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    return path, table


def test_parquet_columns_keep_their_types_and_cells(parquet):
    path, table = parquet
    read = read_table(path, columns("s", "i", "d", "c", "m")).columns
    for name in ("s", "i", "d", "c", "m"):
        assert read[name].type == table[name].type
        assert read[name].to_pylist() == table[name].to_pylist()


def test_parquet_columns_are_read_as_declared(parquet):
    path, _ = parquet
    read = read_table(path, columns("i:s", "s:i", "d:t", "m:r", "c:s"), ["i"])
    assert read.columns["i"].to_pylist() == ["1", None, "3"]
    assert read.columns["s"].to_pylist() == [None, 1, None]
    assert read.columns["d"].type == pa.date32()
    assert read.columns["m"].to_pylist() == [1.5, None, 2.25]
    assert read.columns["c"].to_pylist() == ["x", "y", "x"]
    assert read.ids["i"].to_pylist() == ["1", None, "3"]
    with pytest.raises(InputError, match="list"):
        read_table(path, columns("i"), ["nested"])


@pytest.mark.parametrize("asked", [None, "s", "i"])
def test_parquet_texts_that_are_no_utf_8_are_refused_without_a_cell(tmp_path, asked):
    path = tmp_path / "t.parquet"
    offsets, content = pa.py_buffer(np.array([0, 5, 12], np.int32)), pa.py_buffer(b"plain" + b"secret\xe9")
    pq.write_table(pa.table({"x": pa.StringArray.from_buffers(2, offsets, content)}), path)
    with pytest.raises(InputError, match="its texts in UTF-8") as refused:
        read_table(path, [ChosenColumn("x", asked)])
    assert "secret" not in str(refused.value) and refused.value.__context__ is None


def test_an_infinite_cell_is_missing_is_told_and_makes_no_text_of_its_column(write):
    read = read_table(write("x,y\n1.5,a\n inf,b\n2,c\n-Infinity,d\n"))
    assert read.columns["x"].to_pylist() == [1.5, None, 2.0, None]
    assert read.complaints == (
        "A column of numbers without a declared type has infinite ones, 50 % of those that aren't empty. "
        "They count as missing.",
    )
    assert [(each.column, each.number) for each in read.dropped] == [("x", 2)]


def test_commas_that_may_be_decimals_are_told(write):
    """`2,500` is read as 2500, as the reference reads it: nobody may miss that it was meant as 2.5."""
    grouped = read_table(write("a;b\n2,500;1\n1,000;2\n"), columns("a:r", "b:r"))
    assert grouped.columns["a"].to_pylist() == [2500.0, 1000.0]
    (said,) = grouped.complaints
    assert said.startswith("ATTENTION: column 'a' has numbers with commas") and "--decimal ," in said
    mixed = read_table(write("a;b\n2,5;1\n7;2\n"), columns("a:r", "b:r"))
    assert "If a comma stands before the decimals" in mixed.complaints[0]
    with pytest.raises(InputError, match="--decimal ,"):
        read_table(write("a;b\n2,5;1\n3,25;2\n"), columns("a:r", "b:r"))
    declared = ChosenColumn("a", "r", NumberFormat(","))
    assert read_table(write("a;b\n2,500;1\n"), [declared]).complaints == ()


AS_DECLARED = CellReading(date_formats=("%d/%m/%Y",))
NEED_A_FORMAT = "need date_formats (in the command: --date-format COLUMN=%d/%m/%Y)"


def read(folder: Path, cells: list[str], column: ChosenColumn) -> TypedTable:
    path = folder / "t.csv"
    path.write_text("\n".join(["x,visit", *(f"1,{cell}" for cell in cells)]) + "\n", encoding="utf-8")
    return read_table(path, [column])


def test_dates_that_are_not_iso_have_no_type_of_their_own_and_the_share_that_looks_like_dates_is_told(
    tmp_path,
):
    found = read(tmp_path, ["03/11/2026", "13/11/2026", "soon", ""], ChosenColumn("visit"))
    assert found.columns["visit"].to_pylist() == ["03/11/2026", "13/11/2026", "soon", None]
    (said,) = found.complaints
    assert said.startswith("Column 2 of the input has no type and is read as text, but 66.7 % of its cells")
    assert NEED_A_FORMAT in said and "visit" not in said, "nobody declared the name"


def test_a_date_column_with_an_odd_word_is_told_and_read_with_type_t(tmp_path):
    cells = ["2026-11-03", "2026-11-04T10:00", "offen"]
    assert "66.7 % of its cells look like dates" in read(tmp_path, cells, ChosenColumn("visit")).complaints[0]
    found = read(tmp_path, cells, parse_column("visit:t"))
    assert found.columns["visit"].to_pylist() == [datetime(2026, 11, 3), datetime(2026, 11, 4, 10), None]
    (said,) = found.complaints
    assert "no dates or times, 33.3 % of those" in said and NEED_A_FORMAT in said and "offen" not in said


def test_type_t_swaps_no_day_and_month(tmp_path):
    """`03/11/2026` was March 11, and `13/11/2026` nothing."""
    with pytest.raises(InputError, match="dates or times to be read as visit:t, and has none") as refused:
        read(tmp_path, ["03/11/2026", "13/11/2026"], parse_column("visit:t"))
    assert NEED_A_FORMAT in str(refused.value)


@pytest.mark.parametrize("letter", ["t", None])
def test_a_declared_format_is_used_and_what_does_not_fit_is_told(tmp_path, letter):
    column = ChosenColumn("visit", letter, reading=AS_DECLARED)  # type: ignore[arg-type]
    found = read(tmp_path, ["03/11/2026", "13/11/2026", "2026-11-03", "soon"], column)
    assert found.columns["visit"].to_pylist() == [datetime(2026, 11, 3), datetime(2026, 11, 13), None, None]
    (said,) = found.complaints
    assert said.startswith("Column 'visit' has cells that are no dates as declared, 50 % of those")
    assert found.dropped == (DroppedCells("visit", "not a date or time", 2),)


def test_a_format_that_no_cell_has_is_refused(tmp_path):
    for letter in ("t", "s", None):
        with pytest.raises(InputError, match="dates as declared, and has none: correct date_formats"):
            read(tmp_path, ["2026-11-03", "soon"], ChosenColumn("visit", letter, reading=AS_DECLARED))  # type: ignore[arg-type]
    assert read(tmp_path, ["", ""], ChosenColumn("visit", reading=AS_DECLARED)).complaints == ()


def test_dates_of_a_parquet_file_are_written_in_no_format(tmp_path):
    days = [datetime(2026, 11, 3), None]
    table = pa.table({"visit": pa.array(days, pa.timestamp("s")), "born": ["03/11/2026", "x"]})
    pq.write_table(table, tmp_path / "t.parquet")
    columns = [ChosenColumn(name, reading=AS_DECLARED) for name in ("visit", "born")]
    found = read_table(tmp_path / "t.parquet", columns).columns
    assert found["visit"].to_pylist() == found["born"].to_pylist() == days
    assert "50 % of its cells look like dates" in read_table(tmp_path / "t.parquet").complaints[0]


@pytest.mark.parametrize("cells", [["1.2.3", "10.0.0.1"], ["01067", "12/7"], ["2026-11", "4711"]])
def test_other_texts_look_like_no_dates(tmp_path, cells):
    assert read(tmp_path, [*cells, "x"], ChosenColumn("visit")).complaints == ()
