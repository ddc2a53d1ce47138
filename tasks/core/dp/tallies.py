"""What one length asks of the records, and how many of them hold each of its candidates.

A question (`AskedValues` of length 1, `AskedTuples` beyond) says how a record is looked at and what is
counted: public facts and numbers that were drawn before, so that it can be sent. Its tally (`ValueCounts`,
`TupleCounts`) holds the candidates and their exact counts. A combination is counted cell by cell where its
cube is small enough, and by the sparse law otherwise: the choice is a function of public sizes, and the law
is the same (R15). No count leaves the measuring step.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tasks.core.arrays import Codes, ColumnNumbers, Flags, HalfWords, Integers, ShareDone, Words
from tasks.core.dp import contribution, kernels, sparse
from tasks.core.dp.candidates import Cubes, Kept, Lattice, SizeRule, flag_candidates
from tasks.core.dp.contribution import Coins
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.sparse import SparseTable
from tasks.core.dp.tags import records_below
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema

_BLOCK = 1 << 16
#: Some combinations of a length that follow each other: the first one's place, and the next one's after them.
Portion = tuple[int, int]


@dataclass(frozen=True)
class Answer:
    """The exact counts of one length in some of the records: sensitive, so its text shows none.

    Attributes:
        cells: uint32, of the candidates that are visited, in order.
        held: of each table that is not visited the keys that records hold, ascending, and their counts.
    """

    cells: HalfWords = field(repr=False)
    held: tuple[tuple[Integers, Integers], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Sample:
    """Records as length 1 looks at them: those with a tag below (R14); None: all."""

    below: int | None = None

    def at(self, records: CodedRecords) -> CodedRecords:
        return records_below(records, self.below)


@dataclass(frozen=True)
class AskedValues:
    """What the draw asks at length 1.

    Attributes:
        bounded: whether a record counts for some of its values alone.
        slot_columns: see `CodedRecords`.
        sizes: for each column how many values its dictionary has; sensitive, as is all that counts values.
    """

    look: Sample
    bounded: bool
    slot_columns: tuple[int, ...]
    sizes: tuple[int, ...] = field(repr=False)

    def blank(self, portion: Portion | None = None) -> "ValueCounts":
        """All values, and no record: they are one portion."""
        return ValueCounts.blank(self.slot_columns, self.sizes)


@dataclass(frozen=True)
class ValueCounts:
    """How many records hold each value.

        cells     0 | C + 60 | C + 40 | 0 | C + 30 | C + 70      C: the flag of a candidate
        of        - | female | male   | - | Lille  | Lyon        offsets: 0, 3, 6

    Attributes:
        cells: uint32, the values of all columns with the absent one first, flagged as `kernels` says.
        offsets: int64 (columns + 1,), where each column begins.
        slot_columns: see `CodedRecords`.
    """

    cells: HalfWords
    offsets: Integers
    slot_columns: tuple[int, ...]

    @classmethod
    def blank(cls, slot_columns: tuple[int, ...], sizes: Sequence[int]) -> "ValueCounts":
        """Of no record, for columns with so many values."""
        offsets = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64) + 1)]).astype(np.int64)
        cells = np.full(int(offsets[-1]), kernels.CANDIDATE, np.uint32)
        cells[offsets[:-1]] = 0  # absent is no value
        return cls(cells, offsets, slot_columns)

    def count(self, records: CodedRecords, with_sensitivity: bool, report: ShareDone) -> HalfWords | None:
        """Count every record; where it is asked for, give the number of values each one holds."""
        sensitivity = np.zeros(records.number_of_records, np.uint32) if with_sensitivity else None
        for codes, column in zip(records.slots, self.slot_columns, strict=True):
            kernels.count_values(codes, self.cells[self.offsets[column] : self.offsets[column + 1]])
            if sensitivity is not None:
                kernels.count_filled(codes, sensitivity)
        self.cells[self.offsets[:-1]] = 0
        report(1.0)
        return sensitivity

    def drop(self, records: CodedRecords, sensitivity: HalfWords, limit: int) -> None:
        """Take back the values that records with more than ``limit`` of them lose."""
        tags = contribution.needed_tags(records.tags)
        columns = np.array(self.slot_columns, np.int64)
        slots = np.arange(len(columns))[:, np.newaxis]
        sizes = np.diff(self.offsets)[columns]
        over = np.flatnonzero(sensitivity > limit)
        for start in range(0, len(over), _BLOCK):
            rows = over[start : start + _BLOCK]
            codes = np.stack([codes[rows].astype(np.uint32) for codes in records.slots])
            mine = contribution.coins(tags[rows], sensitivity[rows], limit, 1)
            offsets = self.offsets[columns]
            kernels.drop_tuples(codes, (0, len(rows)), slots, offsets, sizes, self.cells, mine)

    def portions(self) -> list[Portion]:
        return [(0, len(self.offsets) - 1)]

    def answer(self) -> Answer:
        return Answer(self.cells & kernels.COUNT)

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records."""
        self.cells[:] += answer.cells

    def counts_of_column(self, column: int) -> Integers:
        """The counts of codes 1, 2, ..."""
        cells = self.cells[self.offsets[column] + 1 : self.offsets[column + 1]]
        return (cells & kernels.COUNT).astype(np.int64)

    def candidates(self, index: int, column: Column) -> Integers:
        """Which values of a column get noise, from 0: all declared ones; of open ones those counted.

        The open candidates are so the union of the truncated records (C7): a value that is held by
        dropped tuples alone is none.
        """
        exact = self.counts_of_column(index)
        return np.flatnonzero(exact > 0) if column.is_open else np.arange(len(exact))


