"""The account of a run's dataset on the run's page, and what happens as its budget runs out.

All that is told is public: caps, charges, names of releases.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from prefect.artifacts import create_markdown_artifact

from tasks.configuration.model import RunConfiguration
from tasks.core.charts.bars import budget_gauge
from tasks.core.dp.budget import Charge
from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import BudgetExhausted, InputError, InternalError, LedgerError, ResourceLimit
from tasks.core.figures import as_markdown, count_of, plain_up
from tasks.core.ledger.account import Account
from tasks.core.ledger.audit import Audit
from tasks.core.ledger.dataset_notes import UNREAD
from tasks.core.ledger.refusals import command_for_room
from tasks.events import announce
from tasks.messages import tell
from tasks.plan.describe import RunFacts
from tasks.public.bundles import declared_input
from tasks.public.summary import artifact_key, picture
from tasks.request import is_scheduled
from tasks.sensitive.ledger import open_user_ledger
from tasks.sensitive.protect import public_table
from tasks.step import step
from tasks.storage import SENSITIVE, Workspace


def pause_schedules(dataset: str) -> None:
    """Pause the schedules of the deployment whose schedule started this run; say so, and what to do.

    A run that a person started pauses nothing: the person is there, and may have asked for another setting.
    """
    if not is_scheduled():
        return
    from prefect.client.orchestration import get_client
    from prefect.runtime import deployment

    paused = ""
    with suppress(Exception), get_client(sync_client=True) as client:  # the refusal itself must come through
        found = client.read_deployment(str(deployment.get_id()))
        for each in found.schedules:
            if each.active:
                client.update_deployment_schedule(found.id, each.id, active=False)
        paused = found.name
    if paused:
        tell(
            f"ATTENTION: the budget of {dataset!r} has run out, so the schedule of the deployment {paused!r} "
            "is paused. When the cap is raised, turn it on again on the deployment's page."
        )
    else:
        tell(
            f"ATTENTION: the budget of {dataset!r} has run out, and the schedule of this run could not be "
            "paused. Turn it off on the deployment's page until the cap is raised."
        )


@contextmanager
def note_unread_table(configuration: RunConfiguration, described: RunFacts) -> Iterator[None]:
    """Note that the table, which is read within, could not be; the error goes on its way.

    Whether a table can be read as a dialect, an encoding or a limit of memory says is an exact fact about it.
    Whoever may change these and run again gets one answer after the other, as by a strict contract, whatever
    the run is for and whoever foresaw why a step failed. Other protections promise nothing that this adds to.
    """
    try:
        yield
    except (InputError, ResourceLimit, InternalError):
        if not configuration.protection.is_drawn_once:
            raise
        declared = sha256_of(
            canonical([declared_input(configuration), configuration.resources.memory_limit_mb])
        )
        ledger, table = open_user_ledger(), public_table(described)
        ledger.note_stop(configuration.dataset, described.vintage, UNREAD, declared, table)
        raise


@step(SENSITIVE)
def record_account(
    workspace: Workspace, configuration: RunConfiguration, charge: Charge, *, is_charged: bool
) -> None:
    """Create the artifact ``ledger-<dataset>``; where the run was charged, say if little budget is left."""
    dataset = configuration.dataset
    try:
        audit = open_user_ledger().audit()
    except LedgerError as error:  # what is committed can be published all the same
        tell(f"ATTENTION: {error}")
        return
    account = next((each for each in audit.accounts if each.dataset == dataset), None)
    if account is None:  # refused before its first draw: there is nothing to show
        return
    left = account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)
    with suppress(Exception):  # no server stops a run by not answering here
        create_markdown_artifact(
            markdown=account_page(account, audit, left),
            key=artifact_key("ledger", dataset),
            description=f"What was spent on {dataset}, and what is left.",
        )
    if is_charged and left < configuration.privacy.low_budget:
        room = command_for_room(dataset, account.caps, account.spent, charge, left + 1)
        tell(
            f"ATTENTION: the budget of {dataset!r} is low: {_more(left).lower()} at this setting. To "
            f"admit one more, raise the cap with a written reason: {room}."
        )
        announce("budget.low", dataset, runs_left=left, **_figures(account))


@contextmanager
def watch_budget(workspace: Workspace, configuration: RunConfiguration, charge: Charge) -> Iterator[None]:
    """Where the budget refuses what is done within: show the account, announce it, stop the schedule."""
    try:
        yield
    except BudgetExhausted:
        with suppress(LedgerError):
            record_account(workspace, configuration, charge, is_charged=False)
            account = open_user_ledger().account(configuration.dataset)
            announce("budget.exhausted", configuration.dataset, **_figures(account))
        pause_schedules(configuration.dataset)
        raise


def account_page(account: Account, audit: Audit, left: int) -> str:
    caps, spent = account.caps, account.spent
    used = float(spent.mu_squared / caps.mu_squared)
    bar = budget_gauge(used, account.epsilon_spent, float(caps.epsilon))
    verified = audit.in_words
    lines = [
        picture(bar),
        "",
        f"**{_more(left)}** at this setting. Spent: epsilon {plain_up(account.epsilon_spent)} of "
        f"{plain_up(caps.epsilon)} at delta {plain_up(caps.delta)}. Charged releases: "
        f"{account.charged_releases}. {verified[0].upper()}{verified[1:]}.",
        "",
        "| release | state | epsilon, delta |",
        "|---|---|---|",
    ]
    for each in reversed(account.reservations):
        state = _STATES.get(each.phase, each.phase)
        claim = f"{plain_up(each.epsilon)}, {plain_up(each.delta)}"
        lines.append(f"| {as_markdown(each.name.vintage)} | {state}, {each.time[:10]} | {claim} |")
    return "\n".join(lines)


_STATES = {
    "reserve": "charged, not drawn yet",
    "drawing": "charged, being drawn",
    "commit": "charged, drawn",
    "lost": "charged, lost",
    "void": "not drawn, not charged",
    "replaced": "not drawn, not charged",
}


def _figures(account: Account) -> dict[str, float]:
    return {
        "epsilon_spent": float(plain_up(account.epsilon_spent)),
        "epsilon_cap": float(plain_up(account.caps.epsilon)),
        "delta_cap": float(plain_up(account.caps.delta)),
        "releases_charged": account.charged_releases,
    }


def _more(left: int) -> str:
    return count_of(left, "more release") if left else "No more release"
