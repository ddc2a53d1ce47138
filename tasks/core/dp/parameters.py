"""What a differentially private release is asked to be: public constants, fixed before the data is read.

Everything here is public and enters the digest that names a release (see `ledger`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

AccountantName = Literal["gdp", "zcdp"]
ContributionName = Literal["schema", "profile", "percentile"]
ThresholdName = Literal["spurious", "adaptive", "fixed"]
#: The share of the number of records where none is given: of mu^2 under gdp, of epsilon under zcdp.
COUNT_SHARES: dict[AccountantName, float] = {"gdp": 0.01, "zcdp": 0.005}
#: The value of a threshold where none is given: eta, or records where it is fixed.
THRESHOLD_VALUES: dict[ThresholdName, float] = {"spurious": 0.1, "adaptive": 1.0, "fixed": 0.0}


@dataclass(frozen=True)
class ReleaseThresholds:
    """Which combinations of length >= 2 are released; length 1 of open columns has its own rule.

    Attributes:
        kind: ``fixed``: noisy count >= ceil(value + 1/2), value in records;
            ``adaptive``: SDS's, with eta in (0, 1] (S3.5, with Delta_k);
            ``spurious``: the paper's, expected fabrication at most eta times the survivors of the
            length before (D6).
        values: by length (2..R): the fixed value, or eta.
        default: the value for lengths not in ``values``.
    """

    kind: ThresholdName = "spurious"
    values: Mapping[int, float] = field(default_factory=dict)
    default: float = THRESHOLD_VALUES["spurious"]

    def value(self, length: int) -> float:
        """The fixed value or eta of one length."""
        return self.values.get(length, self.default)


@dataclass(frozen=True)
class DpParameters:
    """Parameters of one release, all public.

    Attributes:
        epsilon, delta: the claim. With ``delta_factor`` delta is delta_max (R16).
        reporting_length: R, already at most the schema's width (R12).
        accountant: ``gdp`` (all Gaussian, closed form) or ``zcdp`` (SDS's EQ1/EQ2).
        count_share: gdp: f_0, the noisy count's share of mu^2; zcdp: eps_N / epsilon.
        sigma_proportions: R positive ratios of sigma_k.
        threshold_delta_share: delta_t / delta (gdp); 0 where every column's domain is declared.
            zcdp always uses one half, as its documents do.
        contribution: how Delta_k is set: ``schema`` (min(C(W,k), |V_k|)), ``profile`` (a noisy
            histogram a length; gdp) or ``percentile`` (exponential mechanism; zcdp).
        percentile_percentage: the percentile that ``profile`` and ``percentile`` aim at, 0..100.
        percentile_share: gdp ``profile``: f of each histogram; zcdp: SDS's
            ``percentile_epsilon_proportion``.
        thresholds: the rule for lengths >= 2.
        delta_factor: delta is 1 / (this n) for the noisy count n, at most ``delta`` (R16); or None.
        record_limit: the expected size of the sample of subjects, or None for all (R14).
        engine: ``aes``; ``insecure-seeded`` exists for tests and can't write a release.
    """

    epsilon: float
    delta: float
    reporting_length: int
    accountant: AccountantName = "gdp"
    count_share: float = COUNT_SHARES["gdp"]
    sigma_proportions: tuple[float, ...] = ()
    threshold_delta_share: float = 0.1
    contribution: ContributionName = "schema"
    percentile_percentage: int = 99
    percentile_share: float = 0.01
    thresholds: ReleaseThresholds = ReleaseThresholds()
    delta_factor: float | None = None
    record_limit: int | None = None
    engine: Literal["aes", "insecure-seeded"] = "aes"

    @property
    def needs_tags(self) -> bool:
        """Whether records are sampled or dropped by a tag of their own."""
        return self.contribution != "schema" or self.record_limit is not None
