"""Measure: the sensitive table in, one differentially private measurement out. The only flow that draws.

admit -> locate -> encode -> (judge the contract, if it is strict) -> protect
"""

from prefect import flow

from tasks.caching import cached
from tasks.configuration import RunConfiguration
from tasks.contract import judge_contract
from tasks.describe import Described, describe
from tasks.ingest import encode_records, locate_table
from tasks.naming import run_label, scheduled_date
from tasks.progress import say
from tasks.protect import admit_release, protect_records
from tasks.resources import query_resources
from tasks.storage import StoredTable, Workspace


@flow(name="measure", flow_run_name="measure-{configuration.dataset}", persist_result=False)
def measure(configuration: RunConfiguration) -> str:
    """Draw the configured release, or find it drawn; return the measurement's place in the workspace."""
    workspace = Workspace.of(configuration)
    return measuring(workspace, configuration).measurement.key


class Measured:
    """What was made on the sensitive side.

    Attributes:
        described: the public facts of the run.
        table: the operator's table (sensitive).
        records: the coded records (sensitive).
        measurement: the measurement, ready to be published from.
        run: the run's folder in ``sensitive/``, relative to it.
    """

    def __init__(
        self, described: Described, run: str, tables: tuple[StoredTable, StoredTable, StoredTable]
    ) -> None:
        """Args: tables: table, records, measurement."""
        self.described, self.run = described, run
        self.table, self.records, self.measurement = tables


def measuring(workspace: Workspace, configuration: RunConfiguration) -> Measured:
    """The steps of this flow."""
    workspace.prepare()
    workspace.clear_leftovers(configuration.dataset)
    described = describe(configuration, scheduled_date())
    for note in described.notes:
        say(note)
    admitted = admit_release(workspace, configuration, described)
    run = f"{configuration.dataset}/{run_label()}"
    resources = query_resources(configuration, workspace)
    table = locate_table(workspace, described.source)
    if described.contract is not None and configuration.input.contract_mode == "strict":
        judge = cached(judge_contract, workspace)
        judge(workspace, table, described.contract, described.schema, run, resources)
    parameters = described.parameters
    needs_tags = parameters.contribution != "schema" or parameters.record_limit is not None
    encode = cached(encode_records, workspace)
    records = encode(workspace, table, described.schema, needs_tags, run, resources)
    measurement = protect_records(workspace, records, described, admitted)
    return Measured(described, run, (table, records, measurement))
