"""Sampling by tag: a limit and the noisy count go in, a bound comes out, and the records below it (R14).

Whether a record is in does not depend on the others but through the noisy count, which is released: the
sample of a neighbouring table differs in one record at most. Partitions are sampled apart.
"""

from dataclasses import replace

import numpy as np

from tasks.core.records.coded import CodedRecords


def tag_bound(limit: int | None, noisy_count: int) -> int | None:
    """The tag below which a record is in: p 2^64 with p = limit / noisy count; None where all are.

    >>> tag_bound(1, 4) == 2**62, tag_bound(5, 4), tag_bound(None, 4)
    (True, None, None)
    """
    if limit is None or noisy_count <= limit:
        return None
    return -(-limit * 2**64 // noisy_count)


def records_below(records: CodedRecords, bound: int | None) -> CodedRecords:
    """The records whose tag is below; all of them where there is no bound, or no tags."""
    if bound is None or records.tags is None:
        return records
    rows = np.flatnonzero(records.tags < np.uint64(bound))
    return replace(
        records,
        slots=tuple(codes[rows] for codes in records.slots),
        number_of_records=len(rows),
        tags=records.tags[rows],
    )
