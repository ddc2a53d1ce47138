"""Consolidation: what is still to be used in, records without seeds that use exactly that out (sds.md 4.1, 4.3)."""

from collections.abc import Callable

from tasks.core.synthesis.block_kernels import Index, Integers
from tasks.core.synthesis.drafts import drafts_of, drawing_over, drawn_of, joined
from tasks.core.synthesis.pass_kernels import draw_in_turn
from tasks.core.synthesis.record_kernels import Effort
from tasks.core.synthesis.record_stream_kernels import base_of
from tasks.core.synthesis.shards import Drawn

_RECORDS_A_SLICE = 1024


def consolidated(
    index: Index, available: Integers, resolution: int, seed: int, progress: Callable[[float], None]
) -> Drawn:
    """Records drawn one after the other until nothing is available any more."""
    base, left, total = base_of(seed, "consolidation"), available.copy(), int(available.sum())
    drawing = drawing_over(index, Effort(resolution), left)
    parts: list[Drawn] = []
    first = 0
    while left.any():
        drafts = drafts_of(index.cells, _RECORDS_A_SLICE, base, first)
        parts.append(drawn_of(drafts, draw_in_turn(drawing, drafts, left)))
        first += _RECORDS_A_SLICE
        progress(1.0 - int(left.sum()) / total)
    return joined(parts)
