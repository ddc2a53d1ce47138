"""Row-seeded synthesis: raw rows in, synthetic records out (sds.md 4.1).

Each record grows out of what one row holds; then records that use what got lost on the way are added, and
what is there too often is taken out. Every attribute is in exactly as many synthetic records as its count,
rounded down to the resolution, and every combination of any length is in at least as many raw rows as the
resolution.
"""

from collections.abc import Callable

import numpy as np

from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.blocks import cells_of, held_by, indexed
from tasks.core.synthesis.consolidation import consolidated
from tasks.core.synthesis.drafts import drafts_of, drawing_over, drawn_of, joined, uses_of
from tasks.core.synthesis.pass_kernels import finish_seeded
from tasks.core.synthesis.record_kernels import Effort
from tasks.core.synthesis.record_stream_kernels import base_of
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import Rows
from tasks.core.synthesis.suppression import suppressed

Progress = Callable[[float], None]


def synthesize(
    rows: Rows, seed: int, *, threads: int = 1, progress: Progress | None = None
) -> SyntheticRecords:
    """Draw synthetic records by sds.md 4.1, in the published order (sds.md 4.0)."""
    report = progress or (lambda share: None)
    cells = cells_of(rows)
    absent = len(rows.attributes)
    index = indexed(cells, held_by(cells, absent), rows.resolution)
    drafts = drafts_of(cells, len(cells), base_of(seed, "rows"), 0)
    drawing = drawing_over(index, Effort(rows.resolution))
    finish_seeded(drawing, cells, drafts, np.arange(len(cells), dtype=np.int32))
    grown = drawn_of(drafts)
    wanted = rows.counts // rows.resolution * rows.resolution
    missing = wanted - uses_of(grown, absent)
    added = consolidated(index, np.maximum(missing, 0), rows.resolution, seed, report)
    drawn = suppressed(joined([grown, added]), np.maximum(-missing, 0), seed)
    report(1.0)
    return ordered(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
