"""The run's configuration: one frozen model, which is also the parameter of every flow.

Nested here and discriminated by regime and mode; the flat file that SDS's users write is read into it by
`tasks.configuration.flat_file`. Everything in it is public, the random seed apart: it may appear in a Prefect
parameter, in the manifest and on the page.
"""

import re
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    StringConstraints,
    field_validator,
    model_validator,
)

from tasks.configuration.protections import DifferentialPrivacy, KAnonymity, SynDiffix
from tasks.configuration.sections import KEEPS_NAME, NO_KEY, NOT_ASKED, Key, Model, OptionalUtility, tabs
from tasks.configuration.synthesis import AggregateSeeded, AnySynthesis, Fitted
from tasks.core.contracts.declaration import Decimal, Negative, Thousands
from tasks.core.metadata.release_facts import Publication
from tasks.core.tables.column_names import Encoding
from tasks.core.tables.number_format import EVERY_COLUMN
from tasks.core.tables.places import refused_url, remote_url
from tasks.core.unit_words import names_people, names_subjects

LOGS: Final = "logs"
#: How the names of the folders of batches begin.
BATCHES: Final = "batch-"
_SCHEDULERS = ("tls://", "tcp://")
#: Where work is done: no release says it.
OF_A_CLUSTER = ("engine", "dask_address", "workers", "partitions", "shared_storage")


def _without_credentials(place: str) -> str:
    """Refuse a URL of storage that holds a secret; a path of this machine is taken as it is."""
    url = remote_url(place)
    if url is not None and (problem := refused_url(url)):
        raise ValueError(problem)
    return place


class Resources(Model):
    """What the run may use of the machine, or of a cluster; nothing that is released depends on it."""

    parallel_jobs: int = Field(1, ge=0, description="Threads; 0: all cores.")
    memory_limit_mb: int = Field(0, ge=0, description="0: four fifths of what is free.")
    cache_max_size: Annotated[int | None, NOT_ASKED] = Field(
        None, description="SDS's; accepted, but without effect."
    )
    engine: Literal["in_process", "dask"] = Field(
        "in_process", description="Where the table is worked on: in the run's own process, or on a cluster."
    )
    dask_address: str = Field(
        "",
        description="Of the cluster's scheduler, such as tls://host:8786; empty: a cluster on this machine.",
    )
    workers: int = Field(2, ge=1, le=1024, description="Processes of a cluster on this machine.")
    partitions: int = Field(
        8, ge=1, le=100_000, description="Of the table on a cluster: a worker holds one at a time in memory."
    )
    shared_storage: str | None = Field(
        None,
        description="Where all workers reach partitions of the table: a URL such as s3://bucket/folder; "
        "None: in output_dir, which they then see under the same path.",
    )

    @field_validator("dask_address")
    @classmethod
    def _of_a_scheduler(cls, value: str) -> str:
        if value and (not value.startswith(_SCHEDULERS) or "@" in value):
            raise ValueError(
                "must be the address of a Dask scheduler that begins with tls:// or tcp://, without "
                "credentials"
            )
        return value

    @field_validator("shared_storage")
    @classmethod
    def _in_storage(cls, value: str | None) -> str | None:
        url = None if value is None else remote_url(value)
        if value is not None and url is None:
            raise ValueError("must be a URL of storage such as s3://bucket/folder; a folder is output_dir")
        return url and _without_credentials(url)

    @model_validator(mode="after")
    def _of_a_cluster(self) -> "Resources":
        given = [name for name in ("dask_address", "shared_storage") if getattr(self, name)]
        if given and self.engine != "dask":
            raise ValueError(f"{given[0]} is for engine: dask; add that, or take it out")
        return self


Protection = Annotated[
    DifferentialPrivacy | KAnonymity | SynDiffix,
    Field(discriminator="regime", json_schema_extra=tabs),
]

#: By the name that each has in a nested configuration, and in a release.
REGIMES: tuple[str, ...] = tuple(
    kind.model_fields["regime"].default for kind in get_args(get_args(Protection)[0])
)


#: What no release's configuration has: where the workspace is, and what is measured for sensitive/ alone and
#: how long that is kept.
NEVER_RELEASED = frozenset({"output_dir", "evaluate_utility", "retention_days", "publish_to"})

#: Above the records of any table; a larger resolution is read as this one.
LARGEST_RESOLUTION = 10**15

#: The label of a release where neither configuration nor schedule gives one.
UNDATED = "undated"

#: A name that is safe as a folder and a file name.
_LABEL = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9 ._-]{0,99}$")
Label = Annotated[str, StringConstraints(pattern=_LABEL.pattern)]
_MONTH = re.compile(r"\d{4}-(\d\d)")


