"""A table in memory: a DataFrame or Arrow table goes in as Parquet, and a released one comes out like it.

What comes out has the dtypes of what went in, wherever the released values are values of theirs. A category
has only the values that were released: a dtype lists its categories, and others are somebody's. Bins come out
as ordered categories, in their order.
"""

import datetime
import decimal
import importlib.util
import io
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from marginalia.errors import ParameterError, StoredTableMismatch

if TYPE_CHECKING:
    import pandas as pd

    #: pyarrow has no types of its own that a checker reads.
    AnyTable = pd.DataFrame | Any


#: How the run knows such a struct (`tasks.core.records.value_texts`).
_MIXED = "cells:"
#: Numbers of so many digits before or behind the point are told as the nearest float is.
_MOST_DIGITS = 38
_LONGEST_SPAN = datetime.timedelta(days=10**7)
_ARROW_TYPES = {
    "text": pa.string(),
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "moment": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "day": pa.date32(),
    "time": pa.time64("us"),
    "span": pa.duration("us"),
    "bytes": pa.binary(),
}


def objects_to_array(objects: Sequence[Any]) -> pa.Array:
    """The objects as an Arrow array; null where one is missing, or nested otherwise than in a list."""
    if set(map(type, objects)) <= {str, type(None)}:
        with suppress(UnicodeEncodeError):
            return pa.array(objects, None if all(value is None for value in objects) else pa.string())
    return _cells_to_array([_kind_and_value(value) for value in objects])


