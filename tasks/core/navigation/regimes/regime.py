"""What the page's sections ask a regime: how its counts are named, and how far they are off.

Each regime has an implementation, a file each: `noise` and `fitted` (differential privacy), `rounding`
(k-anonymity).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tasks.core.arrays import Json
from tasks.core.charts.bars import ErrorBar
from tasks.core.charts.plot import Limit
from tasks.core.navigation.associations import PairCounts
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.naming import UnitName


@dataclass(frozen=True)
class Regime(ABC):
    """One regime, for one release.

    Attributes:
        inputs: what the page is made of.
        count: what a released count is called.
        template: of the page.
    """

    inputs: ReportInputs

    count: ClassVar[str]
    template: ClassVar[str]

    @property
    def statement(self) -> Json:
        """The content of ``privacy.json``."""
        return self.inputs.statement

    @property
    def unit(self) -> UnitName:
        """What is counted."""
        return self.inputs.naming.unit_of(self.statement)

    @property
    def promised(self) -> UnitName:
        """What is protected, in sentences that promise something."""
        return self.inputs.naming.promised(self.statement)

    @property
    @abstractmethod
    def error_bar(self) -> ErrorBar | None:
        """Of the count of one attribute; None where counts are exact or nothing was measured."""

    @property
    def true_range(self) -> ErrorBar | None:
        """Where the true count lies for certain; None where that is not known."""
        return None

    @property
    def spread(self) -> Mapping[int, float]:
        """By length, the standard deviation of the noise; empty where there is none."""
        return {}

    @property
    def limit(self) -> Limit | None:
        """How far the protection alone may take a count from the true one; None where nothing bounds it."""
        return None

    @abstractmethod
    def pair_counts(self) -> PairCounts:
        """Where the page's associations take the released counts of pairs from."""

    @abstractmethod
    def sections(self) -> Json:
        """The regime's own part of the template's context."""

    def record_words(self, records: int) -> list[str]:
        """What the regime has to say of the number of synthetic records."""
        return []
