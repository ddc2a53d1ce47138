"""Fitted synthesis from reported counts: aggregates in which rare combinations are missing in, records out.

What was left out is below a threshold, not zero: under k-anonymity from 0 to k - 1, in a release with a
threshold tau from 0 to tau - 1. A missing cell is filled with what the rest implies for it, but never with
more than may be missing. Columns and pairs come first; then those longer reported sets of columns that the
records keep worst are joined to the search. All of it follows from the reported counts and the seed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers, ShareDone
from tasks.core.fitting.noisy_tables import Domain, table_counts
from tasks.core.fitting.search import LONG_ANNEALING, Search, independent_records
from tasks.core.fitting.targets import Target
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.constrained_headers import ConstrainedHeaders, HeldConstraints
from tasks.core.synthesis.records import SyntheticRecords, header_places

#: Temperatures of the passes after longer sets have joined.
WARM = (100.0, 50.0, 20.0, 10.0, 0.0)
#: The most longer sets that are joined, and the most cells of one.
_MOST_LONGER, _MOST_CELLS = 60, 20_000
#: Of more headers than these, the most frequent ones are fitted in pairs, the others each by itself.
_MOST_HEADERS = 200
_MARGIN_WEIGHT = 0.2

#: Sets of headers in, the counts of records in each of them out, in order.
CountedSets = Callable[[Sequence[ColumnNumbers]], Iterable[Integers]]


@dataclass(frozen=True)
class Missing:
    """What reported counts leave open.

    Attributes:
        most: the largest count that may be missing: k - 1, or tau - 1.
        lost: how much a reported count is below the true one in the mean: (k - 1) / 2 where counts are
            rounded down, 0 where they are noisy.
        deviation: standard deviation of a reported count, in records, above 0.
    """

    most: float
    lost: float
    deviation: float

    @classmethod
    def of_rounding(cls, resolution: int) -> "Missing":
        """Counts rounded down to multiples of k: a true one is evenly up to k - 1 above."""
        return cls(resolution - 1, (resolution - 1) / 2, max(0.5, resolution / 12**0.5))

    @classmethod
    def of_noise(cls, scale: float, threshold: int) -> "Missing":
        """Noisy counts of at least a threshold."""
        return cls(max(0, threshold - 1), 0.0, max(0.5, scale))


def draw_fitted_to_counts(
    aggregates: Aggregates,
    missing: Missing,
    seed: int,
    *,
    held: HeldConstraints | None = None,
    number: int | None = None,
    threads: int = 0,
    progress: ShareDone | None = None,
) -> SyntheticRecords:
    """Records fitted to reported counts; the same arguments give the same records on any machine.

    Args:
        aggregates: reported; length 1 at least.
        missing: what they leave open.
        seed: any integer; public.
        held: the constraints that every record holds; None: there are none.
        number: how many records; None: the reported number, or 0 where that is below 0.
        threads: 0 for all cores.
        progress: told the share that is done, 0 to 1.
    """
    report = progress or (lambda share: None)
    wanted = max(0, aggregates.number_of_records) if number is None else number
    counts = ReportedTables(aggregates, missing, held)
    scale = wanted / counts.records
    records = independent_records(counts.domain, counts.margins, wanted, seed)
    targets = [*counts.column_targets(scale), *counts.pair_targets(scale)]
    search = Search(counts.domain, targets, records, missing.deviation**2)
    search.run(LONG_ANNEALING, seed, threads=threads, progress=lambda share: report(0.6 * share))
    longer = counts.longer_targets(
        lambda sets: (table_counts(counts.domain, columns, records) for columns in sets), scale
    )
    if longer:
        search = Search(counts.domain, [*targets, *longer], records, missing.deviation**2)
        search.run(WARM, seed + 1, threads=threads, progress=lambda share: report(0.6 + 0.4 * share))
    report(1.0)
    return counts.published(records)


class ReportedTables:
    """Reported counts as tables over headers; each header's cells are its reported values, then `absent`."""

    def __init__(self, aggregates: Aggregates, missing: Missing, held: HeldConstraints | None = None) -> None:
        self._aggregates, self._missing = aggregates, missing
        self.records = max(1.0, aggregates.number_of_records + missing.lost)
        self._header = header_places(aggregates.headers, aggregates.attributes).astype(np.int64)
        self._code = np.zeros(len(aggregates.attributes), np.int64)
        values: list[list[int]] = [[] for _ in aggregates.headers]
        for attribute, header in enumerate(self._header.tolist()):
            self._code[attribute] = len(values[header])
            values[header].append(attribute)
        self._values = values
        self._constrained = None if held is None else ConstrainedHeaders(held, aggregates, values)
        self.domain = Domain(
            tuple(len(codes) + 1 for codes in values),
            absent=tuple(len(codes) for codes in values),
            impossible=() if self._constrained is None else self._constrained.impossible(),
        )
        self.margins = [self._margin(header) for header in range(len(values))]

    def _margin(self, header: int) -> Floats:
        """Estimated counts of a header's values, and of records without one: what is left."""
        found = np.zeros(self.domain.sizes[header])
        if self._aggregates.counts:
            ids = self._aggregates.combinations[0][:, 0]
            mine = self._header[ids] == header
            found[self._code[ids[mine]]] = self._aggregates.counts[0][mine] + self._missing.lost
        given = found.sum()
        if given > self.records:
            found *= self.records / given
        found[-1] = max(0.0, self.records - found.sum())
        return found

    def column_targets(self, scale: float) -> list[Target]:
        """Exact where they can be: with a weight that grows with the number of columns."""
        weight = _MARGIN_WEIGHT * max(1, len(self.margins) - 1) / self._missing.deviation
        return [Target((header,), margin * scale, weight) for header, margin in enumerate(self.margins)]

    def pair_targets(self, scale: float) -> list[Target]:
        """Of every two of the most frequent headers: cells as reported, or as independence has them."""
        weight = 1 / self._missing.deviation**2
        held = {header: float(margin[:-1].sum()) for header, margin in enumerate(self.margins)}
        kept = sorted(sorted(held, key=lambda header: -held[header])[:_MOST_HEADERS])
        reported = self._by_columns(2)
        found = []
        for pair in combinations(kept, 2):
            one, other = pair
            implied = np.outer(self.margins[one], self.margins[other]) / self.records
            counts = self._filled(implied, reported.get(pair))
            found.append(Target(pair, self._with_margins(counts, pair) * scale, weight))
        return found

    def longer_targets(self, counted: CountedSets, scale: float) -> list[Target]:
        """Reported sets of three and more headers that the records keep worst.

        Args:
            counted: of the records.
            scale: records for each reported one.
        """
        weight, scored = 1 / self._missing.deviation**2, []
        for length in range(3, min(4, self._aggregates.reporting_length) + 1):
            reported = {
                columns: cells
                for columns, cells in self._by_columns(length).items()
                if np.prod([float(self.domain.sizes[header]) for header in columns]) <= _MOST_CELLS
            }
            for (columns, cells), counts in zip(reported.items(), counted(list(reported)), strict=True):
                held = counts / max(scale, 1e-9)
                target = self._filled(held.astype(np.float64), cells)
                beyond = np.abs(target - held) - 2 * self._missing.deviation
                score = float(np.maximum(beyond, 0).sum())
                if score > 0:
                    scored.append((score, Target(columns, target * scale, weight)))
        scored.sort(key=lambda each: (-each[0], each[1].columns))
        return [target for _, target in scored[:_MOST_LONGER]]

    def _by_columns(self, length: int) -> dict[ColumnNumbers, tuple[Integers, Floats]]:
        """The reported cells of each set of headers: codes (n, length) and counts."""
        if self._aggregates.reporting_length < length:
            return {}
        ids = self._aggregates.combinations[length - 1]
        counts = self._aggregates.counts[length - 1].astype(np.float64) + self._missing.lost
        headers = self._header[ids]
        order = np.argsort(headers, axis=1, kind="stable")
        headers = np.take_along_axis(headers, order, axis=1)
        codes = np.take_along_axis(self._code[ids], order, axis=1)
        different, group = np.unique(headers, axis=0, return_inverse=True)
        by_group = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[by_group], np.arange(len(different) + 1))
        return {
            tuple(row.tolist()): (codes[rows], counts[rows])
            for row, rows in (
                (row, by_group[bounds[place] : bounds[place + 1]]) for place, row in enumerate(different)
            )
        }

    def _filled(self, implied: Floats, cells: tuple[Integers, Floats] | None) -> Floats:
        """Reported cells as reported, cells without absent values as implied but below the threshold."""
        found = implied.copy()
        values = tuple(slice(0, -1) for _ in implied.shape)
        found[values] = np.minimum(found[values], self._missing.most)
        if cells is not None:
            codes, counts = cells
            found[tuple(codes.T)] = counts
        return found

    def _with_margins(self, counts: Floats, pair: tuple[int, int]) -> Floats:
        """A pair whose cells with an absent value take what its other cells leave of the margins."""
        one, other = (self.margins[header] for header in pair)
        counts = counts.copy()
        counts[:-1, -1] = np.maximum(one[:-1] - counts[:-1, :-1].sum(axis=1), 0)
        counts[-1, :-1] = np.maximum(other[:-1] - counts[:-1, :-1].sum(axis=0), 0)
        counts[-1, -1] = max(0.0, one[-1] - counts[-1, :-1].sum())
        return counts

    def unreported(self, records: Ids | None = None) -> list[Attribute]:
        """Attributes that no count reports and constraints bring into these records, or may into any."""
        if self._constrained is None:
            return []
        return (
            self._constrained.all_unreported() if records is None else self._constrained.unreported(records)
        )

    def published(self, records: Ids, unreported: Sequence[Attribute] | None = None) -> SyntheticRecords:
        """The records as sets of attributes, in published order.

        Args:
            records: cells.
            unreported: attributes that stand behind the reported ones; None: what these records need.
        """
        aggregates = self._aggregates
        if self._constrained is None:
            attributes, ids = aggregates.attributes, self._attributes_of(records)
        else:
            attributes, ids = self._constrained.published(records, unreported)
        held_cells = ids >= 0
        sizes = held_cells.sum(axis=1).astype(np.int32)
        return ordered(aggregates.headers, attributes, sizes, ids[held_cells])

    def _attributes_of(self, records: Ids) -> Ids:
        ids = np.full(records.shape, -1, np.int32)
        for header, held in enumerate(self._values):
            attribute_of = np.array([*held, -1], np.int32)
            ids[:, header] = attribute_of[records[:, header]]
        return ids
