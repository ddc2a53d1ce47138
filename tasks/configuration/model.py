"""The run's configuration: one frozen model, which is also the parameter of every flow.

Nested here and discriminated by regime and mode; the flat file that SDS's users write is read into it by
`tasks.configuration.flat_file`. Everything in it is public, the random seed apart: it may appear in a Prefect
parameter, in the manifest and on the page.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    Secret,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)

from tasks.configuration.protections.differential_privacy import DifferentialPrivacy
from tasks.configuration.protections.known import Protection
from tasks.configuration.protections.syndiffix import SynDiffix
from tasks.configuration.sections import Model, OptionalUtility, PositiveNumber
from tasks.core.errors import InternalError, ParameterError
from tasks.core.tables.column_names import Encoding
from tasks.core.tables.number_format import EVERY_COLUMN, canonical_thousands

#: What no release's configuration has: where the workspace is, what is measured for sensitive/ alone, and
#: whether the file named its mode.
NEVER_RELEASED = frozenset({"output_dir", "evaluate_utility", "earlier_synthesis", "not_fitted"})

#: Above the records of any table; a larger resolution is read as this one.
LARGEST_RESOLUTION = 10**15

#: A name that is safe as a folder and a file name.
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9 ._-]{0,99}$")]

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


def _by_column(value: object) -> object:
    """One text stands for every column."""
    return {EVERY_COLUMN: value} if isinstance(value, str) else value


DecimalMarks = Annotated[dict[str, Literal[".", ","]], BeforeValidator(_by_column)]
ThousandsMarks = Annotated[
    dict[str, Annotated[Literal["", ".", ",", " ", "'"], BeforeValidator(canonical_thousands)]],
    BeforeValidator(_by_column),
]


class Input(Model):
    """The table, and what is publicly known of it (sds.md section 1)."""

    path: str = Field(min_length=1, description="CSV, TSV or Parquet.")
    delimiter: str = Field(",", min_length=1, max_length=1, description="Of a CSV file.")
    header: tuple[str, ...] = Field((), description="Names for a text file without a header line.")
    encoding: Encoding = Field("utf-8", description="Of a text file.")
    subject_id: str | None = Field(None, description="The column that says whose row it is.")
    use_columns: tuple[str, ...] = Field((), description="Columns to use; none: all.")
    multi_value_columns: dict[str, str] = Field({}, description="Column to the delimiter of its items.")
    max_items: dict[str, Annotated[int, Field(ge=1, le=64)]] = Field(
        {}, description="Most items of one subject, by multi-valued column."
    )
    sensitive_zeros: tuple[str, ...] = Field((), description="Columns in which 0 is a value, not absence.")
    record_limit: int | None = Field(
        None,
        ge=1,
        description="k-anonymity: the first so many rows; differential privacy: expected size of a sample.",
    )
    bins: dict[str, tuple[FiniteFloat, ...]] = Field({}, description="Public edges, by numeric column.")
    domains: dict[str, tuple[str, ...]] = Field({}, description="Public values, by column.")
    decimal: DecimalMarks = Field({}, description="Mark before decimals, by column; '*': all others.")
    thousands: ThousandsMarks = Field({}, description="Mark between thousands, by column; '*': all others.")
    contract: str | None = Field(None, description="Path of the data contract.")
    contract_mode: Literal["repair", "strict"] = Field(
        "repair",
        description="strict: a table that breaks the contract stops the run. A file that leaves it out means "
        "strict under k-anonymity; under differential privacy strict is a choice that the statement names.",
    )


class Synthesis(Model):
    """What the modes of synthesis have in common."""

    random_seed: Seed | None = Field(
        None,
        description="None: drawn fresh by a mode that reads raw records; else it follows from a secret and "
        "the rounded counts, or from the measurement.",
    )

    @property
    def reads_records(self) -> bool:
        """Whether the mode reads the raw records (and its seed is as sensitive as they are)."""
        return True


class RowSeeded(Synthesis):
    """Each synthetic record begins as part of one raw record (sds.md 4.1)."""

    mode: Literal["row_seeded"] = "row_seeded"


class Unseeded(Synthesis):
    """Records drawn column by column from the raw records' distribution (sds.md 4.2)."""

    mode: Literal["unseeded"] = "unseeded"


