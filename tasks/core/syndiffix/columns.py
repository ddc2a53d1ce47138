"""A typed column as numbers that a tree divides, and numbers as cells of that type again.

Values are in the column's own units (X2.1, without the scaling by minimum and maximum, which shows both).
Nothing in here protects anything: an encoded column is as sensitive as the table.

* Booleans are 0 and 1, texts their rank among the distinct ones in code-point order.
* Dates, times and durations are seconds: timestamps (of any unit, with or without a time zone) and dates
  counted from 1800-01-01, in UTC where there is a zone; times and durations from 0. Whole seconds and
  milliseconds are exact, microseconds from the year 1528 to 2072, beyond to a few of them. Nanoseconds are
  rounded to microseconds.
* Integers of any width, and decimals by their unscaled integers, are floats, less a base; in between stand
  128-bit integers in two's complement, as two words. They are exact where they lie within +-2^53, or within
  2^53 of each other: then the base, a multiple of 2^52, is subtracted, and the grid of intervals stays.
  Elsewhere neighbours whose nearest float is one get floats side by side, and a list says what each stands
  for: a value that may be shown comes out as it is.
"""

from dataclasses import dataclass, replace
from datetime import date
from math import inf, nextafter
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Flags, Floats, Integers, Words
from tasks.core.errors import InputError
from tasks.core.tables.texts import is_text
from tasks.core.tables.writing import plain_type

_DAY = 86_400
_FROM_1800 = (date(1970, 1, 1) - date(1800, 1, 1)).days * _DAY
_FIRST = (date(1, 1, 1) - date(1800, 1, 1)).days * _DAY
_LAST = (date(9999, 12, 31) - date(1800, 1, 1)).days * _DAY + _DAY - 1
_MOST_SECONDS = 1 << 52
_FINEST = 10**6
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

#: A multiple and parts: numbers ``k * multiple / parts`` for whole k lie on it.
Unit = tuple[int, int]
#: Of moments, in seconds: coarse first.
UNITS: tuple[Unit, ...] = ((_DAY, 1), (3600, 1), (60, 1), (1, 1), (1, 10**3), (1, _FINEST))


def is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind)) and not pa.types.is_interval(kind)


def seconds_of(array: pa.Array) -> tuple[Integers, Integers] | None:
    """Whole seconds, int64 (n,), and microseconds, both 0 where null; None if a date is of no use."""
    whole, micros = _split_ticks(array)
    if len(whole) and max(-int(whole.min()), int(whole.max())) > _MOST_SECONDS:
        return None
    return whole + _origin(array.type), micros


def any_floats_of(array: pa.Array) -> Floats:
    """Seconds with their fraction, of dates of no use, too; anything where the array is null."""
    whole, micros = _split_ticks(array)
    return (whole.astype(np.float64) + _origin(array.type)) + micros / float(_FINEST)


