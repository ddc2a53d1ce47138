"""Measure: the sensitive table in, one protected measurement out. Draws noise, or rounds.

    admit -> locate -> (judge the contract, if it is strict) -> encode -> protect                under DP
    admit -> protect -> (locate -> encode)                       under DP, where the release is committed
             locate -> encode -> ... -> count -> round -> (generate) -> hand over      under k-anonymity

Modes of synthesis that read raw records draw here, on this side.
"""

from collections.abc import Callable

from prefect import flow

from tasks.configuration.model import RunConfiguration
from tasks.core.aggregates.aggregates import read_number_of_records
from tasks.core.errors import InputError, MarginaliaError, ParameterError, StoredTableMismatch
from tasks.plan.describe import RunFacts
from tasks.plan.resources import query_resources
from tasks.progress import say
from tasks.request import STAGES, reaches, require_seed_stays, scheduled_date
from tasks.sensitive.count import count_records, describe_records
from tasks.sensitive.hand_over import recorded_heads
from tasks.sensitive.judge import judge_contract
from tasks.sensitive.protect import Admitted, admit_release, protect_records
from tasks.sensitive.read import EncodingRules, encode_records, locate_table, tell_dropped
from tasks.sensitive.recall import Recalled, describe_or_recall, told_as_committed
from tasks.sensitive.record import compare_with_last, fingerprint, keep_configuration
from tasks.sensitive.round import generate_from_records, hand_over_counts, round_counts
from tasks.storage import RunWorkspace, StoredTable, Workspace

_BOTH_REGIMES = (
    "ATTENTION: this dataset also has differentially private releases. Their guarantee and their common cap "
    "do not cover this k-anonymous release."
)


@flow(name="measure", flow_run_name="measure-{configuration.dataset}", persist_result=False)
def measure(configuration: RunConfiguration) -> str:
    """Make the configured measurement, or find it drawn; return its place in the workspace."""
    workspace = Workspace.of(configuration)
    configuration = told_as_committed(configuration, scheduled_date())
    return measure_steps(workspace, configuration).measurement.key


class SensitiveTables:
    """What was made on the sensitive side.

    Attributes:
        described: the public facts of the run.
        run: where it was made.
        table: the operator's table (sensitive); None where a committed release was returned and the table
            can't be read any more.
        records: the coded records (sensitive); None with the table.
        judged: the table judged by its strict contract (sensitive); None where none was judged.
        marginals: exact counts (sensitive); None where they were not needed.
        measurement: the measurement, ready to be published from.
    """

    def __init__(self, described: RunFacts, run: RunWorkspace) -> None:
        """See the class; what is made later is None until then."""
        self.described, self.run = described, run
        self.table: StoredTable | None = None
        self.records: StoredTable | None = None
        self.judged: StoredTable | None = None
        self.marginals: StoredTable | None = None
        self.measurement: StoredTable

    @property
    def raw(self) -> tuple[StoredTable, StoredTable]:
        """The table and its coded records.

        Raises:
            InputError: the table can't be read any more.
        """
        if self.table is None or self.records is None:
            raise InputError(
                "A comparison with the raw table needs the table, and it can't be read any more. Restore it."
            )
        return self.table, self.records


def measure_steps(
    workspace: Workspace, configuration: RunConfiguration, last: str = STAGES[-1]
) -> SensitiveTables:
    """The steps of this flow, as far as a run up to ``last`` needs them.

    Raises:
        ParameterError: the configuration is of SynDiffix, which has a flow of its own.
    """
    make = _MEASURING.get(configuration.protection.regime)
    if make is None:
        raise ParameterError(
            "This flow needs a configuration of differential privacy or k-anonymity, but synthesis_mode is "
            "syndiffix. Run the flow syndiffix, or use marginalia run."
        )
    workspace.prepare()
    workspace.clear_leftovers(configuration.dataset)
    recalled = describe_or_recall(configuration, scheduled_date())
    for note in recalled.described.notes:
        say(note)
    return make(workspace, configuration, recalled, last)


def _rounding(
    workspace: Workspace, configuration: RunConfiguration, recalled: Recalled, last: str
) -> SensitiveTables:
    """Exact counts, rounded down."""
    require_seed_stays(configuration)
    if recorded_heads(workspace, configuration.dataset):
        say(_BOTH_REGIMES)
    measured = _begun(workspace, configuration, recalled.described)
    _read(configuration, measured, is_judged=True)
    measured.measurement = _rounded(configuration, measured, last)
    return measured


