"""The search for records whose counts come close to the targets, by annealed Gibbs moves.

What is drawn follows from the seed alone, whatever the number of threads.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers, ShareDone
from tasks.core.fitting.implied import ImpliedCounts
from tasks.core.fitting.kernels import FORBIDDEN, LANES, Tables, visit_records
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.fitting.targets import Target
from tasks.core.pool import map_on_threads

#: Temperatures of the passes, in squared records; at 0 the best value is always taken.
LONG_ANNEALING = (1000.0, 300.0, 100.0, 50.0, 20.0, 5.0, 0.0)
SHORT_ANNEALING = (100.0, 20.0, 0.0, 0.0)


#: What a cell that no record may be in adds to the energy, in temperatures, until the last passes. A record
#: gets from one possible combination to another by way of such cells, one column at a time; were they closed
#: from the start, columns that constraints tie together would stay as they began.
_BARRIER = 3.0
#: A shard has at least so many records; more shards than 8 move too many records at once.
_RECORDS_OF_A_SHARD = 10_000
_MOST_SHARDS = 8


def move_records(
    domain: Domain,
    targets: Sequence[Target],
    records: Ids,
    variance: float,
    temperatures: Sequence[float],
    seed: int,
    *,
    threads: int = 0,
    progress: ShareDone | None = None,
) -> None:
    """Bring records nearer to the targets, in place: one pass over all of them for each temperature.

    Args:
        records: int32 (n, slots), in each slot a cell (see `Domain`).
        variance: of typical noise, in squared records; temperatures, too, are, and are divided by it.
        threads: 0 for all cores; has no effect on the records.
    """
    targets, number = _with_impossible_cells(domain, targets), len(records)
    tables = lay_out(domain, targets)
    order = (np.arange(number) * coprime(number)) % number if number else np.zeros(0, np.int64)
    for place, temperature in enumerate(temperatures):
        inverse = math.inf if temperature == 0 else variance / temperature
        seed_of_pass = np.random.SeedSequence([seed % 2**64, place]).generate_state(1, np.uint64)[0]
        forbidden = FORBIDDEN if temperature == 0 else np.float32(_BARRIER / inverse)
        fill(tables, domain, targets, records, forbidden)
        if temperature == 0:
            visit_records(tables, records, order, np.float32(inverse), seed_of_pass)
        else:
            _visit_shards(tables, records, order, np.float32(inverse), seed_of_pass, threads)
        if progress is not None:
            progress((place + 1) / len(temperatures))


def _visit_shards(
    tables: Tables, records: Ids, order: Integers, inverse: np.float32, seed: np.uint64, threads: int
) -> None:
    """A pass in which shards of the records move at the same time, each blind to the others' moves.

    S shards that see the same gradient would overshoot S times. So in each, a move weighs S times as
    much, as if the other shards did the same; temperature and spread then come out as in one.
    """
    shards = max(1, min(_MOST_SHARDS, len(order) // _RECORDS_OF_A_SHARD))
    if shards == 1:
        visit_records(tables, records, order, inverse, seed)
        return
    weights = tables.weights * np.float32(shards)

    def visit(shard: int) -> None:
        own = tables._replace(weights=weights, gradient=tables.gradient.copy())
        # A copy without gaps: the kernel is compiled for one layout.
        visit_records(own, records, order[shard::shards].copy(), inverse, seed)

    list(map_on_threads(visit, range(shards), threads))


class HeldRecords:
    """All records in this process on their way to targets, as `ShardedSearch` has them in shards."""

    def __init__(
        self, domain: Domain, margins: Sequence[Floats], number: int, seed: int, variance: float, threads: int
    ) -> None:
        """Args: margins: see `independent_records`. threads: 0 for all cores; they change nothing."""
        self.records = independent_records(domain, margins, number, seed)
        self._domain, self._variance, self._threads = domain, variance, threads
        self._seed = seed

    def run(self, targets: Sequence[Target], temperatures: Sequence[float], report: ShareDone) -> None:
        """Bring the records near to the targets; each run has a stream of its own."""
        asked = (self._domain, targets, self.records, self._variance, temperatures, self._seed)
        move_records(*asked, threads=self._threads, progress=report)
        self._seed += 1

    def each_count(self, sets: Sequence[ColumnNumbers]) -> Iterator[Integers]:
        return (table_counts(self._domain, columns, self.records) for columns in sets)

    def implied(self, sets: Sequence[ColumnNumbers]) -> Callable[[ColumnNumbers], Floats]:
        """What the records' pairs imply of each of some sets of columns."""
        return ImpliedCounts(self._domain, self.records).of


def _with_impossible_cells(domain: Domain, targets: Sequence[Target]) -> list[Target]:
    """The targets with the cells that no record may be in, and one of no weight for cells of no target."""
    found = [
        target if mask is None else replace(target, forbidden=mask)
        for target, mask in ((target, domain.impossible_in(target.columns)) for target in targets)
    ]
    seen = [{*target.columns} for target in targets if len(set(target.columns)) == len(target.columns)]
    unseen = {
        cells.columns: None
        for cells in domain.impossible
        if not any({*cells.columns} <= columns for columns in seen)
    }
    for columns in unseen:
        mask = domain.impossible_in(columns)
        found.append(Target(columns, np.zeros(domain.shape(columns)), 0.0, mask))
    return found


