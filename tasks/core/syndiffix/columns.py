"""A typed column as numbers that a tree divides, and numbers as cells of that type again.

In: an Arrow column. Out: an `EncodedColumn`, its values in the column's own units (syndiffix.md 2.1, without
the scaling by minimum and maximum, which shows both): booleans 0 and 1, integers and reals as they are,
moments in seconds (see `moments`), texts as their rank among the distinct ones in code-point order.

Nothing in here protects anything: an encoded column is as sensitive as the table.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.errors import InputError
from tasks.core.syndiffix import moments, whole_numbers
from tasks.core.syndiffix.intervals import Selected, Values

ColumnKind = Literal["boolean", "integer", "real", "timestamp", "string"]
_LARGEST = 2.0**1020  # what stands for null is at most twice a value
_MOST_DECIMALS = 17
_USUAL_DECIMALS = 12
_OFF_GRID = 100  # a grid is a column's if at most one cell of so many lies beside it


@dataclass(frozen=True)
class Grid:
    """Numbers ``k * multiple / parts`` for whole k: what cells that are drawn from a range look like."""

    multiple: int = 1
    parts: int = 1


@dataclass(frozen=True)
class EncodedColumn:
    """A column in tree units.

    Attributes:
        name: its header.
        kind: how it is divided and drawn.
        values: (n,), NaN for null.
        output_type: of the cells that numbers are decoded to: the input's type.
        grids: what cells drawn from a range lie on, the coarsest first, the next where an interval holds
            nothing of it; none: on any number. All moments lie on the last.
        bounds: the least and the largest number that the output type holds.
        base: what was subtracted from integers (see `whole_numbers`).
        vocabulary: the distinct texts (V,), sorted; None unless the kind is string.
    """

    name: str
    kind: ColumnKind
    values: Values
    output_type: pa.DataType
    grids: tuple[Grid, ...]
    bounds: tuple[float, float]
    base: int = 0
    vocabulary: pa.Array | None = None

    @property
    def cell_type(self) -> pa.DataType:
        """The output type; of a dictionary, that of its entries."""
        return plain_type(self.output_type)

    def decode(self, numbers: Values, missing: Selected) -> pa.Array:
        """Numbers in tree units as plain cells, of which those that are missing are null.

        Args:
            numbers: (m,); integers and decimals beyond ``bounds`` become its ends.
            missing: (m,).
        """
        numbers = np.where(missing, 0.0, numbers)
        kind = self.cell_type
        if self.kind == "boolean":
            cells = pa.array(numbers >= 0.5, mask=missing)
        elif self.kind == "timestamp":
            cells = moments.array_of_seconds(numbers, missing, kind, self.grids[-1].parts)
        elif self.vocabulary is not None:
            ranks = pa.array(numbers.astype(np.int64), mask=missing)
            cells = self.vocabulary.take(ranks) if len(self.vocabulary) else pa.nulls(len(ranks), kind)
        elif self.kind == "real" and pa.types.is_floating(kind):
            cells = pa.array(numbers.astype(kind.to_pandas_dtype()), mask=missing)
        else:
            scale = 10.0**kind.scale if self.kind == "real" else 1.0
            inside = np.clip(numbers, *self.bounds)  # the float nearest to a type's largest may be beyond it
            words = whole_numbers.words_of_floats(np.rint(inside * scale)).plus(self.base)
            cells = whole_numbers.array_of(words, missing, kind)
        return cells.cast(kind)

    def finished(self, cells: pa.Array) -> pa.Array:
        """Plain cells in the output type; a dictionary's entries in the order in which rows have them."""
        return cells.dictionary_encode() if pa.types.is_dictionary(self.output_type) else cells


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a dictionary's entries; any other as it is."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def encode_column(name: str, column: pa.Array | pa.ChunkedArray) -> EncodedColumn:
    """A typed column in tree units.

    NaN in a column of reals is null. Entries of a dictionary that no row holds are left out.

    Args:
        name: its header, which messages name.
        column: booleans, integers, reals, decimals, dates, times, durations, texts, or a dictionary of these.

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
        return EncodedColumn(name, "boolean", values, output_type, (Grid(),), (0.0, 1.0))
    if pa.types.is_integer(kind) or whole_numbers.is_supported_decimal(kind):
        return _encode_whole(name, array, output_type)
    if pa.types.is_floating(kind):
        return _encode_floats(name, array, output_type)
    if moments.is_moment(kind):
        return _encode_moments(name, array, output_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _encode_texts(name, array, output_type)
    raise _unfit(
        name,
        "A column must hold booleans, integers, reals, decimals, dates, times or text, but is of type "
        f"{str(kind).partition('<')[0]}: convert it or leave it out.",  # what is in it may have names
    )


def _unfit(name: str, problem: str) -> InputError:
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


def _with_nan(values: Values, array: pa.Array) -> Values:
    if array.null_count:
        values[_missing(array)] = np.nan
    return values


def _missing(array: pa.Array) -> Selected:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def _encode_whole(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    """Integers, and decimals: those with a scale as reals."""
    kind = array.type
    try:
        words = whole_numbers.words_of(array)
    except pa.ArrowInvalid:
        words = None
    if words is None:
        raise _unfit(name, "A column must hold decimals of at most 38 digits: leave out longer ones.")
    present = ~_missing(array)
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    base = 0
    if present.any() and not scale:
        base = whole_numbers.base_of(*whole_numbers.Words(words.low[present], words.high[present]).extremes())
    lowest, highest = whole_numbers.limits(kind)
    low, high = whole_numbers.floats_within(lowest - base, highest - base)
    values = _with_nan(words.plus(-base).floats() / 10.0**scale, array)
    bounds = (low / 10.0**scale, high / 10.0**scale)
    if not scale:
        return EncodedColumn(name, "integer", values, output_type, (Grid(),), bounds, base)
    decimals = _decimals(values[present], min(scale, _MOST_DECIMALS))
    grids = _decimal_grids(scale if decimals is None else decimals, scale)
    return EncodedColumn(name, "real", values, output_type, grids, bounds)


def _encode_floats(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    raw = array.to_numpy(zero_copy_only=False)  # null is NaN
    if raw.dtype == np.float16:
        raw = raw.astype(np.float32)
    values = raw.astype(np.float64) + 0.0  # one zero, not two
    if (np.abs(values) > _LARGEST).any():
        raise _unfit(
            name,
            "A column must hold finite numbers within +-2^1020, and has infinite or larger ones: make them "
            "null, rescale the column or leave it out.",
        )
    decimals = _decimals(raw[~np.isnan(raw)], _MOST_DECIMALS)
    grids = () if decimals is None else _decimal_grids(decimals, _MOST_DECIMALS)
    largest = min(float(np.finfo(array.type.to_pandas_dtype()).max), 2 * _LARGEST)
    return EncodedColumn(name, "real", values, output_type, grids, (-largest, largest))


def _decimals(values: Values, most: int) -> int | None:
    """The decimals that all but 1 % of the values need, in shortest form; None if more than ``most``.

    Up to half of the values may need more than 12: what arithmetic left of shorter ones (0.6 - 1e-16).
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


