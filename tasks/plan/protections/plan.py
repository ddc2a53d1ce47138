"""What every protection answers of a planned run, and what those that count records say alike."""

from abc import ABC, abstractmethod
from typing import ClassVar

from tasks.configuration.model import UNDATED, RunConfiguration
from tasks.core.contracts.contract import Contract
from tasks.core.ledger.mechanisms import AnyParameters
from tasks.core.records.columns import Schema
from tasks.core.tables.header import InputFile
from tasks.plan.syndiffix import Selection


class ProtectionPlan(ABC):
    """One protection's answers.

    Attributes:
        needs_caps: a column of several items needs a cap of them.
        closed_notes: notes of its own that stay at the terminal.
    """

    needs_caps: ClassVar[bool] = False
    closed_notes: ClassVar[tuple[str, ...]] = ()

    def selection(
        self, configuration: RunConfiguration, source: InputFile, contract: Contract | None
    ) -> Selection | None:
        """What of the table is synthesized as it is; None where its records are counted.

        Raises:
            ParameterError: columns that can't be protected so, before any other look at them.
        """
        return None

    def parameters(self, configuration: RunConfiguration, schema: Schema) -> AnyParameters | None:
        """Of what is drawn; None where nothing is."""
        return None

    @abstractmethod
    def notes(
        self, configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
    ) -> list[str]:
        """Sentences that the person who runs it should read first."""

    def notes_on_numbers(self, schema: Schema, contract: Contract | None) -> list[str]:
        """The same on columns of numbers, said last."""
        return []


def vintage_of(configuration: RunConfiguration, scheduled: str | None) -> str:
    """The label of a run's release."""
    return configuration.vintage or scheduled or UNDATED


def counting_notes(configuration: RunConfiguration, schema: Schema) -> list[str]:
    """What is asked for without an effect, where combinations are counted."""
    notes = [*drafted_notes(configuration), *_one_row_notes(schema)]
    known = all(column.max_items for column in schema.columns)
    if known and configuration.reporting_length > schema.width:
        notes.append(
            f"reporting_length {configuration.reporting_length} is more than the number of values that a "
            f"record can hold, {schema.width}: {schema.width} is used, and nothing is spent on the rest."
        )
    return notes + unused_notes(configuration)


def unused_notes(configuration: RunConfiguration) -> list[str]:
    """Which keys have no effect."""
    return [
        _WHY_UNUSED.get(key, f"{key} is accepted and has no effect here.")
        for key in configuration.unused_keys
    ]


def _one_row_notes(schema: Schema) -> list[str]:
    """What a count counts where a person may have several rows: said of every table, as it tells of none."""
    if schema.subject_id is None or all(column.is_multi_valued for column in schema.columns):
        return []
    return [
        f"One row counts of each person in {schema.subject_id!r} who has several, chosen by chance: a count "
        "says how many people have a value in that row, not how many ever had it. A column in "
        "multi_value_columns counts the items of all rows, as many as max_items says."
    ]


def drafted_notes(configuration: RunConfiguration) -> list[str]:
    """That what is declared was drafted by looking at the table, where it was."""
    if not configuration.input.drafted_from_table:
        return []
    return [
        "drafted_from_table is true: columns, lists, edges, caps, formats and words were drafted by looking "
        "at the table, so they may tell of single people, and every release says so. Check that each of them "
        "is publicly known, then set it to false."
    ]


_NOT_PRIVATE = (
    "ATTENTION: {} has no effect, as dp_aggregates is not true: this release is not differentially private. "
    "If it should be, set dp_aggregates to true."
)
_WHY_UNUSED = {
    **{key: _NOT_PRIVATE.format(key) for key in ("noise_epsilon", "delta")},
    "cache_max_size": "cache_max_size is accepted and has no effect: rows are found by index, and memory "
    "is bounded by memory_limit_mb.",
}
