"""The raw records that aggregate-seeded synthesis may be held to: rows in, what its kernels ask out.

Without them only combinations up to the reporting length are sure to be held by enough records.
"""

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.errors import InternalError
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.held_kernels import Holders
from tasks.core.synthesis.rows import FrequentRows, block_cells, indexed

#: Counting all that so few rows hold takes as long as asking for some tens of attributes by bitsets: at most
#: this many, one row in so many, and some more.
_FEW, _ROWS_A_COUNT, _FEW_OF_ANY = 1024, 1024, 48

_NO_ROWS = BlockIndex(
    np.empty((0, 0), np.uint16),
    np.zeros(1, np.int64),
    np.full(1, -1, np.int32),
    np.zeros((0, 0), np.uint64),
    np.zeros(2, np.int64),
    np.empty(0, np.int32),
)


def index_of(rows: FrequentRows | None, aggregates: Aggregates) -> tuple[BlockIndex, int]:
    """The rows' index and the resolution, 0 where there are no rows.

    Raises:
        InternalError: the rows' attributes are not those of the aggregates.
    """
    if rows is None:
        return _NO_ROWS, 0
    if rows.attributes != aggregates.attributes:
        raise InternalError("Records are held to the resolution of their own aggregates only.")
    counts = np.append(rows.counts, 0)
    return indexed(block_cells(rows), counts, rows.resolution), rows.resolution


def held_to(index: BlockIndex, resolution: int) -> Holders:
    """Room for one shard beside the index that all share."""
    rows = len(index.cells)
    few = min(_FEW, rows // _ROWS_A_COUNT + _FEW_OF_ANY)
    longest = max(int(np.diff(index.first).max()), few)
    return Holders(
        raw=index,
        words=np.empty(index.bits.shape[1] if resolution else 0, np.uint64),
        rows=np.empty(longest + 1, np.int32),
        tally=np.zeros(len(index.held), np.int64),
        now=np.zeros(2, np.int64),
        few=few,
        resolution=resolution,
    )


def not_held() -> Holders:
    """Nothing is held to the raw records."""
    return held_to(_NO_ROWS, 0)
