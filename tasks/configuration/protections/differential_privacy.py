"""Differential privacy: what a configuration says of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, FiniteFloat

from tasks.configuration.places import FITTED, LENGTH_KEYS, MODES
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.sections import Model, PositiveNumber

if TYPE_CHECKING:
    from tasks.configuration.model import RunConfiguration

Proportion = Annotated[FiniteFloat, Field(gt=0, lt=1)]

AccuracyWord = Literal["long", "balanced", "short"]
FabricationWord = Literal["uncontrolled", "balanced", "progressive", "minimize"]


class Thresholds(Model):
    """Which combinations of two and more attributes are released (privacy.md 6.6, sds.md 3.5)."""

    kind: Literal["spurious", "adaptive", "fixed"] = "spurious"
    values: dict[int, Annotated[FiniteFloat, Field(ge=0)]] = Field({}, description="By length, from 2.")
    default: Annotated[FiniteFloat, Field(ge=0)] | None = Field(
        None, description="For other lengths. None: eta 0.1 (spurious), eta 1 (adaptive), 0 records (fixed)."
    )


class BudgetCap(Model):
    """What all releases of the dataset together may cost; registers the dataset at its first run."""

    epsilon: PositiveNumber
    delta: Proportion


class DifferentialPrivacy(ProtectionSettings):
    """Differential privacy, adding or removing one subject."""

    regime: Literal["differential_privacy"] = "differential_privacy"
    epsilon: PositiveNumber
    delta: Proportion = 1e-6
    delta_factor: PositiveNumber | None = None
    accountant: Literal["gdp", "zcdp"] = "gdp"
    number_of_records_proportion: Proportion | None = Field(
        None, description="gdp: the count's share f_0 of mu squared (0.01); zcdp: of epsilon (0.005)."
    )
    sigma_proportions: tuple[PositiveNumber, ...] | AccuracyWord = "balanced"
    contribution: Literal["schema", "profile", "percentile"] = "schema"
    percentile_percentage: int = Field(99, ge=0, le=100)
    percentile_proportion: Proportion = 0.01
    thresholds: Thresholds | FabricationWord = Thresholds()
    threshold_delta_share: Proportion = 0.1
    cap: BudgetCap | None = None
    releases: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="How many releases of the dataset are planned. Without a cap, the first run registers "
        "what they cost together; later only the ledger's own command changes it.",
    )
    population: str = Field("", description="Whose data these are, in words; stated in every release.")

    modes: ClassVar[tuple[str, ...]] = (FITTED, "aggregate_seeded")
    # A run must not stop for a value, so a contract repairs unless asked for more.
    contract_mode: ClassVar[Literal["repair", "strict"]] = "repair"
    is_drawn_once: ClassVar[bool] = True
    is_silent: ClassVar[bool] = True

    @classmethod
    def refused(cls, mode: str, *, holds: bool) -> list[str]:
        """What reads the raw records."""
        found = []
        if mode in MODES and mode not in cls.modes:
            found.append(
                f"synthesis_mode {mode} reads the raw records and can't be released under differential "
                "privacy: use fitted or aggregate_seeded, or set dp_aggregates to false for k-anonymity"
            )
        if holds:
            found.append(
                "aggregate_seeded_hold_resolution reads the raw records and can't be released under "
                "differential privacy: leave it out, or set dp_aggregates to false for k-anonymity"
            )
        return found

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """SDS's accountant counts contributions by SDS's percentile."""
        if given.get("accountant", "gdp") == "zcdp":
            given.setdefault("contribution", "percentile")

    @classmethod
    def without_effect(cls, given: Mapping[str, Any], mode: str) -> frozenset[str]:
        """Keys of a percentile that is not taken, and of a draw by lengths where a workload is drawn."""
        of_percentile = {"percentile_percentage", "percentile_epsilon_proportion"}
        keys = of_percentile if given.get("contribution", "schema") == "schema" else set()
        return frozenset(keys | LENGTH_KEYS if mode == FITTED else keys)

    def impossible(self, run: "RunConfiguration", given: set[str]) -> list[str]:
        """By what is drawn: tables that records are fitted to, or every combination up to a length."""
        return _of_fitted(self, given) if run.is_fitted else _of_lengths(self, run.reporting_length, given)


def _of_fitted(protection: DifferentialPrivacy, given: set[str]) -> list[str]:
    """What only a draw by lengths can have: the theorem of fitted synthesis covers none of it."""
    chosen = {
        "privacy.accountant zcdp": protection.accountant != "gdp",
        f"privacy.contribution {protection.contribution}": protection.contribution != "schema"
        and protection.accountant == "gdp",
        "delta_factor": protection.delta_factor is not None,
        "privacy.thresholds": "thresholds" in given,
    }
    return [
        f"{key} can't be had with synthesis_mode fitted (the default): leave it out, or write "
        '"synthesis_mode": "aggregate_seeded".'
        for key, is_chosen in chosen.items()
        if is_chosen
    ]


def _of_lengths(protection: DifferentialPrivacy, length: int, given: set[str]) -> list[str]:
    problems = []
    if isinstance(protection.sigma_proportions, tuple) and length != -1:
        numbers = len(protection.sigma_proportions)
        if numbers != length:
            problems.append(f"sigma_proportions must have one number a length ({length}); it has {numbers}.")
    if isinstance(protection.thresholds, Thresholds):
        problems += _of_thresholds(protection.thresholds)
    if protection.delta_factor is not None and "delta" not in given:
        problems.append("delta_factor needs delta as well: the public bound that is claimed and charged.")
    if protection.contribution == "percentile" and protection.accountant != "zcdp":
        problems.append(
            "privacy.contribution percentile needs privacy.accountant zcdp; use profile under gdp."
        )
    if protection.contribution == "profile" and protection.accountant != "gdp":
        problems.append(
            "privacy.contribution profile needs privacy.accountant gdp; use percentile under zcdp."
        )
    return problems


def _of_thresholds(thresholds: Thresholds) -> list[str]:
    problems = []
    for key, value in thresholds.values.items():
        if key < 2:
            problems.append(
                f"noise_threshold_values is for lengths from 2; it has {key}. "
                "The threshold of length 1 follows from delta; remove the key."
            )
        if thresholds.kind != "fixed" and not 0 < value <= 1:
            problems.append(f"noise_threshold_values for length {key} must be above 0 and at most 1.")
    return problems
