"""Whether unchanged tables are released too: a policy is noted in the chain before the table is read.

Under ``skip`` a missing release says that the table was what it was: an exact fact, of which every statement
must tell for good. So the chain keeps from which vintage on which policy held. Under ``draw``, the default,
nothing is noted unless ``skip`` was before. The first ``skip`` of a dataset comes before its first release:
the statement of one that was drawn under ``draw`` alone says for good that no date follows from the table.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tasks.core.errors import ParameterError
from tasks.core.ledger.entries import Entry, Transaction
from tasks.core.ledger.names import ReleaseName

#: The entries that say which policy holds from now on.
POLICY = "unchanged"
Policy = Literal["draw", "skip"]
DRAW: Policy = "draw"
SKIP: Policy = "skip"


@dataclass(frozen=True)
class PolicyChange:
    """From when on a policy held.

    Attributes:
        policy: ``draw`` or ``skip``.
        vintage: of the first run under it.
        digest: of the settings that it holds for.
    """

    policy: str
    vintage: str
    digest: str


def policy_changes(entries: Iterable[Entry], dataset: str) -> tuple[PolicyChange, ...]:
    """All changes of a dataset's policies, in order."""
    return tuple(
        PolicyChange(entry.text("policy"), entry.text("vintage"), entry.text("digest"))
        for entry in entries
        if entry.phase == POLICY and entry.text("unchanged_of") == dataset
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


def note_policy(work: Transaction, name: ReleaseName, policy: Policy, code: str = "") -> None:
    """Note the policy of a run that is about to read its table, where it is another than before.

    Raises:
        ParameterError: see `require_policy`.
    """
    require_policy(work.entries, name.dataset, policy)
    known = [each.policy for each in policy_changes(work.entries, name.dataset) if each.digest == name.digest]
    if (known[-1] if known else DRAW) != policy:
        # Not under "dataset": an account is made of the entries that have that.
        body = {"phase": POLICY, "unchanged_of": name.dataset, "vintage": name.vintage, "digest": name.digest}
        work.append({**body, "policy": policy, "code": code})
