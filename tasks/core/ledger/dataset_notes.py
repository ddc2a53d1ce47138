"""What the chain notes about a dataset beside its charges: stopped runs, policies, the subjects' column.

*A run that its table stopped*: it broke a strict contract, or could not be read as it was declared. That is
an exact answer about it. Nothing is drawn and nothing charged, as no charge could hide an exact fact
(R2). But whoever changes the contract, or what is declared, and runs again gets one answer
after the other. So each is in the chain, and every later release says how many there were.

*Whether unchanged tables are released* is noted before the table is read. Under ``skip`` a missing release
says that the table was what it was: an exact fact, of which every statement must tell for good. So the chain
keeps from which vintage on which policy held. Under ``draw``, the default, nothing is noted unless ``skip``
was before. The first ``skip`` of a dataset comes before its first release: the statement of one that was
drawn under ``draw`` alone says for good that no date follows from the table.

*By which column a budget tells its subjects apart.* Two columns are two units: of a patient and of a visit.
Charged to one budget, releases would be added up as if they protected the same thing. The chain keeps a keyed
hash of the column's name, the latest that is noted. A budget of rows has no such column.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tasks.core.dp.digest import canonical
from tasks.core.errors import ParameterError
from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.names import fold_name
from tasks.core.ledger.tables import Marks, are_apart, keyed_mark, known_marks

#: Why: the table broke its strict contract, or could not be read.
Why = Literal["broken", "unread"]
BROKEN: Why = "broken"
UNREAD: Why = "unread"


@dataclass(frozen=True)
class Stop:
    """A run that its table stopped.

    Attributes:
        vintage: that it would have released.
        why: a `Why`.
        asked: hash of what it was held to: what the contract says (`Contract.meaning`), or what is declared.
        time: in UTC.
    """

    vintage: str
    why: str
    asked: str
    time: str


def stops_of(entries: Iterable[Entry], dataset: str) -> tuple[Stop, ...]:
    """The stopped runs of a dataset, in order, and those of its tables under another name.

    A name that a person told apart from this one has other people.
    """
    entries = list(entries)
    stopped = [entry for entry in entries if entry.phase == "stopped"]
    if not stopped:
        return ()
    own = known_marks(entries).get(dataset, Marks())
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


Policy = Literal["draw", "skip"]
DRAW: Policy = "draw"
SKIP: Policy = "skip"


class PolicyChange(NamedTuple):
    """From which vintage on a policy held, for settings of this digest."""

    policy: str
    vintage: str
    digest: str


def policy_changes(entries: Iterable[Entry], dataset: str) -> tuple[PolicyChange, ...]:
    return tuple(
        PolicyChange(entry.text("policy"), entry.text("vintage"), entry.text("digest"))
        for entry in entries
        if entry.phase == "unchanged" and entry.text("unchanged_of") == dataset
    )


def require_policy(entries: Iterable[Entry], dataset: str, policy: Policy) -> None:
    """Refuse to skip in a dataset whose statements say that nothing is skipped.

    Raises:
        ParameterError: it has releases, and all of them were drawn under ``draw``.
    """
    entries = list(entries)
    if policy == DRAW or any(each.policy == SKIP for each in policy_changes(entries, dataset)):
        return
    if any(e.phase in ("drawing", "commit") and e.body.get("dataset") == dataset for e in entries):
        raise ParameterError(
            f"on_unchanged must stay draw for {dataset!r}: the privacy statements of its releases say that "
            "the dates of releases don't follow from the table, and under skip they would. Set it to draw, "
            "or leave it out."
        )


def enter_subject(work: Transaction, dataset: str, subject_id: str, code: str) -> None:
    """Note the column of a release that is about to be drawn; refuse another one than was noted."""
    if not subject_id:
        return
    own = (e for e in work.entries if e.phase == "subject" and e.text("subject_of") == dataset)
    noted, mark = [e.text("subject") for e in own], subject_mark(work.entries, subject_id)
    if not noted:
        # Not under "dataset": an account is made of the entries that have that.
        work.append({"phase": "subject", "subject_of": dataset, "subject": mark, "code": code})
    elif noted[-1] != mark:
        raise ParameterError(
            f"All releases of a dataset must tell its subjects apart by the same column, as their costs are "
            f"added up for each of these. Earlier releases of {dataset!r} did by another one than "
            f"{subject_id!r}. Give that one as subject_id. If only its name has changed: marginalia ledger "
            f"'{dataset}' --subject-id '{subject_id}' --reason '...'."
        )


def subject_mark(entries: list[Entry], subject_id: str) -> str:
    return keyed_mark(entries, canonical(["subject", fold_name(subject_id)]))