def independent_records(domain: Domain, margins: Sequence[Floats], number: int, seed: int) -> Ids:
    """Records whose columns hold their estimated counts, each shuffled by itself (largest remainders).

    >>> records = independent_records(Domain((2,)), [np.array([3.0, 1.0])], number=10, seed=0)
    >>> np.bincount(records[:, 0]).tolist()  # 7.5 and 2.5 are expected
    [8, 2]

    Args:
        margins: of each column the estimated counts of its cells, none below 0, not all 0.

    Returns:
        int32 (number, slots). Of a multi-valued column the first slot alone is filled.
    """
    generator = np.random.Generator(np.random.PCG64(seed % 2**64))
    columns = []
    for column, margin in enumerate(margins):
        expected = margin * (number / margin.sum())
        counts = np.floor(expected).astype(np.int64)
        left = number - int(counts.sum())
        counts[np.argsort(counts - expected, kind="stable")[:left]] += 1  # the largest remainders come first
        columns.append(generator.permutation(np.repeat(np.arange(len(margin), dtype=np.int32), counts)))
        unused = domain.slots_of(column) - 1
        columns.extend([np.full(number, domain.empty(column), np.int32)] * unused)
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((number, 0), np.int32)


def coprime(number: int) -> int:
    """A stride near the golden section of ``number`` by which every record is visited once.

    >>> [place * coprime(10) % 10 for place in range(10)]
    [0, 7, 4, 1, 8, 5, 2, 9, 6, 3]
    """
    stride = max(1, int(number * 0.6180339887))
    while math.gcd(stride, number) != 1:
        stride += 1
    return stride


def lay_out(domain: Domain, targets: Sequence[Target]) -> Tables:
    """The flat form of the targets' tables; the gradient is still to be filled."""
    number = len(domain.sizes)
    slots = [domain.slots_of(column) for column in range(number)]
    # Of each slot the tables that it sees: where a run begins, the table's weight, the strides of all slots.
    uses: list[list[tuple[int, float, dict[int, int]]]] = [[] for _ in range(sum(slots))]
    end = 0
    for target in targets:
        copies = _copies(target, end)
        for chosen in _chosen_slots(domain, target.columns):
            for slot, (base, strides) in zip(chosen, copies, strict=True):
                uses[slot].append((base, target.weight, dict(zip(chosen, strides, strict=True))))
        end += target.counts.size * _number_of_copies(target)
    flat = [(slot, *use) for slot, of_slot in enumerate(uses) for use in of_slot]
    shifts: list[list[tuple[int, int]]] = [[] for _ in uses]
    for place, (own, _, _, strides_of_slots) in enumerate(flat):
        for slot, stride in strides_of_slots.items():
            if slot != own:  # another slot that changes moves where this use's run begins
                shifts[slot].append((place, stride))
    listed = np.array([shift for of_slot in shifts for shift in of_slot], np.int64).reshape(-1, 2)
    return Tables(
        sizes=np.array(domain.sizes, np.int64),
        empty=np.array([domain.empty(column) for column in range(number)], np.int64),
        first_slot=np.cumsum([0, *slots]),
        slot_column=np.repeat(np.arange(number), slots),
        first_use=np.cumsum([0, *map(len, uses)]),
        bases=np.array([base for _, base, _, _ in flat], np.int64),
        weights=np.array([weight for _, _, weight, _ in flat], np.float32),
        use_slot=np.array([slot for slot, _, _, _ in flat], np.int64),
        first_shift=np.cumsum([0, *map(len, shifts)]),
        shifted=np.ascontiguousarray(listed[:, 0]),
        strides=np.ascontiguousarray(listed[:, 1]),
        gradient=np.zeros(end + LANES, np.float32),
    )


def _chosen_slots(domain: Domain, columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Slots of the record that a table looks at together; two of one column in one order alone."""
    firsts = [domain.first_slot(column) for column in columns]
    for slots in domain.choices_of_slots(columns):
        chosen = tuple(first + slot for first, slot in zip(firsts, slots, strict=True))
        if list(chosen) == sorted(chosen):
            yield chosen


def _number_of_copies(target: Target) -> int:
    """One for each column; one of a table of a column with itself, which is the same whichever comes last."""
    return len(set(target.columns))


def _copies(target: Target, start: int) -> list[tuple[int, tuple[int, ...]]]:
    """For each column of a table, where the copy turned for it begins, and the strides of its columns.

    >>> _copies(Target((0, 1), np.zeros((2, 3)), weight=1.0), start=0)  # turned for sex, then for town
    [(0, (1, 2)), (6, (3, 1))]

    A pair of items of one column is counted at (u, v) and at (v, u) of the one copy that there is.
    """
    shape = target.counts.shape
    copies = []
    for last in range(len(shape)):
        strides, stride = [0] * len(shape), 1
        for place in [last, *(place for place in reversed(range(len(shape))) if place != last)]:
            strides[place] = stride
            stride *= shape[place]
        copies.append((start, tuple(strides)))
        start += stride if _number_of_copies(target) > 1 else 0
    return copies


def fill(
    tables: Tables, domain: Domain, targets: Sequence[Target], records: Ids, forbidden: np.float32 = FORBIDDEN
) -> None:
    """Set the gradient to w (count - target + 1/2) of the records' counts, that of forbidden cells apart."""
    start = 0
    by_column = np.asfortranarray(records)
    for target in targets:
        counts = table_counts(domain, target.columns, by_column)
        gradient = (target.weight * (counts - target.counts + 0.5)).astype(np.float32)
        if target.forbidden is not None:
            gradient[target.forbidden] = forbidden
        for place in range(_number_of_copies(target)):
            tables.gradient[start : start + gradient.size] = np.moveaxis(gradient, place, -1).ravel()
            start += gradient.size
