"""Runs that a strict contract stopped: an exact answer about a table is given, and an entry says so.

Nothing is drawn and nothing charged, as no charge could hide an exact fact (privacy.md, rule 2). But whoever
changes the contract and runs again gets one answer after the other. So each is in the chain before anybody
learns of it, and every later release says how many there were.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.tables import Marks, PublicTable, are_apart, noted

#: The entries of runs that were stopped.
STOPPED = "stopped"


@dataclass(frozen=True)
class Stop:
    """A run that a strict contract stopped.

    Attributes:
        vintage: that it would have released.
        contract: hash of what the contract says (`Contract.meaning`).
        time: when, UTC.
    """

    vintage: str
    contract: str
    time: str


def note_stop(
    work: Transaction, dataset: str, vintage: str, contract: str, table: PublicTable, code: str = ""
) -> None:
    """Write down that a run was stopped. Which rules are broken is not in it."""
    # Not under "dataset": an account is made of the entries that have that, and there may be none yet.
    body = {"phase": STOPPED, "stopped_of": dataset, "vintage": vintage, "contract": contract, "code": code}
    work.append({**body, **table.marks(work.entries).as_body()})


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
        Stop(entry.text("vintage"), entry.text("contract"), entry.text("t"))
        for entry in filter(is_own, stopped)
    )
