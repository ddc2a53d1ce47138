"""An account as it is shown: its caps, what is spent and left, in words or as JSON. All of it is public."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from tasks.configuration.flat_file import read_configuration
from tasks.core.dp.budget import Caps
from tasks.core.errors import ParameterError
from tasks.core.figures import plain_up
from tasks.core.ledger.account import Account, Reservation
from tasks.core.ledger.audit import Audit, latest_charged
from tasks.core.ledger.dataset_notes import BROKEN, UNREAD, Stop


@dataclass(frozen=True)
class ReleaseSetting:
    """What one more release would be charged.

    Attributes:
        mu_squared, threshold_delta: its charge.
        epsilon, delta: its claim.
        whose: whose setting it is, in words.
    """

    mu_squared: Decimal
    threshold_delta: Decimal
    epsilon: float
    delta: float
    whose: str

    @classmethod
    def of_latest(cls, account: Account) -> "ReleaseSetting | None":
        """Of the newest release that was charged, if there is one."""
        latest = latest_charged(account)
        if latest is None:
            return None
        whose = f"the latest release, {latest.name.vintage}"
        return cls(latest.mu_squared, latest.threshold_delta, latest.epsilon, latest.delta, whose)

    @classmethod
    def of_configuration(cls, path: Path, account: Account) -> "ReleaseSetting":
        """Of a configuration.

        Raises:
            ParameterError: it can't be used, is of another dataset, or of a protection without a budget.
        """
        from tasks.plan.describe import describe  # both load Prefect, which takes a second and a half
        from tasks.sensitive.protect import charge_of_run

        configuration = read_configuration(path)
        if configuration.dataset != account.dataset or not configuration.protection.is_drawn_once:
            raise ParameterError(
                f"--configuration must be a differentially private one of the dataset {account.dataset!r}, "
                f"and {path} is not. Give another."
            )
        charge = charge_of_run(describe(configuration))
        mu_squared, threshold_delta = charge.mu_squared_exact, charge.threshold_delta_exact
        return cls(mu_squared, threshold_delta, charge.epsilon, charge.delta, str(path))


def print_account(account: Account, setting: ReleaseSetting | None) -> None:
    """In words. Args: account: of the dataset. setting: for the releases that are left, if it is known."""
    caps, spent = account.caps, account.spent
    print(f"{account.dataset}  ({account.population or 'population not described'}; unit: {account.unit})")
    print(
        f"  cap      epsilon {plain_up(caps.epsilon)}, delta {plain_up(caps.delta)} "
        f"({plain_up(caps.threshold_delta)} for thresholds)"
    )
    used = spent.mu_squared / caps.mu_squared
    if used > 1:
        print("  spent    more than the cap: the cap was lowered below it, so every new release is refused")
    else:
        spent_epsilon = plain_up(account.epsilon_spent)
        print(f"  spent    {used:.1%} of the budget (mu^2), epsilon {spent_epsilon} at the delta cap")
    if setting is not None:
        print(f"  left     {_left(account, setting)}")
    print_reasons(account.reasons)
    print_stops(account.stops)
    for release in account.reservations:
        print(
            f"  {release.time}  {release.name.vintage:<16} {release.phase:<9} epsilon "
            f"{plain_up(release.epsilon)}, delta {plain_up(release.delta)}, mu^2 "
            f"{plain_up(release.mu_squared)}"
        )


def _left(account: Account, setting: ReleaseSetting) -> str:
    runs = account.remaining_runs(setting.mu_squared, setting.threshold_delta)
    releases = (
        "no more release" if runs == 0 else "1 more release" if runs == 1 else f"{runs:,} more releases"
    )
    return (
        f"{releases} at the setting of {setting.whose} (epsilon {plain_up(setting.epsilon)}, "
        f"delta {plain_up(setting.delta)})"
    )


def print_reasons(reasons: tuple[str, ...]) -> None:
    """What was written down about a dataset."""
    for reason in reasons:
        print(f"  reason   {reason}")


def print_stops(stops: tuple[Stop, ...]) -> None:
    """The runs that their table stopped, and what that means."""
    for why, words in (
        (BROKEN, "stopped by a strict contract"),
        (UNREAD, "stopped, or compared nothing, as the table could not be read"),
    ):
        number = sum(each.why == why for each in stops)
        if number:
            runs = "1 run was" if number == 1 else f"{number:,} runs were"
            print(f"  stopped  {runs} {words}: exact answers about the table, not charged")
    for each in stops:
        what = "contract" if each.why == BROKEN else "unread, as declared in"
        print(f"  {each.time}  {each.vintage:<16} stopped   {what} {each.asked[:16]}")


def stops_json(stops: tuple[Stop, ...]) -> list[dict[str, str]]:
    """The same for programs."""
    return [asdict(each) for each in stops]


def as_json(account: Account, audit: Audit, setting: ReleaseSetting | None) -> dict[str, object]:
    """For programs. Args: account: of the dataset. audit: of the ledger. setting: as in `print_account`."""
    mu_squared, threshold_delta = account.remaining
    left: dict[str, object] = {
        "mu_squared": float(mu_squared),
        "threshold_delta": float(threshold_delta),
        "runs": None,
        "setting": None,
    }
    if setting is not None:
        left["runs"] = account.remaining_runs(setting.mu_squared, setting.threshold_delta)
        left["setting"] = {"epsilon": setting.epsilon, "delta": setting.delta, "whose": setting.whose}
    return {
        "dataset": account.dataset,
        "unit": account.unit,
        "population": account.population,
        "cap": _caps(account.caps),
        "guarantee": _caps(account.guarantee),
        "spent": {
            "mu_squared": float(account.spent.mu_squared),
            "threshold_delta": float(account.spent.threshold_delta),
            "epsilon": account.epsilon_spent,
            "releases": account.charged_releases,
        },
        "left": left,
        "reasons": list(account.reasons),
        "stopped": stops_json(account.stops),
        "releases": [_release(each) for each in account.reservations],
        "verified_entries": audit.entries,
        "head": audit.head,
    }


def _caps(caps: Caps) -> dict[str, float]:
    return {
        "epsilon": float(caps.epsilon),
        "delta": float(caps.delta),
        "threshold_delta": float(caps.threshold_delta),
        "mu_squared": float(caps.mu_squared),
    }


def _release(release: Reservation) -> dict[str, object]:
    return {
        "vintage": release.name.vintage,
        "phase": release.phase,
        "charged": release.is_charged,
        "time": release.time,
        "epsilon": release.epsilon,
        "delta": release.delta,
        "mu_squared": float(release.mu_squared),
        "threshold_delta": float(release.threshold_delta),
    }
