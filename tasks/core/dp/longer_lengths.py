"""Lengths 2 and beyond: candidates from what survived, their counts, their noise.

In: the lattice of survivors so far and the re-encoded records, whole or part by part. Out: the noisy counts
that are kept. A combination is measured cell by cell where its cube is small enough, and by the sparse law
otherwise: the choice is a function of public sizes, and the law is the same (R15).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import ColumnNumbers, Flags, HalfWords, Integers, ShareDone
from tasks.core.dp import contribution, kernels, sparse
from tasks.core.dp.candidates import Cubes, Kept, Lattice, SizeRule, flag_candidates
from tasks.core.dp.contribution import Sensitivity
from tasks.core.dp.counting import Answer, Choices, DenseCounts, Portion, SurvivingCodes
from tasks.core.dp.first_length import SurvivingValues
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.sparse import SparseTable
from tasks.core.records.columns import Schema

#: Candidates whose noise is drawn at a time.
_DRAWN = 1 << 20
#: Of so many candidates counts are sent at once; of a table that is not visited at most so many are held.
_COUNTS_AT_ONCE, _KEYS_OF_A_TABLE = 1 << 24, 1 << 20


@dataclass(frozen=True)
class AskedTuples:
    """What the draw asks at a length of 2 or more: of public facts, and of what shorter lengths released.

    Attributes:
        look: the values that survived length 1.
        bounded: whether a record counts for some of its candidates alone.
        schema: public.
        length: k.
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
        return TupleCounts.of(self.schema, combinations, self.lattice, self.rule, portion)


@dataclass(frozen=True)
class TupleCounts:
    """The candidates of one length and, once counted, how many records hold each.

    Attributes:
        length: k.
        dense: the combinations visited cell by cell.
        kept: bool, for each of those whether its non-survivors are kept: all columns declared.
        sparse: the others, by their place in ``schema.combinations(k)``.
    """

    length: int
    dense: DenseCounts
    kept: Flags
    sparse: dict[int, SparseTable]

    @classmethod
    def of(
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
        choices = Choices.of(schema.slot_columns, index, length)
        cubes = Cubes.of(combinations, np.flatnonzero(visited & chosen), lattice.sizes)
        by_slot = lattice.sizes[np.array(schema.slot_columns, np.int64)]
        tables = {
            place: SparseTable(combinations[place], choices.of_combination(place), lattice)
            for place in np.flatnonzero(~visited & chosen).tolist()
        }
        dense = DenseCounts.of(cubes, choices, by_slot, flag_candidates(cubes, lattice))
        return cls(length, dense, declared[cubes.ids], tables)

    @property
    def candidates(self) -> int:
        """|V_k|, exactly."""
        return int(self.dense.found.sum()) + sum(table.candidates for table in self.sparse.values())

    def count(self, records: SurvivingCodes, with_sensitivity: bool, report: ShareDone) -> Sensitivity | None:
        """Count every record; where it is asked for, give the number of candidates each one holds."""
        codes = records.codes
        sensitivity = np.zeros(codes.shape[1], np.uint32) if with_sensitivity else None
        if sensitivity is None:
            self.dense.count(codes, report)
        else:
            self.dense.count_with_sensitivity(codes, sensitivity, report)
        for table in self.sparse.values():
            table.count(codes, sensitivity)
        return sensitivity

    def drop(self, records: SurvivingCodes, sensitivity: Sensitivity, limit: int) -> None:
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
        """The exact counts, to be added to those of other records."""
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
