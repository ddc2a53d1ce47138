"""One combination whose cube is too large to visit: the same law without touching its empty cells.

Candidates that some record holds get their noise one by one; of the others only those that pass the threshold
exist here (D9, R15).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tasks.core.arrays import Codes, ColumnNumbers, HalfWords, Integers
from tasks.core.dp import kernels
from tasks.core.dp.candidates import Lattice
from tasks.core.dp.contribution import Coins
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource

#: Rows, or prefixes, at a time: what bounds the memory of the arrays in between.
_BLOCK = 1 << 18


@dataclass
class SparseTable:
    """One combination's candidates, known by their number, and those of them that records hold.

    Attributes:
        slots: int64 (T, k), its choices of slots.
        keys: int64, ascending: candidates that a record holds (`Lattice` says what a key is).
        counts: int64, how many records hold each.
    """

    combination: ColumnNumbers
    slots: Integers
    lattice: Lattice
    keys: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        """Count the candidates: for each surviving prefix the number of last codes that extend it."""
        last = len(self.combination) - 2
        self.size = int(self.lattice.sizes[self.combination[-1]])
        self.prefixes = self.lattice.levels[last].of(self.combination[:-1])
        self.extensions = np.zeros(len(self.prefixes), np.int64)
        lists = self._lists()
        for start in range(0, len(self.prefixes), _BLOCK):
            block = np.arange(start, min(start + _BLOCK, len(self.prefixes)))
            self.extensions[block] = kernels.count_extensions(lists, *self._ranges(block))

    @property
    def candidates(self) -> int:
        """|V| of this combination, exactly."""
        return int(self.extensions.sum())

    def _parts(self) -> list[ColumnNumbers]:
        prefix = self.combination[:-1]
        return [(*prefix[:place], *prefix[place + 1 :], self.combination[-1]) for place in range(len(prefix))]

    def _lists(self) -> HalfWords:
        return np.concatenate([self.lattice.keys(part) % self.size for part in self._parts()]).astype(
            np.uint32
        )

    def _ranges(self, block: Integers) -> tuple[Integers, Integers, Integers, int]:
        """For some prefixes: where in the lists those begin and end whose intersection extends them.

        Then what the last code must exceed, and the number of codes.
        """
        codes = self.prefixes[block]
        begins, ends, before = [], [], 0
        for skipped, part in enumerate(self._parts()):
            keys = self.lattice.keys(part)
            rest = [codes[:, place] for place in range(codes.shape[1]) if place != skipped]
            rank = self.lattice.rank(part[:-1], rest) if rest else np.zeros(len(block), np.int64)
            begins.append(before + np.searchsorted(keys, rank * self.size))
            ends.append(before + np.searchsorted(keys, (rank + 1) * self.size))
            before += len(keys)
        repeated = self.combination[-2] == self.combination[-1]
        above = codes[:, -1].astype(np.int64) * int(repeated)
        return np.stack(begins, axis=1), np.stack(ends, axis=1), above, self.size

    def _record_keys(self, codes: Codes, slots: Integers) -> Integers:
        """For each record the key of the tuple in these slots, or -1 where it is no candidate."""
        chosen = [codes[slot] for slot in slots]
        prefix = self.lattice.rank(self.combination[:-1], chosen[:-1])
        candidate = (prefix >= 0) & (chosen[-1] > 0)
        for skipped, part in enumerate(self._parts()):
            rest = [column for place, column in enumerate(chosen) if place != skipped]
            candidate &= self.lattice.rank(part, rest) >= 0
        return np.where(candidate, prefix * self.size + chosen[-1], -1)

    def count(self, codes: Codes, sensitivity: HalfWords | None) -> None:
        """Count every record, and add to ``sensitivity`` how many candidates each one holds."""
        keys, counts = list[Integers](), list[Integers]()
        for start in range(0, codes.shape[1], _BLOCK):
            rows = slice(start, start + _BLOCK)
            for slots in self.slots:
                found = self._record_keys(codes[:, rows], slots)
                if sensitivity is not None:
                    sensitivity[rows] += (found >= 0).astype(np.uint32)
                seen, times = np.unique(found[found >= 0], return_counts=True)
                keys.append(seen)
                counts.append(times)
        self.add(keys, counts)

    def add(self, keys: list[Integers], counts: list[Integers]) -> None:
        """Add what was counted apart: lists of keys, each key once in a list, and their counts."""
        self.keys, place = np.unique(np.concatenate([self.keys, *keys]), return_inverse=True)
        before, self.counts = self.counts, np.zeros(len(self.keys), np.int64)
        np.add.at(self.counts, place, np.concatenate([before, *counts]))

    def drop(self, codes: HalfWords, coins: Coins) -> None:
        """Take back what the records of ``codes`` (all of them over the limit) lose."""
        for slots in self.slots:
            found = self._record_keys(codes, slots)
            places = np.where(found >= 0, np.searchsorted(self.keys, found), -1)
            kernels.drop_at(places, self.counts, coins)

    @property
    def empty(self) -> int:
        """How many candidates no record holds."""
        return self.candidates - len(self.keys)

    def survivors(
        self, held: Integers, threshold: int, passing: tuple[Integers, Integers]
    ) -> tuple[HalfWords, Integers]:
        """Codes (N, k) and noisy counts of the survivors, in canonical order.

        Args:
            held: noisy counts of ``keys``.
            threshold: the least count of a survivor.
            passing: ranks, ascending, of the empty candidates that pass, and their noisy counts.
        """
        ranks, noise_of_empty = passing
        keys = np.concatenate([self.keys[held >= threshold], self._empty_cells(ranks)])
        counts = np.concatenate([held[held >= threshold], noise_of_empty])
        order = np.argsort(keys, kind="stable")
        last = (keys[order] % self.size).astype(np.uint32)
        codes = np.column_stack([self.prefixes[keys[order] // self.size], last]).astype(np.uint32)
        return codes, counts[order]

    def _empty_cells(self, ranks: Integers) -> Integers:
        """Keys of the candidates with these ascending ranks among those that no record holds."""
        holders = self.keys // self.size
        ends = np.cumsum(self.extensions - np.bincount(holders, minlength=len(self.prefixes)))
        of = np.searchsorted(ends, ranks, side="right")
        touched, lists = np.unique(of), self._lists()
        keys = np.zeros(len(ranks), np.int64)
        for start in range(0, len(touched), _BLOCK):
            block = touched[start : start + _BLOCK]
            mine = slice(*np.searchsorted(of, [block[0], block[-1] + 1]))
            wanted = ranks[mine] - np.where(of[mine] > 0, ends[of[mine] - 1], 0)
            wanted_ends = np.searchsorted(of[mine], block, side="right")
            taken = self.keys[np.isin(holders, block)]
            taken_ends = np.searchsorted(taken // self.size, block, side="right")
            codes = kernels.select_extensions(
                lists, *self._ranges(block), taken % self.size, taken_ends, wanted, wanted_ends
            )
            keys[mine] = of[mine] * self.size + codes
        return keys


def release_survivors(
    tables: dict[int, SparseTable], law: noise.RoundedGaussian, threshold: int, stream: WordSource
) -> Iterator[tuple[int, HalfWords, Integers]]:
    """Of each table its place, the codes and the noisy counts of its survivors.

    The empty candidates of all tables have the same chance, so one binomial and one subset serve them all.
    """
    if not tables:
        return
    held = law.draw(stream, sum(len(table.keys) for table in tables.values()))
    empty = sum(table.empty for table in tables.values())
    passing = noise.binomial(stream, empty, law.upper_tail(threshold))
    ranks = noise.subset(stream, empty, passing)
    counts = law.draw_at_least(threshold, stream, passing) if passing else np.zeros(0, np.int64)
    for place, table in tables.items():
        mine, held = held[: len(table.keys)] + table.counts, held[len(table.keys) :]
        here = int(np.searchsorted(ranks, table.empty))
        yield place, *table.survivors(mine, threshold, (ranks[:here], counts[:here]))
        ranks, counts = ranks[here:] - table.empty, counts[here:]
