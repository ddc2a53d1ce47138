"""Value-seeded synthesis: raw rows in, synthetic records out (S4.3).

Records grow from nothing out of what is available: each attribute as often as its count, rounded down to
the resolution. Under oversampling control an attribute joins a record only if no reported combination that
it makes with the record's, up to the reporting length, is then synthesised more often than its reported
count allows.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Integers, ShareDone
from tasks.core.errors import InternalError
from tasks.core.random_kernels import stream
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.index import CombinationIndex, build_index
from tasks.core.synthesis.oversampling_kernels import Combinations, Limits, draw_limited
from tasks.core.synthesis.record_kernels import Effort
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows, block_cells, build_block_index
from tasks.core.synthesis.tree import (
    Consolidation,
    DrawnRecords,
    drafts_of,
    drawing_over,
    drawn_of,
    join_drawn,
    table_of,
)


@dataclass(frozen=True)
class Oversampling:
    """How far synthetic counts may exceed the reported ones.

    Attributes:
        ratio: a combination of reported count a is synthesised at most a (1 + ratio) times; at least 0.
        tries: how often in a row an attribute may be drawn in vain before the record ends; at least 1.
    """

    ratio: float
    tries: int = 1


def draw_value_seeded(
    rows: FrequentRows,
    seed: int,
    *,
    oversampling: Oversampling | None = None,
    reported: Aggregates | None = None,
    threads: int = 1,
    progress: ShareDone | None = None,
) -> SyntheticRecords:
    """Draw synthetic records by S4.3, in the published order (S4.0), none empty; on any machine the same.

    Args:
        seed: any integer; as sensitive as the rows.
        oversampling: how far synthetic counts may exceed the ``reported`` ones; None: as far as it comes.
        threads: 0 for all cores. Under oversampling control records depend on each other, and one is used.
    """
    report = progress or (lambda share: None)
    if oversampling is None:
        available = rows.counts // rows.resolution * rows.resolution
        drawn = Consolidation(table_of(rows), available, seed).run(threads, report)
    elif reported is None:
        raise InternalError("Oversampling control compares with the reportable aggregates.")
    else:
        drawn = draw_oversampled(rows, reported, oversampling, seed, report)
    synthetic = order_records(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
    report(1.0)
    return synthetic


_RECORDS_A_SLICE = 256
_NO_LIMIT = 2**62


def draw_oversampled(
    rows: FrequentRows,
    reported: Aggregates,
    oversampling: Oversampling,
    seed: int,
    progress: ShareDone,
) -> DrawnRecords:
    """Draw records one after the other until every attribute is used as often as its rounded count.

    An attribute is drawn with probability proportional to the number of rows that hold it and all that was
    chosen, where those are at least the resolution. It is refused if a combination of up to R attributes that
    it makes with the record's, reported with count a, is in more than a (1 + ratio) - 1 synthetic records. A
    refusal uses up a try and another attribute is drawn by the same weights; tries are restored with each
    acceptance. A record ends when no try is left or nothing has a weight.

    What is available is the rounded count, not SDS's 2 floor_res(c) - c (S4.3). No record is empty. Every
    combination of any length is in at least as many rows as the resolution; every attribute in exactly as
    many records as reported.
    """
    available = rows.counts // rows.resolution * rows.resolution
    _check(rows, reported, available)
    if not len(available):
        return join_drawn([])
    combinations = build_index(reported)
    limits = Limits(
        combinations.rows,
        allowed(combinations.counts, oversampling.ratio),
        combinations.counts,
        reported.reporting_length,
        oversampling.tries,
    )
    room = _room(rows, combinations)
    index = build_block_index(block_cells(rows), np.append(rows.counts, 0), rows.resolution)
    left, total = available.copy(), int(available.sum())
    drawing = drawing_over(index, Effort(rows.resolution), left)
    base, first, parts = stream("oversampling", seed)[0], 0, []
    # Every record uses at least one attribute up, so this ends: the limit of an attribute alone begins at or
    # above what is available of it, and both fall by one with every use.
    while left.any():
        drafts = drafts_of(index.cells, _RECORDS_A_SLICE, base, first)
        parts.append(drawn_of(drafts, draw_limited(drawing, drafts, left, limits, room)))
        first += _RECORDS_A_SLICE
        progress(1.0 - int(left.sum()) / total)
    return join_drawn(parts)


def _check(rows: FrequentRows, reported: Aggregates, available: Integers) -> None:
    """Refuse aggregates of other records or another resolution: with them records might not end."""
    if rows.attributes != reported.attributes:
        raise InternalError(
            "Oversampling is controlled by the reportable aggregates of the same records only."
        )
    if len(available) and not np.array_equal(reported.counts[0], available):
        raise InternalError("Oversampling is controlled by the aggregates of the same resolution only.")


def allowed(counts: Integers, ratio: float) -> Integers:
    """How often a combination of each count may be synthesised: floor(count (1 + ratio)).

    Exact, the ratio being the decimal as written: in floating point 100 * (1 + 0.15) is a little below 115.

    >>> allowed(np.array([100, 10]), 0.15).tolist()
    [115, 11]
    """
    distinct, places = np.unique(counts, return_inverse=True)
    factor = 1 + Fraction(str(ratio))
    allowed = [min(math.floor(int(count) * factor), _NO_LIMIT) for count in distinct]
    return np.array(allowed, np.int64)[places]


def _room(rows: FrequentRows, reported: CombinationIndex) -> Combinations:
    slots = rows.ids.shape[1]
    shorter = sum(math.comb(slots, length) for length in range(1, min(reported.reporting_length, slots + 1)))
    most = min(shorter, len(reported.counts))
    return Combinations(
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(slots, np.int32),
        np.zeros(len(rows.attributes), np.int64),
        np.zeros(3, np.int64),
    )
