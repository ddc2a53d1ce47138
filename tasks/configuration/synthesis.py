"""The modes of synthesis: what a configuration says of each, and the keys of the flat file that it reads."""

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, FiniteFloat, Secret

from tasks.configuration.sections import NO_KEY, NOT_ASKED, Key, Model, PositiveNumber, keys_of, tabs

#: Masked wherever the model is written: the seed of a mode that reads raw records must not leave sensitive/.
Seed = Secret[Annotated[int, Field(ge=0, lt=2**63)]]

#: Columns to measure together, by name.
ColumnSet = Annotated[tuple[str, ...], Field(min_length=2, max_length=4)]


def _some_sets(value: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Refuse none: it would leave all relations to chance, and looks like a list that was forgotten."""
    if not value:
        raise ValueError(
            'must name at least one set of columns: write "auto" or "pairs", or sets such as '
            '[["age", "town"]]'
        )
    return value


SomeColumnSets = Annotated[tuple[ColumnSet, ...], AfterValidator(_some_sets)]


class Synthesis(Model):
    """What the modes of synthesis have in common."""

    random_seed: Annotated[Seed | None, NOT_ASKED] = Field(
        None,
        description="None: drawn fresh by a mode that reads raw records; else it follows from a secret and "
        "the rounded counts, or from the measurement.",
    )

    @property
    def reads_records(self) -> bool:
        """Whether the mode reads the raw records (and its seed is as sensitive as they are)."""
        return True


class RowSeeded(Synthesis):
    """Each synthetic record begins as part of one raw record (S4.1)."""

    model_config = ConfigDict(title="Row-seeded")

    mode: Annotated[Literal["row_seeded"], NO_KEY] = "row_seeded"


class Unseeded(Synthesis):
    """Records drawn column by column from the raw records' distribution (S4.2)."""

    model_config = ConfigDict(title="Unseeded")

    mode: Annotated[Literal["unseeded"], NO_KEY] = "unseeded"


class ValueSeeded(Synthesis):
    """Records put together from the rounded counts of single attributes (S4.3)."""

    model_config = ConfigDict(title="Value-seeded")

    mode: Annotated[Literal["value_seeded"], NO_KEY] = "value_seeded"
    oversampling_ratio: Annotated[FiniteFloat, Field(ge=0)] | None = Field(
        None, description="How far a synthetic count may exceed the reported one; None: without limit."
    )
    oversampling_tries: int = Field(1, ge=1, description="Draws refused before a record ends.")


class AggregateSeeded(Synthesis):
    """Synthetic records drawn from the reportable aggregates (S4.4)."""

    model_config = ConfigDict(title="Aggregate-seeded")

    mode: Annotated[Literal["aggregate_seeded"], NO_KEY] = "aggregate_seeded"
    use_synthetic_counts: bool = Field(
        False, description="Whether counts of the records drawn so far balance the next."
    )
    weight_selection_percentile: int = Field(
        95, ge=0, le=100, description="Percentile from which weights are taken."
    )
    counts_scale_factor: Annotated[PositiveNumber | None, Key("aggregate_seeded_counts_scale_factor")] = (
        Field(None, description="Factor of all counts; None: 1.")
    )
    target_number_of_records: Annotated[int | None, Key("aggregate_seeded_target_number_of_records")] = Field(
        None, ge=0, description="How many records to draw; None: until every reported attribute is used up."
    )
    hold_resolution: Annotated[bool, Key("aggregate_seeded_hold_resolution")] = Field(
        False,
        description="Whether combinations beyond the reporting length also keep to the resolution.",
    )

    @property
    def reads_records(self) -> bool:
        """Only to hold the resolution beyond the reporting length."""
        return self.hold_resolution


class Fitted(Synthesis):
    """Records fitted to the protected counts; under differential privacy it says what is counted, too.

    Which tables are measured, and how the budget is shared among them, is part of the release; how many
    records are written, and their seed, is not.
    """

    model_config = ConfigDict(title="Fitted")

    mode: Annotated[Literal["fitted"], NO_KEY] = "fitted"
    workload: Literal["auto", "pairs", "pairs+target"] | SomeColumnSets = Field(
        "auto",
        description="Sets of columns to measure together. auto: all pairs, or a private choice of them where "
        "they are many, and a private choice of longer sets where epsilon pays for them.",
    )
    allocation: Literal["effective", "size", "equal"] = Field(
        "effective", description="How the tables share the budget: by cells that rise above the noise."
    )
    target: str | None = Field(None, description="A column whose prediction matters: it is measured better.")
    max_values: int = Field(
        1000, ge=1, le=100_000, description="Most values of an open column that are counted by themselves."
    )
    target_number_of_records: Annotated[int | None, Key("fitted_target_number_of_records")] = Field(
        None, ge=0, description="How many records to write; None: as many as the noisy count says."
    )

    @property
    def reads_records(self) -> bool:
        """Never: it reads protected counts alone."""
        return False


class ByTrees(Synthesis):
    """Records drawn from SynDiffix's trees (X3.1 to X3.6): the regime is the mode."""

    model_config = ConfigDict(title="SynDiffix")

    mode: Annotated[Literal["syndiffix"], NO_KEY] = "syndiffix"


AnySynthesis = Annotated[
    RowSeeded | Unseeded | ValueSeeded | AggregateSeeded | Fitted | ByTrees,
    Field(discriminator="mode", json_schema_extra=tabs),
]

#: The mode of records that are fitted to protected counts: the default under differential privacy.
FITTED = "fitted"
#: The mode that is a regime of its own, and the section that it alone reads.
SYNDIFFIX = "syndiffix"
_COMMON = set(keys_of(Synthesis))
#: The modes whose keys stand in the flat file itself.
FLAT_MODES: tuple[type[RowSeeded | Unseeded | ValueSeeded | AggregateSeeded | Fitted], ...] = tuple(
    kind for kind in get_args(get_args(AnySynthesis)[0]) if kind is not ByTrees
)
#: The modes of synthesis, and the keys that each of them alone reads.
MODE_KEYS: dict[str, frozenset[str]] = {
    kind.model_fields["mode"].default: frozenset(keys_of(kind)) - _COMMON for kind in FLAT_MODES
}
MODES = (*MODE_KEYS, SYNDIFFIX)
#: What fitted synthesis measures by; under k-anonymity, where nothing is drawn, these have no effect.
MEASURING_KEYS = MODE_KEYS[FITTED] - {"fitted_target_number_of_records"}


def keys_of_other_modes(mode: str) -> frozenset[str]:
    """Keys that some mode reads, but not this one."""
    own = MODE_KEYS.get(mode, frozenset({SYNDIFFIX}))
    return frozenset({SYNDIFFIX}).union(*MODE_KEYS.values()) - own
