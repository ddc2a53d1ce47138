"""A table goes in and comes out with its dtypes; released texts are made as a run makes them."""

import datetime
import decimal
import enum
import io
import unicodedata
from contextlib import suppress
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia
from marginalia.tables import infer_dtypes, objects_to_array, restore_dtypes, to_parquet
from tasks.core.records.columns import bin_labels
from tasks.core.records.value_texts import text_of_values
from tasks.core.tables.column_names import output_spelling
from tests.marginalia.notebooks import TOKEN, people

MOMENT = datetime.datetime(2024, 2, 29, 13, 5, 6, 789)


def released(table: Any) -> pa.Table:
    """What a run would release if it released every record as it is: texts, as the outputs spell them."""
    arrow = pq.read_table(io.BytesIO(to_parquet(table)[0]))
    columns = {}
    for name in arrow.column_names:
        rows = text_of_values(_DUCKDB, arrow[name].combine_chunks())
        texts = [None if text is None else output_spelling(text) or None for text in rows.to_pylist()]
        columns[output_spelling(name)] = pa.array(texts, pa.string())
    return pa.table(columns)


_DUCKDB = duckdb.connect()


def back(table: Any, made: pa.Table | None = None) -> Any:
    """A table after it was released as it is."""
    like = to_parquet(table)[1]
    return restore_dtypes(
        released(table) if made is None else made, like, {output_spelling(n): n for n in like.columns}
    )


_TEXTS = (
    st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5)
    .map(lambda text: unicodedata.normalize("NFC", text))
    .filter(lambda text: text == text.strip() and "<" not in text)
)
_MOMENTS = st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1))
_COLUMNS: dict[str, Any] = {
    "int64": (st.integers(-(2**63), 2**63 - 1), "int64"),
    "UInt8": (st.none() | st.integers(0, 255), "UInt8"),
    "Int64": (st.none() | st.integers(-(2**63), 2**63 - 1), "Int64"),
    "float64": (st.floats(allow_nan=True), "float64"),
    "Float32": (st.none() | st.floats(width=32, allow_nan=False), "Float32"),
    "bool": (st.booleans(), "bool"),
    "boolean": (st.none() | st.booleans(), "boolean"),
    "str": (st.none() | _TEXTS, "str"),
    "string": (st.none() | _TEXTS, "string"),
    "object": (st.none() | _TEXTS, "object"),
    "arrow": (st.none() | st.integers(-5, 5), "int16[pyarrow]"),
    "naive": (st.none() | _MOMENTS, "datetime64[us]"),
    "zoned": (_MOMENTS, "datetime64[us, Europe/Vienna]"),
}


@pytest.mark.parametrize("name", _COLUMNS)
@settings(max_examples=25)
@given(data=st.data())
def test_a_dataframe_comes_back_as_it_was(name, data):
    values, dtype = _COLUMNS[name]
    held = data.draw(st.lists(values, min_size=1, max_size=6))
    series = pd.Series(held, dtype=None if name == "zoned" else dtype)
    frame = pd.DataFrame({"a:b": series.dt.tz_localize("UTC").astype(dtype) if name == "zoned" else series})
    pd.testing.assert_frame_equal(back(frame), frame)


@settings(max_examples=25)
@given(st.lists(st.none() | st.sampled_from(["low", "mid", "high"]), min_size=1, max_size=8), st.booleans())
def test_categories_keep_their_order_and_are_those_that_were_released(held, ordered):
    kind = pd.CategoricalDtype(["low", "mid", "high", TOKEN], ordered=ordered)
    found = back(pd.DataFrame({"level": pd.Series(held, dtype=kind)}))["level"]
    assert found.astype(object).where(found.notna(), None).tolist() == held
    assert found.cat.ordered == ordered
    assert found.cat.categories.tolist() == [each for each in ("low", "mid", "high") if each in held]


@pytest.mark.parametrize("cut", ["int", "interval", "float"])
def test_categories_of_other_kinds_come_back_as_that_kind(cut):
    ages = pd.Series([3, 30, 70, 30])
    column = {
        "int": ages.astype("category"),
        "float": (ages / 4).astype("category"),
        "interval": pd.cut(ages, [0, 18, 65, 100]),
    }[cut]
    frame = pd.DataFrame({"age": column})
    pd.testing.assert_frame_equal(back(frame), frame)


