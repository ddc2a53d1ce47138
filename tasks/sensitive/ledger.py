"""The user's ledger, opened, and what a plan of releases means to it: caps, and sentences to print.

The first run registers what the planned releases cost together as the cap; a registered cap is only ever
changed by ``marginalia ledger``.
"""

from tasks.configuration.model import RunConfiguration
from tasks.core.dp.budget import (
    Caps,
    Charge,
    Spent,
    caps_for,
    caps_of,
    default_threshold_delta_cap,
    runs_left,
)
from tasks.core.dp.claim_limits import cap_cautions
from tasks.core.figures import count_of, plain_up
from tasks.core.ledger.account import Account
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.refusals import command_for_room
from tasks.core.ledger.salts import salt_of
from tasks.core.ledger.tables import PublicTable
from tasks.ledger_place import user_ledger_place
from tasks.messages import tell
from tasks.version import code_version


def open_user_ledger() -> Ledger:
    """The ledger that this user's runs are charged to."""
    return open_ledger(user_ledger_place(), code_version())


def dataset_salt(dataset: str, table: PublicTable, *, is_named: bool = True) -> bytes:
    """The salt of a dataset's noise under SynDiffix; of a new one, the person is told to keep it.

    Args: is_named: whether somebody chose the name, and may have chosen another one before.
    """
    ledger = open_user_ledger()
    is_new = not ledger.has_salt(dataset)
    salt = salt_of(user_ledger_place(), dataset, table)
    if is_new:
        tell(
            f"This run made a salt for the dataset {dataset!r}: {ledger.store.where_salt(dataset)}. Back "
            f"the ledger's {ledger.store.whereabouts.kind} up, in secret."
        )
        if is_named:
            tell(
                "ATTENTION: a table that was synthesized under another dataset's name must keep that name: "
                "with two salts its noise could be averaged away."
            )
    return salt


#: A year of months: what the advice names where nobody planned.
A_YEAR = 12


def initial_caps(configuration: RunConfiguration, charge: Charge) -> Caps:
    """What the first run registers: the configured cap, else what the planned releases (or one) cost."""
    protection = configuration.privacy
    if protection.cap is None:
        return caps_for(charge, protection.releases or 1)
    cap = protection.cap
    return caps_of(cap.epsilon, cap.delta, default_threshold_delta_cap(cap.delta, charge))


def format_joint_cost(charge: Charge, releases: int) -> str:
    caps = caps_for(charge, releases)
    together = "" if releases == 1 else " together"
    cost = f"epsilon {plain_up(float(caps.epsilon))} at delta {plain_up(float(caps.delta))}"
    return f"{count_of(releases, 'release')} at this setting cost {cost}{together}"


def plan_notes_at_registration(configuration: RunConfiguration, charge: Charge) -> list[str]:
    protection = configuration.privacy
    caps = initial_caps(configuration, charge)
    told = _cautions(caps)
    if protection.releases is None and protection.cap is None:
        raised = command_for_room(configuration.dataset, caps, Spent(), charge, A_YEAR)
        return [
            *told,
            "ATTENTION: the cap is the cost of this release alone, so a second release will be "
            "refused. Before "
            f'the first run, say how many you plan, such as "privacy": {{"releases": {A_YEAR}}} '
            f"({format_joint_cost(charge, A_YEAR)}). After it, raise the cap: {raised}.",
        ]
    fit = runs_left(caps, Spent(), charge.mu_squared_exact, charge.threshold_delta_exact)
    if protection.releases is None:
        fits = "fits" if fit == 1 else "fit"
        return [*told, f"{count_of(fit, 'release')} at this setting {fits} under the cap."]
    told.append(f"{format_joint_cost(charge, protection.releases)}.")
    if fit < protection.releases:
        raised = command_for_room(configuration.dataset, caps, Spent(), charge, protection.releases)
        told.append(_too_few(protection.releases, 0, fit, f"give a larger privacy.cap, or later {raised}"))
    return told


def plan_notes_of_registered(configuration: RunConfiguration, charge: Charge, account: Account) -> list[str]:
    """What is told of the plan where the dataset is registered: whether the cap in force still holds it."""
    protection, told = configuration.privacy, _cautions(account.guarantee)
    if protection.releases is None:
        return told
    planned, made = protection.releases, account.charged_releases
    fit = account.remaining_runs(charge.mu_squared_exact, charge.threshold_delta_exact)
    if made + fit < planned:
        more = planned - made
        remedy = command_for_room(configuration.dataset, account.caps, account.spent, charge, more)
        told.append(_too_few(planned, made, fit, remedy))
    return told


def _cautions(caps: Caps) -> list[str]:
    return [f"ATTENTION: {said}" for said in cap_cautions(float(caps.epsilon), float(caps.delta))]


def _too_few(planned: int, made: int, fit: int, remedy: str) -> str:
    return (
        f"ATTENTION: the configuration plans {count_of(planned, 'release')} (privacy.releases), but the cap "
        f"admits only {fit:,} more at this setting; {made:,} {'was' if made == 1 else 'were'} charged so "
        f"far. A plan does not change a cap that is in force: {remedy}."
    )