def is_label(name: str) -> bool:
    return _LABEL.fullmatch(name) is not None


def _require_month(label: str) -> str:
    """Refuse a slip in a month, which would be drawn and charged under a name that can't be corrected."""
    month = _MONTH.fullmatch(label)
    if month and not 1 <= int(month[1]) <= 12:
        raise ValueError(f"must be a month that there is, such as 2026-11, or no month at all, not {label!r}")
    return label


def _by_column(value: object) -> object:
    return {EVERY_COLUMN: value} if isinstance(value, str) else value


DecimalMarks = Annotated[dict[str, Decimal], BeforeValidator(_by_column)]
ThousandsMarks = Annotated[dict[str, Thousands], BeforeValidator(_by_column)]


def _words_by_column(value: object) -> object:
    """A list alone stands for every column, and a text for a list of it alone."""
    by_column = {EVERY_COLUMN: value} if isinstance(value, str | list) else value
    if not isinstance(by_column, dict):
        return value
    given = {name: [words] if isinstance(words, str) else words for name, words in by_column.items()}
    return {name: tuple(words) if isinstance(words, list) else words for name, words in given.items()}


def _cuts_as_texts(value: object) -> object:
    if not isinstance(value, dict):
        return value
    whole = {name: cut for name, cut in value.items() if isinstance(cut, int) and not isinstance(cut, bool)}
    return value | {name: str(cut) for name, cut in whole.items()}


NonEmpty = Annotated[str, Field(min_length=1)]
WordsByColumn = Annotated[
    dict[str, Annotated[tuple[NonEmpty, ...], Field(min_length=1)]], BeforeValidator(_words_by_column)
]


class Input(Model):
    """The table, and what is publicly known of it (S1.1 to S1.6)."""

    path: Annotated[
        str, Key("sensitive_microdata_path"), KEEPS_NAME, AfterValidator(_without_credentials)
    ] = Field(min_length=1, description="The table: a CSV, TSV or Parquet file.")
    delimiter: Annotated[str, Key("sensitive_microdata_delimiter")] = Field(
        ",", min_length=1, max_length=1, description="What separates the cells of a text file."
    )
    header: Annotated[tuple[str, ...], Key("sensitive_microdata_header")] = Field(
        (), description="Names of the columns, for a text file without a header line."
    )
    quote: Annotated[str, Key("sensitive_microdata_quote")] = Field(
        '"',
        min_length=1,
        max_length=1,
        description="What stands around cells of a text that hold a delimiter.",
    )
    escape: Annotated[str, Key("sensitive_microdata_escape")] = Field(
        "", max_length=1, description="What precedes a quote inside a quoted cell; none: a second quote."
    )
    skip_lines: Annotated[int, Key("sensitive_microdata_skip_lines")] = Field(
        0, ge=0, le=1000, description="Lines of a text file above its header, such as a title."
    )
    encoding: Encoding = Field("utf-8", description="Encoding of a text file.")
    subject_id: str | None = Field(None, description="The column that says whose row it is.")
    use_columns: tuple[str, ...] = Field((), description="Columns to use; none: all.")
    multi_value_columns: dict[str, str] = Field(
        {}, description="Columns of several items, each with their delimiter."
    )
    max_items: dict[str, Annotated[int, Field(ge=1, le=64)]] = Field(
        {}, description="Most items that one person may hold, by column of several items."
    )
    sensitive_zeros: tuple[str, ...] = Field(
        (), description="Columns in which 0 is a value, not absence; '*' stands for all."
    )
    record_limit: int | None = Field(
        None,
        ge=1,
        description="Rows to take: the first ones under k-anonymity, a random sample of about that size "
        "under differential privacy.",
    )
    bins: dict[str, tuple[FiniteFloat, ...]] = Field({}, description="Public edges, by numeric column.")
    domains: dict[str, tuple[str, ...]] = Field({}, description="Public values, by column.")
    decimal: DecimalMarks = Field(
        {}, description="Mark before decimals, by column; '*' stands for all others."
    )
    thousands: ThousandsMarks = Field(
        {}, description="Mark between thousands, by column; '*' stands for all others."
    )
    negative: Annotated[dict[str, Negative], BeforeValidator(_by_column)] = Field(
        {},
        description="How numbers below zero are written, by column; '*' stands for all others. bookkeeping: "
        "also as (120.00) and 120.00-.",
    )
    strip: Annotated[dict[str, NonEmpty], BeforeValidator(_by_column)] = Field(
        {},
        description="Characters that are taken off both ends of cells, by column; '*' stands for all others.",
    )
    missing_values: WordsByColumn = Field(
        {}, description="Words that stand for a missing value, by column; '*' stands for all others."
    )
    date_formats: WordsByColumn = Field({}, description="How dates are written, by column.")
    cut: Annotated[dict[str, NonEmpty], BeforeValidator(_cuts_as_texts)] = Field(
        {},
        description="What is left of cells, by column: year, month, day or hour of a date, 'age on "
        "2026-01-01', or a number of characters.",
    )
    drafted_from_table: Annotated[bool, KEEPS_NAME] = Field(
        False,
        description="Whether what is declared of the table was drafted by looking at it (marginalia init), "
        "and nobody has checked yet that all of it is publicly known; each release says so.",
    )
    contract: Annotated[str | None, KEEPS_NAME] = Field(None, description="Path of the data contract.")
    contract_mode: Literal["repair", "strict"] = Field(
        "repair",
        description="strict: a table that breaks the contract stops the run. A file without the key means "
        "strict, but repair under differential privacy, where the statement names the choice of strict.",
    )

    def reading(self) -> dict[str, Any]:
        """All that decides how the table is read, but its place and contract: it names a release."""
        aside = {name for name, field in type(self).model_fields.items() if KEEPS_NAME in field.metadata}
        return self.model_dump(mode="json", exclude=aside)


