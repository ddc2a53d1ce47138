"""What the person who runs it should read first, before a row is read: a function a protection."""

from collections.abc import Callable

from tasks.configuration.model import LARGEST_RESOLUTION, UNDATED, RunConfiguration
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.public_schema import numbers_without_bins
from tasks.core.dp.claim_limits import cautions
from tasks.core.records.columns import Schema
from tasks.plan.syndiffix import NOTES
from tasks.public.bundles.bundle import unit_of


def vintage_of(configuration: RunConfiguration, scheduled: str | None) -> str:
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


def _drawing_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    protection, least = configuration.privacy, contract.min_rows if contract else None
    told = cautions(protection.epsilon, protection.delta, unit_of(schema), least)
    return [
        *_naming_notes(configuration, vintage),
        *([_SKIPS] if configuration.skips_unchanged else []),
        *counting_notes(configuration, schema),
        *(f"ATTENTION: {said}" for said in told),
    ]


_SKIPS = (
    "ATTENTION: on_unchanged is skip. No release is made of a table that is what it was at the last one, so "
    "the dates of the releases, and a missing vintage, tell whether the table changed. No noise hides "
    "that and no budget covers it; every release states it."
)


def _naming_notes(configuration: RunConfiguration, vintage: str) -> list[str]:
    notes = []
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: the budget is kept under the prefix, {configuration.dataset!r}. "
            "Tables about the same people must share one dataset name."
        )
    if vintage == UNDATED:
        notes.append(
            f"No vintage is given: this release is labelled {UNDATED!r}, and a later run of that label "
            "returns it whatever the table then holds. Give each new release a vintage of its own."
        )
    return notes


#: Of 15 digits; a shorter seed can be found by trying.
_LEAST_SEED = 10**14
SEED_IS_SHORT = (
    "random_seed is short. Somebody who knows most of the records could try seeds until one gives the "
    "released records, and so test a guess of the rest. Give a random number of 15 digits, or none."
)


def notes_on_numbers(configuration: RunConfiguration, schema: Schema, contract: Contract | None) -> list[str]:
    """That rare numbers are lost without bins under k-anonymity, where none need them."""
    is_counted = configuration.protection.regime == "k_anonymity"
    columns = numbers_without_bins(schema, contract) if is_counted else []
    if not columns:
        return []
    names = ", ".join(map(repr, columns))
    return [
        f"Numbers without bins ({names}): each number is a value of its own, and rare ones are not "
        "reported. Public edges in bins would keep more of them."
    ]


def _rounding_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    notes, resolution, synthesis = [], configuration.reporting_resolution, configuration.synthesis
    if resolution == 1:
        notes.append(
            "ATTENTION: reporting_resolution is 1, which is no protection at all: every combination is "
            "reported with its true count, also that of a single person. Give the least number of people who "
            "must share what is reported, such as 10."
        )
    if resolution >= LARGEST_RESOLUTION:
        notes.append(
            "ATTENTION: reporting_resolution is above the number of records of any table, so nothing can be "
            f"reported. The run takes it as {LARGEST_RESOLUTION}. Give a smaller one, such as 10."
        )
    seed = synthesis.random_seed
    if synthesis.reads_records and seed is not None and seed.get_secret_value() < _LEAST_SEED:
        notes.append(SEED_IS_SHORT)
    if not schema.subject_id:
        notes.append(
            "No subject_id is given, so rows are counted. Where one person has several rows, a group of "
            f"{resolution} rows (reporting_resolution) can be that person alone: give subject_id unless "
            "every row is another person."
        )
    return notes + counting_notes(configuration, schema)


def _tree_notes(
    configuration: RunConfiguration, schema: Schema, contract: Contract | None, vintage: str
) -> list[str]:
    notes = [f"{NOTES.say('not_private')}; privacy.json says what protects and what does not."]
    if schema.subject_id is None:
        notes.append(NOTES.say("rows_are_people", key="subject_id"))
    if not configuration.dataset_is_named:
        notes.append(
            f"No dataset is named: its salt is kept under the prefix, {configuration.dataset!r}. Tables "
            "about the same people must share one dataset name, or their noise could be averaged away."
        )
    return notes + drafted_notes(configuration) + unused_notes(configuration)


#: By the name of the regime.
PROTECTION_NOTES: dict[str, Callable[[RunConfiguration, Schema, Contract | None, str], list[str]]] = {
    "differential_privacy": _drawing_notes,
    "k_anonymity": _rounding_notes,
    "syndiffix": _tree_notes,
}