class ValueSeeded(Synthesis):
    """Records put together from the rounded counts of single attributes (sds.md 4.3)."""

    mode: Literal["value_seeded"] = "value_seeded"
    oversampling_ratio: Annotated[FiniteFloat, Field(ge=0)] | None = Field(
        None, description="How far a synthetic count may exceed the reported one; None: not limited."
    )
    oversampling_tries: int = Field(1, ge=1, description="Draws refused before a record ends.")


class AggregateSeeded(Synthesis):
    """Synthetic records drawn from the reportable aggregates (sds.md 4.4)."""

    mode: Literal["aggregate_seeded"] = "aggregate_seeded"
    use_synthetic_counts: bool = False
    weight_selection_percentile: int = Field(95, ge=0, le=100)
    counts_scale_factor: PositiveNumber | None = None
    target_number_of_records: int | None = Field(None, ge=0)
    hold_resolution: bool = Field(
        False, description="Also beyond the reporting length no combination below the resolution."
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

    mode: Literal["fitted"] = "fitted"
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
    target_number_of_records: int | None = Field(
        None, ge=0, description="How many records to write; None: as many as the noisy count says."
    )

    @property
    def reads_records(self) -> bool:
        """Never: it reads protected counts alone."""
        return False


class ByTrees(Synthesis):
    """Records drawn from SynDiffix's trees (syndiffix.md section 3): the regime is the mode."""

    mode: Literal["syndiffix"] = "syndiffix"


AnySynthesis = Annotated[
    RowSeeded | Unseeded | ValueSeeded | AggregateSeeded | Fitted | ByTrees, Field(discriminator="mode")
]


class Resources(Model):
    """What the run may use of the machine."""

    parallel_jobs: int = Field(1, ge=0, description="Threads; 0: all cores.")
    memory_limit_mb: int = Field(0, ge=0, description="0: four fifths of what is free.")
    cache_max_size: int | None = Field(None, description="SDS's; accepted: there is no cache to bound.")


class Report(Model):
    """The page (sds.md 6.2)."""

    title: str = ""
    visuals: dict[str, tuple[str, ...]] = Field({})
    pages: dict[str, tuple[str, ...]] = Field({})


class RunConfiguration(Model):
    """Everything a run is asked to do."""

    dataset: Label = Field(description="The logical name that the budget is kept under.")
    dataset_is_named: bool = Field(True, description="False where the prefix stands in for the name.")
    vintage: Label | None = Field(None, description="Label of this release; None: the scheduled date.")
    prefix: Label = "my"
    output_dir: str = Field("./", min_length=1, description="The workspace.")
    input: Input
    reporting_length: int = Field(3, description="-1: all lengths.")
    reporting_resolution: int = Field(
        10,
        ge=1,
        le=LARGEST_RESOLUTION,
        description="k; under differential privacy only the evaluation kept in sensitive/ uses it.",
    )
    protection: Protection
    synthesis: AnySynthesis = AggregateSeeded()
    earlier_synthesis: AggregateSeeded | None = Field(
        None,
        description="What a file without synthesis_mode meant before fitted was the default; a vintage that "
        "was drawn so is returned.",
    )
    not_fitted: tuple[str, ...] = Field(
        (),
        description="Why fitted records can't be had of such a file; only what was drawn before is returned.",
    )
    output_forms: tuple[Literal["long", "condensed"], ...] = Field(
        (), description="Further forms of the synthetic records beside the wide one."
    )
    resources: Resources = Resources()
    report: Report = Report()
    unused_keys: tuple[str, ...] = Field((), description="Keys of the file that have no effect on this run.")
    check_looks_at_lines: bool | None = Field(
        None,
        description="Whether check may look at the lengths of some lines to guess the rows; None: not under "
        "differential privacy.",
    )
    evaluate_sensitive: bool = Field(True, description="Also evaluate against the raw data, for sensitive/.")
    evaluate_utility: OptionalUtility = Field(
        None,
        description="Also measure, for sensitive/, what the records are worth; None: it is not measured.",
    )

    @field_validator("reporting_length")
    @classmethod
    def _some_length(cls, value: int) -> int:
        if value < 1 and value != -1:
            raise ValueError(f"must be at least 1, or -1 for all lengths; it is {value}")
        return value

    @model_validator(mode="after")
    def _mode_is_possible(self) -> "RunConfiguration":
        holds = isinstance(self.synthesis, AggregateSeeded) and self.synthesis.hold_resolution
        for said in self.protection.refused(self.synthesis.mode, holds=holds):
            raise ValueError(said)
        return self

    @model_serializer(mode="wrap")
    def _without_what_is_lacking(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As a parameter and in a release; what is written is read back as it was."""
        body: dict[str, Any] = handler(self)
        for name in self.protection.lacking:
            body.pop(name, None)
        return body

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that say whose row it is."""
        first = (self.input.subject_id,) if self.input.subject_id else ()
        return (*first, *self.protection.id_columns)

    @property
    def may_look(self) -> bool:
        """Whether ``marginalia check`` may look at the lengths of lines, for the terminal alone."""
        return (
            not self.protection.is_silent if self.check_looks_at_lines is None else self.check_looks_at_lines
        )

    @property
    def is_private(self) -> bool:
        """Whether the release is differentially private: for sentences that name the protection."""
        return isinstance(self.protection, DifferentialPrivacy)

    @property
    def privacy(self) -> DifferentialPrivacy:
        """The claim and the budget.

        Raises:
            InternalError: the release is not differentially private.
        """
        if not isinstance(self.protection, DifferentialPrivacy):
            raise InternalError("Only differential privacy has a claim and a budget.")
        return self.protection

    @property
    def syndiffix(self) -> SynDiffix:
        """SynDiffix's settings.

        Raises:
            InternalError: it is of another regime.
        """
        if not isinstance(self.protection, SynDiffix):
            raise InternalError("Only a SynDiffix run has SynDiffix's settings.")
        return self.protection

    @property
    def fitted(self) -> Fitted:
        """How records are fitted.

        Raises:
            InternalError: the mode is another one.
        """
        if not isinstance(self.synthesis, Fitted):
            raise InternalError("Only fitted synthesis has a workload.")
        return self.synthesis

    def as_before(self) -> "RunConfiguration | None":
        """What the same file meant before fitted was the default; None where it names its mode."""
        if self.earlier_synthesis is None:
            return None
        before = {"synthesis": self.earlier_synthesis, "earlier_synthesis": None, "not_fitted": ()}
        return self.model_copy(update=before)

    def as_now(self) -> "RunConfiguration":
        """What the file means where nothing was drawn of it before: its mode is settled."""
        return self.model_copy(update={"earlier_synthesis": None})

    def require_possible(self) -> None:
        """Refuse a file that only what was drawn before fitted was the default can be returned to.

        Raises:
            ParameterError: it is such a file.
        """
        if self.not_fitted:
            raise ParameterError(list(self.not_fitted))

    @property
    def draws_workload(self) -> bool:
        """Whether what is drawn is a workload's tables, for records that are fitted to them."""
        return self.protection.is_drawn_once and self.is_fitted

    @property
    def is_fitted(self) -> bool:
        """Whether records are fitted to protected counts."""
        return isinstance(self.synthesis, Fitted)

    def without_raw_seed(self) -> "RunConfiguration":
        """The same without the seed of a mode that reads raw records: what may leave the measuring side."""
        if not self.synthesis.reads_records:
            return self
        return self.model_copy(update={"synthesis": self.synthesis.model_copy(update={"random_seed": None})})
