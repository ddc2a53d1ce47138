"""Evaluate: synthetic records and released counts against the raw table, all of it for ``sensitive/``."""

from flows.steps.measure import SensitiveTables, count_step
from tasks.configuration.model import RunConfiguration
from tasks.public.release_files import BuiltCounts
from tasks.sensitive.account import note_unread_table
from tasks.sensitive.evaluate import EvaluationSettings, UtilitySettings, evaluate_against_raw, measure_worth
from tasks.storage import StoredTable


def evaluate_steps(
    configuration: RunConfiguration, measured: SensitiveTables, built: BuiltCounts
) -> StoredTable:
    marginals = measured.marginals or count_step(measured)
    assert built.records is not None, "what is evaluated was generated"
    records = measured.raw[1]
    with note_unread_table(measured.configuration, measured.described):
        return evaluate_against_raw(
            measured.run,
            EvaluationSettings.of(configuration),
            records,
            marginals,
            built.aggregates,
            built.records,
        )


def utility_steps(
    configuration: RunConfiguration, measured: SensitiveTables, built: BuiltCounts
) -> StoredTable | None:
    settings = UtilitySettings.of(configuration)
    if settings is None:
        return None
    assert built.records is not None, "what is measured was generated"
    records = measured.raw[1]
    with note_unread_table(measured.configuration, measured.described):
        return measure_worth(measured.run, settings, records, built.records)
