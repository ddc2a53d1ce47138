"""Records as they are drawn from rows: empty ones with their random streams in, drawn ones out."""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.synthesis.record_kernels import CANDIDATES, Drafts, Drawing, Effort, Work, begin_streams
from tasks.core.synthesis.row_set_kernels import BlockIndex
from tasks.core.synthesis.rows import row_set


class DrawnRecords(NamedTuple):
    """Records as drawn: how many attributes each has, and the attributes, one record after the other."""

    sizes: Ids
    attribute_ids: Ids


def drafts_of(like: Codes, number: int, base: np.uint64, first: int) -> Drafts:
    """Empty records, of the type and slots of ``like``, with the streams from ``first`` on of a stage."""
    drafts = Drafts(
        np.empty((number, like.shape[1]), like.dtype), np.empty(number, np.int32), np.empty(number, np.uint64)
    )
    begin_streams(drafts, base, first)
    return drafts


def drawn_of(drafts: Drafts, number: int | None = None) -> DrawnRecords:
    """The first ``number`` records, or all of them."""
    sizes = drafts.sizes[:number]
    filled = np.arange(drafts.records.shape[1], dtype=np.int32) < sizes[:, None]
    return DrawnRecords(sizes.copy(), drafts.records[:number][filled].astype(np.int32))


def joined(parts: list[DrawnRecords]) -> DrawnRecords:
    """Records of several parts, in order."""
    nothing = np.empty(0, np.int32)
    return DrawnRecords(
        np.concatenate([nothing, *(part.sizes for part in parts)]),
        np.concatenate([nothing, *(part.attribute_ids for part in parts)]),
    )


def drawing_over(index: BlockIndex, effort: Effort, available: Integers | None = None) -> Drawing:
    """Room for one record over an index.

    Args:
        index: of the rows that it is drawn from.
        effort: see `Effort`.
        available: (attributes,), how often each may still be used: what can be is a candidate. None where
            candidates are those of a seed.
    """
    attributes = len(index.held)
    wanted = np.zeros(attributes, np.bool_)
    candidates = np.empty(attributes, np.int32)
    now = np.zeros(4, np.int64)
    if available is not None:
        wanted[:-1] = (available > 0) & (index.held[:-1] >= effort.resolution)
        now[CANDIDATES] = np.count_nonzero(wanted)
        candidates[: now[CANDIDATES]] = np.flatnonzero(wanted)
    work = Work(
        wanted=wanted,
        candidates=candidates,
        weights=np.zeros(attributes, np.int64),
        met=np.empty(attributes, np.int32),
        dropped=np.empty(attributes, np.int32),
        record=np.empty(index.cells.shape[1], np.int32),
        now=now,
    )
    rows = row_set(index, least=effort.resolution, short=effort.short, rows_a_list=effort.rows_a_list)
    return Drawing(rows, work, effort)