@dataclass(frozen=True)
class SurvivingCodes:
    """Records re-encoded to the values that survived length 1, codes (slots, n); all else is absent."""

    codes: Codes
    tags: Words | None = None


@dataclass(frozen=True)
class SurvivingValues:
    """Records as longer lengths look at them: re-encoded to what survived length 1.

    Attributes:
        below: as of `Sample`.
        codes: for each column the old codes that survived, ascending. Where values lie among all that were
            seen is sensitive.
    """

    below: int | None
    codes: tuple[Integers, ...] = field(repr=False)

    def at(self, records: CodedRecords) -> SurvivingCodes:
        """The records that are looked at with their new codes, values that did not survive absent."""
        records = records_below(records, self.below)
        kind = code_type(max((len(codes) for codes in self.codes), default=0))
        remaps: list[Codes] = []
        for codes, texts in zip(self.codes, records.values, strict=True):
            remap = np.zeros(len(texts) + 1, kind)
            remap[codes] = np.arange(1, len(codes) + 1)
            remaps.append(remap)
        matrix = np.zeros((len(records.slots), records.number_of_records), kind)
        for slot, column in enumerate(records.slot_columns):
            np.take(remaps[column], records.slots[slot], out=matrix[slot], mode="clip")
        return SurvivingCodes(matrix, records.tags)


#: Candidates whose noise is drawn at a time.
_DRAWN = 1 << 20
#: Of so many candidates counts are sent at once; of a table that is not visited at most so many are held.
_COUNTS_AT_ONCE, _KEYS_OF_A_TABLE = 1 << 24, 1 << 20


#: Rows a pass: the partial keys of a block stay in the cache for short lengths; a large cube of a long
#: length is better reused while it is there.
_SHORT, _LONG = 1 << 16, 1 << 20


@dataclass(frozen=True)
class DenseCounts:
    """The cells of one length's cubes and what is needed to count into them.

    Attributes:
        slots: int64 (T, k), the combinations' choices of slots.
        offsets: int64 (T,), where the cube of each choice begins.
        sizes: int64 (slots,), one more than the number of values of the slot's column.
        cells: counted into in place.
        found: int64 (C,), how many candidates each cube has.
    """

    cubes: Cubes
    slots: Integers
    offsets: Integers
    sizes: Integers
    cells: HalfWords
    found: Integers

    @classmethod
    def of(
        cls, cubes: Cubes, slots: Integers, combinations: Integers, sizes: Integers, lattice: Lattice
    ) -> "DenseCounts":
        """Without a record; ``slots`` and ``combinations`` are as of `choices_of_slots`.

        Combinations without a candidate are not counted.
        """
        cells, found = flag_candidates(cubes, lattice)
        place = np.full(int(combinations.max(initial=-1)) + 1, -1)
        place[cubes.ids] = np.where(found > 0, np.arange(len(cubes.ids)), -1)
        place = place[combinations]
        counted = place >= 0
        return cls(cubes, slots[counted], cubes.offsets[place[counted]], sizes, cells, found)

    def count(self, codes: Codes, sensitivity: HalfWords | None, report: ShareDone) -> None:
        """Count every record, and add to ``sensitivity`` how many candidates each one holds."""
        cubes = self.slots, self.offsets, self.sizes, self.cells
        step = _SHORT if self.slots.shape[1] <= 3 else _LONG
        for start in range(0, codes.shape[1], step):
            rows = start, min(start + step, codes.shape[1])
            if sensitivity is None:
                kernels.count_tuples(codes, rows, *cubes)
            else:
                kernels.count_tuples_and_sensitivity(codes, rows, *cubes, sensitivity[slice(*rows)])
            report(rows[1] / codes.shape[1])

    def drop(self, codes: HalfWords, coins: Coins) -> None:
        """Take back what the records of ``codes`` (all of them over the limit) lose."""
        rows = (0, codes.shape[1])
        kernels.drop_tuples(codes, rows, self.slots, self.offsets, self.sizes, self.cells, coins)


