"""Measure: the sensitive table in, one protected measurement out. Draws noise, or rounds.

    admit -> locate -> (judge the contract, if it is strict) -> encode -> protect                under DP
    admit -> protect -> (locate -> encode)                       under DP, where the release is committed
             locate -> encode -> ... -> count -> round -> (generate) -> hand over      under k-anonymity

Modes of synthesis that read raw records draw here, on this side, and the raw table is compared here.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from tasks.configuration.model import RunConfiguration
from tasks.core.aggregates.aggregates import read_number_of_records
from tasks.core.errors import MarginaliaError, ParameterError, StoredTableMismatch
from tasks.core.evaluation.sensitive_files import RecordsPromise
from tasks.core.ledger.ledger import Admission
from tasks.messages import tell
from tasks.plan.describe import RunFacts, tell_notes
from tasks.plan.input_file import announce_if_late
from tasks.plan.resources import query_resources
from tasks.public.publish import BuiltCounts
from tasks.public.releases import require_not_withdrawn
from tasks.public.summary import tell_unchanged
from tasks.request import STAGES, reaches, require_seed_stays, scheduled_date
from tasks.sensitive.account import note_unread_table, record_account, watch_budget
from tasks.sensitive.count import (
    count_records,
    describe_records,
    generate_from_records,
    hand_over_counts,
    round_counts,
)
from tasks.sensitive.evaluate import evaluate_against_raw, measure_worth
from tasks.sensitive.hand_over import list_recorded_heads
from tasks.sensitive.protect import (
    Admitted,
    DescribedRun,
    admit_release,
    charge_of_run,
    describe_or_recall_run,
    protect_records,
    public_table,
)
from tasks.sensitive.read import (
    EncodingRules,
    encode_records,
    judge_contract,
    locate_table,
    report_dropped_cells,
)
from tasks.sensitive.record import (
    EarlierOutput,
    PlannedOutput,
    compare_with_last,
    find_equal_draw,
    find_equal_output,
    fingerprint,
    keep_configuration,
    record_output,
)
from tasks.storage import RunWorkspace, StoredTable, Workspace


def begin_run(workspace: Workspace, configuration: RunConfiguration) -> RunWorkspace:
    """A run that reads the table, with what it was asked for written down."""
    resources = query_resources(configuration, workspace)
    run = RunWorkspace.begin(workspace, configuration.dataset, resources)
    keep_configuration(run, configuration)
    return run


def tell_of_private_releases(workspace: Workspace, dataset: str, made: str) -> None:
    """Tell that the guarantee of the dataset's other releases does not cover this one, which is `made`."""
    if list_recorded_heads(workspace, dataset):
        tell(
            "ATTENTION: this dataset also has differentially private releases. Their guarantee and their "
            f"common cap do not cover this {made}."
        )


class SensitiveTables:
    """What was made on the sensitive side, from the public facts of the run.

    Attributes:
        table: the operator's table (sensitive); None where a committed release was returned and the table
            can't be read any more.
        records: the coded records (sensitive); None with the table.
        judged: the table judged by its strict contract (sensitive); None where none was judged.
        marginals: exact counts (sensitive); None where they were not needed.
        is_recalled: whether an earlier run drew it: the table may be another one by now.
        configuration: the run's; of the earlier vintage, where that is returned.
        wanted: what the run is to make, where later runs may return it; else None.
        unchanged: what an earlier run made of the same; None where it is made anew.
    """

    def __init__(self, configuration: RunConfiguration, described: RunFacts, run: RunWorkspace) -> None:
        self.configuration, self.described, self.run = configuration, described, run
        self.wanted: PlannedOutput | None = None
        self.unchanged: EarlierOutput | None = None
        self.table: StoredTable | None = None
        self.records: StoredTable | None = None
        self.judged: StoredTable | None = None
        self.marginals: StoredTable | None = None
        self.measurement: StoredTable
        self.is_recalled = False

    @property
    def raw(self) -> tuple[StoredTable, StoredTable]:
        """The table and its coded records, of a run that could read it."""
        assert self.table is not None and self.records is not None, "what compares with them has looked"
        return self.table, self.records

    def reading(self) -> AbstractContextManager[None]:
        """Within it the table is read; that it can't be is noted."""
        return note_unread_table(self.configuration, self.described)


