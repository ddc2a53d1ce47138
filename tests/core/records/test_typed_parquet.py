"""Typed Parquet values become the text of their value, which for most types is what DuckDB casts them to."""

import datetime
import decimal
import uuid

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.core.errors import InputError
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.column_names import output_spelling
from tasks.core.tables.header import InputFile
from tests.oracles.loading import decode

MOMENT = datetime.datetime(2024, 2, 29, 13, 5, 6, 789)
TYPED = {
    "bool": pa.array([True, False, None, True]),
    "int8": pa.array([1, -1, None, 0], pa.int8()),
    "uint64": pa.array([1, 2**64 - 1, None, 3], pa.uint64()),
    "float": pa.array([1.0, 0.1, None, 1e20], pa.float32()),
    "double": pa.array([1.0, float("nan"), float("inf"), 1e-7]),
    "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.00"), decimal.Decimal("0.00")]),
    "date": pa.array([MOMENT.date(), None, MOMENT.date(), datetime.date(1, 1, 1)]),
    "seconds": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("ms")),
    "micros": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("us")),
    "nanos": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("ns")),
    "zoned": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("us", tz="Asia/Tokyo")),
    "time": pa.array([MOMENT.time(), None, MOMENT.time(), datetime.time(0)]),
    "bytes": pa.array([b"ab", b"\xff", None, b""]),
    "uuid": pa.array([uuid.UUID(int=i).bytes for i in range(4)], pa.uuid()),
    "text": pa.array(["a", " b", None, ""]),
    "large": pa.array(["a", " b", None, ""], pa.large_string()),
    "view": pa.array(["a", " b", None, ""], pa.string_view()),
    "categories": pa.DictionaryArray.from_arrays(pa.array([1, None, 1, 0]), pa.array(["x", "y", "never"])),
    "nothing": pa.nulls(4),
}


#: What is not as DuckDB casts it.
SPELLED = {
    "float": ["1", "0.1", None, "100000002004087734272"],
    "double": ["1", None, "inf", "1e-07"],
    "decimal": ["1.5", None, "-2", "0"],
}


def encoded(folder, columns, *described, subject=None):
    pq.write_table(pa.table(columns), folder / "t.parquet")
    options = EncodingOptions(total=True, key=b"s")
    return encode(InputFile(folder / "t.parquet"), Schema(described, subject), options)


@pytest.mark.parametrize("name", TYPED)
def test_values_are_text_as_duckdb_casts_them(tmp_path, name):
    records = encoded(tmp_path, {name: TYPED[name]}, Column(name, zero_is_value=True))
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        query = f'select cast("{name}" as varchar) as value from read_parquet($path)'
        rows = (
            connection.sql(query, params={"path": str(tmp_path / "t.parquet")}).to_arrow_table().to_pylist()
        )
    expected = [output_spelling(row["value"] or "") or None for row in rows]
    expected = SPELLED.get(name, expected)
    assert decode(records)[name].to_pylist() == expected
    assert sorted(records.values[0]) == sorted({value for value in expected if value})


def test_dates_have_the_declared_format(tmp_path):
    columns = {"date": TYPED["date"], "micros": TYPED["micros"]}
    described = [Column("date", value_format="%Y"), Column("micros", value_format="%H h")]
    records = decode(encoded(tmp_path, columns, *described))
    assert records["date"].to_pylist() == ["2024", None, "2024", "0001"]
    assert records["micros"].to_pylist() == ["13 h", None, "13 h", "13 h"]


def test_numbers_of_any_type_are_binned(tmp_path):
    edges = (0.0, 1.0, 2.0)
    column = [Column(name, bins=edges, domain=bin_labels(edges)) for name in ("int8", "double", "decimal")]
    records = encoded(tmp_path, {c.name: TYPED[c.name] for c in column}, *column)
    assert [codes.tolist() for codes in records.slots] == [[3, 1, 0, 2], [3, 0, 4, 2], [3, 0, 1, 2]]


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.int64()), pa.list_(pa.string(), 2)])
def test_lists_are_sets_of_items(tmp_path, kind):
    cells = [["2", "1"], None, ["1", "1"], ["3", None]]
    if kind.value_type == pa.int64():
        cells = [cell and [item and int(item) for item in cell] for cell in cells]
    records = encoded(tmp_path, {"A": pa.array(cells, kind)}, Column("A", delimiter="+", max_items=0))
    assert decode(records)["A"].to_pylist() == ["1+2", None, "1", "3"]


