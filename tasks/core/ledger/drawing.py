"""Drawing once: a release's name, its charge and a function that draws go in, its measurement comes out.

The order is the guarantee (R4): the charge is on the disk before anything is read, the
word "drawing" is on the disk before the first noise word, the measurement is on the disk before it
counts. Wherever a run dies, the next one knows whether noise may have been seen: what may have been
drawn stays charged, what was not drawn is not charged twice, and what is complete is not drawn again.

    on the disk      reserve            drawing        measurement kept      commit
    ─────────────────┬──────────────────┬────────────────┬───────────────────┬─────────▶
    a run that dies  │ reserved already │ lost, charged  │ rescued: used     │ used
    here leaves      │ for the next one │                │ by the next one   │ by the next one

Between the first noise word and the commit, a run that stops loses its measurement and keeps its charge. So
the first interrupt there waits until the measurement is committed; the second one stops at once.
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from tasks.core.dp.budget import Charge
from tasks.core.dp.measurement import measurement_sha256
from tasks.core.errors import InternalError, LedgerError, MarginaliaError, MeasurementLost
from tasks.core.ledger.account import Account, Reservation
from tasks.core.ledger.ledger import Ledger, covers, require_private
from tasks.core.ledger.names import ReleaseName

_DEFERRED = (signal.SIGINT, signal.SIGTERM)

WAITING_FOR_THE_DRAW = (
    "The noise is being drawn: the run stops as soon as it has kept the measurement. "
    "Interrupt it again to stop it now; the charge is then lost."
)


@contextmanager
def deferred_interrupts(notice: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """A context that gives a function: once it is called, interrupts are held back until the context ends.

    Then what was held is delivered, unless an error is under way already. Only the main thread receives
    signals, so elsewhere nothing is held.

    Args:
        notice: called with a sentence when an interrupt is held back.
    """
    held: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], Any] | int] = {}

    def receive(number: int, frame: FrameType | None) -> None:
        if held:
            raise KeyboardInterrupt
        held.append(number)
        # A notice that is cut into another (print is not reentrant) must not cost the measurement.
        with suppress(Exception):
            notice(WAITING_FOR_THE_DRAW)

    def hold() -> None:
        if threading.current_thread() is not threading.main_thread() or before:
            return
        for number in _DEFERRED:
            handler = signal.getsignal(number)
            if handler is not None and handler is not signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, receive)

    try:
        yield hold
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[0])


#: Draws into an empty folder; calls the second argument once, after counting and before any noise.
DrawInto = Callable[[Path, Callable[[], None]], None]
Notice = Callable[[str], None]

WAITING_FOR_ANOTHER_RUN = (
    "Another run of this release is at work. This run waits and then returns that measurement."
)
REUSED = "An earlier run of this release stopped before it drew any noise. This run uses its reservation."
LOST = (
    "An earlier run of this release stopped while it drew its noise. Its measurement is lost, its charge "
    "stands, and this run is charged again."
)
RESCUED = (
    "An earlier run of this release stopped after its measurement was complete. This run uses that "
    "measurement and draws nothing."
)


@dataclass(frozen=True)
class ReleaseMeasurement:
    """A release's measurement.

    Attributes:
        folder: holds its files; in the ledger's own place, to be read and never written.
        sha256: `measurement_sha256` of it, as committed.
        reused: whether it was drawn by an earlier run.
        account: the dataset's account as it was at the commit, the same at every rebuild.
        remaining_runs: how many more releases of the same charge were left then.
    """

    folder: Path
    sha256: str
    reused: bool
    account: Account
    remaining_runs: int

    @property
    def head(self) -> str:
        """Hash of the commit's entry: the head that the release records."""
        return self.account.head


def draw_once(
    ledger: Ledger, name: ReleaseName, charge: Charge, draw: DrawInto, tell: Notice = lambda sentence: None
) -> ReleaseMeasurement:
    """The measurement of a release, drawn if it never was (R1 and R4).

    Args:
        ledger: where it is charged and kept.
        name: public; the same name gives the same measurement, whatever the input now holds.
        draw: writes the measurement's files into the folder that it is given. It must call its second
            argument before it asks for the first noise word, and let that call's exceptions pass.
        tell: called with each sentence for the operator, when it is known.

    Raises:
        BudgetExhausted: before anything was read.
        LedgerError: damaged, not writable, or the dataset is not registered.
        StoredTableMismatch: the stored measurement was changed or is gone.
        MeasurementLost: this run stopped after noise may have been drawn; its charge stands.
        Exception: whatever ``draw`` raised before that; nothing is charged.
    """
    require_private(charge)
    ledger.account(name.dataset)
    with ledger.store.release_lock(name.key, lambda: tell(WAITING_FOR_ANOTHER_RUN)):
        latest = _settle_dead_run(ledger, ledger.account(name.dataset).latest(name), tell)
        reused = latest is not None and latest.phase == "commit"
        if latest is None or not reused:
            latest = _draw_and_commit(
                ledger, _reserve_or_reuse(ledger, name, charge, latest, tell), draw, tell
            )
        folder = ledger.committed_folder(latest)
    account = ledger.account(name.dataset, latest.head)
    return ReleaseMeasurement(
        folder=folder,
        sha256=str(latest.measurement_sha256),
        reused=reused,
        account=account,
        remaining_runs=account.remaining_runs(latest.mu_squared, latest.threshold_delta),
    )


