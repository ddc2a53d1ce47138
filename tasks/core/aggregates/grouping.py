"""Queries over the records of one table, and adding up cubes.

A *cube* holds the filled cells of a set of slots, absent values (code 0) among them, so that every subset of
its slots can be added up from it. Which sets are grouped over the records, and which are rolled up from a
larger one, is planned by pure functions of the table's shape: a plan decides how long counting takes, never
what is counted.

    records ──group──▶ (sex, age, town)        a cube: wanted, or added for what is rolled up from it
                        ├─▶ (sex, age) ─▶ (sex)
                        ├─▶ (sex, town)
                        └─▶ (age, town)

A cell is one integer in mixed radix (its *key*), so that sets of slots have at most `LARGEST_KEY` cells,
empty ones included.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.kernels import add_at
from tasks.core.aggregates.keys import LARGEST_SHORT, pack, sort_by_key, unpack
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, MarginalFacts, code_names, slot_choices
from tasks.core.arrays import AnyIntegers, Codes, ColumnNumbers, SlotNumbers, Words
from tasks.core.normal import normal_above
from tasks.core.queries import QueryResources, filled_query, identifier, identifiers

#: A cell of a set of slots is one number below this.
LARGEST_KEY = 1 << 62

#: Larger cubes are grouped over many records by hashing, several times as slow as by their place.
_CUBE_CELLS = 1 << 16
#: Cubes rolled up from the whole table have so many times fewer cells than it has records.
_STEP = 8
#: Adding up so many records takes no longer than finding a cube to do it from.
_FEW_RECORDS = 1 << 17
#: Slots tried before a cube is done growing.
_TRIES = 8
#: Cubes are grown one by one around at most so many sets, which takes a second; around more, of blocks.
_MANY_SETS = 4096
#: How many blocks may together reach the limit, as multiples of the longest set: from few and large ones on.
_BLOCKS_A_SLOT = (1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Shape:
    """What is known of a table before its combinations are counted.

    Attributes:
        sizes: for each slot the number of its values, the absent one included.
        means: for each slot the mean of -ln p(value) over the records, its entropy; and its ``variances``.
    """

    records: int
    sizes: tuple[int, ...]
    means: tuple[float, ...]
    variances: tuple[float, ...]

    def product(self, slots: SlotNumbers) -> int:
        return math.prod(self.sizes[slot] for slot in slots)

    def bound(self, slots: SlotNumbers) -> int:
        """The most cells that can be filled."""
        return min(self.records, self.product(slots))

    def expected(self, slots: SlotNumbers) -> float:
        """About how many cells are filled, were the slots independent.

        A record's surprisal S = -ln p is taken as normal; a cell of probability p is filled by about
        min(1, n p) records' worth, so that E[min(n, e^S)] cells are filled.
        """
        if self.records < 2:
            return self.records
        mean = sum(self.means[slot] for slot in slots)
        spread = math.sqrt(sum(self.variances[slot] for slot in slots)) + 1e-9
        place = (math.log(self.records) - mean) / spread
        rare = self.records * normal_above(place)
        growth = min(mean + spread * spread / 2, 700.0)
        return min(rare + math.exp(growth) * normal_above(spread - place), self.bound(slots))


def plan_roll_ups(
    targets: Iterable[SlotNumbers], shape: Shape, most_cells: int
) -> dict[SlotNumbers, SlotNumbers | None]:
    """From what each set is rolled up; None: grouped over the records. Proper supersets may be added.

    >>> shape = Shape(records=1000, sizes=(3, 100, 30), means=(0.7, 4.0, 3.0), variances=(0.0, 0.3, 0.2))
    >>> plan_roll_ups([(0,), (0, 1), (0, 2)], shape, most_cells=10**6)
    {(0,): (0, 2), (0, 1): (0, 1, 2), (0, 2): (0, 1, 2), (0, 1, 2): None}

    ``targets``: the sets to count, each of at most ``most_cells`` cells (see `Shape.bound`) and at most
    `LARGEST_KEY` cells in all; no cube has more.
    """
    wanted = set(targets)
    longest = max(map(len, wanted), default=0)
    parents: dict[SlotNumbers, SlotNumbers | None] = {}
    loose = []
    by_entropy = sorted(range(len(shape.sizes)), key=shape.means.__getitem__)
    for target in sorted(wanted):
        others = (slot for slot in by_entropy if slot not in target) if len(target) < longest else ()
        larger = (tuple(sorted((*target, slot))) for slot in others)
        smallest = next((slots for slots in larger if slots in wanted), None)
        if smallest is None:
            loose.append(target)
        else:
            parents[target] = smallest
    for limit in _limits(shape.records, most_cells):
        found = cover(loose, shape, limit, most_cells)
        parents.update(found)
        loose = sorted({found.get(slots, slots) for slots in loose} - parents.keys())
    if shape.records <= most_cells and len(loose) > 1:
        table = tuple(sorted(set().union(*loose)))
        parents.update((slots, table) for slots in loose if slots != table)
        loose = [table]
    return parents | dict.fromkeys(loose)


def cover(
    sets: Sequence[SlotNumbers], shape: Shape, limit: float, most_cells: int
) -> dict[SlotNumbers, SlotNumbers]:
    """Cubes of at most ``limit`` expected cells; for each set that is within a larger cube that cube.

    What finding them takes is bounded: each cube is fitted to the sets only while those are few.
    """
    fits = _Fits(shape, limit, most_cells)
    if len(sets) > _MANY_SETS:
        return _cover_by_blocks(sets, fits)
    return _cover_greedily([slots for slots in sets if fits(slots)], fits)


def _cover_greedily(waiting: Sequence[SlotNumbers], fits: "_Fits") -> dict[SlotNumbers, SlotNumbers]:
    """Grow a cube around the first set, and another around the first that is not in it, and so on."""
    shape = fits.shape
    bits = _bits(waiting, len(shape.sizes))
    cubes: dict[SlotNumbers, SlotNumbers] = {}
    left = np.arange(len(waiting))
    while len(left):
        start = waiting[left[0]]
        touching = (bits & bits[0]).any(axis=1)
        cube = _grown(start, bits[touching], fits)
        inside = ~(bits & ~_bits([cube], len(shape.sizes))).any(axis=1)
        cubes.update((waiting[index], cube) for index in left[inside].tolist() if waiting[index] != cube)
        left, bits = left[~inside], bits[~inside]
    return cubes


def _cover_by_blocks(sets: Sequence[SlotNumbers], fits: "_Fits") -> dict[SlotNumbers, SlotNumbers]:
    """Deal the slots out to blocks; the blocks that a set touches are its cube.

    What is in no cube that may be one, or alone in its own, is tried again with smaller blocks.
    """
    cubes: dict[SlotNumbers, SlotNumbers] = {}
    left, longest = sets, max(map(len, sets))
    for each in _BLOCKS_A_SLOT:
        block_of = _blocks(fits, each * longest)
        members = [np.flatnonzero(np.equal(block_of, block)).tolist() for block in range(max(block_of) + 1)]
        if len(members) == len(block_of):
            break
        touching: dict[frozenset[int], list[SlotNumbers]] = {}
        for slots in left:
            touching.setdefault(frozenset([block_of[slot] for slot in slots]), []).append(slots)
        left = []
        for blocks, inside in touching.items():
            cube = tuple(sorted(itertools.chain.from_iterable([members[block] for block in blocks])))
            if len(inside) > 1 and fits(cube):
                cubes.update((slots, cube) for slots in inside if slots != cube)
            else:
                left += inside
    return cubes


def _blocks(fits: "_Fits", number: float) -> list[int]:
    """The block of each slot: so many blocks together have about as many cells as a cube may have."""
    shape = fits.shape
    most = min(fits.most_cells, LARGEST_KEY) if shape.records > fits.most_cells else LARGEST_KEY
    room = math.log(max(fits.limit, 1)) / number, math.log(most) / number
    sizes = [math.log(size) for size in shape.sizes]
    # Few cells of the product are filled, were the slots independent: about e^(mean + variance / 2).
    filled = [mean + variance / 2 for mean, variance in zip(shape.means, shape.variances, strict=True)]
    filled = [min(own, size) for own, size in zip(filled, sizes, strict=True)]
    blocks: list[tuple[float, float]] = []
    block_of = [0] * len(sizes)
    for slot in sorted(range(len(sizes)), key=lambda slot: (-filled[slot], slot)):
        for block, (cells, size) in enumerate(blocks):
            if cells + filled[slot] <= room[0] and size + sizes[slot] <= room[1]:
                blocks[block] = cells + filled[slot], size + sizes[slot]
                block_of[slot] = block
                break
        else:
            block_of[slot] = len(blocks)
            blocks.append((filled[slot], sizes[slot]))
    return block_of


@dataclass(frozen=True)
class _Fits:
    """A rule for sets of slots that may be a cube."""

    shape: Shape
    limit: float
    most_cells: int

    def __call__(self, slots: SlotNumbers) -> bool:
        small = self.shape.bound(slots) <= self.most_cells and self.shape.product(slots) <= LARGEST_KEY
        return small and self.shape.expected(slots) <= self.limit


def _grown(start: SlotNumbers, bits: Words, fits: _Fits) -> SlotNumbers:
    """A cube around a set: the slot that completes most of the given sets comes first."""
    cube, width = start, len(fits.shape.sizes)
    while True:
        rest = bits & ~_bits([cube], width)
        missing = np.bitwise_count(rest).sum(axis=1)
        near = (missing == 1) | (missing == 2)
        lacking = np.unpackbits(rest[near].view(np.uint8), axis=1, bitorder="little")[:, :width]
        # A slot gains whole sets that lack it alone, and a little for those that lack another one beside it.
        gains = np.where(missing[near] == 1, 1.0, 0.125) @ lacking
        for slot in np.argsort(-gains, kind="stable")[: min(_TRIES, np.count_nonzero(gains))].tolist():
            larger = tuple(sorted((*cube, slot)))
            if fits(larger):
                break
        else:
            return cube
        cube = larger


def _bits(sets: Sequence[SlotNumbers], width: int) -> Words:
    rows = np.zeros((len(sets), -(-width // 64) * 64), np.uint8)
    for index, slots in enumerate(sets):
        rows[index, list(slots)] = 1
    return np.packbits(rows, axis=1, bitorder="little").view(np.uint64)


def _limits(records: int, most_cells: int) -> list[float]:
    """Expected cells of the cubes of each level, the small ones first.

    What fits in memory whole is grouped whole, and cubes on the way down pay for many records only.
    """
    if records > most_cells:
        return [min(most_cells, _CUBE_CELLS)]
    return [records / _STEP] if records > _FEW_RECORDS else []


#: Adding into an array of all cells beats sorting while there are at most so many cells a row.
_DENSE_CELLS_A_ROW = 6
_DENSE_CELLS = 1 << 14
#: Cells in memory: at most so many, or what fits in a quarter of the memory limit.
_MOST_CELLS = 1 << 24
_BYTES_A_CODE = 48


def most_cells(resources: QueryResources) -> int:
    if not resources.memory_limit_mb:
        return _MOST_CELLS
    return min(_MOST_CELLS, (resources.memory_limit_mb << 18) // _BYTES_A_CODE)


def fits(sizes: Sequence[int], records: int, most: int) -> bool:
    """Whether a set of slots has at most ``most`` filled cells, each of which one integer tells."""
    product = math.prod(sizes)
    return min(records, product) <= most and product <= LARGEST_KEY


@dataclass(frozen=True)
class FilledCells:
    """Filled cells, each once.

    Attributes:
        codes: for each slot one code a cell, 0 = absent.
        counts: records a cell, uint32 or int64.
    """

    codes: tuple[Codes, ...]
    counts: AnyIntegers

    def onto_each(self, sets: Iterable[Sequence[int]], sizes: Sequence[int]) -> Iterator["FilledCells"]:
        """The cells of each of some sets of slots, ascending."""
        start: tuple[int, ...] | None = None
        for places in sets:
            own = [sizes[place] for place in places]
            product = math.prod(own)
            if tuple(places[:-1]) != start or product > LARGEST_SHORT:
                start = tuple(places[:-1])
                codes = [self.codes[place] for place in start]
                first = pack(codes, own[:-1], len(self.counts), room=product)
            keys = np.multiply(first, first.dtype.type(own[-1]))
            np.add(keys, self.codes[places[-1]], out=keys)
            yield _added(keys, self.counts, own)

    def present(self) -> "FilledCells":
        if not self.codes:
            return self
        filled = self.codes[0] > 0
        for codes in self.codes[1:]:
            filled &= codes > 0
        if filled.all():
            return self
        return FilledCells(tuple(codes[filled] for codes in self.codes), self.counts[filled])


def add_up(parts: Sequence[FilledCells], sizes: Sequence[int]) -> FilledCells:
    """The sum of cells of the same values, ascending; of one part, the part."""
    if len(parts) == 1:
        return parts[0]
    codes = [np.concatenate([part.codes[place] for part in parts]) for place in range(len(sizes))]
    counts = np.concatenate([part.counts for part in parts])
    return _added(pack(codes, sizes, len(counts)), counts, sizes)


def _added(keys: AnyIntegers, counts: AnyIntegers, sizes: Sequence[int]) -> FilledCells:
    # By an array of all cells where these are few; else by sorting.
    product = math.prod(sizes)
    if product <= max(_DENSE_CELLS, _DENSE_CELLS_A_ROW * len(keys)):
        keys, counts = _added_densely(keys, counts, product)
    else:
        keys, counts = _runs(*sort_by_key(keys, counts, product))
    return FilledCells(unpack(keys, sizes), counts)


def _added_densely(keys: AnyIntegers, counts: AnyIntegers, product: int) -> tuple[AnyIntegers, AnyIntegers]:
    cells = np.zeros(product, counts.dtype)
    # The kernel is compiled for keys of 32 bits, which an array of all cells never exceeds, and for counts
    # that can be written: those of a file are copied.
    add_at(keys.astype(np.uint32, copy=False), np.require(counts, requirements="W"), cells)
    filled = np.flatnonzero(cells != 0)
    return filled.astype(keys.dtype), cells[filled]


def _runs(keys: AnyIntegers, counts: AnyIntegers) -> tuple[AnyIntegers, AnyIntegers]:
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(starts):
        return keys, counts
    return keys[starts], np.add.reduceat(counts, starts, dtype=counts.dtype)


#: What is done with rows of the result, in order.
Append = Callable[[pa.Table], None]

#: A perfect hash table takes about this many bytes a cell and thread, outside DuckDB's memory limit.
_BYTES_A_CELL = 40
#: Beyond, clearing the table costs more than hashing.
_MOST_BITS = 20


class RecordsQueries:
    """The records of one table in DuckDB; what does not fit within its memory limit is spilled."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        facts: MarginalFacts,
        resources: QueryResources,
    ) -> None:
        self._connection, self._facts = connection, facts
        connection.execute(f"set perfect_ht_threshold = {_perfect_bits(resources)}")
        connection.execute("set preserve_insertion_order = false")
        text = filled_query(
            "aggregates/load_records", slots=identifiers(_slots(range(len(facts.slot_columns)))) or "record"
        )
        connection.execute(text, {"records": [str(folder / "records.parquet")]})

    def shape(self) -> Shape:
        facts = self._facts
        sizes = tuple(len(facts.values[column]) + 1 for column in facts.slot_columns)
        if not sizes:
            return Shape(facts.number_of_records, (), (), ())
        texts = [
            filled_query("aggregates/surprisals", index=str(index), slot=identifier(slot))
            for index, slot in enumerate(_slots(range(len(sizes))))
        ]
        rows = sorted(self._connection.sql("\nunion all\n".join(f"({text})" for text in texts)).fetchall())
        variances = tuple(max(0.0, square - mean * mean) for _, mean, square in rows)
        return Shape(facts.number_of_records, sizes, tuple(mean for _, mean, _ in rows), variances)

    def cube(self, slots: SlotNumbers) -> FilledCells:
        text = filled_query("aggregates/count_cube", slots=identifiers(_slots(slots)))
        *codes, counts = (column.to_numpy() for column in self._connection.sql(text).to_arrow_table().columns)
        short = self._facts.number_of_records < 1 << 32
        return FilledCells(tuple(codes), counts.astype(np.uint32) if short else counts)

    def append_combination(self, combination_id: int, combination: tuple[int, ...], append: Append) -> None:
        """Count one combination of columns by sorting and spilling: rows in their final order."""
        append_rows(
            self._connection, cells_query(combination_id, combination, self._facts.slot_columns), append
        )


