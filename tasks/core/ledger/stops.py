"""Runs that their table stopped: an exact answer about it is given, and an entry says so.

It broke a strict contract, or could not be read as it was declared. Nothing is drawn and nothing charged, as
no charge could hide an exact fact (R2). But whoever changes the contract, or what is
declared, and runs again gets one answer after the other. So each is in the chain, and every later release
says how many there were.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.tables import Marks, PublicTable, are_apart, noted

#: The entries of runs that were stopped.
STOPPED = "stopped"
#: Why: the table broke its strict contract, or could not be read.
Why = Literal["broken", "unread"]
BROKEN: Why = "broken"
UNREAD: Why = "unread"


@dataclass(frozen=True)
class Stop:
    """A run that its table stopped.

    Attributes:
        vintage: that it would have released.
        why: ``broken`` or ``unread``.
        asked: hash of what it was held to: what the contract says (`Contract.meaning`), or what is declared.
        time: when, UTC.
    """

    vintage: str
    why: str
    asked: str
    time: str


def note_stop(
    work: Transaction, dataset: str, stop: tuple[str, Why, str], table: PublicTable, code: str = ""
) -> None:
    """Write down that a run was stopped; which rules or rows did it is not in it.

    Args:
        work: what the entry is added to.
        dataset: the run's.
        stop: vintage, why, and hash of what the table was held to.
        table: what is public of it.
        code: the code's version.
    """
    vintage, why, asked = stop
    # Not under "dataset": an account is made of the entries that have that, and there may be none yet.
    body = {"phase": STOPPED, "stopped_of": dataset, "vintage": vintage, "why": why, "asked": asked}
    work.append({**body, "code": code, **table.marks(work.entries).as_body()})


def stops_of(entries: Iterable[Entry], dataset: str) -> tuple[Stop, ...]:
    """The stopped runs of a dataset, in order, and those of its tables under another name.

    A name that a person told apart from this one has other people.
    """
    entries = list(entries)
    stopped = [entry for entry in entries if entry.phase == STOPPED]
    if not stopped:
        return ()
    own = noted(entries).get(dataset, Marks())
    for entry in stopped:
        if entry.text("stopped_of") == dataset:
            own = own.plus(Marks.of(entry))

    def is_own(entry: Entry) -> bool:
        other = entry.text("stopped_of")
        return other == dataset or (
            bool(own.shared(Marks.of(entry))) and not are_apart(entries, dataset, other)
        )

    return tuple(
        Stop(entry.text("vintage"), entry.text("why"), entry.text("asked"), entry.text("t"))
        for entry in filter(is_own, stopped)
    )
