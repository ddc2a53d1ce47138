"""Protect: the only crossing from ``sensitive/``. Coded records in, one measurement out, through the ledger.

Whether noise is drawn is the ledger's decision alone (R1 and R4): no caching and no retries by Prefect here.
A committed release is returned whatever became of the table: where it can't be read any more, the ledger is
asked what the header was.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import declarations
from tasks.core.dp import release
from tasks.core.dp.budget import Charge, nominal_charge
from tasks.core.dp.sampling.stream import WordStream
from tasks.core.errors import InternalError, ParameterError
from tasks.core.figures import count_of, plain_up
from tasks.core.ledger.account import Registration, Reservation
from tasks.core.ledger.dataset_notes import BROKEN, DRAW, SKIP, Policy
from tasks.core.ledger.drawing import WAITING_FOR_THE_DRAW, ReleaseMeasurement, draw_once
from tasks.core.ledger.ledger import Admission, Ledger
from tasks.core.ledger.names import ReleaseName
from tasks.core.ledger.tables import PublicTable
from tasks.core.records.columns import Schema
from tasks.core.records.table import RecordTable
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import Headers
from tasks.engine import current_engine
from tasks.messages import Progress, say, tell
from tasks.plan.describe import RunFacts, describe
from tasks.plan.input_file import vintage_of
from tasks.plan.resources import require_draw_fits
from tasks.public.bundles import CONTRACT, DeclaredInput, configured_digest, declared_input, unit_of
from tasks.sensitive.hand_over import hand_over, list_recorded_heads
from tasks.sensitive.ledger import (
    initial_caps,
    open_user_ledger,
    plan_notes_at_registration,
    plan_notes_of_registered,
)
from tasks.sensitive.read import VERDICTS
from tasks.sensitive.record import record_drawn, record_drawn_records
from tasks.step import step
from tasks.storage import SENSITIVE, Reference, StoredTable, Workspace


def release_name(configuration: RunConfiguration, described: RunFacts) -> ReleaseName:
    """The public name of a release (R1), from every public setting that touches the noise."""
    digest = configured_digest(configuration, described.schema)
    return ReleaseName(configuration.dataset, described.vintage, digest)


def charge_of_run(described: RunFacts) -> Charge:
    """What a release is charged, fixed before the draw (R9)."""
    return nominal_charge(described.drawn, described.schema)


def registration(configuration: RunConfiguration, described: RunFacts, charge: Charge) -> Registration:
    protection, caps = configuration.privacy, initial_caps(configuration, charge)
    return Registration(
        dataset=configuration.dataset,
        epsilon_cap=float(caps.epsilon),
        delta_cap=float(caps.delta),
        threshold_delta_cap=float(caps.threshold_delta),
        population=protection.population,
        unit=unit_of(described.schema),
        subject_id=described.schema.subject_id or "",
    )


def public_table(described: RunFacts) -> PublicTable:
    columns = tuple(column.name for column in described.schema.columns)
    return PublicTable(Path(described.source.path), described.header, columns, described.pattern)


def require_admission(ledger: Ledger, configuration: RunConfiguration, described: RunFacts) -> Admission:
    """What a run would meet; whatever it would be refused for is refused here, and nothing is written.

    A committed release is asked for first: nothing that holds for new draws stops it (R1).

    Raises:
        BudgetExhausted: the budget does not cover it.
        ResourceLimit: the draw might not fit into memory.
        ParameterError: the dataset's unit or the column of its subjects is another, its table or name is
            another dataset's, or it would skip what its statements say is not skipped.
    """
    charge = charge_of_run(described)
    entered = registration(configuration, described, charge)
    admission = ledger.check_admission(release_name(configuration, described), charge, entered)
    if admission is not Admission.COMMITTED:
        require_draw_fits(described.drawn, described.schema)
        # The unit first: of a budget of rows there is no column to compare.
        require_unit(ledger, configuration, described)
        ledger.require_one_budget((entered, public_table(described)))
        ledger.require_policy(configuration.dataset, _policy(configuration))
    return admission


def _policy(configuration: RunConfiguration) -> Policy:
    return SKIP if configuration.skips_unchanged else DRAW


def require_unit(ledger: Ledger, configuration: RunConfiguration, described: RunFacts) -> None:
    """Refuse to charge rows to a budget of subjects, or the other way round.

    The account would add up guarantees for different neighbours, and each statement name the wrong one.
    """
    if not ledger.is_registered(configuration.dataset):
        return
    unit, registered = unit_of(described.schema), ledger.account(configuration.dataset).unit
    if unit == registered:
        return
    given = (
        f"subject_id is {described.schema.subject_id!r}" if unit == "subject" else "no subject_id is given"
    )
    raise ParameterError(
        f"All releases of a dataset must protect the same unit. {configuration.dataset!r} is registered with "
        f"the unit {registered}, but {given}, so this release would protect the unit {unit}. Correct "
        f"subject_id, or register another name (marginalia ledger NAME --cap EPSILON DELTA --unit {unit} "
        "--reason '...'). The budget of that name is a second one, and the ledger does not add up the two."
    )


class Admitted(Reference):
    """That a release may be drawn.

    Attributes:
        is_committed: whether it was drawn already: it is returned, whatever became of the table.
        may_be_skipped: whether its draw is not begun and it is configured to be skipped where the table is
            what it was. What an earlier run reserved is drawn: it was decided then.
        is_compared: whether what it is drawn from is recorded, for later runs to compare theirs with.
        registration: what the draw registers its dataset with, if it is not registered.
    """

    def __init__(
        self, configuration: RunConfiguration, described: RunFacts, admission: Admission, plan: list[str]
    ) -> None:
        self.described, self.is_committed = described, admission is Admission.COMMITTED
        self.is_compared = configuration.skips_unchanged
        self.may_be_skipped = self.is_compared and admission is Admission.ADMISSIBLE
        self.name = release_name(configuration, described)
        self.input: DeclaredInput = declared_input(configuration)
        self.registration = registration(configuration, described, charge_of_run(described))
        self.table = public_table(described)
        self.plan = plan


@step(SENSITIVE)
def admit_release(workspace: Workspace, configuration: RunConfiguration, described: RunFacts) -> Admitted:
    """Ask the ledger whether this release may be drawn, before anything is read or registered."""
    ledger = open_user_ledger()
    for head in list_recorded_heads(workspace):
        ledger.verify(head)
    admission = require_admission(ledger, configuration, described)
    if ledger.is_registered(configuration.dataset):
        charge = charge_of_run(described)
        for sentence in plan_notes_of_registered(
            configuration, charge, ledger.account(configuration.dataset)
        ):
            tell(sentence)
        _compare_caps(ledger, configuration)
    if admission is not Admission.COMMITTED:
        # Before the table is read: a run that then skips it leaves no other trace in the chain.
        ledger.note_policy(release_name(configuration, described), _policy(configuration))
        _tell_other_contracts(ledger, configuration, described)
        _tell_other_settings(ledger, release_name(configuration, described))
    if admission is Admission.AT_WORK:
        tell("Another run is drawing this release. This run waits and then returns that measurement.")
    return Admitted(
        configuration,
        described,
        admission,
        plan_notes_at_registration(configuration, charge_of_run(described)),
    )


def _tell_other_settings(ledger: Ledger, name: ReleaseName) -> None:
    """Say that a vintage was drawn under other settings: whoever mends a setting is charged again."""
    if not ledger.is_registered(name.dataset):
        return
    drawn = {each.name for each in ledger.account(name.dataset).reservations if each.is_charged}
    if name not in drawn and any(each.vintage == name.vintage for each in drawn):
        tell(
            f"ATTENTION: vintage {name.vintage!r} was drawn before under other settings. These settings are "
            "another draw: it is charged again, and released beside the first under the next number."
        )


def _tell_other_contracts(ledger: Ledger, configuration: RunConfiguration, described: RunFacts) -> None:
    """Say that a vintage that a strict contract stopped is judged by another one: one more exact answer."""
    contract = described.contract
    if contract is None or configuration.input.contract_mode != "strict":
        return
    stops = [each for each in ledger.stops(configuration.dataset) if each.vintage == described.vintage]
    others = {each.asked for each in stops if each.why == BROKEN} - {contract.meaning}
    if others:
        tell(
            f"ATTENTION: a run of vintage {described.vintage!r} was stopped by another strict contract than "
            "this one. Each contract that is tried asks the table exact questions, and epsilon covers "
            "none of the answers. The ledger counts them, and every later release says how many there were."
        )


def register_at_first_draw(ledger: Ledger, admitted: Admitted) -> None:
    """Register the dataset at its first draw and note the table: whatever was refused before left nothing."""
    entered = admitted.registration
    if not ledger.enter(entered, admitted.table):
        return
    tell(
        f"Registered dataset {entered.dataset!r} with a cap of epsilon {plain_up(entered.epsilon_cap)}, "
        f"delta {plain_up(entered.delta_cap)} for all its releases together."
    )
    for sentence in admitted.plan:
        tell(sentence)


def _compare_caps(ledger: Ledger, configuration: RunConfiguration) -> None:
    """Say that a configured cap is not the one in force: the ledger's is, until somebody changes it there."""
    asked = configuration.privacy.cap
    caps = ledger.account(configuration.dataset).caps
    if asked is None or (asked.epsilon, asked.delta) == (float(caps.epsilon), float(caps.delta)):
        return
    tell(
        f"ATTENTION: privacy.cap is not the cap in force. Dataset {configuration.dataset!r} is registered "
        f"with epsilon {plain_up(caps.epsilon)}, delta {plain_up(caps.delta)}. Change that with marginalia "
        f"ledger {configuration.dataset!r} --cap EPSILON DELTA, or correct the configuration."
    )