def measure_steps(
    workspace: Workspace, configuration: RunConfiguration, seeks: str, last: str = STAGES[-1]
) -> SensitiveTables:
    """Measure, as far as a run up to ``last`` needs it.

    Args:
        seeks: what the run is after, ``measurement`` or ``release``: of an unchanged table that of an earlier
            run will do.

    Raises:
        ParameterError: the configuration is of SynDiffix, which has a flow of its own.
    """
    make = _MEASURES.get(configuration.protection.regime)
    if make is None:
        raise ParameterError(
            "This flow needs a configuration of differential privacy or k-anonymity, but synthesis_mode is "
            "syndiffix. Run the flow syndiffix, or use marginalia run."
        )
    workspace.prepare()
    workspace.clear_leftovers(configuration.dataset)
    with announce_if_late(configuration, scheduled_date()):
        recalled = describe_or_recall_run(configuration, scheduled_date())
    require_not_withdrawn(workspace, configuration.dataset, recalled.described.vintage)
    tell_notes(recalled.described)
    return make(workspace, configuration, recalled, last, seeks)


def _measure_rounded(
    workspace: Workspace, configuration: RunConfiguration, recalled: DescribedRun, last: str, seeks: str
) -> SensitiveTables:
    require_seed_stays(configuration)
    tell_of_private_releases(workspace, configuration.dataset, "k-anonymous release")
    run = begin_run(workspace, configuration)
    measured = SensitiveTables(configuration, recalled.described, run)
    _read_table(measured, is_judged=True)
    _round_steps(measured, last, f"{seeks} {last}")
    return measured


def _measure_private(
    workspace: Workspace, configuration: RunConfiguration, recalled: DescribedRun, last: str, seeks: str
) -> SensitiveTables:
    described = recalled.described
    charge = charge_of_run(described)
    with watch_budget(workspace, configuration, charge):
        admitted = admit_release(workspace, configuration, described)
        measured = SensitiveTables(configuration, described, begin_run(workspace, configuration))
        if admitted.is_committed:
            _return_committed(measured, admitted, recalled.unreadable)
        elif recalled.unreadable is not None:
            raise recalled.unreadable
        else:
            _draw(measured, admitted, f"{seeks} {last}")
    record_account(workspace, configuration, charge, is_charged=not measured.is_recalled)
    return measured


def _draw(measured: SensitiveTables, admitted: Admitted, goal: str) -> None:
    """The table, judged and encoded, and one draw from it; none where it is unchanged and so skipped."""
    run, configuration = measured.run, measured.configuration
    _read_table(measured, is_judged=True)
    table, records = measured.raw
    if configuration.skips_unchanged:
        measured.wanted = PlannedOutput.of(run, configuration, measured.described, goal)
    if admitted.may_be_skipped:
        earlier = find_equal_draw(run, admitted.name, records)
        if earlier is not None:
            _return_earlier(measured, earlier)
            return
    _protect(measured, admitted, records, measured.judged, fingerprint(run, table, records))
    compare_with_last(run, configuration, measured.described, table, records)


def _protect(
    measured: SensitiveTables,
    admitted: Admitted,
    records: StoredTable | None = None,
    judged: StoredTable | None = None,
    table_hash: str = "",
) -> None:
    """Draw, or without records return what is committed."""
    drawn = protect_records(measured.run, records, judged, admitted, table_hash)
    measured.measurement, measured.is_recalled = drawn, drawn.is_reused


#: How a protection's counts are measured, by the name of its regime.
_MEASURES: dict[str, Callable[[Workspace, RunConfiguration, DescribedRun, str, str], SensitiveTables]] = {
    "differential_privacy": _measure_private,
    "k_anonymity": _measure_rounded,
}


def _return_earlier(measured: SensitiveTables, vintage: str) -> None:
    asked, dataset, wanted = measured.described.vintage, measured.configuration.dataset, measured.wanted
    measured.configuration = measured.configuration.model_copy(update={"vintage": vintage})
    measured.described = replace(measured.described, vintage=vintage)
    _protect(measured, Admitted(measured.configuration, measured.described, Admission.COMMITTED, []))
    found = None if wanted is None else find_equal_output(measured.run, dataset, wanted, asked)
    place = found.place if found is not None and found.vintage == vintage else None
    measured.unchanged = EarlierOutput(vintage, place)
    tell_unchanged(measured.run, measured.configuration, asked, vintage, place or measured.measurement.key)


def record_release_for_reuse(workspace: Workspace, measured: SensitiveTables, release: StoredTable) -> None:
    if measured.wanted is not None:
        configuration, vintage = measured.configuration, measured.described.vintage
        record_output(workspace, configuration.dataset, measured.wanted, vintage, release)


