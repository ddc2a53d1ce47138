"""A run under k-anonymity, planned: what may weaken it."""

from typing import ClassVar

from tasks.configuration.model import LARGEST_RESOLUTION, RunConfiguration
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.public_schema import numbers_without_bins
from tasks.core.records.columns import Schema
from tasks.plan.protections.plan import ProtectionPlan, counting_notes

#: Of 15 digits; a shorter seed can be found by trying.
_LEAST_SEED = 10**14
_SEED_IS_SHORT = (
    "random_seed is short. Somebody who knows most of the records could try seeds until one gives the "
    "released records, and so test a guess of the rest. Give a random number of 15 digits, or none."
)


class RoundingPlan(ProtectionPlan):
    """k-anonymity: exact counts are rounded down, and nothing is drawn of them."""

    closed_notes: ClassVar[tuple[str, ...]] = (_SEED_IS_SHORT,)

    def notes(
        self, configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
    ) -> list[str]:
        """On what is asked for that protects little."""
        return [*_anonymity_notes(configuration, schema), *counting_notes(configuration, schema)]

    def notes_on_numbers(self, schema: Schema, contract: Contract | None) -> list[str]:
        """That rare ones are lost without bins."""
        columns = numbers_without_bins(schema, contract)
        if not columns:
            return []
        names = ", ".join(map(repr, columns))
        return [
            f"Numbers without bins ({names}): each number is a value of its own, and rare ones are not "
            "reported. Public edges in bins would keep more of them."
        ]


def _anonymity_notes(configuration: RunConfiguration, schema: Schema) -> list[str]:
    notes = _resolution_notes(configuration.reporting_resolution)
    synthesis = configuration.synthesis
    seed = synthesis.random_seed
    if synthesis.reads_records and seed is not None and seed.get_secret_value() < _LEAST_SEED:
        notes.append(_SEED_IS_SHORT)
    if schema.subject_id:
        return notes
    return [
        *notes,
        "No subject_id is given, so rows are counted. Where one person has several rows, a group of "
        f"{configuration.reporting_resolution} rows (reporting_resolution) can be that person alone: give "
        "subject_id unless every row is another person.",
    ]


def _resolution_notes(resolution: int) -> list[str]:
    if resolution == 1:
        return [
            "ATTENTION: reporting_resolution is 1, which is no protection at all: every combination is "
            "reported with its true count, also that of a single person. Give the least number of people who "
            "must share what is reported, such as 10."
        ]
    if resolution >= LARGEST_RESOLUTION:
        return [
            "ATTENTION: reporting_resolution is above the number of records of any table, so nothing can be "
            f"reported. The run takes it as {LARGEST_RESOLUTION}. Give a smaller one, such as 10."
        ]
    return []