def _settle_dead_run(ledger: Ledger, latest: Reservation | None, tell: Notice) -> Reservation | None:
    """What a dead run left at ``drawing``: ``commit`` where its measurement is complete, else ``lost``.

    The caller holds the release's lock, so whoever wrote ``drawing`` is dead.
    """
    if latest is None or latest.phase != "drawing":
        return latest
    kept, measurement = ledger.store.measurements, latest.measurement_name
    if kept.has(measurement):
        tell(RESCUED)
        kept.make_durable(measurement)
        return ledger.advance(
            latest, "commit", measurement_sha256=measurement_sha256(kept.folder(measurement))
        )
    kept.give_up(measurement)
    return ledger.advance(latest, "lost")


def _reserve_or_reuse(
    ledger: Ledger, name: ReleaseName, charge: Charge, latest: Reservation | None, tell: Notice
) -> Reservation:
    """The reservation to draw under: an earlier run's that never drew, else a new one."""
    if latest is not None and latest.phase == "reserve" and covers(latest, charge):
        tell(REUSED)
        return latest
    if latest is not None and latest.phase == "lost":
        tell(LOST)
    return ledger.reserve(name, charge)


class _Permit:
    """Leave to draw noise, given by an entry that is on the disk."""

    def __init__(self, ledger: Ledger, reservation: Reservation, hold: Callable[[], None]) -> None:
        """Args: hold: holds interrupts back."""
        self._ledger, self._reservation, self._hold = ledger, reservation, hold
        self.given = self.was_passed_by = False
        self.refusal: BaseException | None = None

    def __call__(self) -> None:
        if self.given:
            return
        self._hold()
        try:
            self._ledger.advance(self._reservation, "drawing")
        except BaseException as error:
            self.refusal = error
            raise
        self.given = True

    def check_given(self) -> None:
        """Refuse a draw that came back without leave: its noise was drawn behind the chain's back."""
        self.was_passed_by = not self.given
        if self.was_passed_by:
            raise InternalError("A draw must ask for leave before its first noise word; this one did not.")

    def may_have_drawn(self, failure: BaseException) -> bool:
        """Whether there may be noise although a draw failed with this.

        Also where leave was refused and the draw went on, and where an interrupt came between the
        entry's commit and the leave.
        """
        if self.given or self.was_passed_by:
            return True
        if self.refusal is None or failure is not self.refusal:
            return self.refusal is not None
        name = self._reservation.name
        with suppress(LedgerError):
            latest = self._ledger.account(name.dataset).latest(name)
            return latest is not None and latest.phase == "drawing"
        return False


def _draw_and_commit(ledger: Ledger, reservation: Reservation, draw: DrawInto, tell: Notice) -> Reservation:
    kept, measurement = ledger.store.measurements, reservation.measurement_name
    with deferred_interrupts(tell) as hold:
        permit = _Permit(ledger, reservation, hold)
        failure: BaseException | None = None
        try:
            part = kept.begin(measurement)
            draw(part, permit)
            permit.check_given()
            _check_private(part)
            sha256 = measurement_sha256(part)
            kept.keep(measurement)
        except BaseException as error:
            failure = _record_failed_draw(ledger, reservation, permit, error)
        if failure is not None:
            # Out here, where what was caught is no longer around to be shown beside it.
            raise failure
        return _commit(ledger, reservation, sha256)


def _check_private(part: Path) -> None:
    """Refuse to keep noise that protects nobody, whoever let it pass so far."""
    facts = part / "measurement.json"
    if facts.is_file() and json.loads(facts.read_text(encoding="utf-8")).get("private") is not True:
        raise InternalError("A kept measurement must be private; this one is a test engine's.")


def _commit(ledger: Ledger, reservation: Reservation, sha256: str) -> Reservation:
    try:
        return ledger.advance(reservation, "commit", measurement_sha256=sha256)
    except (LedgerError, OSError):
        raise _not_committed() from None


def _not_committed() -> LedgerError:
    return LedgerError(
        "The run must commit its measurement to the ledger. The measurement was drawn and is kept, but the "
        "ledger could not be written (is the disk full?). Correct that and run again: the run then commits "
        "the measurement and does not draw again."
    )


def _record_failed_draw(
    ledger: Ledger, reservation: Reservation, permit: _Permit, failure: BaseException
) -> BaseException:
    """Record what a failed draw leaves behind; return what is to be raised.

    Where the record can't be written, the next run of the release finds the same state and settles it.
    """
    kept, measurement = ledger.store.measurements, reservation.measurement_name
    try:
        if permit.given and kept.has(measurement):
            return _not_committed() if isinstance(failure, OSError | LedgerError) else failure
    except LedgerError:
        kept.give_up(measurement)
        return _out_of_reach()
    kept.give_up(measurement)
    lost = permit.may_have_drawn(failure)
    # A word that was on its way when a connection broke may stand by now: the next run settles that, too.
    with suppress(MarginaliaError, OSError):
        ledger.advance(reservation, "lost" if lost else "void")
    if not lost:
        return failure
    return MeasurementLost(
        f"A release needs all of its noise, and this run stopped while it drew it ({_cause(failure)}). Its "
        "measurement is lost and its charge stands. Run again: the release is then drawn and charged anew."
    )


def _out_of_reach() -> MeasurementLost:
    return MeasurementLost(
        "A release needs all of its noise, and the ledger went out of reach after noise was drawn. The "
        "charge stands. Run again when the ledger can be reached: if it holds the whole measurement, the run "
        "uses it. If not, the measurement is lost, and the release is drawn and charged anew."
    )


def _cause(failure: BaseException) -> str:
    """Why, in words that can't carry a value of the table."""
    if isinstance(failure, KeyboardInterrupt):
        return "it was interrupted"
    if isinstance(failure, OSError) and failure.errno:
        return os.strerror(failure.errno)
    if isinstance(failure, MemoryError):
        return "there was no memory left"
    if isinstance(failure, MarginaliaError):
        return str(failure)
    return "an error in the drawing"
