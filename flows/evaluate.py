"""Evaluate: synthetic records and released counts against the raw table. All of it stays in ``sensitive/``.

count (exact marginals) -> evaluate
                    measure utility, where it is asked for
"""

from prefect import flow

from flows.measure import SensitiveTables, count_step, measure_steps
from flows.publish import build_steps, work_folder
from tasks.caching import cached
from tasks.configuration.model import RunConfiguration
from tasks.public.release_files import BuiltCounts
from tasks.sensitive.evaluate import EvaluationSettings, evaluate_against_raw
from tasks.sensitive.utility import UtilitySettings, measure_worth
from tasks.storage import StoredTable, Workspace


@flow(name="evaluate", flow_run_name="evaluate-{configuration.dataset}", persist_result=False)
def evaluate(configuration: RunConfiguration) -> str:
    """Evaluate the configured release against the raw table; return the place of the result."""
    workspace = Workspace.of(configuration)
    measured = measure_steps(workspace, configuration)
    with work_folder(workspace, configuration) as work:
        built = build_steps(workspace, configuration, measured.measurement, "generate", work)
        utility_steps(workspace, configuration, measured, built)
        return evaluate_steps(workspace, configuration, measured, built).key


def evaluate_steps(
    workspace: Workspace, configuration: RunConfiguration, measured: SensitiveTables, built: BuiltCounts
) -> StoredTable:
    """The steps of this flow on what the others made."""
    marginals, place = measured.marginals or count_step(workspace, measured), measured.place
    assert built.records is not None, "what is evaluated was generated"
    sensitive, released = (measured.raw[1], marginals), (built.aggregates, built.records)
    settings = EvaluationSettings.of(configuration)
    judge = cached(evaluate_against_raw, workspace)
    return judge(workspace, settings, sensitive, released, place.run, place.resources)


def utility_steps(
    workspace: Workspace, configuration: RunConfiguration, measured: SensitiveTables, built: BuiltCounts
) -> StoredTable | None:
    """What the records are worth; None where the configuration does not ask for it."""
    settings = UtilitySettings.of(configuration)
    if settings is None:
        return None
    assert built.records is not None, "what is measured was generated"
    tables, place = (measured.raw[1], built.records), measured.place
    return cached(measure_worth, workspace)(workspace, settings, tables, place.run, place.resources)
