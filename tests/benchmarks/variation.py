"""How far a synthetic table's counts and relations are from the original's: two tables in, means out.

Total variation is half the summed differences of shares (X5.1). A numeric or time column of more
than 20 distinct values is counted in 20 bins of about equally many original values, any other by its 20 most
frequent values and the rest; nulls are a bin of their own.

Two numeric columns are related by Spearman's rank correlation of the rows that hold both; all other pairs by
Cramer's V over the same bins.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import rankdata

_BINS = 20
Pair = tuple[str, str]
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


def mean_error(original: pa.Table, synthetic: pa.Table) -> float:
    """The mean absolute difference of the relations of all pairs of the synthetic table's columns."""
    pairs = list(combinations(synthetic.column_names, 2))
    before, after = relations(original, original, pairs), relations(original, synthetic, pairs)
    return float(np.mean([abs(after[pair] - before[pair]) for pair in pairs]))


def relations(original: pa.Table, table: pa.Table, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """The relation of each pair in a table, by the bins of the original's; 0 where a column is constant."""
    ranked = {name for name in original.column_names if _is_numeric(original[name].type)}
    codes = {name: coded(original[name], table[name])[1] for name in {n for pair in pairs for n in pair}}
    cells = {name: numbers(table[name]) for name in ranked & codes.keys()}
    return {
        (a, b): _spearman(cells[a], cells[b]) if {a, b} <= ranked else _cramer(codes[a], codes[b])
        for a, b in pairs
    }


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _spearman(one: np.ndarray, other: np.ndarray) -> float:
    both = ~(np.isnan(one) | np.isnan(other))
    ranks = rankdata(one[both]), rankdata(other[both])
    deviations = [rank - rank.mean() if len(rank) else rank for rank in ranks]
    scale = np.sqrt(np.prod([(each**2).sum() for each in deviations]))
    return float((deviations[0] * deviations[1]).sum() / scale) if scale else 0.0


def _cramer(one: np.ndarray, other: np.ndarray) -> float:
    counts = np.bincount(one * LEVELS + other, minlength=LEVELS**2).reshape(LEVELS, LEVELS)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    least = min(counts.shape) - 1
    if least < 1:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / (counts.sum() * least)))
