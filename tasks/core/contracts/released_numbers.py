"""What released numbers say of a contract's limits: a measurement or rounded counts go in, verdicts come out.

Of a table as a whole a release says only so much: noise may hide a promise that is broken, rounding leaves
a range. Each kind of release has its own way to decide, and may say that it can't.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, Protocol

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.dp.drawn import Drawn
from tasks.core.records.columns import Schema

#: ``enforced``: the rule holds because cells or records that broke it were repaired or dropped;
#: ``undecided``: what is released would look the same whether the table kept the rule or broke it.
Verdict = Literal["enforced", "passed", "failed", "undecided"]

#: One-sided quantile of the normal distribution at one in a thousand.
_STANDARD_ERRORS = 3.0902


class ReleasedNumbers(Protocol):
    """The released number of records and counts of one attribute."""

    @property
    def schema(self) -> Schema:
        """The release's public schema."""

    def enough_records(self, least: float) -> Verdict:
        """Whether there are at least so many records."""

    def few_empties(self, column: int, limit: float) -> Verdict:
        """Whether at most a share ``limit`` (0..1) of the records has no value in a single-valued column."""


@dataclass(frozen=True)
class NoisyNumbers:
    """Of a differentially private release, judged by its noisy counts as drawn.

    A promised limit counts as broken only where the noise, and the choice of a sample, would explain the
    released number less than about once in a thousand releases. Where only values were counted, those that
    were suppressed count as empty.
    """

    measurement: Drawn

    @property
    def schema(self) -> Schema:
        """The measurement's."""
        return self.measurement.schema

    def enough_records(self, least: float) -> Verdict:
        """By the noisy number of records."""
        margin = _STANDARD_ERRORS * self.measurement.count_deviation
        return "passed" if self.measurement.number_of_records >= least - margin else "failed"

    def few_empties(self, column: int, limit: float) -> Verdict:
        """By the noisy counts of the column's values; nobody counted one that another column decides."""
        if column >= len(self.schema.measured.columns):
            return "undecided"
        if column in self.measurement.never_empty:
            return "enforced"
        first, empties = self.measurement.length_one, self.measurement.empties_of(column)
        counts = self.measurement.counts_of(column)
        found, part, cells = (int(counts.sum()), 1 - limit, len(counts))
        if empties is not None:
            found, part, cells = -empties, -limit, 1
        least, variance = self._at_least(part)
        variance += cells * first.scale**2 if first is not None else 0.0
        return "passed" if found >= least - _STANDARD_ERRORS * sqrt(variance) else "failed"

    def _at_least(self, part: float) -> tuple[float, float]:
        """A part of the records that were looked at, and the variance of that number."""
        share, number = float(self.measurement.sampled_share), self.measurement.number_of_records
        deviation = part * share * self.measurement.count_deviation
        by_chance = abs(part) * max(0, number) * share * (1 - share)
        return part * share * number, deviation**2 + by_chance


@dataclass(frozen=True)
class RoundedNumbers:
    """Of a k-anonymous release: a count c stands for c to c + k - 1, so what lies between is undecided.

    Attributes:
        schema: the public schema.
        aggregates: the rounded counts.
        resolution: k.
    """

    schema: Schema
    aggregates: Aggregates
    resolution: int

    def enough_records(self, least: float) -> Verdict:
        """By the range of the number of records."""
        count = self.aggregates.number_of_records
        if count >= least:
            return "passed"
        return "undecided" if count + self.resolution - 1 >= least else "failed"

    def few_empties(self, column: int, limit: float) -> Verdict:
        """Passed where the rounded counts are enough; values that are not reported may make up the rest."""
        present = 0
        if self.aggregates.counts:
            columns = np.array([attribute.column for attribute in self.aggregates.attributes])
            ids = self.aggregates.combinations[0][:, 0]
            present = int(self.aggregates.counts[0][columns[ids] == column].sum()) if len(ids) else 0
        most_records = self.aggregates.number_of_records + self.resolution - 1
        return "passed" if present >= (1 - limit) * most_records else "undecided"
