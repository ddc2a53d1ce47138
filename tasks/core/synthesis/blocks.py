"""Blocks of rows: a matrix of attributes in, its index out."""

import numpy as np

from tasks.core.synthesis.block_kernels import ROWS_A_BIT, Cells, Index, Integers, count_cells, fill_index
from tasks.core.synthesis.rows import Rows


def cells_of(rows: Rows) -> Cells:
    """The rows as a block: the narrowest of two types that holds an attribute, their number where empty."""
    absent = len(rows.attributes)
    narrow = absent <= np.iinfo(np.uint16).max
    cells = rows.ids.astype(np.uint16 if narrow else np.uint32)
    cells[rows.ids < 0] = absent
    return cells


def held_by(cells: Cells, absent: int) -> Integers:
    """How many rows of a block hold each attribute; int64 (attributes + 1,), 0 for the empty cell."""
    held = np.zeros(absent + 1, np.int64)
    count_cells(cells, held)
    held[absent] = 0
    return held


def indexed(cells: Cells, held: Integers, resolution: int) -> Index:
    """The index of a block; what fewer rows hold than the resolution has neither bits nor a list."""
    common = held >= resolution
    in_bits = common & (held * ROWS_A_BIT >= len(cells))
    dense = np.where(in_bits, np.cumsum(in_bits) - 1, -1).astype(np.int32)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(common & ~in_bits, held, 0))])
    words = (len(cells) + 63) // 64
    bits = np.zeros((int(np.count_nonzero(in_bits)), words), np.uint64)
    index = Index(cells, held, dense, bits, first, np.empty(int(first[-1]), np.int32))
    fill_index(index)
    return index