def _notice(sentence: str) -> None:
    """Tell what the ledger says; that a signal waits comes from its handler, where no queue may be locked."""
    (say if sentence == WAITING_FOR_THE_DRAW else tell)(sentence)


class HandedOverMeasurement(StoredTable):
    def __init__(self, table: StoredTable, *, is_reused: bool) -> None:
        """Args: is_reused: whether it was drawn by an earlier run, or by another one at the same time."""
        super().__init__(table.key, table.sha256, table.zone, table.stage)
        self.is_reused = is_reused


@step(SENSITIVE)
def protect_records(
    workspace: Workspace,
    records: StoredTable | None,
    judged: StoredTable | None,
    admitted: Admitted,
    table_hash: str,
) -> HandedOverMeasurement:
    """Draw the release's noise once, or return the measurement that was drawn before.

    Args:
        records: the coded records; None for a release that is committed.
        judged: the same table judged by its strict contract, whose verdicts are kept with what is drawn.
        table_hash: keyed, of the table that the records were made from.
    """
    name = admitted.name
    ledger = open_user_ledger()
    charge = charge_of_run(admitted.described)
    if ledger.check_admission(name, charge, admitted.registration) is not Admission.COMMITTED:
        register_at_first_draw(ledger, admitted)

    def draw(folder: Path, before_first_word: Callable[[], None]) -> None:
        if records is None:
            raise InternalError("A committed release must be in the ledger; it is not there any more.")
        record_drawn(workspace, name, table_hash)
        if judged is not None:
            # Before the first word: whatever is kept of this draw holds the verdicts on its own table.
            shutil.copyfile(workspace.path(judged) / VERDICTS, folder / CONTRACT)
        # The stream's key is made here, in the thread and process that use it (R17).
        measurement = release.draw_measurement(
            # Once it is begun, a draw does not stop for a lost cluster.
            RecordTable.in_folder(workspace.path(records), current_engine().steadfast),
            admitted.described.drawn,
            WordStream(),
            before_first_word=before_first_word,
            progress=progress,
        )
        measurement.write(folder)

    with closing(Progress("protect")) as progress:
        drawn = draw_once(ledger, name, charge, draw, _notice)
    if admitted.is_compared and records is not None and not drawn.reused:
        record_drawn_records(workspace, name, drawn.sha256, records)
    if not drawn.reused:
        tell(_charged(charge, drawn))
    handed_over = hand_over(workspace, name, drawn, ledger.store.scope, admitted.input)
    return HandedOverMeasurement(handed_over, is_reused=drawn.reused)