def test_periods_dates_and_decimals_come_back():
    frame = pd.DataFrame(
        {
            "month": pd.Series(pd.PeriodIndex(["2026-10", "2026-11"], freq="M")),
            "day": [datetime.date(2026, 11, 1), None],
            "price": [decimal.Decimal("1.50"), decimal.Decimal("20.00")],
        }
    )
    found = back(frame)
    assert found.to_dict("list") == frame.to_dict("list") and found.dtypes.equals(frame.dtypes)


def test_an_arrow_table_comes_back_with_its_schema():
    table = pa.table(
        {
            "count": pa.array([1, None, 3], pa.uint16()),
            "share": pa.array([0.5, 1e20, None], pa.float32()),
            "is": pa.array([True, None, False]),
            "name": pa.array(["a;b", None, "c:d"], pa.large_string()),
            "day": pa.array([MOMENT.date(), None, MOMENT.date()]),
            "time": pa.array([MOMENT.time(), None, MOMENT.time()], pa.time64("us")),
            "moment": pa.array([MOMENT, None, MOMENT], pa.timestamp("ns", tz="Asia/Tokyo")),
            "price": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.00")], pa.decimal128(9, 2)),
            "kind": pa.array(["x", None, "y"]).dictionary_encode(),
            "bytes": pa.array([b" \xff\\x41<;: ", None, "é".encode()]),
            "span": pa.array([datetime.timedelta(hours=-30, seconds=0.5), None, datetime.timedelta(0)]),
        }
    )
    found = back(table)
    assert found.schema == table.schema and found.to_pylist() == table.to_pylist()


def test_missing_values_take_the_dtype_that_holds_them():
    frame = pd.DataFrame({"n": np.array([1, 2], "int16"), "b": [True, False], "x": [0.5, 1.0]})
    made = pa.table({"n": ["1", None], "b": [None, "true"], "x": ["0.5", None]})
    found = back(frame, made)
    assert dict(found.dtypes.astype(str)) == {"n": "Int16", "b": "boolean", "x": "float64"}


def test_bins_are_ordered_categories_and_what_else_is_no_value_of_its_dtype_is_a_text():
    labels = list(bin_labels((-5.5, 0, 18, 1e16)))
    frame = pd.DataFrame({"age": [1] * 5, "score": [2] * 5})
    found = back(frame, pa.table({"age": labels[::-1], "score": ["1", "other", "2", "3", None]}))
    assert found["age"].cat.ordered and found["age"].cat.categories.tolist() == labels
    assert found["score"].tolist()[:4] == ["1", "other", "2", "3"]


def test_items_come_back_as_lists():
    table = pa.table({"services": pa.array([["pool", "library"], None])})
    like = to_parquet(table)[1]
    made = pa.table({"services": ["library|pool", None]})
    found = restore_dtypes(made, like, {}, {"services": "|"})
    assert found.to_pylist() == [{"services": ["library", "pool"]}, {"services": None}]
    assert found.schema == table.schema


def test_of_a_release_of_others_texts_are_numbers_only_where_nothing_is_lost():
    made = pa.table(
        {
            "n": ["0", "-7", None],
            "code": ["01", "7", "8"],
            "x": ["0.5", "1e-07", "20.0"],
            "written": ["1.50", "2", "3"],
            "is": ["true", None, "false"],
            "age": ["<18", "[18,65]", ">65"],
            "none": pa.array([None] * 3, pa.string()),
        }
    )
    found = infer_dtypes(made)
    kinds = dict(found.dtypes.astype(str))
    assert kinds == {
        "n": "Int64",
        "code": "str",
        "x": "float64",
        "written": "str",
        "is": "boolean",
        "age": "category",
        "none": "str",
    }


def test_a_series_is_a_table_of_one_column():
    file, like = to_parquet(pd.Series([1, 2], name="age"))
    assert (
        pq.read_table(io.BytesIO(file)).to_pydict()
        == {"age": [1, 2]}
        == {name: [1, 2] for name in like.columns}
    )


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None])),
        pa.DictionaryArray.from_arrays(pa.array([0, None], pa.uint32()), pa.array(["x"], pa.string_view())),
        pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["x", None])),
    ],
    ids=["null category", "views", "runs"],
)
def test_what_parquet_cannot_hold_goes_cell_by_cell(column):
    assert released(pa.table({"a": column})).to_pydict() == {"a": ["x", None]}


