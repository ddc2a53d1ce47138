"""``marginalia ledger``: a dataset's account, and its caps."""

import argparse
import math

from tasks.core.dp.budget import default_threshold_delta_cap
from tasks.core.errors import ParameterError
from tasks.core.figures import plain_up
from tasks.core.hints import did_you_mean
from tasks.core.ledger.account import Account
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.place import ledger_place
from tasks.core.ledger.registration import Registration
from tasks.core.ledger.salts import salted_datasets
from tasks.sensitive.ledger import kept_ledger


def show_or_set(options: argparse.Namespace) -> int:
    """Show accounts, or register, lower or raise a dataset's caps."""
    ledger = kept_ledger()
    if options.dataset is None:
        _show_all(ledger)
        return 0
    if options.cap is not None:
        _show(_set(ledger, options))
    elif options.reason:
        ledger.set_apart(options.dataset, options.reason)
        reason = options.reason.strip()
        print(f"The ledger now keeps why {options.dataset!r} is about other people: {reason}")
    else:
        _show_one(ledger, options.dataset)
    return 0


def _show_all(ledger: Ledger) -> None:
    for dataset in ledger.datasets():
        _show(ledger.account(dataset))
    if not ledger.datasets():
        print("No dataset is registered in this ledger.")
    if salted := salted_datasets(ledger_place()):
        print(f"SynDiffix has no budget. This ledger keeps the salts of: {', '.join(salted)}")


def _show_one(ledger: Ledger, dataset: str) -> None:
    """The account; of a dataset without one what else there is: its salt of SynDiffix, written reasons."""
    salted, reasons = salted_datasets(ledger_place()), ledger.reasons(dataset)
    if ledger.is_registered(dataset):
        _show(ledger.account(dataset))
    elif dataset in salted:
        print(f"{dataset}  (no budget, as SynDiffix has none; this ledger keeps the salt of its noise)")
        _show_reasons(reasons)
    elif reasons:
        print(f"{dataset}  (no budget and no salt yet: its first run makes one)")
        _show_reasons(reasons)
    else:
        meant = did_you_mean(dataset, [*ledger.datasets(), *salted], repr) or (
            "its first run under differential privacy registers it; other protections have no budget."
        )
        raise ParameterError(f"The ledger has no dataset {dataset!r}: {meant}")


def _set(ledger: Ledger, options: argparse.Namespace) -> Account:
    epsilon, delta = (
        _number(text, name) for text, name in zip(options.cap, ("EPSILON", "DELTA"), strict=True)
    )
    threshold = _number(options.threshold_delta, "--threshold-delta") if options.threshold_delta else None
    dataset: str = options.dataset
    if not ledger.is_registered(dataset):
        share = default_threshold_delta_cap(delta) if threshold is None else threshold
        unit, reason = options.unit or "subject", options.reason
        return ledger.register(Registration(dataset, epsilon, delta, share, options.population, unit, reason))
    if options.unit not in (None, ledger.account(dataset).unit):
        raise ParameterError(
            f"The unit of {dataset!r} can't change: it is {ledger.account(dataset).unit} since the dataset "
            "was registered. Leave --unit out."
        )
    now = ledger.account(dataset).caps
    # The caps as they are shown are those in force: who copies them raises nothing.
    shown = [plain_up(cap) for cap in (now.epsilon, now.delta)]
    if threshold is None and [plain_up(epsilon), plain_up(delta)] == shown:
        if options.reason:
            ledger.set_apart(dataset, options.reason)
        return ledger.account(dataset)
    if options.reason:
        return ledger.raise_caps(dataset, epsilon, delta, threshold, reason=options.reason)
    if epsilon > float(now.epsilon) or delta > float(now.delta):
        raise ParameterError(
            f"Raising the cap of {dataset!r} (now epsilon {plain_up(now.epsilon)}, delta "
            f"{plain_up(now.delta)}) needs a reason, which the ledger keeps: add --reason '...'."
        )
    return ledger.lower(dataset, epsilon, delta, threshold)


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        example = "1" if name == "EPSILON" else "1e-6"
        raise ParameterError(
            f"{name} must be a positive number such as {example}; it is {text!r}. Correct it."
        )
    return value


def _show(account: Account) -> None:
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
        print(f"  spent    {used:.1%} of mu^2, epsilon {plain_up(account.epsilon_spent)} at the delta cap")
    _show_reasons(account.reasons)
    for release in account.reservations:
        print(
            f"  {release.time}  {release.name.vintage:<16} {release.phase:<9} epsilon "
            f"{plain_up(release.epsilon)}, delta {plain_up(release.delta)}, mu^2 "
            f"{plain_up(release.mu_squared)}"
        )


def _show_reasons(reasons: tuple[str, ...]) -> None:
    for reason in reasons:
        print(f"  reason   {reason}")
