"""Differential privacy: what a configuration says of it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, FiniteFloat

from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.sections import NO_KEY, Key, Model, PositiveNumber, keys_of
from tasks.configuration.synthesis import FITTED, MODES
from tasks.core.dp.parameters import (
    COUNT_SHARES,
    THRESHOLD_VALUES,
    AccountantName,
    ContributionName,
    DpParameters,
    ReleaseThresholds,
    ThresholdName,
)

Proportion = Annotated[FiniteFloat, Field(gt=0, lt=1)]


def _in_lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _above_zero(value: object) -> object:
    if value == 0 and not isinstance(value, bool):
        raise ValueError(
            "must be from 1 to 100, not 0: nobody would count for more than one combination of a length; "
            "99 keeps all combinations of 99 % of people"
        )
    return value


AccuracyWord = Literal["long", "balanced", "short"]
FabricationWord = Literal["uncontrolled", "balanced", "progressive", "minimize"]


class Thresholds(Model):
    """Which combinations of two and more attributes are released (D6, S3.5)."""

    kind: Annotated[ThresholdName, BeforeValidator(_in_lower_case), Key("noise_threshold_type")] = Field(
        ReleaseThresholds.kind,
        description="spurious bounds the share of combinations that nobody holds, adaptive is SDS's, fixed "
        "is a number of records.",
    )
    values: Annotated[dict[int, Annotated[FiniteFloat, Field(ge=0)]], Key("noise_threshold_values")] = Field(
        {}, description="A number for each length, from 2 on."
    )
    default: Annotated[Annotated[FiniteFloat, Field(ge=0)] | None, NO_KEY] = Field(
        None,
        description="For other lengths; None: "
        + ", ".join(f"{value:g} if {kind}" for kind, value in THRESHOLD_VALUES.items())
        + ".",
    )


class BudgetCap(Model):
    """What all releases of the dataset together may cost; registers the dataset at its first run."""

    epsilon: PositiveNumber = Field(description="Epsilon of all releases together.")
    delta: Proportion = Field(description="Delta of all releases together.")


class DifferentialPrivacy(ProtectionSettings):
    """Differential privacy, adding or removing one subject."""

    model_config = ConfigDict(title="Differential privacy")

    regime: Annotated[Literal["differential_privacy"], NO_KEY] = "differential_privacy"
    epsilon: Annotated[PositiveNumber, Key("noise_epsilon"), Key("epsilon", "privacy")] = Field(
        description="Epsilon of the claim of one release."
    )
    delta: Annotated[Proportion, Key("delta"), Key("delta", "privacy")] = Field(
        1e-6, description="Delta of the claim of one release."
    )
    delta_factor: Annotated[PositiveNumber | None, Key("delta_factor"), Key("delta_factor", "privacy")] = (
        Field(
            None,
            description="SDS's: delta is 1 / (this times n) for the noisy n, and never above delta, which is "
            "charged. None: delta itself.",
        )
    )
    accountant: Annotated[AccountantName, Key("accountant", "privacy")] = Field(
        DpParameters.accountant, description="gdp, or zcdp for SDS's meaning of its parameters."
    )
    number_of_records_proportion: Annotated[
        Proportion | None, Key("number_of_records_epsilon_proportion")
    ] = Field(
        None,
        description="Part of the budget for the number of records; None: "
        f"{COUNT_SHARES['gdp']} of mu squared under gdp, {COUNT_SHARES['zcdp']} of epsilon under zcdp.",
    )
    sigma_proportions: tuple[PositiveNumber, ...] | AccuracyWord = Field(
        "balanced", description="How lengths share the rest: a number each, or which of them are favoured."
    )
    contribution: Annotated[ContributionName, Key("contribution", "privacy")] = Field(
        DpParameters.contribution,
        description="What sets how many combinations of one person are counted. A file that names SDS's "
        "percentile means profile, or percentile under zcdp.",
    )
    percentile_percentage: Annotated[int, BeforeValidator(_above_zero)] = Field(
        DpParameters.percentile_percentage,
        ge=1,
        le=100,
        description="Of people, if contribution is no schema.",
    )
    percentile_proportion: Annotated[Proportion, Key("percentile_epsilon_proportion")] = Field(
        DpParameters.percentile_share, description="Part of the budget for the percentile."
    )
    thresholds: Annotated[Thresholds | FabricationWord, Key("thresholds", "privacy")] = Field(
        Thresholds(), description="From which noisy count on combinations are reported."
    )
    threshold_delta_share: Annotated[Proportion, Key("threshold_delta_share", "privacy")] = Field(
        DpParameters.threshold_delta_share,
        description="Part of delta that pays for values read off the data.",
    )
    cap: Annotated[BudgetCap | None, Key("cap", "privacy")] = Field(
        None, description="What all releases of the dataset together may cost."
    )
    releases: Annotated[int | None, Key("releases", "privacy")] = Field(
        None,
        ge=1,
        le=10_000,
        description="How many releases of the dataset are planned. Without a cap, the first run registers "
        "what they cost together; later only the ledger's own command changes it.",
    )
    low_budget: Annotated[int, Key("low_budget", "privacy")] = Field(
        2,
        ge=0,
        le=10_000,
        description="A charged run that leaves fewer releases at this setting announces a low budget.",
    )
    population: Annotated[str, Key("population", "privacy")] = Field(
        "", description="Whose data these are, in words; stated in every release."
    )

    modes: ClassVar[tuple[str, ...]] = (FITTED, "aggregate_seeded")
    # A run must not stop for a value, so a contract repairs unless asked for more.
    contract_mode: ClassVar[Literal["repair", "strict"]] = "repair"
    is_drawn_once: ClassVar[bool] = True
    on_unchanged: ClassVar[Literal["draw", "skip"]] = "draw"
    is_silent: ClassVar[bool] = True

    @classmethod
    def refusals(cls, mode: str, *, holds: bool) -> list[str]:
        """What reads the raw records."""
        problems = []
        if mode in MODES and mode not in cls.modes:
            problems.append(
                f"synthesis_mode {mode} reads the raw records and can't be released under differential "
                "privacy: use fitted or aggregate_seeded, or set dp_aggregates to false for k-anonymity"
            )
        if holds:
            problems.append(
                "aggregate_seeded_hold_resolution reads the raw records and can't be released under "
                "differential privacy: leave it out, or set dp_aggregates to false for k-anonymity"
            )
        return problems

    @classmethod
    def complete(cls, given: dict[str, Any], mode: str) -> None:
        """A percentile that a file names is taken, and SDS's accountant always takes one."""
        if given.get("accountant", "gdp") == "zcdp":
            given.setdefault("contribution", "percentile")
        elif mode != FITTED and not {"percentile_percentage", "percentile_proportion"}.isdisjoint(given):
            given.setdefault("contribution", "profile")

    @classmethod
    def without_effect(cls, given: Mapping[str, Any], mode: str) -> frozenset[str]:
        """Keys of a percentile that is not taken, and of a draw by lengths where a workload is drawn."""
        of_percentile = {"percentile_percentage", "percentile_epsilon_proportion"}
        keys = of_percentile if given.get("contribution", "schema") == "schema" else set()
        return frozenset(keys | LENGTH_KEYS if mode == FITTED else keys)

    def impossible(
        self, keys: set[str], *, length: int, resolution: int, record_limit: int | None, is_fitted: bool
    ) -> list[str]:
        """By what is drawn: tables that records are fitted to, or every combination up to a length."""
        return self._impossible_fitted(keys) if is_fitted else self._impossible_by_lengths(length)

    def _impossible_fitted(self, keys: set[str]) -> list[str]:
        """What only a draw by lengths can have: the theorem of fitted synthesis covers none of it."""
        chosen = {
            "privacy.accountant zcdp": self.accountant != "gdp",
            f"privacy.contribution {self.contribution}": self.contribution != "schema"
            and self.accountant == "gdp",
            "delta_factor": self.delta_factor is not None,
            "privacy.thresholds": "thresholds" in keys,
        }
        return [
            f"{key} can't be used with synthesis_mode fitted (the default): leave it out, or write "
            '"synthesis_mode": "aggregate_seeded".'
            for key, is_chosen in chosen.items()
            if is_chosen
        ]

    def _impossible_by_lengths(self, length: int) -> list[str]:
        problems = []
        if isinstance(self.sigma_proportions, tuple) and length not in (-1, len(self.sigma_proportions)):
            problems.append(
                f"sigma_proportions must have one number for each length ({length}); it has "
                f"{len(self.sigma_proportions)}."
            )
        if isinstance(self.thresholds, Thresholds):
            problems += _threshold_problems(self.thresholds, length)
        for contribution, accountant, instead in (
            ("percentile", "zcdp", "use profile under gdp"),
            ("profile", "gdp", "use percentile under zcdp"),
        ):
            if self.contribution == contribution and self.accountant != accountant:
                problems.append(
                    f"privacy.contribution {contribution} needs privacy.accountant {accountant}; {instead}."
                )
        return problems


def _threshold_problems(thresholds: Thresholds, length: int) -> list[str]:
    problems = []
    for key, value in thresholds.values.items():
        if key > length != -1:
            problems.append(
                f"noise_threshold_values is for lengths up to the reporting_length ({length}); it has {key}. "
                "Correct the key, or remove it."
            )
        if key < 2:
            problems.append(
                f"noise_threshold_values is for lengths from 2; it has {key}. "
                "The threshold of length 1 follows from delta; remove the key."
            )
        if thresholds.kind != "fixed" and not 0 < value <= 1:
            problems.append(f"noise_threshold_values for length {key} must be above 0 and at most 1.")
    return problems


#: What differential privacy alone reads.
PRIVATE_KEYS = frozenset({*keys_of(DifferentialPrivacy), *keys_of(Thresholds), "privacy"})
#: What differential privacy reads in SDS's mode alone: a fitted release counts other sets, by one accountant.
LENGTH_KEYS = frozenset(
    {
        "sigma_proportions",
        "percentile_percentage",
        "percentile_epsilon_proportion",
        "noise_threshold_type",
        "noise_threshold_values",
    }
)
