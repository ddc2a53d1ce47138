"""What the page's sections need to know of a regime: how its counts are named, and how far they are off."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.core.charts.charts import ErrorBar
from tasks.core.charts.plots import Limit
from tasks.core.navigation.distributions import Kinds


@dataclass(frozen=True)
class Regime:
    """One regime, for one release.

    Attributes:
        name: ``differential_privacy`` or ``k_anonymity``.
        units: several of what is counted: ``subjects`` or ``rows``.
        count: what a released count is called.
        error_bar: of the count of one attribute; None where counts are exact or nothing was measured.
        spread: by length, the standard deviation of the noise; empty where there is none.
        limit: how far the protection alone may take any count from the true one; None where that is not
            bounded, or not at all.
        kinds: how columns are described.
    """

    name: str
    units: str
    count: str
    error_bar: ErrorBar | None
    spread: Mapping[int, float]
    limit: Limit | None
    kinds: Kinds

    @property
    def is_rounded(self) -> bool:
        """Whether counts are rounded down, not noisy."""
        return self.name == "k_anonymity"
