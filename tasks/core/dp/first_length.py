"""Length 1: every declared value with noise and no threshold, every open one with both.

In: the records, whole or part by part. Out: the noisy counts that are kept, and what re-encodes records to
the values that survived, so that all else is absent from here on. One query with one scale (R11).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tasks.core.arrays import Codes, ColumnNumbers, HalfWords, Integers, ShareDone
from tasks.core.dp import kernels
from tasks.core.dp.candidates import Kept, Lattice
from tasks.core.dp.contribution import Sensitivity, coins, needed_tags
from tasks.core.dp.counting import Answer, Portion, SurvivingCodes, code_matrix
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.tags import records_below
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Sample:
    """Records as length 1 looks at them.

    Attributes:
        below: only records with a tag below are looked at (R14); None: all.
    """

    below: int | None = None

    def at(self, records: CodedRecords) -> CodedRecords:
        """Those of the records that are looked at."""
        return records_below(records, self.below)


@dataclass(frozen=True)
class AskedValues:
    """What the draw asks at length 1.

    Attributes:
        look: the sample.
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
        return ValueCounts.of(self.slot_columns, self.sizes)


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
    def of(cls, slot_columns: tuple[int, ...], sizes: Sequence[int]) -> "ValueCounts":
        """Of no record, for columns with so many values."""
        offsets = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64) + 1)]).astype(np.int64)
        cells = np.full(int(offsets[-1]), kernels.CANDIDATE, np.uint32)
        cells[offsets[:-1]] = 0  # absent is no value
        return cls(cells, offsets, slot_columns)

    def count(self, records: CodedRecords, with_sensitivity: bool, report: ShareDone) -> Sensitivity | None:
        """Count every record; where it is asked for, give the number of values each one holds."""
        sensitivity = np.zeros(records.number_of_records, np.uint32) if with_sensitivity else None
        for codes, column in zip(records.slots, self.slot_columns, strict=True):
            kernels.count_values(codes, self.cells[self.offsets[column] : self.offsets[column + 1]])
            if sensitivity is not None:
                kernels.count_filled(codes, sensitivity)
        self.cells[self.offsets[:-1]] = 0
        report(1.0)
        return sensitivity

    def drop(self, records: CodedRecords, sensitivity: Sensitivity, limit: int) -> None:
        """Take back the values that records with more than ``limit`` of them lose."""
        tags = needed_tags(records.tags)
        columns = np.array(self.slot_columns, np.int64)
        slots = np.arange(len(columns))[:, np.newaxis]
        sizes = np.diff(self.offsets)[columns]
        over = np.flatnonzero(sensitivity > limit)
        for start in range(0, len(over), _BLOCK):
            rows = over[start : start + _BLOCK]
            codes = np.stack([codes[rows].astype(np.uint32) for codes in records.slots])
            mine = coins(tags[rows], sensitivity[rows], limit, 1)
            offsets = self.offsets[columns]
            kernels.drop_tuples(codes, (0, len(rows)), slots, offsets, sizes, self.cells, mine)

    def portions(self) -> list[Portion]:
        """See `TupleCounts.portions`."""
        return [(0, len(self.offsets) - 1)]

    def answer(self) -> Answer:
        """See `TupleCounts.answer`."""
        return Answer(self.cells & kernels.COUNT)

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records."""
        self.cells[:] += answer.cells

    def of_column(self, column: int) -> Integers:
        """The counts of codes 1, 2, ..."""
        cells = self.cells[self.offsets[column] + 1 : self.offsets[column + 1]]
        return (cells & kernels.COUNT).astype(np.int64)

    def candidates(self, index: int, column: Column) -> Integers:
        """Which values of a column get noise, from 0: all declared ones; of open ones those counted.

        The open candidates are so the union of the truncated records (C7): a value that is held by
        dropped tuples alone is none.
        """
        exact = self.of_column(index)
        return np.flatnonzero(exact > 0) if column.is_open else np.arange(len(exact))


@dataclass(frozen=True)
class NoisyValues:
    """What length 1 releases.

    Attributes:
        codes: for each column the old codes that survived, ascending.
        counts: for each column their noisy counts.
    """

    codes: list[Integers]
    counts: list[Integers]

    @classmethod
    def none(cls, schema: Schema) -> "NoisyValues":
        """Of a schema that has no value at all."""
        nothing = [np.zeros(0, np.int64) for _ in schema.columns]
        return cls(nothing, nothing)

    @classmethod
    def draw(
        cls,
        counted: ValueCounts,
        schema: Schema,
        law: noise.RoundedGaussian,
        threshold: int | None,
        stream: WordSource,
    ) -> "NoisyValues":
        """Noise on every candidate; the threshold on those of open columns. Declared values all survive."""
        codes, counts = [], []
        for index, column in enumerate(schema.columns):
            exact = counted.of_column(index)
            candidates = counted.candidates(index, column)
            noisy = exact[candidates] + law.draw(stream, len(candidates))
            if column.is_open and threshold is not None:
                candidates, noisy = candidates[noisy >= threshold], noisy[noisy >= threshold]
            codes.append(candidates + 1)
            counts.append(noisy)
        return cls(codes, counts)

    def kept(self, combinations: list[ColumnNumbers]) -> Kept:
        """The rows of the measurement: declared values and surviving open ones, in canonical order."""
        columns = [column for (column,) in combinations]
        sizes = [len(self.codes[column]) for column in columns]
        codes = [np.arange(1, size + 1, dtype=np.uint32) for size in sizes]
        return Kept(
            np.repeat(np.arange(len(columns), dtype=np.uint32), sizes),
            np.concatenate([np.zeros(0, np.uint32), *codes])[:, np.newaxis],
            np.concatenate([np.zeros(0, np.int64), *(self.counts[column] for column in columns)]),
            np.ones(sum(sizes), bool),
        )

    def values(self, values: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The text of the new codes 1, 2, ... of each column, from that of the old ones."""
        return tuple(
            tuple(texts[code - 1] for code in codes.tolist())
            for codes, texts in zip(self.codes, values, strict=True)
        )

    def lattice(self, combinations: list[ColumnNumbers]) -> Lattice:
        """The survivors of length 1: all new codes."""
        lattice = Lattice(np.array([len(codes) for codes in self.codes], np.int64))
        lattice.levels.append(self.kept(combinations).survivors(combinations))
        return lattice


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
        by_slot = [remaps[column] for column in records.slot_columns]
        return SurvivingCodes(code_matrix(records.slots, by_slot, records.number_of_records), records.tags)
