"""The text of a cell: a function of its value alone, whatever type its column has.

Arrow values go in, texts come out. A column's type is often inferred from all of its rows: one missing cell
turns pandas' integers into floats, one long text a column of dates into objects. So a value has one text in
all types that can hold it, and one person's cell changes nobody else's (R2 and R6):

    1, 1.0, Decimal("1.00")            1                       -0.0                0
    0.1 in half, single, double        0.1                     NaN, null           (absent)
    2026-11-03 05:00 in s, ms, us, ns  2026-11-03 05:00:00     in any zone         2026-11-03 04:00:00+00

Times are told to the microsecond. Bytes have DuckDB's escapes, and so does what an output would change.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.queries import query_over
from tasks.core.tables.number_format import PLAIN, NumberFormat
from tasks.core.tables.texts import is_list, is_text

#: A struct whose fields are all named so holds each cell in one of them: a column of several kinds of values.
MIXED = "cells:"
#: Of them, the one of numbers that come as texts.
_NUMBERS = f"{MIXED}number"
#: Seconds, from and below: years 1 to 9999, and the times of a day. All of them have a text in DuckDB.
_MOMENTS, _TIMES_OF_DAY = (-62_135_596_800, 253_402_300_800), (0, 86_400)
_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ZEROS_BEHIND = r"(\.[0-9]*?)0+$"


def is_mixed(kind: pa.DataType) -> bool:
    """Whether each cell may be of another kind (see `MIXED`)."""
    return bool(pa.types.is_struct(kind)) and all(field.name.startswith(MIXED) for field in kind.fields)


def text_of_values(
    connection: duckdb.DuckDBPyConnection,
    values: pa.Array,
    value_format: str | None = None,
    number_format: NumberFormat = PLAIN,
) -> pa.Array:
    """The text of each value; null where there is none: of null, NaN, lists and structs.

    Numbers with a fraction get the decimal mark of the column's own.

    Raises: pa.ArrowInvalid: text that isn't UTF-8, or a type that has no text.
    """
    kind = values.type
    if is_mixed(kind):
        return _texts_of_mixed(connection, values, value_format, number_format)
    if pa.types.is_dictionary(kind):
        texts = text_of_values(connection, values.dictionary, value_format, number_format)
        return texts.take(values.indices)
    if is_text(kind):
        values.validate(full=True)
        return values.cast(pa.large_string())
    if pa.types.is_null(kind) or pa.types.is_nested(kind):
        return pa.nulls(len(values), pa.large_string())
    if pa.types.is_floating(kind):
        floats = values.cast(pa.float64())
        return _with_decimal_mark(query_over(connection, "records/text_of_floats", floats, {}), number_format)
    if pa.types.is_decimal(kind):
        plain = [None if value is None else f"{value:f}" for value in values.to_pylist()]
        return _with_decimal_mark(_without_zeros(pa.array(plain, pa.large_string())), number_format)
    is_of = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if any(check(kind) for check in (*is_of, pa.types.is_binary_view)):
        return query_over(connection, "records/text_of_bytes", values.cast(pa.large_binary()), {}).cast(
            pa.large_string()
        )
    return _texts_of_times(connection, values, value_format)


def _texts_of_mixed(
    connection: duckdb.DuckDBPyConnection,
    values: pa.Array,
    value_format: str | None,
    number_format: NumberFormat,
) -> pa.Array:
    texts = pa.nulls(len(values), pa.large_string())
    for field, cells in zip(values.type.fields, values.flatten(), strict=True):
        found = text_of_values(connection, cells, value_format, number_format)
        if field.name == _NUMBERS:
            found = _with_decimal_mark(_without_zeros(found), number_format)
        texts = pc.coalesce(texts, found)
    return texts


def _without_zeros(numbers: pa.Array) -> pa.Array:
    """Plain numbers without needless zeros behind the point, and 0 without a sign."""
    found = pc.replace_substring_regex(numbers, _ZEROS_BEHIND, r"\1")
    return pc.replace_substring_regex(pc.utf8_rtrim(found, "."), "^-0$", "0")


def _with_decimal_mark(numbers: pa.Array, number_format: NumberFormat) -> pa.Array:
    return pc.replace_substring(numbers.cast(pa.large_string()), ".", number_format.decimal)


def _texts_of_times(
    connection: duckdb.DuckDBPyConnection, values: pa.Array, value_format: str | None
) -> pa.Array:
    """The text of a date, time, moment or duration; or of what else DuckDB writes: truth values, integers."""
    kind = values.type
    is_moment, is_zoned = pa.types.is_timestamp(kind), pa.types.is_timestamp(kind) and kind.tz is not None
    if is_moment or pa.types.is_time(kind) or pa.types.is_duration(kind):
        values = _in_microseconds(values)
    if value_format and (is_moment or pa.types.is_date(kind)):
        parameters: dict[str, object] = {"value_format": value_format}
        texts = query_over(connection, "records/text_of_times", values, parameters)
        return texts.cast(pa.large_string())
    texts = query_over(connection, "records/text_of_values", values, {}).cast(pa.large_string())
    zone = pa.scalar("+00" if is_zoned else "", texts.type)
    return pc.binary_join_element_wise(texts, zone, pa.scalar("", texts.type))


def _in_microseconds(values: pa.Array) -> pa.Array:
    """Times in microseconds, those with a zone in UTC; null where they are none that DuckDB could write.

    One such value would stop the run, and so show that a record with it is there (R2).
    """
    kind = values.type
    is_time = pa.types.is_time(kind)
    scale = _A_SECOND[kind.unit]
    low, high = (end * scale for end in (_TIMES_OF_DAY if is_time else _MOMENTS))
    bare = values.view(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    numbers = bare.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    # Nanoseconds in 64 bits never leave the range, whose ends don't fit them.
    outside = (numbers < max(low, -(2**63))) | (numbers > min(high - 1, 2**63 - 1))
    outside |= bare.is_null().to_numpy(zero_copy_only=False)
    numbers = np.where(outside, 0, numbers)  # DuckDB converts what lies under a null as well
    micro = numbers // (scale // 10**6) if scale > 10**6 else numbers * (10**6 // scale)
    unit = pa.time64 if is_time else pa.duration if pa.types.is_duration(kind) else pa.timestamp
    return pa.array(micro, mask=outside).view(unit("us"))


def texts_or_lists(
    connection: duckdb.DuckDBPyConnection,
    cells: pa.Array,
    delimiter: str | None = None,
    value_format: str | None = None,
    number_format: NumberFormat = PLAIN,
) -> pa.Array:
    """The cells' texts, or for a multi-valued column of lists, lists of their items' texts.

    Where a multi-valued column holds lists beside texts, a text is split, as it is where no cell is a list.
    """
    if not holds_lists(cells.type, delimiter):
        return text_of_values(connection, cells, value_format, number_format)
    if is_list(cells.type):
        return pa.array(_lists_of_text(connection, cells, number_format), pa.list_(pa.string()))
    fields = dict(zip((field.name for field in cells.type.fields), cells.flatten(), strict=True))
    lists = _lists_of_text(connection, fields[f"{MIXED}list"], number_format)
    texts = text_of_values(connection, cells, value_format, number_format).to_pylist()
    split = [
        items if items is not None else None if text is None else split_items(text, delimiter or "")
        for items, text in zip(lists, texts, strict=True)
    ]
    return pa.array(split, pa.list_(pa.string()))


def holds_lists(kind: pa.DataType, delimiter: str | None) -> bool:
    is_beside = is_mixed(kind) and kind.get_field_index(f"{MIXED}list") >= 0
    return delimiter is not None and (is_list(kind) or is_beside)


def split_items(cell: str, delimiter: str) -> list[str]:
    return cell.split(delimiter) if delimiter else list(cell)


def _lists_of_text(
    connection: duckdb.DuckDBPyConnection, array: pa.Array, number_format: NumberFormat
) -> Sequence[list[str | None] | None]:
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    texts = text_of_values(connection, array.flatten(), None, number_format).to_pylist()
    ends = np.cumsum(lengths)
    cells = [texts[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return [cell if there else None for cell, there in zip(cells, array.is_valid().to_pylist(), strict=True)]
