"""How far a synthetic table's relations are from the original's: two tables in, a figure for each pair out.

Two numeric columns are related by Spearman's rank correlation of the rows that hold both; all other pairs by
Cramer's V over the bins of `variation`: at most 20 of the original's, others together, and nulls.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

from tests.benchmarks.variation import LEVELS, coded, numbers

Pair = tuple[str, str]


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
