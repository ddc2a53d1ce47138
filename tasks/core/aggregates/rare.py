"""Rare and unique combinations, and the records that they single out: marginals and coded records in.

Everything here is read off the table, so what comes out is as sensitive as what goes in.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from tasks.core.aggregates.dense import CellCounter
from tasks.core.aggregates.rounding import rounded_down
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.queries import Resources, query_text
from tasks.core.records.coded import CodedRecords

Integers = npt.NDArray[np.int64]

_ROWS_A_READ = 1 << 20


@dataclass(frozen=True)
class RareByLength:
    """Distinct combinations of one length, and those with a count below the resolution."""

    length: int
    combinations: int
    rare: int

    @property
    def proportion(self) -> float:
        """Rare of all, 0 where there is none."""
        return self.rare / self.combinations if self.combinations else 0.0


@dataclass(frozen=True)
class RecordAnalysis:
    """Records by the shortest length at which one of their combinations singles them out (sds.md 2.3).

    Attributes:
        number_of_records: n.
        unique: by length 1, 2, ...: records whose shortest unique combination has this length.
        rare: the same for rare combinations, of the records that have no unique one.
    """

    number_of_records: int
    unique: tuple[int, ...]
    rare: tuple[int, ...]

    @property
    def risky(self) -> tuple[int, ...]:
        """Unique and rare together."""
        return tuple(u + r for u, r in zip(self.unique, self.rare, strict=True))

    def protected(self, resolution: int) -> "RecordAnalysis":
        """Every number rounded down to a multiple of the resolution."""
        return RecordAnalysis(
            rounded_down(self.number_of_records, resolution),
            tuple(rounded_down(count, resolution) for count in self.unique),
            tuple(rounded_down(count, resolution) for count in self.rare),
        )


def rare_by_length(
    marginals: Marginals, resolution: int, resources: Resources = Resources()
) -> list[RareByLength]:
    """How many combinations of each length are rare (count below the resolution)."""
    rows = []
    with resources.connect() as connection:
        for length in marginals.lengths:
            values = {"marginals": str(marginals.path(length)), "resolution": resolution}
            found = connection.sql(query_text("aggregates/rare_by_length"), params=values).to_arrow_table()
            row = found.to_pylist()[0]
            rows.append(RareByLength(length, row["combinations"], row["rare"]))
    return rows


def analyse_records(records: CodedRecords, marginals: Marginals, resolution: int) -> RecordAnalysis:
    """Assign each record to the shortest length that makes it unique, or else rare (sds.md 2.3).

    Args:
        records: what the marginals were counted from, all of it; six bytes a record are used beside.
        marginals: all combinations of each length from 1 on.
        resolution: a count below it is rare.
    """
    size = records.number_of_records
    unique_at, rare_at = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    for found in rare_incidences(records, marginals, max(resolution, 2)):
        _first(rare_at, found.records[found.counts < resolution], found.length)
        _first(unique_at, found.records[found.counts == 1], found.length)
    rare_at[unique_at > 0] = 0
    lengths = len(marginals.lengths) + 1
    unique, rare = (np.bincount(at, minlength=lengths)[1:lengths] for at in (unique_at, rare_at))
    return RecordAnalysis(size, tuple(unique.tolist()), tuple(rare.tolist()))


@dataclass(frozen=True)
class Incidences:
    """Records that hold a rare combination, once for each, of one length and set of columns.

    Attributes:
        length: k.
        combination_id: of the set of columns.
        records: places of the records, int64 (N,).
        codes: of the combination that each holds, int64 (N, k).
        counts: of that combination, int64 (N,).
    """

    length: int
    combination_id: int
    records: Integers
    codes: Integers
    counts: Integers


def rare_incidences(records: CodedRecords, marginals: Marginals, below: int) -> Iterator[Incidences]:
    """Every record that holds a combination with a count below ``below``, lengths ascending.

    Args:
        records: what the marginals were counted from.
        marginals: read a piece at a time.
        below: combinations with a smaller count are looked for.
    """
    counter = CellCounter(records.slots, records.slot_columns, tuple(len(v) + 1 for v in records.values))
    for length in marginals.lengths:
        combinations = marginals.facts.counted(length)
        for combination_id, codes, counts in _rare_cells(marginals, length, below):
            for held_by, cells in counter.holders(combinations[combination_id], codes):
                yield Incidences(length, combination_id, held_by, codes[cells], counts[cells])


def _rare_cells(marginals: Marginals, length: int, below: int) -> Iterator[tuple[int, Integers, Integers]]:
    """Rare combinations by their set of columns: its id, codes (N, k), counts; a set may come in pieces."""
    names = [f"code_{place}" for place in range(1, length + 1)]
    with pq.ParquetFile(marginals.path(length)) as file:
        for rows in file.iter_batches(_ROWS_A_READ):
            rare = rows["count"].to_numpy() < below
            ids = rows["combination_id"].to_numpy()[rare]
            codes = np.stack([rows[name].to_numpy()[rare] for name in names], axis=1).astype(np.int64)
            counts = rows["count"].to_numpy()[rare]
            starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]][: len(ids)])
            for start, end in itertools.pairwise([*starts, len(ids)]):
                yield int(ids[start]), codes[start:end], counts[start:end]


def _first(at: npt.NDArray[np.uint8], ids: Integers, length: int) -> None:
    """Note the length at records that have none yet; lengths come ascending."""
    at[ids[at[ids] == 0]] = length