def _return_committed(
    measured: SensitiveTables, admitted: Admitted, unreadable: MarginaliaError | None
) -> None:
    """The measurement that was drawn; then the table, which only what stays in ``sensitive/`` needs.

    Neither what the table holds now, nor its size, nor its contract stops the release: it was judged when it
    was drawn. That somebody changed what was made of the table before is another matter, and is told.
    """
    _protect(measured, admitted)
    if unreadable is None:
        try:
            _read_table(measured, is_judged=False)
        except StoredTableMismatch:
            raise
        except MarginaliaError as error:
            unreadable = error
    if unreadable is None:
        compare_with_last(measured.run, measured.configuration, measured.described, *measured.raw)
        return
    tell(
        f"ATTENTION: the table can't be read any more. {unreadable} The run returns the release that was "
        "drawn before, and compares nothing with the raw table."
    )


def _read_table(measured: SensitiveTables, *, is_judged: bool) -> None:
    configuration, described, run = measured.configuration, measured.described, measured.run
    rules = EncodingRules.of(configuration, described.parameters)
    with measured.reading():
        table = locate_table(run, described.source)
        if is_judged and described.contract is not None and configuration.input.contract_mode == "strict":
            is_drawn = configuration.protection.is_drawn_once
            drawn_as = (described.vintage, public_table(described)) if is_drawn else None
            measured.judged = judge_contract(run, table, described.contract, described.schema, drawn_as)
        records = encode_records(run, table, described.schema, rules)
        # Changed since it was made: an error, also where all that would read it is cached.
        run.path(records)
        report_dropped_cells(run, configuration, records)
    measured.table, measured.records = table, records


def _count(measured: SensitiveTables) -> StoredTable:
    """Exact counts, made once."""
    if measured.marginals is None:
        length = measured.described.reporting_length or 1
        with measured.reading():
            measured.marginals = count_records(measured.run, measured.raw[1], length)
    return measured.marginals


def aggregate_step(measured: SensitiveTables) -> StoredTable:
    asked, marginals = measured.configuration, _count(measured)
    limits = (asked.reporting_resolution, asked.prefix)
    with measured.reading():
        return describe_records(measured.run, measured.raw[1], marginals, *limits)


def _round_steps(measured: SensitiveTables, last: str, goal: str) -> None:
    run, configuration, described = measured.run, measured.configuration, measured.described
    (table, coded), records = measured.raw, None
    resolution, synthesis = configuration.reporting_resolution, configuration.synthesis
    aggregates = round_counts(run, _count(measured), described.reporting_length, resolution)
    if synthesis.reads_records and reaches(last, "generate"):
        jobs = configuration.resources.parallel_jobs
        records = generate_from_records(run, coded, aggregates, synthesis, resolution, jobs)
    if read_number_of_records(run.path(aggregates)) == 0:
        tell(
            f"ATTENTION: reporting_resolution, {resolution}, is above the number of records: nothing can be "
            "reported. Lower it."
        )
    compare_with_last(run, configuration, described, table, coded if synthesis.reads_records else aggregates)
    if configuration.skips_unchanged:
        # Where records are drawn from raw ones, those; else the counts are all that there is to release.
        made_of = (coded, aggregates) if synthesis.reads_records else (aggregates,)
        measured.wanted = PlannedOutput.of(run, configuration, described, goal, made_of)
        found = find_equal_output(run, configuration.dataset, measured.wanted, described.vintage)
        if found is not None:
            measured.unchanged = found
            tell_unchanged(run, configuration, described.vintage, found.vintage, found.place or "")
            return
    measured.measurement = hand_over_counts(run, configuration, described, aggregates, records)


def evaluate_steps(measured: SensitiveTables, built: BuiltCounts) -> StoredTable:
    marginals = _count(measured)
    assert built.records is not None, "what is evaluated was generated"
    configuration, protection = measured.configuration, measured.configuration.protection
    promise = RecordsPromise(
        protection.is_drawn_once, configuration.synthesis.reads_records, configuration.is_fitted
    )
    with measured.reading():
        return evaluate_against_raw(
            measured.run,
            configuration.reporting_resolution,
            configuration.prefix,
            promise,
            configuration.report.words,
            measured.raw[1],
            marginals,
            built.aggregates,
            built.records,
        )


def utility_steps(measured: SensitiveTables, built: BuiltCounts) -> StoredTable | None:
    request = measured.configuration.evaluate_utility
    if request is None:
        return None
    assert built.records is not None, "what is measured was generated"
    prefix = measured.configuration.prefix
    with measured.reading():
        return measure_worth(measured.run, request, prefix, measured.raw[1], built.records)