def _require_word(value: str) -> str:
    if not value.isprintable() or len(value) > _LONGEST_WORD or value != value.strip():
        raise ValueError(f"must be a word or a few, such as visit, of at most {_LONGEST_WORD} characters")
    return value


_LONGEST_WORD = 40
UnitWord = Annotated[str, AfterValidator(_require_word)]


class Report(Model):
    """The page (S6.2)."""

    title: Annotated[str, Key("report_title")] = Field("", description="The title of the page.")
    visuals: Annotated[dict[str, tuple[str, ...]], Key("report_visuals")] = Field(
        {}, description="Charts of attributes, by a name of yours."
    )
    pages: Annotated[dict[str, tuple[str, ...]], Key("report_pages")] = Field(
        {}, description="Which charts and columns are on which page; none: all columns on one."
    )
    unit: UnitWord = Field(
        "",
        description="What one record of the table is called: a row, such as visit; with subject_id a person, "
        "such as patient.",
    )
    units: UnitWord = Field("", description="What several are called; empty: the plural of unit.")
    value_names: dict[str, dict[str, str]] = Field(
        {}, description="What codes mean, by column and value: a dictionary of the table."
    )

    @property
    def words(self) -> "Report":
        return Report(unit=self.unit, units=self.units, value_names=self.value_names)

    @model_validator(mode="after")
    def _one_before_many(self) -> "Report":
        if self.units and not self.unit:
            raise ValueError("units is what several records are called: give unit, what one is called, too")
        return self


