"""One shard of a synthesis: an index, a law and a part of the availability in, its records out.

The number of shards is a matter of the configuration alone, so the records are the same on every machine.
"""

import math
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.errors import InternalError
from tasks.core.random_kernels import stream
from tasks.core.synthesis.drawing_kernels import EXHAUSTED, RECORD_TOO_LONG, draw_records, fill_tree
from tasks.core.synthesis.held_kernels import Holders
from tasks.core.synthesis.holding import not_held
from tasks.core.synthesis.index import CombinationIndex
from tasks.core.synthesis.weight_kernels import Law, RecordWorkspace, Supply

#: Records in the first slice; later ones are made longer or shorter to take about this long, so that
#: progress can be told and an interrupt is heard. How records are sliced does not change them.
_FIRST_SLICE = 256
_LARGEST_SLICE = 1 << 16
_SECONDS_A_SLICE = 0.2
#: Room is made for records of this size first, and doubled when one outgrows it.
_FIRST_CAPACITY = 16


class DrawnRecords(NamedTuple):
    """Records as drawn: how many attributes each has, and the attributes, one record after the other."""

    sizes: npt.NDArray[np.int32]
    attribute_ids: npt.NDArray[np.int32]


def percentile_places(number: int, percentage: int) -> tuple[int, int, int]:
    """Which two of ``number`` ascending values the type-8 percentile lies between, and 300ths of the way.

    h = (n + 1/3) p + 1/3 of Hyndman and Fan, exact for a whole percentage (sds.md 3.4, T9).
    """
    whole, share = divmod((3 * number + 1) * percentage + 100, 300)
    if percentage == 0 or whole <= 0:
        return 0, 0, 0
    if percentage == 100 or whole >= number:
        return number - 1, number - 1, 0
    return whole - 1, whole, share


def combinations_beside(size: int, reporting_length: int) -> int:
    """How many combinations up to R hold one given attribute that joins a record of ``size``."""
    return sum(math.comb(size, others) for others in range(min(size, reporting_length - 1) + 1))


def longest_record(index: CombinationIndex) -> int:
    """The largest size a record can have: its combinations up to R are all different ones of the index."""
    size = 0
    while size < index.number_of_headers:
        parts = sum(math.comb(size + 1, k) for k in range(1, min(size + 1, index.reporting_length) + 1))
        if parts > len(index.counts):
            break
        size += 1
    return size


def law_of(index: CombinationIndex, percentage: int, synthetic_counts: bool, capacity: int) -> Law:
    """The law for records of up to ``capacity`` attributes."""
    lower, upper, share = [0], [0], [0]
    depth = 1
    largest_kept = percentage >= 50
    for size in range(1, capacity + 1):
        number = combinations_beside(size, index.reporting_length)
        low, high, between = percentile_places(number, percentage)
        if largest_kept:
            low, high = number - 1 - low, number - 1 - high
        if size >= index.reporting_length:
            depth = max(depth, low + 1, high + 1)
        else:
            low = high = 0
        lower.append(low)
        upper.append(high)
        share.append(between)
    return Law(
        rows=index.rows,
        header_of=index.header_of,
        longest=max(index.number_of_headers, 1),
        reporting_length=index.reporting_length,
        synthetic_counts=synthetic_counts,
        sign=1 if largest_kept else -1,
        depth=depth,
        lower=np.array(lower, np.int64),
        upper=np.array(upper, np.int64),
        share=np.array(share, np.int64),
    )


def workspace_of(index: CombinationIndex, law: Law) -> RecordWorkspace:
    """Room for one record under a law."""
    attributes, capacity = len(index.header_of), len(law.lower) - 1
    listed = law.reporting_length if law.synthetic_counts else max(law.reporting_length - 1, 1)
    subsets = sum(math.comb(capacity, k) for k in range(1, min(listed, capacity) + 1))
    words = (attributes + 63) // 64
    return RecordWorkspace(
        word=np.empty(words, np.int32),
        bits=np.empty(words, np.uint64),
        kept=np.empty(attributes * law.depth, np.int64),
        whole=np.empty(attributes, np.int64),
        spent=np.empty(attributes, np.bool_),
        subset=np.empty(min(subsets, len(index.counts)), np.int32),
        subset_length=np.empty(min(subsets, len(index.counts)), np.int32),
        drawn=np.empty(attributes, np.int32),
        cumulative=np.empty(attributes, np.int64),
    )


