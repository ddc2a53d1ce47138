"""Objects of Python as cells of an Arrow array, each by itself: none is read otherwise for its neighbours.

A list of objects goes in. An array of one type comes out where all are of one kind, and where they are of
several a struct with a field a kind, of which each cell fills one. The run takes the text of either.
"""

import datetime
import decimal
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: How the run knows such a struct (`tasks.core.records.value_texts`).
_MIXED = "cells:"
_INTEGERS = range(-(2**63), 2**63)
#: Whole numbers from here on are told as the nearest float is.
_LONGEST = 10**38
_LONGEST_SPAN = datetime.timedelta(days=10**7)


def array_of_objects(objects: Sequence[Any]) -> "pa.Array":
    """The objects as an Arrow array; null where one is missing, or nested otherwise than in a list."""
    import pyarrow as pa

    if set(map(type, objects)) <= {str, type(None)}:
        with suppress(UnicodeEncodeError):
            return pa.array(objects, None if all(value is None for value in objects) else pa.string())
    cells: dict[str, list[Any]] = {}
    for place, value in enumerate(objects):
        kind, cell = _cell(value)
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
        items = array_of_objects([item for cell in cells if cell is not None for item in cell])
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
    make = _KINDS.get(type(value))
    if make is None:
        make = next((made for kind, made in _KINDS.items() if isinstance(value, kind)), _other)
    return make(value)


def _text(value: str) -> tuple[str, Any]:
    return "text", str(value).encode("utf-8", "replace").decode()


def _integer(value: int) -> tuple[str, Any]:
    if value in _INTEGERS:
        return "int", int(value)
    try:
        return ("text", str(int(value))) if abs(value) < _LONGEST else ("float", float(value))
    except OverflowError:
        return "float", math.inf if value > 0 else -math.inf


def _float(value: float) -> tuple[str, Any]:
    return "float", None if value != value else float(value)


def _decimal(value: decimal.Decimal) -> tuple[str, Any]:
    return ("number", value) if value.is_finite() else _float(math.nan if value.is_nan() else float(value))


def _moment(value: datetime.datetime) -> tuple[str, Any]:
    if value != value:  # NaT
        return "moment", None
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if value.utcoffset() is None:
        return "moment", value.replace(tzinfo=None)
    try:
        return "instant", value.astimezone(datetime.UTC)
    except OverflowError:  # of the first or last day that there is
        return "instant", None


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
    list: lambda value: ("list", value),
    tuple: lambda value: ("list", value),
    set: lambda value: ("list", list(value)),
    frozenset: lambda value: ("list", list(value)),
    dict: lambda _value: ("text", None),
    type(None): lambda _value: ("text", None),
}


def _other(value: Any) -> tuple[str, Any]:
    """Of numpy and pandas; of anything else its text."""
    import numpy as np

    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return "text", None
    if isinstance(value, np.ndarray):
        return "list", list(np.atleast_1d(value))
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index):
        return "list", list(value)
    if pandas is not None and isinstance(value, np.datetime64 | np.timedelta64):
        made = pandas.Timestamp if isinstance(value, np.datetime64) else pandas.Timedelta
        try:
            return _cell(made(value))
        except (ValueError, OverflowError):
            return "text", None
    if isinstance(value, np.bool_):
        return "bool", bool(value)
    if isinstance(value, np.integer):
        return _integer(int(value))
    if isinstance(value, np.floating):
        return _float(float(value))
    if isinstance(value, np.complexfloating | complex) and not value.imag:
        return _float(float(value.real))
    try:
        return _text(str(value))
    except Exception:  # whatever its own code does
        return "text", None