def _charged(charge: Charge, drawn: ReleaseMeasurement) -> str:
    account, left = drawn.account, drawn.remaining_runs
    more = count_of(left, "more release")
    return (
        f"Charged: epsilon {plain_up(charge.epsilon)} at delta {plain_up(charge.delta)}. Spent so far: "
        f"epsilon {plain_up(account.epsilon_spent)} of {plain_up(account.caps.epsilon)} at delta "
        f"{plain_up(account.caps.delta)}; {f'{more} at this setting' if left else 'no more release fits'}."
    )


class DescribedRun(NamedTuple):
    described: RunFacts
    unreadable: ParameterError | None = None  # why the table's header can't be used


def describe_or_recall_run(configuration: RunConfiguration, scheduled: str | None) -> DescribedRun:
    """The public facts, by the file's header or else by the committed release of the same name."""
    try:
        return DescribedRun(describe(configuration, scheduled))
    except ParameterError as error:
        problem = error
    recalled = (
        _describe_committed(configuration, scheduled) if configuration.protection.is_drawn_once else None
    )
    if recalled is None:
        raise problem
    return DescribedRun(recalled, problem)


def _describe_committed(configuration: RunConfiguration, scheduled: str | None) -> RunFacts | None:
    ledger = open_user_ledger()
    if not ledger.is_registered(configuration.dataset):
        return None
    vintage = vintage_of(configuration, scheduled)
    for reservation in reversed(ledger.account(configuration.dataset).reservations):
        if reservation.name.vintage == vintage and reservation.phase in ("commit", "drawing"):
            for headers in _headers(ledger, reservation, configuration):
                with suppress(ParameterError):
                    described = describe(configuration, scheduled, headers)
                    if release_name(configuration, described) == reservation.name:
                        return described
    return None


def _headers(ledger: Ledger, reservation: Reservation, configuration: RunConfiguration) -> Iterator[Headers]:
    """Headers that the table of a release may have had, as far as they decide its name."""
    with suppress(OSError, ValueError, KeyError):
        schema = Schema.from_json(json.dumps(ledger.facts(reservation)["schema"]))
        names = [column.name for column in schema.columns]
        names += [schema.subject_id] if schema.subject_id is not None else []
        if configuration.input.use_columns:  # others may be declared, and were in the file
            said, known = declarations(configuration), set(map(matching_name, names))
            declared = {
                matching_name(name): name
                for group in (said.use_columns, *said.written.values())
                for name in group
            }
            names += [name for key, name in declared.items() if key not in known]
        yield Headers(tuple(names))