def test_the_items_of_a_list_are_not_split_again(tmp_path):
    cells = pa.array([["a+b", "c"], ["c"]])
    assert encoded(tmp_path, {"A": cells}, Column("A", delimiter="+", max_items=2)).values == (("a+b", "c"),)


NESTED = [pa.array([{"x": 1}]), pa.array([[["a"]]]), pa.array([["a"]])]


@pytest.mark.parametrize("cells", NESTED, ids=str)
def test_nested_columns_are_refused_unless_the_reading_is_total(tmp_path, cells):
    """Else one person's nested cell in a column that is empty otherwise would stop the run."""
    pq.write_table(pa.table({"A": cells}), tmp_path / "t.parquet")
    schema = Schema((Column("A"),))
    with pytest.raises(InputError, match=r"nested|multi_value_columns"):
        encode(InputFile(tmp_path / "t.parquet"), schema, EncodingOptions(total=False, key=b"s"))
    assert decode(encoded(tmp_path, {"A": cells}, Column("A")))["A"].to_pylist() == [None]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_rule_6_a_zero_has_one_text_whatever_its_sign(tmp_path, kind):
    zeros = np.repeat(np.array([0.0, -0.0], kind.to_pandas_dtype()), 2**16)
    columns = {"id": pa.array(zeros, kind), "A": pa.array(zeros, kind)}
    about = Column("A", zero_is_value=True)
    assert encoded(tmp_path, columns, about).values == (("0",),)
    assert decode(encoded(tmp_path, columns, about, subject="id"))["A"].to_pylist() == ["0"]


def test_ids_of_any_type_join(tmp_path):
    columns = {"id": pa.array([7, 8, 7, None]), "A": pa.array(["x", "y", None, "z"])}
    records = encoded(tmp_path, columns, Column("A"), subject="id")
    assert decode(records)["A"].to_pylist() == ["x", "y"]


def test_names_that_look_like_paths_are_names(tmp_path):
    columns = {"a": pa.array(["1"]), "a.b": pa.array(["2"]), "a.b.c": pa.array(["3"])}
    records = decode(encoded(tmp_path, columns, Column("a.b"), Column("a")))
    assert records.to_pylist() == [{"a.b": "2", "a": "1"}]


@pytest.mark.parametrize("value_format", [None, "%Y"])
@pytest.mark.parametrize(
    "kind",
    [
        *(make(unit) for unit in ("s", "ms", "us") for make in (pa.timestamp, pa.duration)),
        *(pa.timestamp(unit, "UTC") for unit in ("s", "ms", "us")),
        *(pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    ],
    ids=str,
)
def test_rule_2_no_moment_stops_the_run(tmp_path, kind, value_format):
    bare = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    least, most = (-(2**31), 2**31 - 1) if bare == pa.int32() else (-(2**63), 2**63 - 1)
    if kind in (pa.timestamp("s"), pa.timestamp("s", "UTC")):  # kept as milliseconds
        least, most = least // 1000 + 1, most // 1000
    others = pa.array([0, None, 3600], bare)
    cells = pa.concat_arrays([others, pa.array([least, most], bare)]).view(kind)
    column = Column("A", value_format=value_format)
    alone = decode(encoded(tmp_path, {"A": others.view(kind)}, column))["A"].to_pylist()
    assert decode(encoded(tmp_path, {"A": cells}, column))["A"].to_pylist() == [*alone, None, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_rule_2_a_last_day_that_stands_for_never_is_formatted(tmp_path, unit):
    cells = pa.array(
        [datetime.datetime(9999, 12, 31, 23, 59, 59), MOMENT.replace(microsecond=0)], pa.timestamp(unit)
    )
    records = decode(encoded(tmp_path, {"A": cells}, Column("A", value_format="%Y-%m-%d")))
    assert records["A"].to_pylist() == ["9999-12-31", "2024-02-29"]
