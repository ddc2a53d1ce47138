"""A search whose records lie in shards: nobody holds all records at once.

First every shard goes to its own part of the targets, blind to the others (E13). Each rounds for itself what
is not whole: of a count of 3 no shard of 8 sees a record. So shards then take turns at what the sum still
lacks.

    targets ──▶ shard 0 ─┐
            ──▶ shard 1 ─┼─▶ targets - sum = lacking ──▶ shards 0, 8, 16 ... ──▶ lacking ──▶ 1, 9, 17 ... ──▶
            ──▶ ...     ─┘

What is drawn follows from the shards alone, whoever works on them and in whatever order.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import ColumnNumbers, Flags, Floats, Ids, Integers, ShareDone
from tasks.core.fitting.implied import implied_counts, implying_tables
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.fitting.search import independent_records, move_records
from tasks.core.fitting.targets import Target
from tasks.core.parts.shards import RecordShard
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Counts, Workers, total
from tasks.core.records.coded import code_type

#: How many turns shards take at what the sum lacks. With no more shards than this, each has its own.
TURNS = 8
#: Temperatures of a turn, in squared records.
_IN_TURN = (5.0, 0.0)
#: Shards that share a turn see so much more than their part: a record moves only where more than half of one
#: is missing, so with parts alone they would stop early.
_BEYOND = 1.5

#: Cells that are counted at once of sets of columns.
_CELLS_AT_ONCE = 1 << 22

_RECORDS, _WANTED = "records.npy", "wanted.npy"


class ShardedSearch:
    """Records in shards on their way to the targets.

    Attributes:
        parts: of each shard its records, as `read_shard_cells` reads them; None before the first run.
    """

    def __init__(
        self,
        domain: Domain,
        shards: Sequence[RecordShard],
        variance: float,
        *,
        store: PartStore,
        workers: Workers,
        threads: int,
    ) -> None:
        """Begin without records; arguments are as of `fit_in_shards` and `move_records`."""
        self._domain, self._shards, self._variance = domain, shards, variance
        self._store, self._workers, self._threads = store, workers, threads
        self._passes = 0
        self.parts: list[StoredPart | None] = [None] * len(shards)

    def run(self, targets: Sequence[Target], temperatures: Sequence[float], report: ShareDone) -> None:
        """Bring the records of all shards together near to the targets.

        Args:
            targets: for all records; among them, at the first run, one of each column.
            temperatures: of the passes in which each shard is alone.
        """
        everyone, turns = range(len(self._shards)), min(TURNS, len(self._shards))
        self._move(targets, temperatures, everyone, _between(report, 0.0, 0.5))
        columns = [target.columns for target in targets]
        held = self.counts(columns)
        lacking = [replace(target, counts=target.counts - held[target.columns]) for target in targets]
        for turn in range(turns):
            before = [*self.parts]
            places = everyone[turn::turns]
            told = _between(report, 0.5 + 0.5 * turn / turns, 0.5 + 0.5 * (turn + 1) / turns)
            self._move(lacking, _IN_TURN, places, told, on_top=True)
            work = partial(_count_moved, self._domain, columns)
            moved = [(before[place], self.parts[place]) for place in places]
            changes = total(self._workers, "count what has moved", work, moved)
            lacking = [
                replace(target, counts=target.counts - change.reshape(target.counts.shape))
                for target, change in zip(lacking, changes, strict=True)
            ]
            for part, _ in moved:
                self._forget(part)
        report(1.0)

    def counts(self, columns: Iterable[ColumnNumbers]) -> dict[ColumnNumbers, Integers]:
        """The counts of all records in tables of these columns, one axis a column."""
        asked = list(dict.fromkeys(columns))
        if not asked:
            return {}
        found = total(self._workers, "count records", partial(_count, self._domain, asked), self.parts)
        return {
            columns: counts.reshape(self._domain.shape(columns))
            for columns, counts in zip(asked, found, strict=True)
        }

    def each_count(self, sets: Sequence[ColumnNumbers]) -> Iterator[Integers]:
        """The same in order, some sets at a time, each set once."""
        start, cells = 0, 0
        for place, columns in enumerate(sets):
            cells += math.prod(self._domain.shape(columns))
            if cells >= _CELLS_AT_ONCE or place + 1 == len(sets):
                found = self.counts(sets[start : place + 1])
                yield from (found[each] for each in sets[start : place + 1])
                start, cells = place + 1, 0

    def implied(self, sets: Sequence[ColumnNumbers]) -> Callable[[ColumnNumbers], Floats]:
        """What the pairs of all records imply of each of some sets of columns."""
        counts = self.counts(asked for columns in sets for asked in implying_tables(self._domain, columns))
        number = sum(shard.number_of_records for shard in self._shards)
        return lambda columns: implied_counts(self._domain, columns, counts, number)

    @property
    def held(self) -> tuple[StoredPart, ...]:
        """`parts`, once they were run."""
        return tuple(part for part in self.parts if part is not None)

    def _move(
        self,
        targets: Sequence[Target],
        temperatures: Sequence[float],
        places: Sequence[int],
        report: ShareDone,
        *,
        on_top: bool = False,
    ) -> None:
        """Move some shards to their parts of targets; ``on_top``: of what they hold already."""
        shares = sum(self._shards[place].share for place in places)
        beyond = _BEYOND if on_top and len(places) > 1 else 1.0
        wanted = self._shared(targets)
        moved = partial(
            _moved,
            number=self._passes,
            wanted=wanted,
            temperatures=tuple(temperatures),
            factor=beyond / shares,
            on_top=on_top,
            store=self._store,
            threads=self._threads,
        )
        held = [(self._shards[place], self.parts[place]) for place in places]
        found = self._workers.each("fit records", moved, held)
        for number, (place, part) in enumerate(zip(places, found, strict=True), 1):
            if not on_top:
                self._forget(self.parts[place])
            self.parts[place] = part
            report(number / len(places))
        self._forget(wanted.counts)
        self._passes += 1

    def _shared(self, targets: Sequence[Target]) -> "_Wanted":
        flat = np.concatenate([np.zeros(0), *(target.counts.ravel() for target in targets)])
        return _Wanted(
            self._domain,
            tuple((target.columns, target.weight, target.forbidden) for target in targets),
            self._variance,
            self._store.put(f"{self._passes}/wanted", partial(_save, _WANTED, flat)),
        )

    def _forget(self, part: StoredPart | None) -> None:
        if part is not None:
            self._store.remove(part.key)


def read_shard_cells(part: StoredPart) -> Ids:
    """The records of one shard, int32 (n, slots): in each slot a cell of its column; see `Domain`."""
    with part.folder() as folder:
        cells: Ids = np.load(folder / _RECORDS, allow_pickle=False).astype(np.int32)
    return cells


@dataclass(frozen=True)
class _Wanted:
    """What all shards are to come to: small, for the counts lie in a part."""

    domain: Domain
    tables: tuple[tuple[ColumnNumbers, float, Flags | None], ...]
    variance: float
    counts: StoredPart

    def targets(self) -> Iterator[Target]:
        with self.counts.folder() as folder:
            flat: Floats = np.load(folder / _WANTED, allow_pickle=False)
        start = 0
        for columns, weight, forbidden in self.tables:
            shape = self.domain.shape(columns)
            end = start + int(np.prod(shape, dtype=np.int64))
            yield Target(columns, flat[start:end].reshape(shape), weight, forbidden)
            start = end


def _moved(
    held: tuple[RecordShard, StoredPart | None],
    *,
    number: int,
    wanted: _Wanted,
    temperatures: tuple[float, ...],
    factor: float,
    on_top: bool,
    store: PartStore,
    threads: int,
) -> StoredPart:
    """A shard's records near ``factor`` times its share of what is wanted; ``on_top`` of what it holds."""
    shard, part = held
    domain, whole = wanted.domain, list(wanted.targets())
    records = _independent(domain, whole, shard) if part is None else read_shard_cells(part)
    targets = [target.scaled(shard.share * factor) for target in whole]
    if on_top:
        counted = _tables(domain, [target.columns for target in targets], records)
        targets = [
            replace(target, counts=target.counts + counts)
            for target, counts in zip(targets, counted, strict=True)
        ]
    seed = shard.seed + number
    move_records(domain, targets, records, wanted.variance, temperatures, seed, threads=threads)
    narrow = records.astype(code_type(max(domain.sizes, default=0)))
    return store.put(f"{number}/{shard.place}", partial(_save, _RECORDS, narrow))


def _independent(domain: Domain, targets: Iterable[Target], shard: RecordShard) -> Ids:
    margins = {target.columns: target.counts for target in targets}
    own = [margins[(column,)] for column in range(len(domain.sizes))]
    return independent_records(domain, own, shard.number_of_records, shard.seed)


def _count(domain: Domain, columns: Sequence[ColumnNumbers], part: StoredPart) -> Counts:
    return [counts.ravel() for counts in _tables(domain, columns, read_shard_cells(part))]


def _count_moved(
    domain: Domain, columns: Sequence[ColumnNumbers], parts: tuple[StoredPart, StoredPart]
) -> Counts:
    before, after = (_count(domain, columns, part) for part in parts)
    return [new - old for old, new in zip(before, after, strict=True)]


def _tables(domain: Domain, columns: Iterable[ColumnNumbers], records: Ids) -> Iterator[Integers]:
    by_column = np.asfortranarray(records)
    return (table_counts(domain, each, by_column) for each in columns)


def _save(name: str, array: npt.NDArray[Any], folder: Path) -> None:
    np.save(folder / name, array)


def _between(report: ShareDone, low: float, high: float) -> ShareDone:
    return lambda share: report(low + (high - low) * share)
