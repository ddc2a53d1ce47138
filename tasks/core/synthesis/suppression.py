"""Suppression: records with too many of an attribute in, records with as many as wanted out (sds.md 4.1)."""

import numpy as np

from tasks.core.synthesis.block_kernels import Integers
from tasks.core.synthesis.pass_kernels import remove_excess, shuffled
from tasks.core.synthesis.record_stream_kernels import base_of
from tasks.core.synthesis.shards import Drawn


def suppressed(drawn: Drawn, excess: Integers, seed: int) -> Drawn:
    """Remove the first ``excess`` occurrences of each attribute in one random order of all records.

    Args:
        drawn: the records.
        excess: int64 (attributes,), at most how often each occurs; 0 where nothing is to be removed.
        seed: names the random order.

    Returns:
        What is left of the records, in their order; those that became empty, or were, are gone.
    """
    sizes, ids = drawn
    if excess.any():
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        order = shuffled(len(sizes), np.uint64(base_of(seed, "suppression")))
        kept = remove_excess(offsets, ids, order, excess.copy())
        records = np.repeat(np.arange(len(sizes)), sizes)
        sizes, ids = np.bincount(records[kept], minlength=len(sizes)).astype(np.int32), ids[kept]
    return Drawn(sizes[sizes > 0], ids)
