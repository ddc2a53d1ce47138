"""Row-seeded synthesis: raw rows in, synthetic records out (S4.1).

Records grow out of what rows hold; then records that use what got lost on the way are added, and what is
there too often is taken out. Every attribute is in exactly as many synthetic records as its count, rounded
down to the resolution, and every combination of any length is in at least as many raw rows as the
resolution.

As many rows are begun with as their number rounded down to the resolution. Those that are not are ones
whose attributes are beyond their rounded counts anyway: begun with, they would end as records of what is
left of them, and the synthetic records of a narrow table would be exactly as many as its rows, which are
not told.
"""

from dataclasses import replace

import numpy as np

from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.random_kernels import stream
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.record_kernels import choose_spare_rows, remove_excess, shuffled
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows, block_cells, count_held, fill_lists
from tasks.core.synthesis.tree import (
    Consolidation,
    DrawnRecords,
    GrowingBatch,
    TableTree,
    drafts_of,
    drawn_of,
    join_drawn,
    table_of,
)


def remove_excess_uses(drawn: DrawnRecords, excess: Integers, seed: int) -> DrawnRecords:
    """Remove the first ``excess`` occurrences of each attribute in one random order of all records.

    What is left stays in its order; records that became empty, or were, are gone.
    """
    sizes, ids = drawn
    if excess.any():
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        order = shuffled(len(sizes), stream("suppression", seed)[0])
        kept = remove_excess(offsets, ids, order, excess.copy())
        records = np.repeat(np.arange(len(sizes)), sizes)
        sizes, ids = np.bincount(records[kept], minlength=len(sizes)).astype(np.int32), ids[kept]
    return DrawnRecords(sizes[sizes > 0], ids)


#: The part of the time that growing records out of rows takes, about.
_SHARE_OF_ROWS = 0.6
#: Of how many rows those that are not begun with are chosen; of more where that many are to be.
_LOOKED_AT = 1 << 16


def draw_row_seeded(
    rows: FrequentRows, seed: int, *, threads: int = 1, progress: ShareDone = lambda share: None
) -> SyntheticRecords:
    """Draw synthetic records by S4.1, in the published order (S4.0), none empty; on any machine the same.

    The seed is as sensitive as the rows.
    """
    table = table_of(rows)
    grown = _grow_records(rows, table, seed, threads, lambda share: progress(_SHARE_OF_ROWS * share))
    uses = np.bincount(grown.attribute_ids, minlength=len(rows.attributes))
    missing = rows.counts // rows.resolution * rows.resolution - uses
    added = Consolidation(table, np.maximum(missing, 0), seed).run(
        threads, lambda share: progress(_SHARE_OF_ROWS + (1 - _SHARE_OF_ROWS) * share)
    )
    del table
    drawn = remove_excess_uses(join_drawn([grown, added]), np.maximum(-missing, 0), seed)
    synthetic = order_records(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
    progress(1.0)
    return synthetic


def _grow_records(
    rows: FrequentRows, table: TableTree, seed: int, threads: int, report: ShareDone
) -> DrawnRecords:
    """A record out of each row that is begun with; of the others, empty ones."""
    number = rows.number_of_records
    drafts = drafts_of(table.root.cells, number, stream("rows", seed)[0], 0)
    begun = np.delete(np.arange(number, dtype=np.int32), _choose_left_out_rows(rows, seed))
    GrowingBatch(table, drafts).run(begun, threads, report)
    return drawn_of(drafts)


def _choose_left_out_rows(rows: FrequentRows, seed: int) -> Ids:
    """Numbers of the rows that are not begun with: n modulo the resolution.

    One after the other, the row with the fewest attributes that are not beyond their rounded counts; the
    seed decides between equals, and of large tables which rows are looked at.
    """
    number = rows.number_of_records % rows.resolution
    drawn = np.random.PCG64(int(stream("rows left out", seed)[0])).random_raw(rows.number_of_records)
    looked_at = np.argsort(drawn, kind="stable")[: max(_LOOKED_AT, number)].astype(np.int32)
    cells = block_cells(replace(rows, ids=rows.ids[looked_at]))
    held = count_held(cells, len(rows.attributes))
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(held)])
    listed = np.empty(int(first[-1]), np.int32)
    fill_lists(cells, first, listed)
    beyond = np.append(rows.counts % rows.resolution, 1)  # the last for the empty cell: it lacks nothing
    return looked_at[choose_spare_rows(cells, (first, listed), beyond, number)]
