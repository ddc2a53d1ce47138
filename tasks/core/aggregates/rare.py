"""Rare and unique combinations, and the records that they single out: marginals and coded records in.

Everything here is read off the table, so what comes out is as sensitive as what goes in.
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.rounding import rounded_down
from tasks.core.aggregates.singling_out import SingledOut, single_out
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.queries import Resources, query_text
from tasks.core.records.coded import CodedRecords


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
            rows.append(RareByLength(length, row["combinations"], row["rare"], row["unique_ones"]))
    return rows


def analyse_records(records: CodedRecords, marginals: Marginals, resolution: int) -> RecordAnalysis:
    """Assign each record to the shortest length that makes it unique, or else rare (sds.md 2.3).

    Args: as `singling_out.single_out`.
    """
    return analysis_of(single_out(records, marginals, resolution))


def analysis_of(found: SingledOut) -> RecordAnalysis:
    """How many records are singled out at which length first."""
    ends = found.lengths + 1
    unique = np.bincount(found.unique_length, minlength=ends)[1:ends]
    rare = np.bincount(found.rare_length[found.unique_length == 0], minlength=ends)[1:ends]
    return RecordAnalysis(len(found.unique_length), tuple(unique.tolist()), tuple(rare.tolist()))