def _split_ticks(array: pa.Array) -> tuple[Integers, Integers]:
    """Whole seconds since the type's own start, and microseconds from 0 to 10^6."""
    kind = array.type
    stored = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    ticks = stored.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_date32(kind):
        return ticks * _DAY, np.zeros_like(ticks)
    parts = _ticks_per_second(kind)
    whole, rest = np.divmod(ticks, parts)
    if parts > _FINEST:
        return whole, (rest + parts // _FINEST // 2) // (parts // _FINEST)
    return whole, rest * (_FINEST // parts)


def lies_on(unit: Unit, whole: Integers, micros: Integers) -> Flags:
    multiple, parts = unit
    on_unit: Flags = (whole % multiple == 0) & (micros % (_FINEST // parts) == 0)
    return on_unit


def array_of_seconds(seconds: Floats, missing: Flags, kind: pa.DataType, finest: int) -> pa.Array:
    """An array of a type that holds such seconds, (m,); null where missing. Dates: the day they fall on.

    They are rounded to the part ``finest`` of a second, or to the type's own.
    """
    seconds = np.where(missing, 0.0, seconds)
    whole = np.floor(seconds)
    since = whole.astype(np.int64) - _origin(kind)
    if pa.types.is_date(kind):
        return pa.array((since // _DAY).astype(np.int32), mask=missing).view(pa.date32()).cast(kind)
    parts = _ticks_per_second(kind)
    known = min(parts, finest)
    ticks = (since * known + np.rint((seconds - whole) * known).astype(np.int64)) * (parts // known)
    stored = ticks.astype(np.int32) if kind.bit_width == 32 else ticks
    return pa.array(stored, mask=missing).view(kind)


def seconds_bounds(kind: pa.DataType) -> tuple[float, float]:
    """The least and the largest seconds that a type holds: of dates, years 1 to 9999."""
    parts = _ticks_per_second(kind)
    if pa.types.is_time(kind):
        return 0.0, _DAY - 1 / min(parts, _FINEST)
    most = min((2**63 - 1) // parts - 1, _MOST_SECONDS)
    origin = _origin(kind)
    if pa.types.is_duration(kind):
        return float(-most), float(most)
    return float(max(_FIRST, origin - most)), float(min(_LAST, origin + most))


def _origin(kind: pa.DataType) -> int:
    return _FROM_1800 if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else 0


def _ticks_per_second(kind: pa.DataType) -> int:
    if pa.types.is_date32(kind):
        return 1
    return _TICKS["ms"] if pa.types.is_date64(kind) else _TICKS[kind.unit]


_WORD = 1 << 64
_EXACT = 1 << 53
_BASE_STEP = 1 << 52  # so that any range below 2^53 around a multiple of it is within +-2^53
_LONGEST_DECIMAL = 38


@dataclass(frozen=True)
class WideIntegers:
    """Integers low + 2^64 high: ``low`` uint64 (n,), ``high`` int64 (n,)."""

    low: Words
    high: Integers

    def extremes(self) -> tuple[int, int]:
        """The least and the largest of at least one integer."""
        ends = []
        for high, least in ((self.high.min(), np.min), (self.high.max(), np.max)):
            ends.append(int(high) * _WORD + int(least(self.low[self.high == high])))
        return ends[0], ends[1]

    def plus(self, number: int) -> "WideIntegers":
        """Modulo 2^128."""
        low, high = np.uint64(number % _WORD), np.int64(number // _WORD)
        total = self.low + low
        return WideIntegers(total, self.high + high + (total < low))

    def floats(self) -> Floats:
        """The float nearest to each integer; beyond 2^64, one of the two nearest."""
        signed = self.low.view(np.int64)
        is_short = self.high == (signed >> 63)  # the high word repeats the low one's sign: 64 bits are enough
        long = self.high.astype(np.float64) * float(_WORD) + self.low.astype(np.float64)
        return np.where(is_short, signed.astype(np.float64), long)


def is_supported_decimal(kind: pa.DataType) -> bool:
    """Whether decimals of this type can be read: their integers have a unit that is not above 1."""
    return bool(pa.types.is_decimal(kind)) and 0 <= kind.scale <= _LONGEST_DECIMAL


def wide_integers(array: pa.Array) -> WideIntegers:
    """The integers of an array, or the unscaled ones of decimals; anything where it is null.

    A decimal of more than 38 digits is a pa.ArrowInvalid.
    """
    if pa.types.is_decimal(array.type):
        wide = array.cast(pa.decimal128(_LONGEST_DECIMAL, array.type.scale))
        words = np.zeros((0, 2), np.int64)
        if len(wide):
            words = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)
        words = words[wide.offset : wide.offset + len(wide)]
        return WideIntegers(words[:, 0].copy().view(np.uint64), words[:, 1].copy())
    if array.null_count:
        array = array.fill_null(0)
    numbers = array.to_numpy(zero_copy_only=False)
    if numbers.dtype == np.uint64:
        return WideIntegers(numbers, np.zeros(len(numbers), np.int64))
    numbers = numbers.astype(np.int64)
    return WideIntegers(numbers.view(np.uint64), numbers >> 63)


def float_offset(lowest: int, highest: int) -> int:
    """What is subtracted from integers lowest..highest so that floats hold them, where that can be.

    >>> float_offset(18, 93), float_offset(2**60, 2**60 + 5) == 2**60
    (0, True)
    """
    if max(-lowest, highest) <= _EXACT or highest - lowest >= _EXACT:
        return 0
    return (lowest + highest + _BASE_STEP) // (2 * _BASE_STEP) * _BASE_STEP


def wide_integers_of_floats(numbers: Floats) -> WideIntegers:
    """Floats without a fraction, below 2^127, as integers; exact."""
    amounts = np.abs(numbers)
    high = np.floor(amounts / _WORD)
    low = (amounts - high * _WORD).astype(np.uint64)
    words = WideIntegers(low, high.astype(np.int64))
    negated = WideIntegers(~low, ~words.high).plus(1)
    below = numbers < 0
    return WideIntegers(np.where(below, negated.low, low), np.where(below, negated.high, words.high))


def array_of_integers(words: WideIntegers, missing: Flags, kind: pa.DataType) -> pa.Array:
    """Integers as an Arrow array of integers or decimals of a type that holds them; null where missing."""
    if not pa.types.is_decimal(kind):
        signed = words.low if pa.types.is_unsigned_integer(kind) else words.low.view(np.int64)
        return pa.array(signed, mask=missing).cast(kind)
    cells = np.column_stack([words.low.view(np.int64), words.high])
    cells[missing] = 0
    validity = pa.array(~missing).buffers()[1]
    wide = pa.decimal128(_LONGEST_DECIMAL, kind.scale)
    array = pa.Array.from_buffers(wide, len(missing), [validity, pa.py_buffer(np.ascontiguousarray(cells))])
    return array.cast(kind)


def _float_limits(kind: pa.DataType, base: int) -> tuple[float, float]:
    """The least and the largest float within a type's (unscaled) integers, less a base."""
    if pa.types.is_decimal(kind):
        highest = int(10 ** min(kind.precision, _LONGEST_DECIMAL)) - 1
        lowest = -highest
    elif pa.types.is_unsigned_integer(kind):
        lowest, highest = 0, (1 << kind.bit_width) - 1
    else:
        lowest, highest = -(1 << (kind.bit_width - 1)), (1 << (kind.bit_width - 1)) - 1
    low, high = float(lowest - base), float(highest - base)
    return (
        low if low >= lowest - base else nextafter(low, inf),
        high if high <= highest - base else nextafter(high, -inf),
    )


ColumnKind = Literal["boolean", "integer", "real", "timestamp", "string"]
_LARGEST = 2.0**1020  # what stands for null is at most twice a value
_MOST_DECIMALS = 17
_USUAL_DECIMALS = 12
_WHOLE_NUMBERS: tuple[Unit, ...] = ((1, 1),)
_OFF_GRID = 100  # a grid is a column's if at most one cell of so many lies beside it


@dataclass(frozen=True)
class EncodedColumn:
    """A column in tree units.

    Attributes:
        values: (n,), NaN for null.
        output_type: of the cells that numbers are decoded to: the input's type.
        grids: what cells drawn from a range lie on, the coarsest first, the next where an interval holds
            nothing of it; none: on any number. All moments lie on the last.
        bounds: the least and the largest number that the output type holds.
        vocabulary: the distinct texts (V,), sorted; None of other kinds.
        exact: the distinct values (V,) where floats don't tell them, and in tree units, sorted; else None.
    """

    name: str
    kind: ColumnKind
    values: Floats
    output_type: pa.DataType
    grids: tuple[Unit, ...]
    bounds: tuple[float, float]
    base: int = 0
    vocabulary: pa.Array | None = None
    exact: tuple[pa.Array, Floats] | None = None

    @property
    def cell_type(self) -> pa.DataType:
        return plain_type(self.output_type)

    def decode(self, numbers: Floats, missing: Flags) -> pa.Array:
        """Numbers in tree units, (m,), as plain cells, of which those that are missing are null.

        Integers and decimals beyond ``bounds`` become its ends.
        """
        numbers = np.where(missing, 0.0, numbers)
        kind = self.cell_type
        if self.kind == "boolean":
            cells = pa.array(numbers >= 0.5, mask=missing)
        elif self.kind == "timestamp":
            cells = array_of_seconds(numbers, missing, kind, self.grids[-1][1])
        elif self.vocabulary is not None:
            ranks = pa.array(numbers.astype(np.int64), mask=missing)
            cells = self.vocabulary.take(ranks) if len(self.vocabulary) else pa.nulls(len(ranks), kind)
        elif self.kind == "real" and pa.types.is_floating(kind):
            cells = pa.array(numbers.astype(kind.to_pandas_dtype()), mask=missing)
        else:
            scale = 10.0**kind.scale if self.kind == "real" else 1.0
            inside = np.clip(numbers, *self.bounds)  # the float nearest to a type's largest may be beyond it
            words = wide_integers_of_floats(np.rint(inside * scale)).plus(self.base)
            cells = array_of_integers(words, missing, kind)
        return cells.cast(kind)

    def with_own_values(self, cells: pa.Array, numbers: Floats, own: Flags) -> pa.Array:
        """Cells that `decode` made of numbers; where ``own`` (drawn from no range) the own values exactly."""
        if self.exact is None:
            return cells
        values, floats = self.exact
        return pc.replace_with_mask(cells, own, values.take(np.searchsorted(floats, numbers[own])))

    def in_output_type(self, cells: pa.Array) -> pa.Array:
        """Plain cells in the output type; a dictionary's entries in the order in which rows have them."""
        return cells.dictionary_encode() if pa.types.is_dictionary(self.output_type) else cells


def encode_column(name: str, column: pa.Array | pa.ChunkedArray) -> EncodedColumn:
    """A typed column in tree units; NaN is null, and entries of a dictionary that no row holds are left out.

    >>> town = encode_column("town", pa.array(["Lyon", None, "Lille"]))
    >>> town.kind, town.values.tolist(), town.vocabulary.to_pylist()
    ('string', [1.0, nan, 0.0], ['Lille', 'Lyon'])

    Raises:
        InputError: another type; infinite numbers; numbers or dates too large.
    """
    output_type = column.type
    array = plain_array(column)
    kind = array.type
    if pa.types.is_dictionary(output_type):
        output_type = pa.dictionary(pa.int32(), kind)
    if pa.types.is_boolean(kind):
        values = _with_nan(array.cast(pa.uint8()).fill_null(0).to_numpy().astype(np.float64), array)
        return EncodedColumn(name, "boolean", values, output_type, _WHOLE_NUMBERS, (0.0, 1.0))
    if pa.types.is_integer(kind) or is_supported_decimal(kind):
        return _encode_whole(name, array, output_type)
    if pa.types.is_floating(kind):
        return _encode_floats(name, array, output_type)
    if is_moment(kind):
        return _encode_moments(name, array, output_type)
    if is_text(kind):
        return _encode_texts(name, array, output_type)
    raise _column_error(
        name,
        "A column must hold booleans, integers, reals, decimals, dates, times or text, but is of type "
        f"{str(kind).partition('<')[0]}: convert it or leave it out.",  # what is in it may have names
    )


def _column_error(name: str, problem: str) -> InputError:
    """That nobody declared, a header is told to the operator alone."""
    return InputError(problem, f"The column is {name!r}.")


def plain_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece, dictionaries resolved, a column without a type as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_null(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    elif pa.types.is_string(kind) and column.nbytes >= 2**31:
        column = column.cast(pa.large_string())
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _with_nan(values: Floats, array: pa.Array) -> Floats:
    if array.null_count:
        values[_is_null(array)] = np.nan
    return values


def _is_null(array: pa.Array) -> Flags:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def _encode_whole(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    kind = array.type
    try:
        words = wide_integers(array)
    except pa.ArrowInvalid:
        words = None
    if words is None:
        raise _column_error(name, "A column must hold decimals of at most 38 digits: leave out longer ones.")
    present = ~_is_null(array)
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    base = 0
    if present.any() and not scale:
        base = float_offset(*WideIntegers(words.low[present], words.high[present]).extremes())
    low, high = _float_limits(kind, base)
    values = _with_nan(words.plus(-base).floats() / 10.0**scale, array)
    bounds = (low / 10.0**scale, high / 10.0**scale)
    column = EncodedColumn(name, "integer", values, output_type, _WHOLE_NUMBERS, bounds, base)
    if scale:
        decimals = _decimals(values[present], min(scale, _MOST_DECIMALS))
        grids = _decimal_grids(scale if decimals is None else decimals, scale)
        column = EncodedColumn(name, "real", values, output_type, grids, bounds)
    return column if column.decode(values, ~present).equals(array) else _separate_equal_floats(column, array)


def _separate_equal_floats(column: EncodedColumn, array: pa.Array) -> EncodedColumn:
    """The column with floats of its own for values that share one: the next ones, in the values' order."""
    coded = array.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)
    ranks = np.empty(len(order), np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    present = ~_is_null(array)
    held = ranks[coded.indices.drop_null().to_numpy()]
    floats = np.empty(len(order))
    floats[held] = column.values[present]
    # Floats in the order of their bits: each at least one above the one before.
    bits = floats.view(np.int64)
    bits = np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)
    bits = np.maximum.accumulate(bits - np.arange(len(bits))) + np.arange(len(bits))
    floats = np.where(bits < 0, np.iinfo(np.int64).min - bits, bits).view(np.float64)
    values = column.values.copy()
    values[present] = floats[held]
    return replace(column, values=values, exact=(coded.dictionary.take(order), floats))


def _encode_floats(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    raw = array.to_numpy(zero_copy_only=False)  # null is NaN
    if raw.dtype == np.float16:
        raw = raw.astype(np.float32)
    values = raw.astype(np.float64) + 0.0  # one zero, not two
    if (np.abs(values) > _LARGEST).any():
        raise _column_error(
            name,
            "A column must hold finite numbers within +-2^1020, and has infinite or larger ones: make them "
            "null, rescale the column or leave it out.",
        )
    decimals = _decimals(raw[~np.isnan(raw)], _MOST_DECIMALS)
    grids = () if decimals is None else _decimal_grids(decimals, _MOST_DECIMALS)
    largest = min(float(np.finfo(array.type.to_pandas_dtype()).max), 2 * _LARGEST)
    return EncodedColumn(name, "real", values, output_type, grids, (-largest, largest))


def _decimals(values: Floats, most: int) -> int | None:
    """The decimals that all but 1 % of the values need, in shortest form; None if more than ``most``.

    Up to half of the values may need more than 12: what arithmetic left of shorter ones (0.6 - 1e-16).

    >>> _decimals(np.array([36.6, 37.25, 38.0]), most=17), _decimals(np.array([0.1 + 0.2, 0.5]), most=17)
    (2, 1)
    """
    allowed, half = len(values) // _OFF_GRID, len(values) // 2
    needing_more = []
    for decimals in range(most + 1):
        parts = 10.0**decimals
        scaled = values.astype(np.float64) * parts
        values = values[(np.rint(scaled) / parts).astype(values.dtype) != values]
        needing_more.append(len(values))
    remains = needing_more[min(_USUAL_DECIMALS, most)]
    allowed += remains if remains <= half else 0
    return next((decimals for decimals, count in enumerate(needing_more) if count <= allowed), None)


def _decimal_grids(decimals: int, most: int) -> tuple[Unit, ...]:
    return tuple((1, 10**places) for places in range(decimals, most + 1))


def _encode_moments(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    kind = array.type
    seconds = seconds_of(array)
    if seconds is None:
        raise _column_error(name, "A column has dates too far from today to be dates: make them null.")
    whole, micros = seconds
    present = ~_is_null(array)
    off = [int((present & ~lies_on(unit, whole, micros)).sum()) for unit in UNITS]
    allowed = int(present.sum()) // _OFF_GRID
    coarsest = next(place for place, cells in enumerate(off) if cells <= allowed)
    exact = off.index(0) if present.any() else coarsest
    values = _with_nan(whole.astype(np.float64) + micros / float(_FINEST), array)
    return EncodedColumn(
        name, "timestamp", values, output_type, UNITS[coarsest : exact + 1], seconds_bounds(kind)
    )


def _encode_texts(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    coded = array.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)  # bytes of UTF-8 sort as their code points do
    vocabulary = coded.dictionary.take(order)
    ranks = np.empty(len(order), np.float64)
    ranks[order.to_numpy()] = np.arange(len(order))
    values = _with_nan(np.append(ranks, 0.0)[coded.indices.fill_null(len(ranks)).to_numpy()], array)
    bounds = (0.0, float(max(len(vocabulary) - 1, 0)))
    return EncodedColumn(name, "string", values, output_type, _WHOLE_NUMBERS, bounds, vocabulary=vocabulary)