class _Level(enum.IntEnum):
    HIGH = 2**70


class _Word(str):
    def __str__(self) -> str:
        raise ValueError("secret")


class _Silent:
    __repr__ = __str__ = _Word.__str__  # type: ignore[assignment]


class _Closed(list[Any]):
    def __iter__(self) -> Any:
        raise ValueError("secret")


class _Unwritten(decimal.Decimal):
    def __format__(self, *_: Any) -> str:
        raise ValueError("secret")


class _NoZone(datetime.tzinfo):
    def utcoffset(self, _moment: datetime.datetime | None) -> datetime.timedelta:
        raise ValueError("secret")


#: Of every kind that has a text, more than one of some.
_WHOLE = [True, np.bool_(False), 1, -(2**63), 2**64, 10**37, 10**40, -(10**400), np.int8(5), _Level.HIGH]
_REAL = [1.0, -0.0, 0.5, 1e300, 1e-7, float("inf"), np.float32(0.1), 1j, 2 + 0j, np.array(5)]
_WRITTEN = ("1.50", "1E+3", "1E-60", "1E+60", "1e200000000", "-1e-200000000", "Infinity")
_DECIMALS = [*map(decimal.Decimal, _WRITTEN), decimal.Decimal.from_float(0.1), _Unwritten("1.5")]
_TIMES = [
    *(datetime.datetime(1, 1, 1), datetime.date(2026, 3, 1), datetime.time(5, 6), np.datetime64("2026", "Y")),
    *(pd.Timestamp(1), pd.Timestamp(0), pd.Timestamp("2026-03-01", tz="Europe/Vienna"), pd.Period("2026-01")),
    *(datetime.timedelta(hours=30), pd.Timedelta(-1, "ns"), np.timedelta64(5, "D")),
]
_RANGES = [
    *(pd.Interval(0, 1), pd.Interval(0.0, 1.5, closed="left")),
    pd.Interval(pd.Timestamp(0), pd.Timestamp(1)),
]
_OTHERS = ["a\ud800", b"\xff", bytearray(b"a"), _Word("a")]
_OBJECTS: list[Any] = [*_OTHERS, *_WHOLE, *_REAL, *_DECIMALS, *_TIMES, *_RANGES]
_ITSELF: list[Any] = []
_ITSELF.append(_ITSELF)
_DEEP: list[Any] = []
for _ in range(3000):
    _DEEP = [_DEEP]

_MISSING: list[Any] = [
    *(None, pd.NA, pd.NaT, np.nan, np.ma.masked, np.datetime64("NaT")),
    *(decimal.Decimal("NaN"), decimal.Decimal("sNaN")),
    *({"a": 1}, [1], (1,), np.array([1]), np.array([[1]]), _ITSELF, _DEEP, _Silent(), _Closed(["a"])),
    *(pd.Timestamp(np.datetime64("20000-01-01", "s")), np.datetime64(2**62, "s")),
    pd.Timedelta(np.timedelta64(2**60, "s")),
    datetime.datetime(2026, 1, 1, tzinfo=_NoZone()),
    datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
]


def test_each_object_has_the_text_that_it_has_alone_and_what_has_none_is_missing():
    held = [*_OBJECTS, *_MISSING]
    texts = text_of_values(_DUCKDB, objects_to_array(held)).to_pylist()
    alone = [text_of_values(_DUCKDB, objects_to_array([each])).to_pylist()[0] for each in held]
    assert texts == alone
    assert [text is None for text in texts] == [
        each in range(len(_OBJECTS), len(held)) for each in range(len(held))
    ]