@dataclass
class Shard:
    """A part of a synthesis that shares nothing that changes with the others.

    Attributes:
        available: int64, by attribute: how often this shard uses each, between two resets.
        seed, number: of its random stream.
        target: how many records to draw; None: until nothing is available.
        held: the raw records that must hold what it makes beyond the reporting length, with room of its own.
        done: the share of its work that is done, 0 to 1.
    """

    index: CombinationIndex
    percentage: int
    synthetic_counts: bool
    available: npt.NDArray[np.int64]
    seed: int
    number: int
    target: int | None = None
    held: Holders = field(default_factory=not_held)
    done: float = 0.0
    _slices: list[DrawnRecords] = field(default_factory=list)
    _records: int = 0
    _slice: int = _FIRST_SLICE

    def __post_init__(self) -> None:
        """Set the supply to its beginning."""
        counts = self.index.counts
        self._longest = longest_record(self.index)
        self._supply = Supply(
            available=self.available.copy(),
            remaining=counts.copy() if self.synthetic_counts else counts,
            beside=np.empty(0, np.int64) if self.synthetic_counts else self.index.counts_beside,
            tree=np.empty(len(self.available) + 1, np.int64),
            random=stream(self.seed, self.number),
            now=np.zeros(4, np.int64),
        )
        fill_tree(self._supply)
        self._make_room(min(_FIRST_CAPACITY, self._longest))

    def _make_room(self, capacity: int) -> None:
        """Make room for records of up to ``capacity`` attributes."""
        self._law = law_of(self.index, self.percentage, self.synthetic_counts, capacity)
        self._work = workspace_of(self.index, self._law)

    def _grow(self) -> None:
        capacity = len(self._law.lower) - 1
        if capacity >= self._longest:
            raise InternalError("A synthetic record holds more combinations than the aggregates have.")
        self._make_room(min(2 * capacity, self._longest))

    def advance(self) -> bool:
        """Draw one slice of records; returns whether there is more to do."""
        wanted = self._slice
        if self.target is not None:
            wanted = min(wanted, self.target - self._records)
        if wanted and self.target is not None and not self.available.any():
            self._keep(np.zeros(wanted, np.int32), np.empty(0, np.int32))
            return self._records < self.target
        sizes = np.empty(wanted, np.int32)
        ids = np.empty(wanted * _FIRST_CAPACITY + self._law.longest, np.int32)
        begun = time.monotonic()
        ended, records, used = draw_records(self._law, self._supply, self._work, self.held, sizes, ids)
        self._set_slice(time.monotonic() - begun)
        self._keep(sizes[:records].copy(), ids[:used].copy())
        if ended == RECORD_TOO_LONG:
            self._grow()
            return True
        if self.target is None:
            return bool(ended != EXHAUSTED)
        if ended == EXHAUSTED:
            self._reset()
        return self._records < self.target

    def _set_slice(self, seconds: float) -> None:
        if seconds < _SECONDS_A_SLICE / 2:
            self._slice = min(2 * self._slice, _LARGEST_SLICE)
        elif seconds > 2 * _SECONDS_A_SLICE:
            self._slice = max(self._slice // 2, 1)

    def _reset(self) -> None:
        """Make everything available again and forget what was synthesised (sds.md 4.4)."""
        self._supply.available[:] = self.available
        if self.synthetic_counts:
            self._supply.remaining[:] = self.index.counts
        fill_tree(self._supply)

    def _keep(self, sizes: npt.NDArray[np.int32], ids: npt.NDArray[np.int32]) -> None:
        self._slices.append(DrawnRecords(sizes, ids))
        self._records += len(sizes)
        if self.target is None:
            total = int(self.available.sum())
            self.done = 1.0 - int(self._supply.available.sum()) / total if total else 1.0
        else:
            self.done = self._records / self.target if self.target else 1.0

    def records(self) -> DrawnRecords:
        """All records drawn so far."""
        if not self._slices:
            return DrawnRecords(np.empty(0, np.int32), np.empty(0, np.int32))
        return DrawnRecords(
            np.concatenate([part.sizes for part in self._slices]),
            np.concatenate([part.attribute_ids for part in self._slices]),
        )