def cells_query(combination_id: int, combination: ColumnNumbers, slot_columns: tuple[int, ...]) -> str:
    """The query that counts one combination of columns in a table ``records``, which has a column a slot.

    A warehouse that knows PostgreSQL's SQL understands it too.
    """
    choices = list(slot_choices(combination, slot_columns))
    texts = [_choice_query(combination_id, slots, slot_columns) for slots in choices]
    codes = code_names(len(combination))
    return filled_query(
        "aggregates/select_cells" if len(choices) == 1 else "aggregates/sum_cells",
        cells="(" + "\nunion all\n".join(texts) + ")",
        codes=identifiers(codes),
        present=" and ".join(f"{identifier(code)} > 0" for code in codes),
    )


def _choice_query(combination_id: int, slots: SlotNumbers, slot_columns: tuple[int, ...]) -> str:
    # Few records fill a slot that is not the first of its column, so it pays to ask first.
    repeated = [slot for slot in slots if slot and slot_columns[slot - 1] == slot_columns[slot]]
    codes = [identifier(code) for code in code_names(len(slots))]
    named = zip(_slots(slots), codes, strict=True)
    return filled_query(
        "aggregates/count_cells",
        combination_id=str(combination_id),
        codes=", ".join(f"{identifier(slot)} as {code}" for slot, code in named),
        filled=" and ".join(f"{identifier(slot)} > 0" for slot in _slots(repeated)) or "true",
        names=", ".join(codes),
    )