def _drawing(
    workspace: Workspace, configuration: RunConfiguration, recalled: Recalled, last: str
) -> SensitiveTables:
    """The draw, or the release that was drawn, whichever stage is the last."""
    described = recalled.described
    admitted = admit_release(workspace, configuration, described)
    measured = _begun(workspace, configuration, described)
    if admitted.is_committed:
        _return_committed(configuration, measured, admitted, recalled.unreadable)
        return measured
    if recalled.unreadable is not None:
        raise recalled.unreadable
    _read(configuration, measured, is_judged=True)
    table, records = measured.raw
    table_hash = fingerprint(workspace, table, records)
    measured.measurement = protect_records(workspace, records, measured.judged, admitted, table_hash)
    compare_with_last(workspace, configuration, described, table, records)
    return measured


#: How a protection's counts are measured, by the name of its regime.
_MEASURING: dict[str, Callable[[Workspace, RunConfiguration, Recalled, str], SensitiveTables]] = {
    "differential_privacy": _drawing,
    "k_anonymity": _rounding,
}


def _begun(workspace: Workspace, configuration: RunConfiguration, described: RunFacts) -> SensitiveTables:
    """A run's folder in ``sensitive/``, with the configuration in it."""
    resources = query_resources(configuration, workspace)
    run = RunWorkspace.begin(workspace, configuration.dataset, resources)
    keep_configuration(run, configuration)
    return SensitiveTables(described, run)


def _return_committed(
    configuration: RunConfiguration,
    measured: SensitiveTables,
    admitted: Admitted,
    unreadable: MarginaliaError | None,
) -> None:
    """The measurement that was drawn; then the table, which only what stays in ``sensitive/`` needs.

    Neither what the table holds now, nor its size, nor its contract stops the release: it was judged when it
    was drawn. That somebody changed what was made of the table before is another matter, and is told.
    """
    measured.measurement = protect_records(measured.run, None, None, admitted, "")
    if unreadable is None:
        try:
            _read(configuration, measured, is_judged=False)
        except StoredTableMismatch:
            raise
        except MarginaliaError as error:
            unreadable = error
    if unreadable is None:
        compare_with_last(measured.run, configuration, measured.described, *measured.raw)
        return
    say(
        f"ATTENTION: the table can't be read any more. {unreadable} The run returns the release that was "
        "drawn before, and compares nothing with the raw table."
    )


def _read(configuration: RunConfiguration, measured: SensitiveTables, *, is_judged: bool) -> None:
    """The table, judged if that is asked for and the contract is strict, as coded records."""
    described, run = measured.described, measured.run
    table = locate_table(run, described.source)
    if is_judged and described.contract is not None and configuration.input.contract_mode == "strict":
        measured.judged = judge_contract(run, table, described.contract, described.schema)
    rules = EncodingRules.of(configuration, described.parameters)
    records = encode_records(run, table, described.schema, rules)
    # Changed since it was made: an error, also where all that would read it is cached.
    run.path(records)
    tell_dropped(run, configuration, records)
    measured.table, measured.records = table, records


def count_step(measured: SensitiveTables) -> StoredTable:
    """Exact counts of every combination up to the reporting length."""
    length = measured.described.reporting_length or 1
    measured.marginals = count_records(measured.run, measured.raw[1], length)
    return measured.marginals


def aggregate_step(configuration: RunConfiguration, measured: SensitiveTables) -> StoredTable:
    """What the aggregate stage leaves in ``sensitive/``."""
    marginals = measured.marginals or count_step(measured)
    resolution, prefix = configuration.reporting_resolution, configuration.prefix
    return describe_records(measured.run, measured.raw[1], marginals, resolution, prefix)


def _rounded(configuration: RunConfiguration, measured: SensitiveTables, last: str) -> StoredTable:
    """Count, round down, draw the records of a mode that reads raw ones, hand over."""
    run, (table, coded), records = measured.run, measured.raw, None
    resolution, synthesis = configuration.reporting_resolution, configuration.synthesis
    length = measured.described.reporting_length
    aggregates = round_counts(run, count_step(measured), length, resolution)
    if synthesis.reads_records and reaches(last, "generate"):
        jobs = configuration.resources.parallel_jobs
        records = generate_from_records(run, coded, aggregates, synthesis, resolution, jobs)
    _tell_nothing_reported(run, aggregates, resolution)
    made = coded if synthesis.reads_records else aggregates
    compare_with_last(run, configuration, measured.described, table, made)
    return hand_over_counts(run, configuration, measured.described, aggregates, records)


def _tell_nothing_reported(workspace: Workspace, aggregates: StoredTable, resolution: int) -> None:
    """Say so where the rounded number of records, which is released, is 0."""
    if read_number_of_records(workspace.path(aggregates)) == 0:
        say(
            f"ATTENTION: reporting_resolution, {resolution}, is above the number of records: nothing can be "
            "reported. Lower it."
        )
