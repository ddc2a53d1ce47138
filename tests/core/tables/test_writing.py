import csv
import io
import os
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.reading import parse_column, read_table
from tasks.core.tables.writing import write_delimited, write_table

MOMENT = datetime(2023, 1, 24, 14, 25, 47)


def written(table, delimiter=","):
    stream = io.BytesIO()
    write_delimited(table, stream, delimiter)
    return stream.getvalue().decode()


def cell(array):
    """How the first cell of a column is written."""
    return written(pa.table({"c": array, "x": ["x"] * len(array)})).split("\n")[1].removesuffix(",x")


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (pa.array([None], pa.int64()), ""),
        (pa.array([None], pa.string()), ""),
        (pa.nulls(1), ""),
        (pa.array([""]), ""),
        (pa.array([True]), "true"),
        (pa.array([False]), "false"),
        (pa.array([-5], pa.int8()), "-5"),
        (pa.array([Decimal(10**37)]), "1" + "0" * 37),
        (pa.array([Decimal("1.50")]), "1.50"),
        (pa.array([1e-07]), "1e-7"),
        (pa.array([0.1], pa.float32()), "0.1"),
        (pa.array([MOMENT], pa.timestamp("ns")), "2023-01-24 14:25:47"),
        (pa.array([MOMENT, MOMENT.replace(microsecond=500000)]), "2023-01-24 14:25:47.000"),
        (pa.array([MOMENT.replace(tzinfo=UTC)], pa.timestamp("us", "UTC")), "2023-01-24 14:25:47Z"),
        (
            pa.array([MOMENT.replace(tzinfo=UTC)], pa.timestamp("s", "Europe/Berlin")),
            "2023-01-24 15:25:47+0100",
        ),
        (pa.array([date(2023, 1, 24)]), "2023-01-24"),
        (pa.array([datetime(2023, 1, 24), None], pa.timestamp("us")), "2023-01-24"),
        (pa.array([datetime(2023, 1, 24), MOMENT], pa.timestamp("us")), "2023-01-24 00:00:00"),
        (pa.array([datetime(2023, 1, 24, tzinfo=UTC)], pa.timestamp("s", "UTC")), "2023-01-24 00:00:00Z"),
        (pa.array([10 - 2**63], pa.timestamp("ns")), "1677-09-21 00:12:43.145224202"),
        (pa.array([2**53 + 1], pa.duration("ns")), "9007199.254740993"),
        (pa.array([time(1, 2, 3)], pa.time32("s")), "01:02:03"),
        (pa.array([timedelta(seconds=1, milliseconds=500)]), "1.5"),
        (pa.array(["a b"]).dictionary_encode(), "a b"),
        (pa.array(["a"], pa.large_string()), "a"),
    ],
)
def test_cells_are_written_plainly(array, text):
    assert cell(array) == text


@pytest.mark.parametrize(
    ("text", "comma", "tab"),
    [
        ("a,b", '"a,b"', "a,b"),
        ("a\tb", "a\tb", '"a\tb"'),
        ('a"b', '"a""b"', '"a""b"'),
        ("a\nb", '"a\nb"', '"a\nb"'),
    ],
)
def test_cells_are_quoted_where_they_must_be(text, comma, tab):
    table = pa.table({"c": [text], text: [1]})
    assert written(table) == f"c,{comma}\n{comma},1\n"
    assert written(table, "\t") == f"c\t{tab}\n{tab}\t1\n"


def test_the_empty_cells_of_a_single_column_are_quoted():
    assert written(pa.table({"c": ["a", None, ""]})) == 'c\na\n""\n""\n'


@given(st.lists(st.tuples(st.text(), st.text()), max_size=20), st.sampled_from([",", "\t", ";"]))
def test_any_text_is_read_back_by_other_readers(rows, delimiter):
    table = pa.table(
        {"a": [a for a, _ in rows], "b": [b for _, b in rows]}, pa.schema({"a": "string", "b": "string"})
    )
    lines = csv.reader(io.StringIO(written(table, delimiter), newline=""), delimiter=delimiter)
    assert [tuple(line) for line in lines] == [("a", "b"), *rows]


def test_tables_of_several_pieces_are_written_whole():
    table = pa.concat_tables(
        [pa.table({"a": range(k, k + 50_000), "b": ["x"] * 50_000}) for k in (0, 50_000, 100_000)]
    )
    assert written(table) == "a,b\n" + "".join(f"{k},x\n" for k in range(150_000))


def test_a_table_without_rows_is_its_header():
    assert written(pa.table({"a": [], "b": []})) == "a,b\n"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
def test_what_is_written_is_read_back(tmp_path, name):
    table = pa.table(
        {
            "n": [1, None],
            "s": ["a,b", ""],
            "t": pa.array([MOMENT, None], pa.timestamp("s")),
            "b": [True, None],
        }
    )
    write_table(table, tmp_path / name)
    items = ["n:i", "s:s", "t:t", "b:b"]
    assert read_table(tmp_path / name, [parse_column(item) for item in items]).columns.equals(table)


def test_parquet_keeps_types_and_nothing_else(tmp_path):
    table = pa.table(
        {
            "n": pa.array([1, None], pa.uint8()),
            "t": pa.array([MOMENT, None], pa.timestamp("us", "Europe/Berlin")),
        },
        metadata={"secret": "x"},
    )
    write_table(table, tmp_path / "t.parquet")
    back = pq.read_table(tmp_path / "t.parquet")
    assert back.equals(table) and back.schema.metadata is None


def test_a_file_appears_whole_in_the_place_of_another(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    (tmp_path / "link.csv").symlink_to(path)
    write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "link.csv")
    assert path.read_text() == "a,b\n1,2\n" and (tmp_path / "link.csv").is_symlink()


def test_a_file_that_fails_leaves_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    with pytest.raises(pa.ArrowException):
        write_table(pa.table({"a": [[1]], "b": [{"x": 1}]}), path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_table(pa.table({"a": [1], "b": [2]}), pipe)
    assert os.read(reader, 100) == b"a,b\n1,2\n"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["t.xlsx", "t.tsv.gz", "t.parquet.out", "t"])
def test_an_ending_that_names_no_format_is_refused(tmp_path, name):
    with pytest.raises(ParameterError, match=r"its ending, one of \.csv, \.txt, \.tsv, "):
        write_table(pa.table({"a": [1]}), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_are_told(tmp_path):
    table = pa.table({"a": [1]})
    with pytest.raises(ParameterError, match="is a folder"):
        write_table(table, tmp_path)
    with pytest.raises(ParameterError, match="No such file or directory"):
        write_table(table, tmp_path / "none" / "t.csv")
