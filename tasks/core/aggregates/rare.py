"""Rare and unique combinations of marginals, and how many records they single out.

Everything here is read off the table, so what comes out is as sensitive as what goes in.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.protection import rounded_down
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, Marginals, table_schema
from tasks.core.aggregates.wide_form import CountedCells
from tasks.core.arrays import Bytes

#: Combinations of up to so many attributes are listed as text in every run; all of them on request.
LISTED = 2


def percentage(part: int, whole: int) -> float:
    """0..100, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0


@dataclass(frozen=True)
class RareByLength:
    """Distinct combinations of one length, and those that few hold.

    Attributes:
        length: k.
        combinations: distinct ones.
        rare: those with a count below the resolution.
        unique: those with a count of 1; None where it was not asked.
    """

    length: int
    combinations: int
    rare: int
    unique: int | None = None

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

    def __add__(self, other: "RecordAnalysis") -> "RecordAnalysis":
        """Of two partitions of one table together."""
        return RecordAnalysis(
            self.number_of_records + other.number_of_records,
            tuple(one + more for one, more in zip(self.unique, other.unique, strict=True)),
            tuple(one + more for one, more in zip(self.rare, other.rare, strict=True)),
        )

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


def rare_by_length(marginals: Marginals, resolution: int) -> list[RareByLength]:
    """How many combinations of each length are rare (count below the resolution)."""
    return [_rare_of(marginals, length, resolution) for length in marginals.lengths]


def _rare_of(marginals: Marginals, length: int, resolution: int) -> RareByLength:
    number, rare, unique = 0, 0, 0
    with pq.ParquetFile(marginals.path(length)) as file:
        for rows in file.iter_batches(ROWS_A_READ, columns=["count"]):
            counts = rows["count"].to_numpy()
            number += len(counts)
            rare += int(np.count_nonzero(counts < resolution))
            unique += int(np.count_nonzero(counts == 1))
    return RareByLength(length, number, rare, unique)


def analysis_of(unique: Bytes, rare: Bytes, longest: int) -> RecordAnalysis:
    """How many records are singled out at which length first, of the lengths of each, 0 for none.

    Here are three records: one of nothing rare, one of a unique pair, one of a rare value. The second one's
    value is rare, too, but who is unique is not counted twice.

    >>> analysis_of(unique=np.array([0, 2, 0], np.uint8), rare=np.array([0, 1, 1], np.uint8), longest=2)
    RecordAnalysis(number_of_records=3, unique=(0, 1), rare=(1, 0))
    """
    ends = longest + 1
    found = (np.bincount(lengths, minlength=ends)[1:ends].tolist() for lengths in (unique, rare[unique == 0]))
    return RecordAnalysis(len(unique), *map(tuple, found))


def rarest_cells(marginals: Marginals, length: int, most: int) -> CountedCells:
    """The cells of one length with the smallest counts, those that come first in the file of equal ones.

    Reads counts alone wherever none is small enough; at most ``most`` cells, the smallest counts first.
    """
    parts = [table_schema(length).empty_table()]
    largest, found = 0, 0
    with pq.ParquetFile(marginals.path(length)) as file:
        for group in range(file.num_row_groups):
            counts = file.read_row_group(group, columns=["count"])["count"].to_numpy()
            if found == most and counts.min() >= largest:  # of equal counts those that came first stay
                continue
            places = np.sort(np.argsort(counts, kind="stable")[:most])
            rows = pa.concat_tables([*parts, file.read_row_group(group).take(pa.array(places))])
            order = np.argsort(rows["count"].to_numpy(), kind="stable")[:most]
            parts = [rows.take(pa.array(order))]
            largest, found = rows["count"].to_numpy()[order[-1]], len(order)
    (rows,) = parts
    return CountedCells.of(rows)
