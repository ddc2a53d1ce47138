"""What the ledger refuses with: an account and what was asked go in, an error that says what to do comes out.

All figures in it are public: caps, charges and what is left.
"""

import math
from decimal import Decimal

from tasks.core.dp.accounting import float_up, gdp_epsilon
from tasks.core.dp.budget import DOWN, Caps, Charge, Spent
from tasks.core.errors import BudgetExhausted, LedgerError, ParameterError
from tasks.core.figures import plain_up
from tasks.core.ledger.account import Account
from tasks.core.ledger.entries import Whereabouts
from tasks.core.ledger.tables import Resemblance

#: What is left below this part of a release's cost is the rounding of caps: nothing that fits anything.
_DUST = Decimal("1e-6")


def budget_exhausted(account: Account, charge: Charge) -> BudgetExhausted:
    """The refusal of a release that the budget does not cover (exit code 3)."""
    name, caps = account.dataset, account.caps
    more = command_for_room(name, caps, account.spent, charge, 1)
    return BudgetExhausted(
        f"The budget of '{name}' does not cover this release, and no noise was drawn. The release asks for "
        f"epsilon {plain_up(charge.epsilon)} at delta {plain_up(charge.delta)}. The cap of all releases is "
        f"epsilon {plain_up(caps.epsilon)}, delta {plain_up(caps.delta)}. "
        f"{_releases(account.charged_releases)} charged so far; {_left(account, charge)}. A vintage that was "
        f"released already, with the same settings, costs nothing. To admit one more release, raise the cap "
        f"with a written reason: {more}."
    )


def _left(account: Account, charge: Charge) -> str:
    mu_squared, threshold_delta = account.remaining
    if mu_squared < charge.mu_squared_exact * _DUST:
        return "nothing is left"
    if charge.threshold_delta_exact > threshold_delta:
        return (
            "what is left is too little for the thresholds of open columns at that delta, whatever the "
            "epsilon (a smaller delta would fit, or declared domains, which need no thresholds)"
        )
    rest = (charge.delta - charge.threshold_delta) / (1 - charge.threshold_delta)
    mu = float(mu_squared.sqrt(DOWN))
    epsilon = gdp_epsilon(mu, rest) * (1 - 1e-6) if mu > 0 else 0.0
    digits = 10.0 ** (math.floor(math.log10(epsilon)) - 2) if epsilon > 0 else 1.0
    accountant = "" if charge.accountant == "gdp" else " with the accountant gdp"
    return (
        f"what is left is enough for epsilon {math.floor(epsilon / digits) * digits:.3g} at delta "
        f"{plain_up(charge.delta)}{accountant}, which is less than is asked for"
    )


def _releases(number: int) -> str:
    return "1 release was" if number == 1 else f"{number} releases were"


def second_budget(found: Resemblance, unit: str, *, is_new: bool) -> ParameterError:
    if not is_new:
        return _one_for_all(found, "budget")
    rows = " --unit row" if unit == "row" else ""
    how, cap = f"register {found.dataset!r} with", f" --cap EPSILON DELTA{rows}"
    return _one_for_all(found, "budget", how=how, cap=cap)


def second_salt(found: Resemblance) -> ParameterError:
    return _one_for_all(found, "salt", same=f" (for marginalia syndiffix: --dataset '{found.other}')")


def _one_for_all(
    found: Resemblance, kept: str, *, same: str = "", how: str = "give", cap: str = ""
) -> ParameterError:
    """That two datasets must be one, or be told apart by a person. Args: kept: by a dataset's name."""
    return ParameterError(
        f"All tables about the same people must share one {kept}. The table of dataset "
        f"{found.dataset!r} has the same {found.words} as a table of dataset {found.other!r}, which has a "
        f'{kept} already. If the people are the same, set "dataset": "{found.other}"{same}. If they are '
        f"other people, {how} a written reason: marginalia ledger '{found.dataset}'{cap} --reason "
        "'other people'."
    )


def lost_salt(where: str, what: str, kind: str = "folder") -> LedgerError:
    return LedgerError(
        f"The salt {where} must be the one that was made for this dataset, as the noise of two salts could "
        f"be averaged away, but {what}. Nothing is made with another salt. Restore the whole ledger {kind} "
        "from a backup. If there is none, only a dataset of another name gets a new salt. Give another name "
        "if no output of the old salt was ever shared, or if you accept that old and new outputs "
        "together tell more."
    )


def unwritable_ledger(where: Whereabouts, what: str) -> LedgerError:
    return LedgerError(
        f"The ledger in {where.name} must be readable and writable, but {what}. "
        "Correct that and run again: nothing is charged twice."
    )


def disk_full(where: Whereabouts, disk: str) -> LedgerError:
    return LedgerError(
        f"The command must write to the ledger in {where.name}, and {disk} is full. "
        "Free some space and run again: nothing is charged twice."
    )


def command_for_room(dataset: str, caps: Caps, spent: Spent, charge: Charge, more: int) -> str:
    """The command whose caps admit so many more releases of this charge, and hardly anything else."""
    for _ in range(more):
        spent = spent.plus(charge.mu_squared_exact, charge.threshold_delta_exact)
    delta = max(float(caps.delta), more * charge.delta)
    # Raising keeps the share of delta that thresholds may use, unless it is given.
    kept = delta * float(caps.threshold_delta / caps.delta)
    needed = float_up(spent.threshold_delta)
    part = "" if kept >= needed else f" --threshold-delta {plain_up(needed)}"
    threshold_delta = Decimal(max(kept, float(plain_up(needed))))
    noise = Spent(spent.mu_squared, 1 - threshold_delta)
    epsilon = max(float(caps.epsilon), noise.epsilon(Decimal(plain_up(delta))))
    return f"marginalia ledger '{dataset}' --cap {plain_up(epsilon)} {plain_up(delta)}{part} --reason '...'"
