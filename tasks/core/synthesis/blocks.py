"""Blocks of rows: a matrix of attributes in, its index out."""

import numpy as np

from tasks.core.synthesis.block_kernels import (
    ROWS_A_BIT,
    Cells,
    Index,
    Integers,
    count_cells,
    fill_bits,
    fill_lists,
)
from tasks.core.synthesis.rows import Rows


def cells_of(rows: Rows) -> Cells:
    """The rows as a block: the narrowest of two types that holds an attribute, their number where empty."""
    absent = len(rows.attributes)
    narrow = absent <= np.iinfo(np.uint16).max
    cells: Cells = rows.ids.astype(np.uint16 if narrow else np.uint32)
    cells[rows.ids < 0] = absent
    return cells


def held_by(cells: Cells, absent: int) -> Integers:
    """How many rows of a block hold each attribute; int64 (attributes + 1,), 0 for the empty cell."""
    held = np.zeros(absent + 1, np.int64)
    count_cells(cells, held)
    held[absent] = 0
    return held


def indexed(cells: Cells, held: Integers, resolution: int, rows_a_bit: int = ROWS_A_BIT) -> Index:
    """The index of a block.

    Args:
        cells: the block.
        held: as `held_by` counts.
        resolution: what fewer rows hold has neither a bitset nor a list.
        rows_a_bit: an attribute has a bitset where at least one row in so many holds it.
    """
    common = held >= resolution
    in_bits = common & (held * rows_a_bit >= len(cells))
    number = int(np.count_nonzero(in_bits))
    bitset_of = np.where(in_bits, np.cumsum(in_bits) - 1, number).astype(np.int32)
    bits = np.zeros((number + 1, (len(cells) + 63) // 64), np.uint64)
    fill_bits(cells, bitset_of, bits)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(common & ~in_bits, held, 0))])
    listed = np.empty(int(first[-1]), np.int32)
    if len(listed):
        fill_lists(cells, first, listed)
    bitset_of[~in_bits] = -1
    return Index(cells, held, bitset_of, bits, first, listed)
