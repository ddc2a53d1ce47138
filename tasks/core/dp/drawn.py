"""What every draw has, whichever way it was made: its charge, its number of records, its counts of values."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tasks.core.records.columns import Schema


@dataclass(frozen=True)
class LengthOne:
    """How the counts of single values were drawn.

    Attributes:
        threshold: the least noisy count of a released value of an open column; None where all are declared.
        scale: s_1, standard deviation of the noise, in records; above 0.
        sensitivity: Delta_1, the most values of one subject that are counted.
    """

    threshold: int | None
    scale: float
    sensitivity: int


def sampled_share(record_limit: int | None, noisy_count: int) -> Fraction:
    """The probability p = limit / n-hat with which a record is looked at, at most 1 (rule 14)."""
    if record_limit is None or noisy_count <= record_limit:
        return Fraction(1)
    return Fraction(record_limit, noisy_count)


class Drawn(Protocol):
    """A measurement, of lengths or of a workload."""

    @property
    def schema(self) -> Schema:
        """The public schema."""

    @property
    def private(self) -> bool:
        """False for a draw of the seeded test engine, which must never be released."""

    @property
    def mu_squared(self) -> float:
        """The nominal charge."""

    @property
    def threshold_delta(self) -> float:
        """delta_t, the nominal charge to delta."""

    @property
    def number_of_records(self) -> int:
        """The noisy count as drawn, signed."""

    @property
    def count_deviation(self) -> float:
        """Standard deviation of the noise of the number of records, before it is rounded."""

    @property
    def sampled_share(self) -> Fraction:
        """The share of all records that values were counted of; 1 unless there is a record limit."""

    @property
    def never_empty(self) -> Collection[int]:
        """Columns in which an empty cell counts as a value."""

    @property
    def length_one(self) -> LengthOne | None:
        """How single values were counted; None where there was nothing to count."""

    def counts_of(self, column: int) -> npt.NDArray[np.int64]:
        """The noisy counts of one column's values that were kept, as drawn."""

    def empties_of(self, column: int) -> int | None:
        """The noisy count of records that hold nothing in one column; None where nobody counted them."""