def choices_of_slots(
    slot_columns: tuple[int, ...], index: dict[ColumnNumbers, int], length: int
) -> tuple[Integers, Integers]:
    """Every choice of k slots, lexicographic (T, k), and the place (T,) of the combination it belongs to.

    >>> slots, combinations = choices_of_slots((0, 1, 1), {(0, 1): 0, (1, 1): 1}, 2)  # sex, two languages
    >>> slots.tolist(), combinations.tolist()
    ([[0, 1], [0, 2], [1, 2]], [0, 0, 1])
    """
    chosen = list(itertools.combinations(range(len(slot_columns)), length))
    places = [index[tuple(slot_columns[slot] for slot in slots)] for slots in chosen]
    return np.array(chosen, np.int64).reshape(len(chosen), length), np.array(places, np.int64)


@dataclass(frozen=True)
class AskedTuples:
    """What the draw asks at a length of 2 or more: of public facts, and of what shorter lengths released.

    Attributes:
        bounded: whether a record counts for some of its candidates alone.
        lattice: what survived at shorter lengths.
        rule: when a cube is visited cell by cell.
    """

    look: SurvivingValues
    bounded: bool
    schema: Schema
    length: int
    lattice: Lattice
    rule: SizeRule

    def blank(self, portion: Portion | None = None) -> "TupleCounts":
        """All candidates or those of a portion, and no record."""
        combinations = self.schema.combinations(self.length)
        return TupleCounts.blank(self.schema, combinations, self.lattice, self.rule, portion)


