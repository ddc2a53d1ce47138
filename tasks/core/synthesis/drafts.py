"""Room for records while they are drawn, and what comes of it."""

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Integers
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.present_row_kernels import CANDIDATES, Drawing, Effort, Work
from tasks.core.synthesis.record_kernels import Drafts, begin_streams
from tasks.core.synthesis.shards import DrawnRecords

NOTHING = DrawnRecords(np.empty(0, np.int32), np.empty(0, np.int32))


def drafts_of(like: Codes, number: int, base: int, first: int) -> Drafts:
    """Empty records, of the type and slots of ``like``, with the streams from ``first`` on of a stage."""
    drafts = Drafts(
        np.empty((number, like.shape[1]), like.dtype), np.empty(number, np.int32), np.empty(number, np.uint64)
    )
    begin_streams(drafts, np.uint64(base), first)
    return drafts


def drawn_of(drafts: Drafts, number: int | None = None) -> DrawnRecords:
    """The first ``number`` records, or all of them."""
    sizes = drafts.sizes[:number]
    filled = np.arange(drafts.records.shape[1], dtype=np.int32) < sizes[:, None]
    return DrawnRecords(sizes.copy(), drafts.records[:number][filled].astype(np.int32))


def joined(parts: list[DrawnRecords]) -> DrawnRecords:
    """Records of several parts, in order."""
    if not parts:
        return NOTHING
    return DrawnRecords(
        np.concatenate([part.sizes for part in parts]), np.concatenate([part.attribute_ids for part in parts])
    )


def drawing_over(index: BlockIndex, effort: Effort, available: Integers | None = None) -> Drawing:
    """Room for one record over an index.

    Args:
        index: of the rows that it is drawn from.
        effort: see `Effort`.
        available: (attributes,), how often each may still be used: what can be is a candidate. None where
            candidates are those of a seed.
    """
    attributes, rows = len(index.held), len(index.cells)
    wanted = np.zeros(attributes, np.bool_)
    candidates = np.empty(attributes, np.int32)
    now = np.zeros(8, np.int64)
    if available is not None:
        wanted[:-1] = (available > 0) & (index.held[:-1] >= effort.resolution)
        now[CANDIDATES] = np.count_nonzero(wanted)
        candidates[: now[CANDIDATES]] = np.flatnonzero(wanted)
    longest = max(int(np.diff(index.first).max()), effort.short, 2 * (rows // effort.rows_a_list)) + 64
    work = Work(
        wanted=wanted,
        candidates=candidates,
        words=np.empty((2, (rows + 63) // 64), np.uint64),
        lists=np.empty((2, longest), np.int32),
        weights=np.zeros(attributes, np.int64),
        met=np.empty(attributes, np.int32),
        dropped=np.empty(attributes, np.int32),
        record=np.empty(index.cells.shape[1], np.int32),
        now=now,
    )
    return Drawing(index, work, effort)


def uses_of(drawn: DrawnRecords, attributes: int) -> npt.NDArray[np.int64]:
    """How many of the records hold each attribute."""
    return np.bincount(drawn.attribute_ids, minlength=attributes)
