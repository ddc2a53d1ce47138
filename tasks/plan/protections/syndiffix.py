"""A run of SynDiffix, planned: which columns it can take, and what it is not."""

from tasks.configuration.model import RunConfiguration
from tasks.core.contracts.contract import Contract
from tasks.core.records.columns import Schema
from tasks.core.tables.header import InputFile
from tasks.plan.protections.plan import ProtectionPlan, drafted_notes, unused_notes
from tasks.plan.syndiffix import NOTES, Selection, select_columns


class TreesPlan(ProtectionPlan):
    """SynDiffix: a table of its own, from trees."""

    def selection(
        self, configuration: RunConfiguration, source: InputFile, contract: Contract | None
    ) -> Selection:
        """It alone knows by which keys columns were given, and all of those."""
        return select_columns(configuration, source, contract)

    def notes(
        self, configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
    ) -> list[str]:
        """On what it does not promise."""
        notes = [f"{NOTES.say('not_private')}; privacy.json says what protects and what does not."]
        if schema.subject_id is None:
            notes.append(NOTES.say("rows_are_people", key="subject_id"))
        if not configuration.dataset_is_named:
            notes.append(
                f"No dataset is named: its salt is kept under the prefix, {configuration.dataset!r}. Tables "
                "about the same people must share one dataset name, or their noise could be averaged away."
            )
        notes += drafted_notes(configuration)
        notes += unused_notes(configuration)
        return notes
