"""Objects of Python as cells of an Arrow array, each by itself: none is read otherwise for its neighbours.

A list of objects goes in. An array of one type comes out where all are of one kind, and where they are of
several a struct with a field a kind, of which each cell fills one. The run takes the text of either.

No object stops the run, which would show that somebody has it: what can't be read, or has no text of a sane
length, is missing.
"""

import datetime
import decimal
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: How the run knows such a struct (`tasks.core.records.value_texts`).
_MIXED = "cells:"
#: Numbers of so many digits before or behind the point are told as the nearest float is.
_MOST_DIGITS = 38
_LONGEST_SPAN = datetime.timedelta(days=10**7)


def array_of_objects(objects: Sequence[Any]) -> "pa.Array":
    """The objects as an Arrow array; null where one is missing, or nested otherwise than in a list."""
    import pyarrow as pa

    if set(map(type, objects)) <= {str, type(None)}:
        with suppress(UnicodeEncodeError):
            return pa.array(objects, None if all(value is None for value in objects) else pa.string())
    return _array_of_cells([_cell(value) for value in objects])


def values_of(array: "pa.Array | pa.ChunkedArray") -> list[Any]:
    """The objects of an Arrow array; None where one is missing, or Python has none for it."""

    def value_of(scalar: "pa.Scalar") -> Any:
        try:
            return scalar.as_py()
        except (ValueError, OverflowError):
            return None

    try:
        return array.to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError):
        return [value_of(scalar) for scalar in array]


def _array_of_cells(objects: list[tuple[str, Any]]) -> "pa.Array":
    import pyarrow as pa

    cells: dict[str, list[Any]] = {}
    for place, (kind, cell) in enumerate(objects):
        if cell is not None:
            if kind not in cells:
                cells[kind] = [None] * len(objects)
            cells[kind][place] = cell
    if not cells:
        return pa.nulls(len(objects))
    if len(cells) == 1:
        [(kind, held)] = cells.items()
        if kind != "number":
            return _array(kind, held)
        try:
            return pa.array(held)
        except pa.ArrowInvalid:  # no type has digits for all
            pass
    arrays = [_array(kind, held) for kind, held in cells.items()]
    return pa.StructArray.from_arrays(arrays, [f"{_MIXED}{kind}" for kind in cells])


def _array(kind: str, cells: list[Any]) -> "pa.Array":
    import pyarrow as pa

    if kind == "list":
        kinds = [_cell(item) for cell in cells if cell is not None for item in cell]
        items = _array_of_cells([("text", None) if kind == "list" else (kind, item) for kind, item in kinds])
        starts, start = [], 0
        for cell in cells:
            starts.append(None if cell is None else start)
            start += len(cell or ())
        return pa.LargeListArray.from_arrays(pa.array([*starts, start], pa.int64()), items)
    if kind == "number":
        return pa.array([None if cell is None else f"{cell:f}" for cell in cells], pa.string())
    types = {
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
    return pa.array(cells, types[kind])


def _cell(value: Any) -> tuple[str, Any]:
    """An object's kind, and what stands for it; None where it is missing."""
    try:
        make = _KINDS.get(type(value))
        if make is None:
            make = next((made for kind, made in _KINDS.items() if isinstance(value, kind)), _other)
        return make(value)
    except Exception:  # whatever its own code does, or a time that no type holds
        return "text", None


def _text(value: str) -> tuple[str, Any]:
    return "text", str.__str__(value).encode("utf-8", "replace").decode()


def _integer(value: int) -> tuple[str, Any]:
    value = int(value)
    if -(2**63) <= value < 2**63:
        return "int", value
    try:
        return ("text", str(value)) if abs(value) < 10**_MOST_DIGITS else ("float", float(value))
    except OverflowError:
        return "float", math.inf if value > 0 else -math.inf


def _float(value: float) -> tuple[str, Any]:
    return "float", None if value != value else float(value)


def _decimal(value: decimal.Decimal) -> tuple[str, Any]:
    value = decimal.Decimal(value)  # without what a class of its own does
    if value.is_nan():
        return "number", None
    digits = max(value.adjusted() + 1, -value.as_tuple().exponent) if value.is_finite() else math.inf  # type: ignore[operator]
    return ("number", value) if digits <= _MOST_DIGITS else _float(float(value))


def _moment(value: datetime.datetime) -> tuple[str, Any]:
    if value != value:  # NaT
        return "moment", None
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if value.utcoffset() is None:
        return "moment", value.replace(tzinfo=None)
    return "instant", value.astimezone(datetime.UTC)


def _span(value: datetime.timedelta) -> tuple[str, Any]:
    if value != value:
        return "span", None
    if hasattr(value, "to_pytimedelta"):
        value = value.to_pytimedelta()
    return "span", value if abs(value) < _LONGEST_SPAN else None


_KINDS: dict[type, Callable[[Any], tuple[str, Any]]] = {
    str: _text,
    bool: lambda value: ("bool", value),
    int: _integer,
    float: _float,
    decimal.Decimal: _decimal,
    datetime.datetime: _moment,
    datetime.date: lambda value: ("day", value),
    datetime.time: lambda value: ("time", value.replace(tzinfo=None)),
    datetime.timedelta: _span,
    bytes: lambda value: ("bytes", value),
    bytearray: lambda value: ("bytes", bytes(value)),
    list: lambda value: ("list", list(value)),
    tuple: lambda value: ("list", list(value)),
    set: lambda value: ("list", list(value)),
    frozenset: lambda value: ("list", list(value)),
    dict: lambda _value: ("text", None),
    type(None): lambda _value: ("text", None),
}


def _other(value: Any) -> tuple[str, Any]:
    """Of numpy and pandas; of anything else its text."""
    import numpy as np

    pandas = sys.modules.get("pandas")
    if (pandas is not None and (value is pandas.NA or value is pandas.NaT)) or value is np.ma.masked:
        return "text", None
    if isinstance(value, np.ndarray):
        return ("list", list(value)) if value.ndim else _cell(value[()])
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index):
        return "list", list(value)
    if pandas is not None and isinstance(value, np.datetime64 | np.timedelta64):
        made = pandas.Timestamp if isinstance(value, np.datetime64) else pandas.Timedelta
        return _cell(made(value))
    if pandas is not None and isinstance(value, pandas.Interval):
        return _interval(value)
    if isinstance(value, np.bool_):
        return "bool", bool(value)
    if isinstance(value, np.integer):
        return _integer(int(value))
    if isinstance(value, np.floating):
        return _float(float(value))
    if isinstance(value, np.complexfloating | complex) and not value.imag:
        return _float(float(value.real))
    return _text(str(value))


def _interval(value: "pd.Interval[Any]") -> tuple[str, Any]:
    """Its whole ends as integers: pandas makes floats of all where one interval is missing."""
    ends = [
        int(end) if isinstance(end, float) and end.is_integer() else end for end in (value.left, value.right)
    ]
    left, right = "[" if value.closed_left else "(", "]" if value.closed_right else ")"
    return _text(f"{left}{ends[0]}, {ends[1]}{right}")