class RunConfiguration(Model):
    """Everything a run is asked to do."""

    dataset: Label = Field(description="The name under which the budget is kept.")
    dataset_is_named: Annotated[bool, NO_KEY, NOT_ASKED] = Field(
        True, description="False where the prefix stands in for the name."
    )
    vintage: Annotated[Label, AfterValidator(_require_month)] | None = Field(
        None, description="Label of this release; None: the scheduled date."
    )
    prefix: Label = Field("my", description="What the names of released files begin with.")
    output_dir: str = Field("./", min_length=1, description="The folder that all is written into.")
    input: Input = Field(description="The table, and what is publicly known of it.")
    reporting_length: int = Field(3, description="-1, or 0 as in SDS: all lengths.")
    reporting_resolution: int = Field(
        10,
        ge=1,
        le=LARGEST_RESOLUTION,
        description="k; under differential privacy only the evaluation kept in sensitive/ uses it.",
    )
    protection: Protection = Field(description="What protects the people in the table: one of three.")
    synthesis: AnySynthesis = Field(
        AggregateSeeded(), description="How synthetic records are made: one of these modes."
    )
    output_forms: Annotated[tuple[Literal["long", "condensed"], ...], Key("synthetic_forms")] = Field(
        (), description="Further forms of the synthetic records beside the wide one."
    )
    resources: Resources = Field(Resources(), description="What the run may use of the machine.")
    report: Report = Field(Report(), description="The page of the release.")
    publication: Publication = Field(
        Publication(), description="What readers are told that the program can't know."
    )
    unused_keys: Annotated[tuple[str, ...], NO_KEY, NOT_ASKED] = Field(
        (), description="Keys of the file that have no effect on this run."
    )
    check_looks_at_lines: Annotated[bool | None, NOT_ASKED] = Field(
        None,
        description="Whether check may look at the lengths of some lines to guess the rows; None: not under "
        "differential privacy.",
    )
    evaluate_sensitive: bool = Field(True, description="Also evaluate against the raw data, for sensitive/.")
    evaluate_utility: OptionalUtility = Field(
        None,
        description="Also measure, for sensitive/, what the records are worth; None: it is not measured.",
    )

    publish_to: str | None = Field(
        None,
        description="Where finished releases are copied to beside output_dir: a URL such as s3://bucket/folder.",
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        description="For how many days what is made of the raw table is kept in sensitive/; None: until "
        "somebody removes it.",
    )
    on_unchanged: Literal["draw", "skip"] | None = Field(
        None,
        description="What a run does whose table is what it was at the last release of these settings. draw: "
        "another release (the default under differential privacy, charged like any other). skip: none (the "
        "default elsewhere); under differential privacy the dates of releases then tell whether the table "
        "changed.",
    )

    @field_validator("dataset")
    @classmethod
    def _folder_of_its_own(cls, value: str) -> str:
        # Also on a disk that keeps no case.
        if value.casefold() == LOGS or value.casefold().startswith(BATCHES):
            raise ValueError(
                f"must not be {LOGS!r} or begin with {BATCHES!r}: sensitive/ has folders of these names for "
                "what is of no single dataset, and purges them with any; give another name"
            )
        return value

    @field_validator("output_dir")
    @classmethod
    def _on_a_disk(cls, value: str) -> str:
        if "://" in value:
            raise ValueError(
                "must be a folder on a disk or on a mounted share, as it holds what is sensitive and what is "
                "at work; to have finished releases in storage such as S3, give its URL as publish_to"
            )
        return value

    @field_validator("publish_to")
    @classmethod
    def _in_storage(cls, value: str | None) -> str | None:
        if value is not None and remote_url(value) != value:
            raise ValueError("must be a URL such as s3://bucket/folder; output_dir is the folder")
        return value and _without_credentials(value)

    @field_validator("reporting_length")
    @classmethod
    def _some_length(cls, value: int) -> int:
        if value < -1:
            raise ValueError(f"must be at least 1, or -1 for all lengths; it is {value}")
        return value or -1

    @model_validator(mode="after")
    def _unit_is_what_is_protected(self) -> "RunConfiguration":
        """A guarantee of rows must not be read as one of people, nor a count of people as one of rows."""
        for key, word in (("unit", self.report.unit), ("units", self.report.units)):
            if not self.ids and names_people(word):
                raise ValueError(
                    f"{key} must not be a word for people where no subject_id is given, because rows are "
                    "protected then, and not people: give the column that says whose a row is as subject_id, "
                    "or a word for a row, such as visit"
                )
            if self.ids and word and not names_subjects(word):
                raise ValueError(
                    f"{key} must be a word for people, such as patient, or for a household, a family or a "
                    "firm where subject_id is given, because all rows of one subject are protected and "
                    f"counted together: leave {key} out where a row is something else, such as a visit"
                )
        return self

    @model_validator(mode="after")
    def _mode_is_possible(self) -> "RunConfiguration":
        holds = isinstance(self.synthesis, AggregateSeeded) and self.synthesis.hold_resolution
        for refusal in self.protection.refusals(self.synthesis.mode, holds=holds):
            raise ValueError(refusal)
        return self

    @property
    def skips_unchanged(self) -> bool:
        """Whether nothing is released of a table that is what it was."""
        return (self.on_unchanged or self.protection.on_unchanged) == "skip"

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that say whose row it is."""
        first = (self.input.subject_id,) if self.input.subject_id else ()
        return (*first, *self.protection.id_columns)

    @property
    def may_look(self) -> bool:
        """Whether ``marginalia check`` may look at the lengths of lines, for the terminal alone."""
        asked = self.check_looks_at_lines
        return not self.protection.is_drawn_once if asked is None else asked

    @property
    def privacy(self) -> DifferentialPrivacy:
        """The claim and the budget, of whoever knows that this is the regime."""
        assert isinstance(self.protection, DifferentialPrivacy), "others have no claim and no budget"
        return self.protection

    @property
    def syndiffix(self) -> SynDiffix:
        """The settings, of whoever knows that this is the regime."""
        assert isinstance(self.protection, SynDiffix), "others have no settings of SynDiffix"
        return self.protection

    @property
    def fitted(self) -> Fitted:
        """How records are fitted, of whoever knows that they are."""
        assert isinstance(self.synthesis, Fitted), "others have no workload"
        return self.synthesis

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

    def as_released(self) -> "RunConfiguration":
        """The same without what no released file depends on: where things lie and are done, or measured."""
        table = self.input.model_copy(update={"path": "?"})
        machine = Resources(**{name: value for name, value in self.resources if name not in OF_A_CLUSTER})
        aside = {"input": table, "output_dir": "?", "evaluate_utility": None, "resources": machine}
        return self.without_raw_seed().model_copy(update=aside)