def _decimal_grids(decimals: int, most: int) -> tuple[Grid, ...]:
    return tuple(Grid(parts=10**places) for places in range(decimals, most + 1))


def _encode_moments(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    kind = array.type
    seconds = moments.seconds_of(array)
    if seconds is None:
        raise _unfit(name, "A column has dates too far from today to be dates: make them null.")
    whole, micros = seconds
    present = ~_missing(array)
    off = [int((present & ~moments.lies_on(unit, whole, micros)).sum()) for unit in moments.UNITS]
    allowed = int(present.sum()) // _OFF_GRID
    coarsest = next(place for place, cells in enumerate(off) if cells <= allowed)
    exact = off.index(0) if present.any() else coarsest
    grids = tuple(Grid(*unit) for unit in moments.UNITS[coarsest : exact + 1])
    values = _with_nan(moments.floats_of(whole, micros), array)
    return EncodedColumn(name, "timestamp", values, output_type, grids, moments.bounds_of(kind))


def _encode_texts(name: str, array: pa.Array, output_type: pa.DataType) -> EncodedColumn:
    coded = array.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)  # bytes of UTF-8 sort as their code points do
    vocabulary = coded.dictionary.take(order)
    ranks = np.empty(len(order), np.float64)
    ranks[order.to_numpy()] = np.arange(len(order))
    values = _with_nan(np.append(ranks, 0.0)[coded.indices.fill_null(len(ranks)).to_numpy()], array)
    bounds = (0.0, float(max(len(vocabulary) - 1, 0)))
    return EncodedColumn(name, "string", values, output_type, (Grid(),), bounds, vocabulary=vocabulary)
