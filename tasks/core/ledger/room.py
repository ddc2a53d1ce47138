"""Room for more releases: an account goes in, the command that raises its caps comes out."""

from decimal import Decimal

from tasks.core.dp.budget import Caps, Charge, Spent, float_up
from tasks.core.figures import plain_up


def command_for_room(dataset: str, caps: Caps, spent: Spent, charge: Charge, more: int) -> str:
    """The command whose caps admit so many more releases of this charge, and hardly anything else.

    Args:
        dataset: its name.
        caps: of its account.
        spent: of its account.
        charge: of one more release.
        more: how many of them.
    """
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