@pytest.mark.parametrize("held", [[_ITSELF], [_DEEP, ["a"]], [["a", [1], np.ma.masked, (2,)]]])
def test_of_an_item_that_is_a_list_nothing_is_read(held):
    array = objects_to_array(held)
    items = text_of_values(_DUCKDB, array.flatten()).to_pylist()
    assert [item for item in items if item] == ["a"] * ("a" in items)
    assert to_parquet(pd.DataFrame({"x": held}))[0]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**55], pa.timestamp("s")),
        pa.array([0, 2**62], pa.timestamp("s", "UTC")),
        pa.array([0, 2**59], pa.timestamp("ms")),
        pa.array([0, 2**62], pa.timestamp("s")).dictionary_encode(),
        pa.array([0, 2**55], pa.duration("s")),
    ],
    ids=lambda column: str(column.type),
)
def test_a_time_that_no_calendar_holds_is_missing_and_changes_no_other(column):
    alone = released(pa.table({"x": column.slice(0, 1)}))["x"].to_pylist()
    assert released(pa.table({"x": column}))["x"].to_pylist() == [*alone, None]
    with suppress(pa.ArrowException, OverflowError, ValueError):  # what pandas itself can't hold
        frame = pa.table({"x": column}).to_pandas()
        assert released(frame)["x"].to_pylist()[:1] == alone


@pytest.mark.parametrize("as_category", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_a_missing_interval_changes_no_other(missing, as_category):
    held = [pd.Interval(0, 5), pd.Interval(5, 10), *[np.nan] * missing]
    column = pd.Series(pd.arrays.IntervalArray(held)).astype(*["category"] * as_category or ["interval"])
    assert released(pd.DataFrame({"x": column}))["x"].to_pylist()[:2] == ["(0, 5]", "(5, 10]"]
    if as_category:
        assert list(back(pd.DataFrame({"x": column}))["x"][:2]) == held[:2]


_NUMBERS = st.integers(-(10**37), 10**37) | st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False)


@settings(max_examples=40, deadline=None)
@given(st.lists(_NUMBERS, min_size=1, max_size=8))
def test_a_number_has_one_text_in_all_types_that_hold_it_and_is_read_back_as_it_was(
    numbers,
):
    texts = text_of_values(_DUCKDB, objects_to_array(numbers)).to_pylist()
    for number, text in zip(numbers, texts, strict=True):
        holding = [pa.float16(), pa.float32(), pa.float64(), pa.int64(), pa.uint64(), pa.decimal128(38, 0)]
        whole = number == number and abs(number) < 10**37 and number == int(number)
        for kind in holding if whole else holding[:3]:
            with suppress(pa.ArrowException, OverflowError):
                made = pa.array(
                    [decimal.Decimal(int(number)) if whole and kind == holding[-1] else number]
                ).cast(kind)
                if made.to_pylist()[0] == number:
                    assert text_of_values(_DUCKDB, made).to_pylist() == [text], kind
        if isinstance(number, int):
            assert int(text) == number
        else:
            back_again = float(text)
            assert back_again == number or np.float32(back_again) == np.float32(number) == number


def test_the_index_is_no_column():
    file, _ = to_parquet(people(5).set_index("person"))
    assert "person" not in pq.read_schema(io.BytesIO(file)).names
    assert pq.read_schema(io.BytesIO(file)).metadata is None


REFUSED: dict[str, tuple[Any, str]] = {
    "a name twice": (
        pd.DataFrame([[1, TOKEN]], columns=[TOKEN, TOKEN]),
        "Column 2 of the table has the name of a column before it",
    ),
    "a name that is no text": (pd.DataFrame({7: [TOKEN]}), "Column 1"),
    "no columns": (pd.DataFrame(), "must have columns"),
    "a list": ([TOKEN], "not list"),
    "a path": (TOKEN, "not str"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_told_by_place_and_without_a_value(kind):
    table, said = REFUSED[kind]
    with pytest.raises(marginalia.ParameterError, match=said) as refused:
        marginalia.protect(table, dataset="d", vintage="v", k=10)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("people", [3, 6, 30])
def test_of_a_table_on_its_side_one_line_speaks_for_all_people(people):
    names = [f"person{place}" for place in range(people)]
    table = pd.DataFrame({"person": names, "age": range(people)})
    for turned in (
        table.T,
        table.T.set_axis(["x"] * people, axis=1),
    ):
        with pytest.raises(marginalia.ParameterError) as refused:
            to_parquet(turned)
        for problem in refused.value.problems:
            assert "others like it" in problem and "df.T" in problem
            assert str(people) not in problem.replace("Column", "") and "person" not in problem.replace(
                "a person", ""
            )
        assert len(refused.value.problems) == 1