@dataclass(frozen=True)
class TupleCounts:
    """The candidates of one length and, once counted, how many records hold each.

    Attributes:
        dense: the combinations visited cell by cell.
        kept: bool, for each of those whether its non-survivors are kept: all columns declared.
        sparse: the others, by their place in ``schema.combinations(k)``.
    """

    length: int
    dense: DenseCounts
    kept: Flags
    sparse: dict[int, SparseTable]

    @classmethod
    def blank(
        cls,
        schema: Schema,
        combinations: list[ColumnNumbers],
        lattice: Lattice,
        rule: SizeRule,
        portion: Portion | None = None,
    ) -> "TupleCounts":
        """The candidates: all k-tuples whose (k-1)-subsets survive, zero counts included (C6, C8).

        Of a portion they are those of its combinations, each visited or not as among all.
        """
        length = len(combinations[0]) if combinations else 0
        columns = np.array(combinations, np.int64).reshape(len(combinations), length)
        by_column = np.array([not column.is_open for column in schema.columns], bool)
        declared: Flags = np.all(by_column[columns], axis=1)
        cells = np.prod(lattice.sizes[columns].astype(np.float64), axis=1)
        visited = rule.visited(cells, declared)
        chosen = np.zeros(len(combinations), bool)
        chosen[slice(*(portion or (None,)))] = True
        index = {combination: place for place, combination in enumerate(combinations)}
        slots, places = choices_of_slots(schema.slot_columns, index, length)
        cubes = Cubes.of(combinations, np.flatnonzero(visited & chosen), lattice.sizes)
        by_slot = lattice.sizes[np.array(schema.slot_columns, np.int64)]
        tables = {
            place: SparseTable(combinations[place], slots[places == place], lattice)
            for place in np.flatnonzero(~visited & chosen).tolist()
        }
        dense = DenseCounts.of(cubes, slots, places, by_slot, lattice)
        return cls(length, dense, declared[cubes.ids], tables)

    @property
    def candidates(self) -> int:
        """|V_k|, exactly."""
        return int(self.dense.found.sum()) + sum(table.candidates for table in self.sparse.values())

    def count(self, records: SurvivingCodes, with_sensitivity: bool, report: ShareDone) -> HalfWords | None:
        """Count every record; where it is asked for, give the number of candidates each one holds."""
        codes = records.codes
        sensitivity = np.zeros(codes.shape[1], np.uint32) if with_sensitivity else None
        self.dense.count(codes, sensitivity, report)
        for table in self.sparse.values():
            table.count(codes, sensitivity)
        return sensitivity

    def drop(self, records: SurvivingCodes, sensitivity: HalfWords, limit: int) -> None:
        """Take back the tuples that records with more than ``limit`` candidates lose.

        A record's tuples are visited combination by combination, the dense ones first: an order that is
        a function of public facts.
        """
        tags = contribution.needed_tags(records.tags)
        for rows, block in contribution.over_limit(records.codes, sensitivity, limit):
            coins = contribution.coins(tags[rows], sensitivity[rows], limit, self.length)
            self.dense.drop(block, coins)
            for table in self.sparse.values():
                table.drop(block, coins)

    def portions(self) -> list[Portion]:
        """All combinations in order, in portions whose counts can be sent at once: by public numbers."""
        weights = {place: min(table.candidates, _KEYS_OF_A_TABLE) for place, table in self.sparse.items()}
        weights |= dict(zip(self.dense.cubes.ids.tolist(), self.dense.found.tolist(), strict=True))
        found, first, together = list[Portion](), 0, 0
        for place in range(len(weights)):
            if together and together + weights[place] > _COUNTS_AT_ONCE:
                found.append((first, place))
                first, together = place, 0
            together += weights[place]
        return [*found, (first, len(weights))]

    def answer(self) -> Answer:
        cells = self.dense.cells
        held = tuple((table.keys, table.counts) for table in self.sparse.values())
        return Answer(cells[cells >= kernels.CANDIDATE] & kernels.COUNT, held)

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records, of all combinations or those of a portion."""
        cubes, (first, stop) = self.dense.cubes, portion or (0, len(self.dense.found) + len(self.sparse))
        begin, end = cubes.offsets[np.searchsorted(cubes.ids, [first, stop])]
        cells = self.dense.cells[begin:end]
        cells[cells >= kernels.CANDIDATE] += answer.cells
        tables = (table for place, table in self.sparse.items() if first <= place < stop)
        for table, (keys, counts) in zip(tables, answer.held, strict=True):
            table.add([keys], [counts])

    def release(self, law: noise.RoundedGaussian, threshold: int, stream: WordSource) -> Kept:
        """Noise on every candidate; what is kept, in canonical order (C10)."""
        parts = list(self._dense(law, threshold, stream))
        for place, codes, counts in sparse.release_survivors(self.sparse, law, threshold, stream):
            parts.append((np.full(len(counts), place, np.uint32), codes, counts))
        combinations = np.concatenate([np.zeros(0, np.uint32), *(part[0] for part in parts)])
        codes = np.concatenate([np.zeros((0, self.length), np.uint32), *(part[1] for part in parts)])
        counts = np.concatenate([np.zeros(0, np.int64), *(part[2] for part in parts)])
        if self.sparse:
            order = np.argsort(combinations, kind="stable")
            combinations, codes, counts = combinations[order], codes[order], counts[order]
        return Kept(combinations, codes, counts, counts >= threshold)

    def _dense(
        self, law: noise.RoundedGaussian, threshold: int, stream: WordSource
    ) -> Iterator[tuple[HalfWords, HalfWords, Integers]]:
        """Some combinations at a time: ids, codes and noisy counts of what is kept."""
        cubes, found = self.dense.cubes, self.dense.found
        ends = np.cumsum(found)
        first = 0
        while first < len(found):
            before = int(ends[first] - found[first])
            last = max(first + 1, int(np.searchsorted(ends, before + _DRAWN, side="right")))
            noisy = law.draw(stream, int(ends[last - 1]) - before)
            ids = np.empty(len(noisy), np.uint32)
            codes = np.empty((len(noisy), self.length), np.uint32)
            written = kernels.add_noise(
                self.dense.cells,
                (first, last),
                cubes.offsets,
                cubes.sizes,
                self.kept,
                threshold,
                noisy,
                ids,
                codes,
            )
            yield cubes.ids.astype(np.uint32)[ids[:written]], codes[:written].copy(), noisy[:written].copy()
            first = last


Question = AskedValues | AskedTuples
Tally = ValueCounts | TupleCounts