def append_rows(
    connection: duckdb.DuckDBPyConnection, text: str, append: Append, values: dict[str, object] | None = None
) -> None:
    for rows in connection.sql(text, params=values).to_arrow_reader(ROWS_A_READ):
        append(pa.Table.from_batches([rows]))


def _slots(slots: Sequence[int]) -> list[str]:
    return [f"slot_{slot}" for slot in slots]


def _perfect_bits(resources: QueryResources) -> int:
    """Widest key that is counted by direct addressing: a quarter of the memory limit, at most 2^20."""
    if not resources.memory_limit_mb:
        return _MOST_BITS
    cells = (resources.memory_limit_mb << 20) // (4 * _BYTES_A_CELL * max(1, resources.threads or 2))
    return min(_MOST_BITS, max(1, int(math.log2(max(2, cells)))))


_ROWS_A_SCAN = 1 << 17


def stored_combinations(
    path: Path, wanted: Callable[[int], bool] = lambda index: True
) -> Iterator[tuple[int, FilledCells]]:
    """The cells of each wanted combination of a file of marginals, in its order."""
    pending: list[pa.Table] = []
    current = -1
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS_A_SCAN):
            table = pa.Table.from_batches([batch])
            ids = table["combination_id"].to_numpy()
            starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: len(ids)]).tolist()
            for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
                index = int(ids[start])
                if index != current and pending:
                    yield current, _cells(pending)
                    pending = []
                current = index
                if wanted(index):
                    pending.append(table.slice(start, end - start))
    if pending:
        yield current, _cells(pending)


def _cells(pieces: list[pa.Table]) -> FilledCells:
    _, *codes, counts = (column.to_numpy() for column in pa.concat_tables(pieces).columns)
    return FilledCells(tuple(codes), counts)
