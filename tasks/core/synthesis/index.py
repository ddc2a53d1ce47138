"""The aggregates as the sampler looks them up: numbered combinations and their counts.

The attributes are 0 .. A - 1 by their ids, then come the combinations of length 2, 3, ... in the order of the
aggregates.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Flags, Ids, Integers
from tasks.core.errors import ParameterError
from tasks.core.synthesis.index_kernels import CombinationRows, entries_of, parents_of, row_words
from tasks.core.synthesis.records import header_places

#: Counts beyond this could overflow the sampler's exact percentile, which multiplies by 300.
LARGEST_COUNT = 2**53
#: Numbers of combinations are 32-bit.
LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class CombinationIndex:
    """Numbered combinations, their counts and how to get from one to a longer one.

    Attributes:
        counts: int64, by combination number; 0 for an attribute that is not in the aggregates.
        header_of: int32 (A,), for each attribute the place of its header in the output.
    """

    reporting_length: int
    counts: Integers
    rows: CombinationRows
    header_of: Ids
    number_of_headers: int

    @cached_property
    def counts_beside(self) -> Integers:
        return self.counts[self.rows.joined]  # in their order


def scale_up(counts: Integers, factor: float | None) -> Integers:
    """Every count c as ceil(c * factor) (S4.4), exactly, the factor being the decimal as written.

    In floating point 100 * 0.07 is a little above 7 and would become 8.

    >>> scale_up(np.array([10, 100]), 0.07).tolist()
    [1, 7]
    """
    if factor is None:
        return counts
    ratio = Fraction(str(factor))
    distinct, places = np.unique(counts, return_inverse=True)
    raised = [math.ceil(int(count) * ratio) for count in distinct]
    if raised and raised[-1] > LARGEST_COUNT:
        raise ParameterError(
            "aggregate_counts_scale_factor makes counts larger than 2^53: choose a smaller factor."
        )
    return np.array(raised, np.int64)[places]


def build_index(aggregates: Aggregates, scale_factor: float | None = None) -> CombinationIndex:
    """Number and index all combinations of which every part is in the aggregates too.

    Protected aggregates are closed in that sense; of others the combinations that lack a part are
    left out, since a record that held one would hold the missing part as well. A count above 2^53, and 2^31
    combinations or more, are a ParameterError.
    """
    _require_small_numbers(aggregates)
    size = len(aggregates.attributes)
    header_of = header_places(aggregates.headers, aggregates.attributes)
    counts = np.zeros(size, np.int64)
    if aggregates.combinations:
        counts[aggregates.combinations[0][:, 0]] = scale_up(aggregates.counts[0], scale_factor)
    levels, base = [counts], 0
    nothing, none = np.empty(0, np.int64), np.empty(0, np.int32)
    rows = CombinationRows(np.zeros(1, np.int64), none, np.empty(0, np.uint64), nothing, none)
    for ids, level in zip(aggregates.combinations[1:], aggregates.counts[1:], strict=True):
        first_number = base + len(levels[-1])
        kept_counts = scale_up(level, scale_factor)
        present = (kept_counts > 0) & (counts[ids] > 0).all(axis=1)
        rows = _add_level(rows, ids, present, (base, len(levels[-1]), first_number))
        levels.append(kept_counts)
        base = first_number
    return CombinationIndex(
        reporting_length=aggregates.reporting_length,
        counts=np.concatenate(levels),
        rows=rows,
        header_of=header_of,
        number_of_headers=len(np.unique(header_of[counts > 0])),
    )


def _add_level(
    rows: CombinationRows,
    ids: Ids,
    present: Flags,
    level: tuple[int, int, int],
) -> CombinationRows:
    """Rows with those of one more length; level: (first row, rows, number of the first combination)."""
    base, number_of_rows, first_number = level
    ids = np.ascontiguousarray(ids, np.int32)
    parents = parents_of(rows, ids)
    parents[~present, 0] = -1
    entry_start, joining, joined = entries_of(ids, parents, base, number_of_rows, first_number)
    start, word, bits, first = row_words(entry_start, joining)
    return CombinationRows(
        start=np.concatenate([rows.start, rows.start[-1] + start[1:]]),
        word=np.concatenate([rows.word, word]),
        bits=np.concatenate([rows.bits, bits]),
        first=np.concatenate([rows.first, first + len(rows.joined)]),
        joined=np.concatenate([rows.joined, joined]),
    )


def _require_small_numbers(aggregates: Aggregates) -> None:
    if len(aggregates.attributes) + sum(map(len, aggregates.combinations)) > LARGEST_NUMBER:
        raise ParameterError(
            "The aggregates hold more than 2^31 combinations: choose a smaller reporting length."
        )
    if any((counts > LARGEST_COUNT).any() for counts in aggregates.counts):
        raise ParameterError("The aggregates hold a count above 2^53, which synthesis can't take.")