def array_to_objects(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The objects of an Arrow array; None where one is missing, or Python has none for it."""
    objects = []
    for scalar in array:
        try:
            objects.append(scalar.as_py())
        except (ValueError, OverflowError):
            objects.append(None)
    return objects


def _cells_to_array(objects: list[tuple[str, Any]]) -> pa.Array:
    cells: dict[str, list[Any]] = {}
    for place, (kind, cell) in enumerate(objects):
        if cell is not None:
            cells.setdefault(kind, [None] * len(objects))[place] = cell
    if not cells:
        return pa.nulls(len(objects))
    if len(cells) == 1:
        [(kind, held)] = cells.items()
        if kind != "number":
            return _kind_to_array(kind, held)
        with suppress(pa.ArrowInvalid):  # no type has digits for all
            return pa.array(held)
    arrays = [_kind_to_array(kind, held) for kind, held in cells.items()]
    return pa.StructArray.from_arrays(arrays, [f"{_MIXED}{kind}" for kind in cells])


def _kind_to_array(kind: str, cells: list[Any]) -> pa.Array:
    if kind == "list":
        kinds = [_kind_and_value(item) for cell in cells if cell is not None for item in cell]
        items = _cells_to_array([("text", None) if kind == "list" else (kind, item) for kind, item in kinds])
        starts, start = [], 0
        for cell in cells:
            starts.append(None if cell is None else start)
            start += len(cell or ())
        return pa.LargeListArray.from_arrays(pa.array([*starts, start], pa.int64()), items)
    if kind == "number":
        return pa.array([None if cell is None else f"{cell:f}" for cell in cells], pa.string())
    return pa.array(cells, _ARROW_TYPES[kind])


def _kind_and_value(value: Any) -> tuple[str, Any]:
    try:
        make = _KINDS.get(type(value))
        if make is None:
            make = next((maker for kind, maker in _KINDS.items() if isinstance(value, kind)), _other_value)
        return make(value)
    except Exception:  # whatever its own code does, or a time that no type holds
        return "text", None


def _text_value(value: str) -> tuple[str, Any]:
    return "text", str.__str__(value).encode("utf-8", "replace").decode()


def _integer_value(value: int) -> tuple[str, Any]:
    value = int(value)
    if -(2**63) <= value < 2**63:
        return "int", value
    try:
        return ("text", str(value)) if abs(value) < 10**_MOST_DIGITS else ("float", float(value))
    except OverflowError:
        return "float", math.inf if value > 0 else -math.inf


def _float_value(value: float) -> tuple[str, Any]:
    return "float", None if value != value else float(value)


def _decimal_value(value: decimal.Decimal) -> tuple[str, Any]:
    value = decimal.Decimal(value)  # without what a class of its own does
    if value.is_nan():
        return "number", None
    digits = max(value.adjusted() + 1, -value.as_tuple().exponent) if value.is_finite() else math.inf  # type: ignore[operator]
    return ("number", value) if digits <= _MOST_DIGITS else _float_value(float(value))


def _moment_value(value: datetime.datetime) -> tuple[str, Any]:
    if value != value:  # NaT
        return "moment", None
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if value.utcoffset() is None:
        return "moment", value.replace(tzinfo=None)
    return "instant", value.astimezone(datetime.UTC)


def _span_value(value: datetime.timedelta) -> tuple[str, Any]:
    if value != value:
        return "span", None
    if hasattr(value, "to_pytimedelta"):
        value = value.to_pytimedelta()
    return "span", value if abs(value) < _LONGEST_SPAN else None


_KINDS: dict[type, Callable[[Any], tuple[str, Any]]] = {
    str: _text_value,
    bool: lambda value: ("bool", value),
    int: _integer_value,
    float: _float_value,
    decimal.Decimal: _decimal_value,
    datetime.datetime: _moment_value,
    datetime.date: lambda value: ("day", value),
    datetime.time: lambda value: ("time", value.replace(tzinfo=None)),
    datetime.timedelta: _span_value,
    bytes: lambda value: ("bytes", value),
    bytearray: lambda value: ("bytes", bytes(value)),
    **dict.fromkeys((list, tuple, set, frozenset), lambda value: ("list", list(value))),
    dict: lambda _value: ("text", None),
    type(None): lambda _value: ("text", None),
}


def _other_value(value: Any) -> tuple[str, Any]:
    """Of numpy and pandas; of anything else its text."""
    import numpy as np

    pandas = sys.modules.get("pandas")
    if (pandas is not None and (value is pandas.NA or value is pandas.NaT)) or value is np.ma.masked:
        return "text", None
    if isinstance(value, np.ndarray):
        return ("list", list(value)) if value.ndim else _kind_and_value(value[()])
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index):
        return "list", list(value)
    if pandas is not None and isinstance(value, np.datetime64 | np.timedelta64):
        made = pandas.Timestamp if isinstance(value, np.datetime64) else pandas.Timedelta
        return _kind_and_value(made(value))
    if pandas is not None and isinstance(value, pandas.Interval):
        return _interval_value(value)
    if isinstance(value, np.bool_):
        return "bool", bool(value)
    if isinstance(value, np.integer):
        return _integer_value(int(value))
    if isinstance(value, np.floating):
        return _float_value(float(value))
    if isinstance(value, np.complexfloating | complex) and not value.imag:
        return _float_value(float(value.real))
    return _text_value(str(value))


def _interval_value(value: "pd.Interval[Any]") -> tuple[str, Any]:
    ends = [
        int(end) if isinstance(end, float) and end.is_integer() else end for end in (value.left, value.right)
    ]
    left, right = "[" if value.closed_left else "(", "]" if value.closed_right else ")"
    return _text_value(f"{left}{ends[0]}, {ends[1]}{right}")


#: How released texts write what they reserve (S1.3).
_RESERVED = (("<semicolon>", ";"), ("<colon>", ":"))
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_BIN = re.compile(rf"^(?:<({_NUMBER})|>({_NUMBER})|\[({_NUMBER}),{_NUMBER}[)\]])$", re.IGNORECASE)
_ESCAPED = re.compile(r"\\x([0-9A-F]{2})")
_SPAN = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_MOST_PROBLEMS = 5
_WHOLE = r"^-?(?:0|[1-9]\d{0,17})$"


@dataclass(frozen=True)
class TableForm:
    """What a table looks like, without any of its values but the order of its categories.

    Attributes:
        columns: its fields, by name.
        dtypes: pandas' dtypes by name; None: it is an Arrow table.
        orders: of each column of categories these, in their order.
    """

    columns: dict[str, pa.Field]
    dtypes: dict[str, Any] | None
    orders: dict[str, list[Any]]

    def beside(self, other: "TableForm") -> "TableForm":
        """The same with the other's further columns, where both are of one kind; others come as found."""
        if self.dtypes is None or other.dtypes is None:
            return replace(self, columns=(other.columns if self.dtypes is None else {}) | self.columns)
        dtypes = other.dtypes | self.dtypes
        return TableForm(other.columns | self.columns, dtypes, other.orders | self.orders)


def to_parquet(table: Any) -> tuple[memoryview, TableForm]:
    """A table as a Parquet file in memory, and what it looks like.

    Args:
        table: a DataFrame, whose index is no column, or an Arrow table, or what Arrow takes for one; a series
            is a table of one column.

    Raises:
        ParameterError: it is none, or has a column that Parquet can't hold; columns are named by position.
    """
    table = table.to_frame() if hasattr(table, "to_frame") else table
    pandas = sys.modules.get("pandas")  # nobody has a DataFrame who never loaded it
    frame: pd.DataFrame | None = table if pandas is not None and isinstance(table, pandas.DataFrame) else None
    if frame is None:
        arrow = _arrow_of(table)
    else:
        _require_names(list(frame.columns))
        arrow = pa.table({name: _arrow_of_series(frame[name]) for name in frame.columns})
    form = TableForm(
        columns={field.name: field for field in arrow.schema},
        dtypes=None if frame is None else dict(zip(frame.columns, frame.dtypes, strict=True)),
        orders={
            field.name: _categories(arrow[field.name])
            for field in arrow.schema
            if pa.types.is_dictionary(field.type)
        },
    )
    return _write_parquet(arrow.replace_schema_metadata(None)), form


def _write_parquet(arrow: pa.Table) -> memoryview:
    if (file := _try_parquet(arrow)) is not None:
        return file
    columns = {name: arrow[name] for name in arrow.column_names}
    for name, column in columns.items():
        if _try_parquet(pa.table({name: column})) is None:
            columns[name] = objects_to_array(array_to_objects(column))
    if (file := _try_parquet(pa.table(columns))) is None:
        raise ParameterError("The table holds a column that Parquet can't hold: convert it.")
    return file


def _try_parquet(arrow: pa.Table) -> memoryview | None:
    file = io.BytesIO()
    with suppress(pa.ArrowException, TypeError, ValueError):
        pq.write_table(arrow, file)
        return file.getbuffer()
    return None


def _arrow_of(table: object) -> pa.Table:
    arrow = table if isinstance(table, pa.Table) else None
    if arrow is None and (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
        with suppress(pa.ArrowException, TypeError, ValueError):
            arrow = pa.table(table)
    if arrow is None:
        raise ParameterError(
            f"The table must be a DataFrame or an Arrow table, not {type(table).__name__}: convert it, or "
            "read it first."
        )
    _require_names(arrow.column_names)
    return arrow


def _column_problems(places: list[int], of: int, problem: str) -> list[str]:
    """What is wrong with columns, a line each; of many or nearly all one line, which does not count them.

    A table that lies on its side has a column for each person. `of` is how many columns the table has.
    """
    if len(places) < 2 or len(places) < min(of - 1, _MOST_PROBLEMS):
        return [f"Column {place} of the table {problem}" for place in places]
    return [
        f"Column {places[0]} of the table, and others like it, {problem} If each column is a row of the "
        "table, turn it round with df.T."
    ]


def _arrow_of_series(series: "pd.Series[Any]") -> pa.Array:
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.astype(series.dtype.subtype)
    if isinstance(series.dtype, pd.CategoricalDtype) and _becomes_text(series.dtype.categories.dtype):
        series = series.cat.rename_categories(_category_texts(series.dtype.categories))
    array: pa.Array | None = None
    if not (_holds_objects(series.dtype) or _becomes_text(series.dtype)):
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            array = pa.Array.from_pandas(series)
    if array is None:
        array = objects_to_array(series.astype(object).tolist())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _holds_objects(dtype: Any) -> bool:
    """Whether Arrow would find a type for all of a column's values, and convert some of them to it."""
    import pandas as pd

    if not isinstance(dtype, pd.CategoricalDtype):
        return bool(pd.api.types.is_object_dtype(dtype))
    categories = dtype.categories
    texts = pd.api.types.infer_dtype(categories, skipna=False) in ("string", "empty")
    return bool(pd.api.types.is_object_dtype(categories.dtype)) and not texts


def _becomes_text(dtype: Any) -> bool:
    import pandas as pd

    return isinstance(dtype, pd.IntervalDtype | pd.PeriodDtype)


def _category_texts(categories: "pd.Index[Any]") -> list[str]:
    return objects_to_array(list(categories)).to_pylist()  # type: ignore[no-any-return]


def _require_names(names: Sequence[object]) -> None:
    """Raises ParameterError unless all names are texts, each another one."""
    unnamed = [place for place, name in enumerate(names, start=1) if not isinstance(name, str)]
    first: dict[object, int] = {}
    repeated = [place for place, name in enumerate(names, start=1) if first.setdefault(name, place) != place]
    problems = _column_problems(
        unnamed,
        len(names),
        "must have a text as its name: rename it, or make all names texts by df.columns = "
        "df.columns.map(str).",
    )
    problems += _column_problems(repeated, len(names), "has the name of a column before it: rename one.")
    if not names:
        problems.append("The table must have columns, and has none.")
    if problems:
        raise ParameterError(problems)


def _categories(column: pa.ChunkedArray) -> list[Any]:
    return list(
        dict.fromkeys(value for chunk in column.chunks for value in array_to_objects(chunk.dictionary))
    )


def read_released(path: Path) -> pa.Table:
    """A released file of records: Parquet, or tab-separated texts, whose empty cells are null."""
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        parse = csv.ParseOptions(delimiter="\t", newlines_in_values=True, ignore_empty_lines=False)
        names = csv.open_csv(path, parse_options=parse).schema.names
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
        )
        return csv.read_csv(path, parse_options=parse, convert_options=convert)
    except (pa.ArrowException, OSError):
        pass
    raise StoredTableMismatch(f"{path.name} must be a table of a release, but can't be read as one.")


def restore_dtypes(
    table: pa.Table,
    form: TableForm,
    names: Mapping[str, str],
    delimiters: Mapping[str, str] | None = None,
) -> "AnyTable":
    """A released table with the dtypes of the one that it was made from.

    Args:
        table: texts, or typed columns.
        names: of the columns of ``form``, by the released spelling.
        delimiters: between the items of columns of several.
    """
    columns: dict[str, Any] = {}
    dtypes: dict[str, Any] = {}
    for released in table.column_names:
        name = names.get(released, released)
        field = form.columns.get(name)
        column = _unescape(table[released])
        if field is None:
            columns[name] = _infer_type(column)
            continue
        columns[name] = _cast(column, field.type, form.orders.get(name), (delimiters or {}).get(name))
        if form.dtypes is not None and columns[name].type == field.type:
            dtypes[name] = form.dtypes[name]
    return pa.table(columns) if form.dtypes is None else _frame(columns, dtypes)


def infer_dtypes(table: pa.Table, *, typed: bool = False) -> "AnyTable":
    """A released table whose origin nobody here knows: a DataFrame where there is pandas, else Arrow.

    Texts become numbers or truth values only where nothing is lost: ``01`` stays a text.

    Args:
        typed: its columns have types of their own, so that texts stay texts.
    """
    names = table.column_names
    columns = {name: table[name] if typed else _infer_type(_unescape(table[name])) for name in names}
    return pa.table(columns) if importlib.util.find_spec("pandas") is None else _frame(columns, {})


def _unescape(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type):
        return column
    for written, meant in _RESERVED:
        column = pc.replace_substring(column, written, meant)
    return column


def _cast(
    column: pa.ChunkedArray, kind: pa.DataType, order: list[Any] | None, delimiter: str | None
) -> pa.ChunkedArray:
    """A column as a type; as bins, or as what it is, where its values are none of that type's."""
    if pa.types.is_dictionary(kind):
        inner = _cast(column, kind.value_type, None, None)
        if inner.type != kind.value_type or order is None:
            return inner
        return _as_categories(inner, order, kind)
    if delimiter is not None and (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        items = pc.split_pattern(column, delimiter)
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return items.cast(kind)
        return items
    if pa.types.is_string(column.type) and (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        return _parse_bytes(column).cast(kind)
    if pa.types.is_string(column.type) and pa.types.is_duration(kind):
        return _parse_durations(column, kind)
    if pa.types.is_null(kind) and column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    try:
        if pa.types.is_time(kind) and pa.types.is_string(column.type):  # which Arrow reads on a day alone
            column = pc.binary_join_element_wise("1970-01-01", column, " ").cast(pa.timestamp("us"))
        return column.cast(kind, safe=not pa.types.is_floating(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _as_ordered_bins(column)


def _parse_bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes from their texts, in which those that are no plain letter are escaped."""
    cells: list[bytes | None] = []
    for text in column.to_pylist():
        plain = text and _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), text)
        cells.append(plain if plain is None else plain.encode("latin-1", "replace"))
    return pa.chunked_array([pa.array(cells, pa.binary())])


def _parse_durations(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Durations from their texts, as hours, minutes and seconds; as texts where one is something else."""
    microseconds: list[int | None] = []
    for text in column.to_pylist():
        span = _SPAN.fullmatch(text or "")
        if text is not None and span is None:
            return _as_ordered_bins(column)
        if span is None:
            microseconds.append(None)
            continue
        sign, hours, minutes, seconds, fraction = span.groups()
        total = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 10**6
        total += int((fraction or "").ljust(6, "0"))
        microseconds.append(-total if sign else total)
    durations = pa.array(microseconds, pa.int64()).view(pa.duration("us"))
    return pa.chunked_array([durations.cast(kind, safe=False)])


def _as_categories(column: pa.ChunkedArray, order: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    released = set(pc.unique(column).drop_null().to_pylist())
    known = [value for value in order if value in released]
    known += sorted(released - set(known))  # spelled otherwise, such as without blanks around
    values = pa.array(known, kind.value_type)
    indices = pc.index_in(column, values).cast(kind.index_type)
    chunks = [pa.DictionaryArray.from_arrays(chunk, values, ordered=kind.ordered) for chunk in indices.chunks]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, kind.value_type, kind.ordered))


def _as_ordered_bins(column: pa.ChunkedArray) -> pa.ChunkedArray:
    labels = pc.unique(column).drop_null().to_pylist() if pa.types.is_string(column.type) else []
    matches = {label: _BIN.match(label) for label in labels}
    if not labels or not all(matches.values()):
        return column

    def place(label: str) -> tuple[float, int]:
        below, above, inner = matches[label].groups()  # type: ignore[union-attr]
        return (float(below or above or inner), -1 if below else 1 if above else 0)

    ordered = sorted(labels, key=place)
    return _as_categories(column, ordered, pa.dictionary(pa.int32(), pa.string(), ordered=True))


def _infer_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type):
        return column
    values = pc.unique(column).drop_null()
    if not len(values):
        return column
    if set(values.to_pylist()) <= {"true", "false"}:
        return column.cast(pa.bool_())
    if pc.all(pc.match_substring_regex(values, _WHOLE)).as_py():
        return column.cast(pa.int64())
    try:
        numbers = values.cast(pa.float64())
    except pa.ArrowInvalid:
        return _as_ordered_bins(column)
    is_same = [
        repr(number) == text for number, text in zip(numbers.to_pylist(), values.to_pylist(), strict=True)
    ]
    return column.cast(pa.float64()) if all(is_same) else column


def _frame(columns: Mapping[str, pa.ChunkedArray], dtypes: Mapping[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({name: _series(column, dtypes.get(name)) for name, column in columns.items()})


#: pandas' dtypes that hold missing values, by those that don't, and by Arrow's names.
_NULLABLE = {"bool": "boolean"} | {
    f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def _series(column: pa.ChunkedArray, dtype: Any) -> "pd.Series[Any]":
    import pandas as pd

    if pa.types.is_dictionary(column.type):
        return _category_series(column, dtype)
    if dtype is None:
        nullable = _NULLABLE.get(str(column.type))
        return pd.Series(column.to_pandas(), dtype=nullable)
    if pd.api.types.is_object_dtype(dtype):
        return pd.Series(column.to_pylist(), dtype=object)
    if _becomes_text(dtype):
        try:
            return column.to_pandas().astype(dtype)  # type: ignore[no-any-return]
        except (TypeError, ValueError):
            return column.to_pandas()  # type: ignore[no-any-return]
    if column.null_count:
        dtype = pd.api.types.pandas_dtype(_NULLABLE.get(str(dtype), dtype))
    if hasattr(dtype, "__from_arrow__"):
        return pd.Series(dtype.__from_arrow__(column))
    return column.to_pandas().astype(dtype)  # type: ignore[no-any-return]


def _category_series(column: pa.ChunkedArray, dtype: Any) -> "pd.Series[Any]":
    import pandas as pd

    series = pd.Series(column.unify_dictionaries().to_pandas())
    if not isinstance(dtype, pd.CategoricalDtype):
        return series
    categories = dtype.categories
    if not _becomes_text(categories.dtype):
        return series.cat.rename_categories(pd.Index(list(series.cat.categories), dtype=categories.dtype))
    by_text = dict(zip(_category_texts(categories), categories, strict=True))
    return series.cat.rename_categories(pd.Index([by_text.get(text, text) for text in series.cat.categories]))
