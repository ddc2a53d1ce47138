"""A typed column as labelled bins, so that two tables can be compared and drawn.

What goes in may be shown, such as a synthetic column: the edges tell nothing that it does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Floats, Integers
from tasks.core.records.cells import bin_codes
from tasks.core.records.columns import Schema, bin_labels
from tasks.core.tables.column_names import output_spelling
from tasks.core.tables.writing import plain_type

#: Of a column with no more distinct numbers, each is shown by itself.
_MOST_SINGLE = 20
_MOST_BINS = 14
_MOST_TEXTS = 300
#: The coarsest last.
_UNITS = (
    ("s", "%Y-%m-%d %H:%M:%S"), ("m", "%Y-%m-%d %H:%M"), ("h", "%Y-%m-%d %H h"),
    ("D", "%Y-%m-%d"), ("M", "%Y-%m"), ("Y", "%Y"),
)  # fmt: skip
_MOST_PERIODS = 36


@dataclass(frozen=True)
class Bins:
    """What a column's cells are sorted into.

    Attributes:
        kind: ``boolean``, ``integer``, ``real``, ``timestamp`` or ``string``.
        labels: of the bins, in their order.
        edges: of numbers in bins; None where labels are single values or periods.
        period: the unit, as numpy has it, and the format of moments; None of others.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    period: tuple[str, str] | None = None

    def codes(self, column: pa.ChunkedArray) -> Integers:
        """The bin of each cell: -1 for null, the number of labels for what is in none."""
        if self.edges is not None:
            return bin_codes(_numbers(column), self.edges).astype(np.int64) - 1
        found = pc.index_in(_texts(column, self.period), pa.array(self.labels, pa.string()))
        places: Integers = found.fill_null(len(self.labels)).to_numpy().astype(np.int64)
        places[column.is_null(nan_is_null=True).to_numpy()] = -1
        return places


def kind_of(kind: pa.DataType) -> str:
    kind = plain_type(kind)
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "real"
    return "timestamp" if pa.types.is_temporal(kind) else "string"


def public_edges(schema: Schema, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The declared edges by the file's names of columns, which the schema spells as SDS's outputs do."""
    edges = {column.name: column.bins for column in schema.columns if column.bins}
    return {name: edges[output_spelling(name)] for name in names if output_spelling(name) in edges}


def bins_of(name: str, column: pa.ChunkedArray, edges: Sequence[float] | None = None) -> Bins:
    """Bins for n cells that may be shown.

    ``edges``: public ones of a numeric column, increasing; None: round ones are found.
    """
    kind = kind_of(column.type)
    if kind == "boolean":
        return Bins(name, kind, ("false", "true"))
    if kind == "string":
        counted = _texts_by_count(_texts(column, None))
        return Bins(name, kind, tuple(counted[:_MOST_TEXTS]))
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return _period_bins(name, column)
    numbers = _numbers(column)
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if edges is None and len(distinct) <= _MOST_SINGLE:
        texts = _texts(column, None).unique().drop_null()
        order = pc.sort_indices(column.cast(plain_type(column.type)).unique().drop_null())
        return Bins(name, kind, tuple(texts.take(order).to_pylist()))
    found = tuple(map(float, edges)) if edges is not None else _round_edges(numbers[~np.isnan(numbers)])
    return Bins(name, kind, bin_labels(found), edges=found)


def _round_edges(numbers: Floats) -> tuple[float, ...]:
    """Edges a round step apart about the middle 98 of 100; what is beyond them is in the end bins.

    >>> _round_edges(np.arange(18.0, 79.0))
    (15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0)
    """
    low, high = (float(each) for each in np.quantile(numbers, (0.01, 0.99), method="inverted_cdf"))
    if high <= low:
        low, high = float(numbers.min()), float(numbers.max())
    step = _round_up((high - low) / _MOST_BINS)
    first, last = floor(low / step), ceil(high / step)
    edges = tuple(round(step * place, 12) for place in range(first, max(last, first + 1) + 1))
    return edges if len(set(edges)) == len(edges) else (low, high)


def _round_up(value: float) -> float:
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * (1 - 1e-9))


def _period_bins(name: str, column: pa.ChunkedArray) -> Bins:
    held = [(period, _texts(column, period).unique().drop_null()) for period in _UNITS]
    few = [(period, texts) for period, texts in held if len(texts) <= _MOST_PERIODS] or held[-1:]
    period, texts = [each for each in few if len(each[1]) == len(few[0][1])][-1]
    return Bins(name, "timestamp", tuple(sorted(texts.to_pylist())), period=period)


def _texts_by_count(texts: pa.ChunkedArray) -> list[str]:
    counted = [(-each["counts"], each["values"]) for each in texts.drop_null().value_counts().to_pylist()]
    return [text for _, text in sorted(counted)]


def _texts(column: pa.ChunkedArray, period: tuple[str, str] | None) -> pa.ChunkedArray:
    column = column.cast(plain_type(column.type))
    if period is None:
        return column.cast(pa.string())
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    local = pc.local_timestamp(column) if zone else column
    return pc.strftime(local.cast(pa.timestamp("s"), safe=False), format=period[1])


def _numbers(column: pa.ChunkedArray) -> Floats:
    column = column.cast(plain_type(column.type))
    if pa.types.is_temporal(column.type):
        wide = pa.int32() if column.type.bit_width == 32 else pa.int64()
        column = column.cast(wide)
    numbers: Floats = column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()
    return numbers
