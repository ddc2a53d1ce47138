"""Evaluate: synthetic records and released counts against the raw table. All of it stays in ``sensitive/``.

count (exact marginals) -> evaluate
                    measure utility, where it is asked for
"""

from prefect import flow

from flows.measure import SensitiveTables, count_step, measure_steps
from flows.publish import build_steps, publishing
from tasks.configuration.model import RunConfiguration
from tasks.failures import explained
from tasks.public.release_files import BuiltCounts
from tasks.sensitive.evaluate import EvaluationSettings, evaluate_against_raw
from tasks.sensitive.retention import retained
from tasks.sensitive.stopped import unread_noted
from tasks.sensitive.utility import UtilitySettings, measure_worth
from tasks.storage import StoredTable, Workspace


@flow(name="evaluate", flow_run_name="evaluate-{configuration.dataset}", persist_result=False)
@explained
def evaluate(configuration: RunConfiguration) -> str:
    """Evaluate the configured release against the raw table; return the place of the result."""
    workspace = Workspace.of(configuration)
    with retained(workspace, configuration):
        measured = measure_steps(workspace, configuration)
        configuration = measured.configuration
        with publishing(workspace, configuration) as run:
            built = build_steps(run, configuration, measured.measurement, "generate")
            utility_steps(configuration, measured, built)
            return evaluate_steps(configuration, measured, built).key


def evaluate_steps(
    configuration: RunConfiguration, measured: SensitiveTables, built: BuiltCounts
) -> StoredTable:
    """The steps of this flow on what the others made."""
    marginals = measured.marginals or count_step(measured)
    assert built.records is not None, "what is evaluated was generated"
    records = measured.raw[1]
    with unread_noted(measured.configuration, measured.described):
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
    """What the records are worth; None where the configuration does not ask for it."""
    settings = UtilitySettings.of(configuration)
    if settings is None:
        return None
    assert built.records is not None, "what is measured was generated"
    records = measured.raw[1]
    with unread_noted(measured.configuration, measured.described):
        return measure_worth(measured.run, settings, records, built.records)
