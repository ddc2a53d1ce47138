"""The ledger: registrations, charges and releases go in, whether a draw may happen comes out.

Drawing itself goes through `tasks.core.ledger.drawing.draw_once`.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from tasks.core.dp.budget import Charge, sum_of
from tasks.core.dp.measurement import measurement_sha256
from tasks.core.errors import InternalError, ParameterError, StoredTableMismatch
from tasks.core.ledger.account import (
    FOLLOWING,
    Account,
    Registration,
    Reservation,
    account_of,
    lower_caps,
    raise_caps,
    reasons_of,
)
from tasks.core.ledger.audit import Audit, audit_entries
from tasks.core.ledger.dataset_notes import (
    DRAW,
    Policy,
    PolicyChange,
    Stop,
    Why,
    enter_subject,
    policy_changes,
    require_policy,
    stops_of,
    subject_mark,
)
from tasks.core.ledger.entries import Entry, Transaction, damage_error
from tasks.core.ledger.names import ReleaseName, refuse_twin, registered_names, salted_names
from tasks.core.ledger.place import Database, Place, ledger_place
from tasks.core.ledger.refusals import budget_exhausted, second_budget
from tasks.core.ledger.store import LedgerStore
from tasks.core.ledger.tables import PublicTable, find_resemblance, note_table

_ENGINES = {"aes": "rounded-gaussian/AES-256-CTR"}


class Admission(StrEnum):
    """What a run of a release would meet.

    ``COMMITTED``: its measurement is there, nothing is drawn. ``ADMISSIBLE``: it would be charged.
    ``RESERVED``: an earlier run's reservation, from which nothing was drawn, would be used.
    ``AT_WORK``: another run is drawing it; this one would wait.
    """

    COMMITTED = "committed"
    ADMISSIBLE = "admissible"
    RESERVED = "reserved"
    AT_WORK = "at work"


class Ledger:
    """The account of every dataset, in one chain."""

    def __init__(self, store: LedgerStore, code: str = "") -> None:
        """Args: code: the code's version, noted with each entry."""
        self.store = store
        self.code = code

    def head(self) -> str:
        return self.entries()[-1].sha256

    def verify(self, expected_head: str | None = None) -> str:
        """Check the whole chain and return its head.

        Args:
            expected_head: a head that a release or a measurement recorded; it must be one of this chain's.

        Raises:
            LedgerError: the chain is broken, or was cut short, or is another ledger's.
        """
        entries = self.entries()
        if expected_head is not None and all(entry.sha256 != expected_head for entry in entries):
            raise damage_error(
                self.store.whereabouts,
                "it lacks the head that a release or measurement in the workspace has recorded: it was cut "
                "short, or is another ledger",
            )
        return entries[-1].sha256

    def audit(self) -> Audit:
        return audit_entries(self.entries(), self.store.whereabouts)

    def entries(self) -> list[Entry]:
        """All entries in the chain's order, verified, with a reservation for each stored measurement.

        The measurements are listed first: each is made after its reservation is on the disk.
        """
        measurements = self.store.measurements.names()
        entries = self.store.entries()
        known = {f"{ReleaseName.of(e.body).key}.{e.seq}" for e in entries if e.phase == "reserve"}
        if not known.issuperset(measurements):
            raise damage_error(
                self.store.whereabouts,
                "it has a measurement that none of its entries names: it was cut short",
            )
        return entries

    def datasets(self) -> tuple[str, ...]:
        return tuple(registered_names(self.entries()))

    def is_registered(self, dataset: str) -> bool:
        return dataset in self.datasets()

    def has_salt(self, dataset: str) -> bool:
        return dataset in salted_names(self.entries())

    def reasons(self, dataset: str) -> tuple[str, ...]:
        return reasons_of(self.entries(), dataset)

    def register(self, registration: Registration) -> Account:
        """Give a dataset its budget, once, as a person asks for it.

        Raises:
            ParameterError: it is registered already, its name is another's by
                `names.fold_name`, or a cap is out of range.
        """
        with self.store.transaction() as work:
            if registration.dataset in registered_names(work.entries):
                raise ParameterError(
                    f"A dataset is registered once, and '{registration.dataset}' is registered already. "
                    "Lower its caps freely, or raise them with --reason."
                )
            self._register(work, registration)
            return account_of(work.entries, registration.dataset)

    def enter(self, registration: Registration, table: PublicTable) -> bool:
        """Note the table of a release that is about to be drawn; return whether its dataset was new."""
        with self.store.transaction() as work:
            return self._enter(work, registration, table)

    def require_one_budget(self, *runs: tuple[Registration, PublicTable]) -> None:
        """Refuse a second budget for one table, of several runs in order. Nothing is read before, or written.

        Raises:
            ParameterError: a dataset's name is another's by `names.fold_name`; or its table has the
                path or the columns of another dataset's, and no person wrote down why it is apart; or its
                subjects were told apart by another column (`subjects.enter_subject`).
        """
        rehearsal = Transaction(self.entries())
        for registration, table in runs:
            self._enter(rehearsal, registration, table)

    def set_apart(self, dataset: str, reason: str) -> None:
        """Write down why the people of a dataset are others than those of each that is known by now.

        It then has a budget, or a salt of SynDiffix's noise, of its own though its tables resemble theirs. It
        need not be registered: SynDiffix keeps no account.

        Raises:
            ParameterError: without a reason; or its name is another's by `names.fold_name`.
        """
        if not reason.strip():
            raise ParameterError(
                f"A budget or a salt of its own for '{dataset}' needs a reason; none was given: add --reason."
            )
        with self.store.transaction() as work:
            self._refuse_twin(work, dataset)
            work.append({"phase": "apart", "apart": dataset, "code": self.code, "reason": reason.strip()})

    def rename_subject(self, dataset: str, subject_id: str, reason: str) -> None:
        """Write down that the column that tells a dataset's subjects apart has another name now, and why."""
        is_of_subjects = self.is_registered(dataset) and self.account(dataset).unit == "subject"
        if not reason.strip() or not is_of_subjects:
            raise ParameterError(
                f"Another name of the column that tells the subjects of '{dataset}' apart needs a reason "
                "(--reason), and a dataset that is registered with the unit subject. Nothing was changed."
            )
        with self.store.transaction() as work:
            mark = subject_mark(work.entries, subject_id)
            body = {"phase": "subject", "subject_of": dataset, "subject": mark, "code": self.code}
            work.append({**body, "reason": reason.strip()})

    def note_stop(self, dataset: str, vintage: str, why: Why, asked: str, table: PublicTable) -> None:
        """Write down that its table stops a run, before anybody learns of it; not which rules or rows did.

        Args:
            dataset: which need not be registered.
            vintage: that it would have released.
            asked: hash of what the contract says, or of what is declared.
        """
        with self.store.transaction() as work:
            # Not under "dataset": an account is made of the entries that have that. There may be none yet.
            body = {"phase": "stopped", "stopped_of": dataset, "vintage": vintage, "why": why, "asked": asked}
            work.append({**body, "code": self.code, **table.marks(work.entries).as_body()})

    def stops(self, dataset: str) -> tuple[Stop, ...]:
        return stops_of(self.entries(), dataset)

    def require_policy(self, dataset: str, policy: Policy) -> None:
        require_policy(self.entries(), dataset, policy)

    def note_policy(self, name: ReleaseName, policy: Policy) -> None:
        """Note the policy of a run that is about to read its table, where it is another than before."""
        if policy == DRAW and not policy_changes(self.entries(), name.dataset):
            return  # as ever: nothing is written
        with self.store.transaction() as work:
            require_policy(work.entries, name.dataset, policy)
            changes = policy_changes(work.entries, name.dataset)
            known = [change.policy for change in changes if change.digest == name.digest]
            if (known[-1] if known else DRAW) != policy:
                # Not under "dataset": an account is made of the entries that have that.
                body = {"phase": "unchanged", "unchanged_of": name.dataset, "vintage": name.vintage}
                work.append({**body, "digest": name.digest, "policy": policy, "code": self.code})

    def policy_changes(self, dataset: str, head: str | None = None) -> tuple[PolicyChange, ...]:
        """Changes of a dataset's policies on unchanged tables, now or when the chain ended at ``head``."""
        return policy_changes(self._entries_at(head), dataset)

    def _enter(self, work: Transaction, registration: Registration, table: PublicTable) -> bool:
        dataset = registration.dataset
        is_new = dataset not in registered_names(work.entries)
        if is_new:
            self._refuse_twin(work, dataset)
        found = find_resemblance(work.entries, "table", dataset, table)
        if found is not None:
            raise second_budget(found, registration.unit, is_new=is_new)
        if is_new:
            self._register(work, registration)
        enter_subject(work, dataset, registration.subject_id, self.code)
        note_table(work, "table", dataset, table, self.code)
        return is_new

    def _register(self, work: Transaction, registration: Registration) -> None:
        self._refuse_twin(work, registration.dataset)
        self._append(work, "register", registration.dataset, registration.as_body())

    def _refuse_twin(self, work: Transaction, dataset: str) -> None:
        refuse_twin(dataset, registered_names(work.entries))
        refuse_twin(dataset, salted_names(work.entries))

    def lower(
        self, dataset: str, epsilon_cap: float, delta_cap: float, threshold_delta_cap: float | None = None
    ) -> Account:
        """Lower a dataset's caps, below what is spent if wished; see `account.lower_caps`."""
        with self.store.transaction() as work:
            caps = lower_caps(account_of(work.entries, dataset), epsilon_cap, delta_cap, threshold_delta_cap)
            self._append(work, "lower", dataset, caps.as_body())
            return account_of(work.entries, dataset)

    def raise_caps(
        self,
        dataset: str,
        epsilon_cap: float,
        delta_cap: float,
        threshold_delta_cap: float | None = None,
        *,
        reason: str,
    ) -> Account:
        """Raise a dataset's caps; the reason stays in the chain. See `account.raise_caps`."""
        if not reason.strip():
            raise ParameterError(
                f"Raising the caps of '{dataset}' needs a reason; none was given: add --reason."
            )
        with self.store.transaction() as work:
            caps = raise_caps(account_of(work.entries, dataset), epsilon_cap, delta_cap, threshold_delta_cap)
            self._append(work, "raise", dataset, caps.as_body() | {"reason": reason.strip()})
            return account_of(work.entries, dataset)

    def account(self, dataset: str, head: str | None = None) -> Account:
        """The account of a dataset, now or when the chain ended at ``head``."""
        return account_of(self._entries_at(head), dataset)

    def _entries_at(self, head: str | None) -> list[Entry]:
        entries = self.entries()
        end = next((entry.seq for entry in entries if entry.sha256 == head), len(entries))
        return entries[:end]

    def check_admission(
        self, name: ReleaseName, charge: Charge, registration: Registration | None = None
    ) -> Admission:
        """What a run of this release would meet; to be asked before anything is read. It writes nothing.

        Args:
            registration: what the run would register the dataset with, if it is not registered.

        Raises:
            LedgerError: the ledger is damaged, or the dataset is neither registered nor would be.
            StoredTableMismatch: the release is committed and its measurement was changed or is gone.
            BudgetExhausted: the budget does not cover it.
        """
        require_private(charge)
        entries = self.entries()
        is_new = registration is not None and name.dataset not in registered_names(entries)
        account = registration.account() if registration and is_new else account_of(entries, name.dataset)
        latest = account.latest(name)
        if latest is not None:
            if latest.phase == "commit":
                self.committed_folder(latest)
                return Admission.COMMITTED
            if self.store.is_at_work(name.key):
                return Admission.AT_WORK
            if latest.phase == "drawing" and self.has_measurement(latest):
                return Admission.COMMITTED
            if latest.phase == "reserve" and covers(latest, charge):
                return Admission.RESERVED
        _admit(account, charge, latest)
        return Admission.ADMISSIBLE

    def has_measurement(self, reservation: Reservation) -> bool:
        return self.store.measurements.has(reservation.measurement_name)

    def facts(self, reservation: Reservation) -> dict[str, Any]:
        """The public facts of a kept measurement.

        Raises:
            OSError: there is none.
            ValueError: they can't be read.
        """
        if not self.has_measurement(reservation):
            raise FileNotFoundError(reservation.measurement_name)
        name, sha256 = reservation.measurement_name, reservation.measurement_sha256
        text = (self.store.measurements.folder(name, sha256) / "measurement.json").read_text(encoding="utf-8")
        facts: dict[str, Any] = json.loads(text)
        return facts

    def committed_folder(self, reservation: Reservation) -> Path:
        name, kept = reservation.measurement_name, self.store.measurements
        advice = (
            f"It can't be made again: restore {kept.where(name)} from a backup, or run under a new vintage, "
            "which is drawn and charged anew."
        )
        if not kept.has(name):
            raise StoredTableMismatch(
                f"The measurement of this release must be in the ledger, but it is gone. {advice}"
            )
        folder = kept.folder(name, reservation.measurement_sha256)
        if measurement_sha256(folder) != reservation.measurement_sha256:
            raise StoredTableMismatch(
                f"The measurement of this release must be as it was committed, but it was changed. {advice}"
            )
        return folder

    def reserve(self, name: ReleaseName, charge: Charge) -> Reservation:
        """Admit and charge a release; an open reservation of it is replaced, not added to.

        Raises:
            BudgetExhausted: the budget does not cover it.
        """
        require_private(charge)
        with self.store.transaction() as work:
            account = account_of(work.entries, name.dataset)
            latest = account.latest(name)
            _admit(account, charge, latest)
            content: dict[str, object] = {
                **name.as_body(),
                "unit": account.unit,
                "mu2": str(charge.mu_squared_exact),
                "delta_t": str(charge.threshold_delta_exact),
                "eps_delta_requested": [repr(float(charge.epsilon)), repr(float(charge.delta))],
                "accountant": charge.accountant,
                "engine": _ENGINES[charge.engine],
            }
            if latest is not None and latest.phase == "reserve":
                content["replaces"] = latest.seq
            entry = self._append(work, "reserve", name.dataset, content)
            return _at(work.entries, entry.seq)

    def advance(self, reservation: Reservation, phase: str, **content: str) -> Reservation:
        """Record what became of a reservation: ``drawing``, ``commit``, ``void`` or ``lost``."""
        with self.store.transaction() as work:
            now = _at(work.entries, reservation.seq)
            if phase not in FOLLOWING.get(now.phase, ()):
                raise InternalError(f"A release must not go from {now.phase} to {phase}.")
            body = {**now.name.as_body(), "reserve": now.seq, **content}
            self._append(work, phase, now.name.dataset, body)
            return _at(work.entries, now.seq)

    def _append(self, work: Transaction, phase: str, dataset: str, content: dict[str, object]) -> Entry:
        return work.append({"phase": phase, "dataset": dataset, "code": self.code, **content})


