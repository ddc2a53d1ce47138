"""What a configuration says of each protection: a class a protection.

A class holds the settings, and every public fact that a run of that protection differs by before anything is
read. What is told of a run is in `tasks.plan.describe`, what was handed over in `tasks.public.bundles`.
SynDiffix's settings are those of `tasks.core.syndiffix.settings`.
"""

from collections.abc import Collection, Mapping
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, FiniteFloat, create_model

from tasks.configuration.sections import NO_KEY, Key, Model, PositiveNumber, keys_of
from tasks.configuration.synthesis import FITTED, MEASURING_KEYS, MODE_KEYS, MODES, SYNDIFFIX
from tasks.core.dp.parameters import (
    COUNT_SHARES,
    THRESHOLD_VALUES,
    AccountantName,
    ContributionName,
    DpParameters,
    ReleaseThresholds,
    ThresholdName,
)
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clustering, clustering_problem, respell_columns
from tasks.core.syndiffix.settings import (
    CLUSTERING_KEYS,
    SETTINGS,
    Setting,
    SynDiffixParameters,
    clustering_of,
)
from tasks.core.tables.texts import TypeLetter


class ProtectionSettings(Model):
    """One protection's settings; a class says what differs by the protection alone."""

    modes: ClassVar[tuple[str, ...]]  # of synthesis, with which it can be had; the default first
    unread: ClassVar[frozenset[str]] = frozenset()  # keys of the flat file that no run of it reads
    # What a contract does, and a run with a table that is what it was, where a file does not say.
    contract_mode: ClassVar[Literal["repair", "strict"]] = "strict"
    on_unchanged: ClassVar[Literal["draw", "skip"]] = "skip"
    # A vintage is drawn once, charged to the ledger, and returned whatever becomes of the table.
    is_drawn_once: ClassVar[bool] = False
    is_salted: ClassVar[bool] = False  # noise follows from the dataset's salt; a table may have one alone

    @property
    def id_columns(self) -> tuple[str, ...]:
        """Columns that say whose row it is, beside the table's ``subject_id``."""
        return ()

    @classmethod
    def refusals(cls, mode: str, *, holds: bool) -> list[str]:
        """Why a known mode of synthesis, which may hold the resolution, can't be had with it, if it can't."""
        if mode in cls.modes or mode not in MODES:
            return []
        return ["synthesis_mode syndiffix is a regime of its own: it can't be combined with another"]

    @classmethod
    def complete(cls, given: dict[str, Any], mode: str) -> None:
        """Add what follows from what is given and the mode of synthesis."""

    @classmethod
    def without_effect(cls, given: Mapping[str, Any], mode: str) -> frozenset[str]:
        """Keys of the flat file that have no effect beside these settings."""
        return frozenset()

    def impossible(self, keys: set[str], length: int, *, is_fitted: bool) -> list[str]:
        """Combinations that can't be meant of keys of the file and of `privacy`, each valid by itself."""
        return []


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

    def impossible(self, keys: set[str], length: int, *, is_fitted: bool) -> list[str]:
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


class KAnonymity(ProtectionSettings):
    """k-anonymity: counts rounded down to the reporting resolution, which is k."""

    model_config = ConfigDict(title="k-anonymity")

    regime: Literal["k_anonymity"] = "k_anonymity"

    modes: ClassVar[tuple[str, ...]] = tuple(MODE_KEYS)
    unread: ClassVar[frozenset[str]] = PRIVATE_KEYS | MEASURING_KEYS


_ColumnSets = tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...]
_TYPES: dict[str, Any] = {
    "whole": int,
    "number": float,
    "flag": bool,
    "interval": tuple[int, int],
    "column": str | None,
    "columns": tuple[str, ...],
}


def _require_in_range(setting: Setting, value: Any) -> Any:
    if problem := setting.problem(value):
        raise ValueError(problem.removesuffix("."))
    return value


def _require_clustering(value: Any) -> Any:
    if problem := clustering_problem(value):
        raise ValueError(problem)
    return respell_columns(value, str)  # as tuples: a strict model takes no lists from here on


def _field(setting: Setting) -> tuple[Any, Any]:
    limits = (
        {"minimum": setting.least, "maximum": setting.most} if setting.kind in ("whole", "number") else {}
    )
    return Annotated[_TYPES[setting.kind], AfterValidator(partial(_require_in_range, setting))], Field(
        setting.default,
        description=f"{setting.meaning[0].upper()}{setting.meaning[1:]}.",
        json_schema_extra={name: limit for name, limit in limits.items() if isfinite(limit)},
    )


if TYPE_CHECKING:  # the fields are made when the program runs

    class _Settings(ProtectionSettings):
        def __getattr__(self, name: str) -> Any: ...

else:
    _Settings = create_model(
        "_Settings", __base__=ProtectionSettings, **{n: _field(setting) for n, setting in SETTINGS.items()}
    )


class SynDiffix(_Settings):
    """SynDiffix: not differentially private (X1.1)."""

    model_config = ConfigDict(title="SynDiffix")

    regime: Literal["syndiffix"] = "syndiffix"
    further_ids: tuple[str, ...] = Field((), description="Id columns beside subject_id.")
    types: dict[str, TypeLetter] = Field({}, description="Declared types by column; others are inferred.")
    clustering: Annotated[Clustering, BeforeValidator(_require_clustering)] = Field(
        "default",
        description="Which columns are synthesized together: default, one (all), none (each alone), "
        '{"target": column}, or lists of columns.',
    )
    tables: Literal["pairs"] | _ColumnSets = Field(
        (), description="Column sets that each get an accurate table of their own, or all pairs."
    )

    modes: ClassVar[tuple[str, ...]] = (SYNDIFFIX,)
    unread: ClassVar[frozenset[str]] = PRIVATE_KEYS | MEASURING_KEYS
    is_salted: ClassVar[bool] = True

    @property
    def id_columns(self) -> tuple[str, ...]:
        return self.further_ids

    def impossible(self, keys: set[str], length: int, *, is_fitted: bool) -> list[str]:
        """What the core refuses of the way of clustering."""
        try:
            clustering_of(dict(self))
        except ParameterError as error:
            return [f"{SYNDIFFIX}: {problem}" for problem in error.problems]
        return []

    def parameters(self, salt: bytes = bytes(32)) -> SynDiffixParameters:
        """The core's parameters, with a salt where noise is drawn. Raises ParameterError."""
        return SynDiffixParameters.of(dict(self), salt)

    def for_trees(self, columns: Collection[str]) -> "SynDiffix":
        """What the trees of some columns depend on."""
        return self._restricted(_TREE_SETTINGS, columns)

    def for_clusters(self, columns: Collection[str]) -> "SynDiffix":
        """What the clusters of some columns depend on."""
        return self._restricted(_TREE_SETTINGS | _CLUSTER_SETTINGS, columns)

    def _restricted(self, names: frozenset[str], columns: Collection[str]) -> "SynDiffix":
        safe = tuple(name for name in self.value_safe_columns if name in columns)
        settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        return SynDiffix(**settings | {"value_safe_columns": tuple(sorted(safe))})


_CLUSTER_SETTINGS = frozenset({"clustering"}).union(*CLUSTERING_KEYS.values())
_TREE_SETTINGS = frozenset(SETTINGS) - _CLUSTER_SETTINGS - {"value_safe_columns"}

#: Keys of the ``syndiffix`` section: the model's, and ``columns``, which `flat_file` takes apart.
SECTION_KEYS = frozenset(SynDiffix.model_fields) - {"regime", "further_ids", "types"} | {"columns"}
