"""How far a synthetic table's 1- and 2-way counts are from the original's: two tables in, two means out.

Total variation is half the summed differences of shares (X5.1). A numeric or time column of more
than 20 distinct values is counted in 20 bins of about equally many original values, any other by its 20 most
frequent values and the rest; nulls are a bin of their own.
"""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BINS = 20
LEVELS = _BINS + 2  # with a bin for other values and one for nulls


def mean_variations(original: pa.Table, synthetic: pa.Table) -> tuple[float, float]:
    """Mean 1-way and mean 2-way total variation over the synthetic table's columns; NaN without pairs."""
    names = synthetic.column_names
    pairs = [coded(original[name], synthetic[name]) for name in names]
    single = [_variation(a, b, LEVELS) for a, b in pairs]
    double = [
        _variation(a * LEVELS + c, b * LEVELS + d, LEVELS**2) for (a, b), (c, d) in combinations(pairs, 2)
    ]
    return float(np.mean(single)), float(np.mean(double)) if double else float("nan")


def variation(original: pa.ChunkedArray, synthetic: pa.ChunkedArray) -> float:
    """The 1-way total variation of one column."""
    return _variation(*coded(original, synthetic), LEVELS)


def _variation(original: np.ndarray, synthetic: np.ndarray, levels: int) -> float:
    shares = [np.bincount(codes, minlength=levels) / len(codes) for codes in (original, synthetic)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def coded(original: pa.ChunkedArray, synthetic: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each cell of both, below `LEVELS`; bins are the original's."""
    is_text = pa.types.is_string(original.type) or pa.types.is_large_string(original.type)
    if is_text:
        return _by_value(_texts(original), _texts(synthetic))
    both = numbers(original), numbers(synthetic)
    present = both[0][~np.isnan(both[0])]
    if len(np.unique(present)) <= _BINS:
        return _by_value(*both)
    edges = np.unique(np.quantile(present, np.linspace(0, 1, _BINS + 1)[1:-1]))
    first, second = (
        np.where(np.isnan(own), LEVELS - 1, np.searchsorted(edges, own, side="right")) for own in both
    )
    return first, second


def _by_value(original: np.ndarray, synthetic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(original[~_is_null(original)], return_counts=True)
    frequent = values[np.sort(np.argsort(-counts, kind="stable")[:_BINS])]
    first, second = (_places(own, frequent) for own in (original, synthetic))
    return first, second


def _places(values: np.ndarray, frequent: np.ndarray) -> np.ndarray:
    found = np.full(len(values), LEVELS - 1)
    present = ~_is_null(values)
    places = np.searchsorted(frequent, values[present])
    inside = np.minimum(places, max(len(frequent) - 1, 0))
    same = frequent[inside] == values[present] if len(frequent) else np.zeros(len(places), bool)
    found[present] = np.where(same, inside, _BINS)
    return found


def _is_null(values: np.ndarray) -> np.ndarray:
    is_null: np.ndarray = values != values if values.dtype != object else np.equal(values, None)
    return is_null


def _texts(column: pa.ChunkedArray) -> np.ndarray:
    texts: np.ndarray = column.cast(pa.string()).to_numpy(zero_copy_only=False).astype(object)
    return texts


def numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Cells of a numeric or time column as floats, NaN for null."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    cells = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan"))
    found: np.ndarray = cells.to_numpy()
    return found