def open_store(place: Place | None = None) -> LedgerStore:
    """The store at a place, made where it is missing; None: the user's own (`place.ledger_place`)."""
    place = place or ledger_place()
    if isinstance(place, Database):
        # Not for those who have no database: loading its client takes a tenth of a second.
        from tasks.core.ledger.postgresql import PostgresqlStore

        return PostgresqlStore(place)
    from tasks.core.ledger.sqlite import SqliteStore

    return SqliteStore(place)


def open_ledger(place: Place | None = None, code: str = "") -> Ledger:
    return Ledger(open_store(place), code)


def covers(reservation: Reservation, charge: Charge) -> bool:
    return (
        charge.mu_squared_exact <= reservation.mu_squared
        and charge.threshold_delta_exact <= reservation.threshold_delta
    )


def _at(entries: list[Entry], seq: int) -> Reservation:
    dataset = entries[seq - 1].text("dataset")
    return next(r for r in account_of(entries, dataset).reservations if r.seq == seq)


def _admit(account: Account, charge: Charge, latest: Reservation | None) -> None:
    """Refuse what the budget does not cover (R7); an open reservation of the release gives way."""
    spent = account.spent
    if latest is not None and latest.phase == "reserve":
        others = [r for r in account.reservations if r.is_charged and r.seq != latest.seq]
        spent = sum_of((r.mu_squared, r.threshold_delta) for r in others)
    after = spent.plus(charge.mu_squared_exact, charge.threshold_delta_exact)
    if not after.within(account.caps):
        raise budget_exhausted(account, charge)


def require_private(charge: Charge) -> None:
    """Refuse noise that protects nobody: it can't be charged, nor kept as a release."""
    if charge.engine not in _ENGINES:
        raise ParameterError(
            f"A release's noise must come from the engine 'aes', but the engine is '{charge.engine}'. Seeded "
            "noise protects nobody: it is not charged and can't be a release."
        )
