"""Row-seeded synthesis: raw rows in, synthetic records out (sds.md 4.1).

Each record grows out of what one row holds; then records that use what got lost on the way are added, and
what is there too often is taken out. Every attribute is in exactly as many synthetic records as its count,
rounded down to the resolution, and every combination of any length is in at least as many raw rows as the
resolution.
"""

import numpy as np

from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.consolidation import Consolidation
from tasks.core.synthesis.drafts import drafts_of, drawn_of, joined, uses_of
from tasks.core.synthesis.growth import Growth, Progress, check_threads
from tasks.core.synthesis.nodes import Table, table_of
from tasks.core.synthesis.record_stream_kernels import base_of
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import Rows
from tasks.core.synthesis.shards import Drawn
from tasks.core.synthesis.suppression import suppressed

#: The part of the time that growing records out of rows takes, about.
_SHARE_OF_ROWS = 0.6


def synthesize(
    rows: Rows, seed: int, *, threads: int = 1, progress: Progress | None = None
) -> SyntheticRecords:
    """Draw synthetic records by sds.md 4.1, in the published order (sds.md 4.0).

    The same rows and seed give the same records on any machine and any number of threads.

    Args:
        rows: the sensitive records' common attributes, with the resolution.
        seed: any integer; as sensitive as the rows.
        threads: at least 0; 0 for all cores.
        progress: told the share that is done, 0 to 1; the last time 1.

    Returns:
        Records of at least one attribute each; none where no attribute is common enough.

    Raises:
        ParameterError: threads below 0.
    """
    check_threads(threads)
    report = progress or (lambda share: None)
    table = table_of(rows)
    grown = _grown(table, seed, threads, lambda share: report(_SHARE_OF_ROWS * share))
    missing = rows.counts // rows.resolution * rows.resolution - uses_of(grown, len(rows.attributes))
    added = Consolidation(table, np.maximum(missing, 0), seed).run(
        threads, lambda share: report(_SHARE_OF_ROWS + (1 - _SHARE_OF_ROWS) * share)
    )
    del table
    drawn = suppressed(joined([grown, added]), np.maximum(-missing, 0), seed)
    synthetic = ordered(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
    report(1.0)
    return synthetic


def _grown(table: Table, seed: int, threads: int, report: Progress) -> Drawn:
    """A record out of each row, those that stay empty included."""
    number = len(table.root.cells)
    drafts = drafts_of(table.root.cells, number, base_of(seed, "rows"), 0)
    Growth(table, drafts).run(np.arange(number, dtype=np.int32), threads, report)
    return drawn_of(drafts)
