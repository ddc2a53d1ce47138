"""Length 1: every declared value with noise and no threshold, every open one with both.

In: the records. Out: the noisy counts that are kept, and the records re-encoded to the values that
survived, so that all else is absent from here on. One query with one scale (rule 11).
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Codes, ColumnNumbers, HalfWords, Integers
from tasks.core.dp import kernels
from tasks.core.dp.candidates import Kept, Lattice
from tasks.core.dp.contribution import Sensitivity, coins
from tasks.core.dp.counting import CodeMatrix, code_matrix
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema

_BLOCK = 1 << 16


@dataclass(frozen=True)
class ValueCounts:
    """How many records hold each value.

        cells     0 | C + 60 | C + 40 | 0 | C + 30 | C + 70      C: the flag of a candidate
        of        - | female | male   | - | Lille  | Lyon        offsets: 0, 3, 6

    Attributes:
        cells: uint32, the values of all columns with the absent one first, flagged as `kernels` says.
        offsets: int64 (columns + 1,), where each column begins.
        sensitivity: uint32 (n,), how many values each record holds; None where nothing asks for it.
    """

    cells: HalfWords
    offsets: Integers
    sensitivity: Sensitivity | None

    @classmethod
    def of(cls, records: CodedRecords, with_sensitivity: bool) -> "ValueCounts":
        """Count all records."""
        sizes = np.array([len(values) + 1 for values in records.values], np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        cells = np.full(int(offsets[-1]), kernels.CANDIDATE, np.uint32)
        sensitivity = np.zeros(records.number_of_records, np.uint32) if with_sensitivity else None
        for codes, column in zip(records.slots, records.slot_columns, strict=True):
            kernels.count_values(codes, cells[offsets[column] : offsets[column + 1]])
            if sensitivity is not None:
                kernels.count_filled(codes, sensitivity)
        cells[offsets[:-1]] = 0  # absent is no value
        return cls(cells, offsets, sensitivity)

    def drop(self, records: CodedRecords, limit: int) -> None:
        """Take back the values that records with more than ``limit`` of them lose."""
        if self.sensitivity is None or records.tags is None:
            return
        columns = np.array(records.slot_columns, np.int64)
        slots = np.arange(len(columns))[:, np.newaxis]
        sizes = np.diff(self.offsets)[columns]
        over = np.flatnonzero(self.sensitivity > limit)
        for start in range(0, len(over), _BLOCK):
            rows = over[start : start + _BLOCK]
            codes = np.stack([codes[rows].astype(np.uint32) for codes in records.slots])
            mine = coins(records.tags[rows], self.sensitivity[rows], limit, 1)
            offsets = self.offsets[columns]
            kernels.drop_tuples(codes, (0, len(rows)), slots, offsets, sizes, self.cells, mine)

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
    def none(cls, records: CodedRecords) -> "NoisyValues":
        """Of a schema that has no value at all."""
        nothing = [np.zeros(0, np.int64) for _ in records.schema.columns]
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

    def values(self, records: CodedRecords) -> tuple[tuple[str, ...], ...]:
        """The text of the new codes 1, 2, ... of each column."""
        return tuple(
            tuple(texts[code - 1] for code in codes.tolist())
            for codes, texts in zip(self.codes, records.values, strict=True)
        )

    def recode(self, records: CodedRecords) -> CodeMatrix:
        """The records with their new codes, values that did not survive absent."""
        kind = code_type(max((len(codes) for codes in self.codes), default=0))
        remaps: list[Codes] = []
        for codes, texts in zip(self.codes, records.values, strict=True):
            remap = np.zeros(len(texts) + 1, kind)
            remap[codes] = np.arange(1, len(codes) + 1)
            remaps.append(remap)
        by_slot = [remaps[column] for column in records.slot_columns]
        return code_matrix(records.slots, by_slot, records.number_of_records)

    def lattice(self, combinations: list[ColumnNumbers]) -> Lattice:
        """The survivors of length 1: all new codes."""
        lattice = Lattice(np.array([len(codes) for codes in self.codes], np.int64))
        lattice.levels.append(self.kept(combinations).survivors(combinations))
        return lattice
