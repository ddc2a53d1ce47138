"""``marginalia ledger``: a dataset's account, verified, and its caps."""

import argparse
import json
import math
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from tasks.configuration.flat_file import read_configuration
from tasks.core.dp.budget import default_threshold_delta_cap
from tasks.core.errors import ParameterError
from tasks.core.figures import count_of, plain_up
from tasks.core.hints import did_you_mean
from tasks.core.ledger.account import Account, Registration
from tasks.core.ledger.audit import Audit, audit_entries, export_at, read_export, write_export
from tasks.core.ledger.dataset_notes import BROKEN, UNREAD, Stop
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.salts import salted_datasets
from tasks.ledger_place import user_ledger_place
from tasks.sensitive.ledger import open_user_ledger


@dataclass(frozen=True)
class ReleaseSetting:
    """What one more release would be charged; ``whose`` setting it is, in words."""

    mu_squared: Decimal
    threshold_delta: Decimal
    epsilon: float
    delta: float
    whose: str

    @classmethod
    def of_latest(cls, account: Account) -> "ReleaseSetting | None":
        latest = next((each for each in reversed(account.reservations) if each.is_charged), None)
        if latest is None:
            return None
        whose = f"the latest release, {latest.name.vintage}"
        return cls(latest.mu_squared, latest.threshold_delta, latest.epsilon, latest.delta, whose)

    @classmethod
    def of_configuration(cls, path: Path, account: Account) -> "ReleaseSetting":
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
        runs = account.remaining_runs(setting.mu_squared, setting.threshold_delta)
        print(
            f"  left     {count_of(runs, 'more release') if runs else 'no more release'} at the setting of "
            f"{setting.whose} (epsilon {plain_up(setting.epsilon)}, delta {plain_up(setting.delta)})"
        )
    print_notes(account.reasons, account.stops)
    for release in account.reservations:
        print(
            f"  {release.time}  {release.name.vintage:<16} {release.phase:<9} epsilon "
            f"{plain_up(release.epsilon)}, delta {plain_up(release.delta)}, mu^2 "
            f"{plain_up(release.mu_squared)}"
        )


def print_notes(reasons: tuple[str, ...], stops: tuple[Stop, ...]) -> None:
    for reason in reasons:
        print(f"  reason   {reason}")
    for why, words in (
        (BROKEN, "stopped by a strict contract"),
        (UNREAD, "stopped, or compared nothing, as the table could not be read"),
    ):
        number = sum(stop.why == why for stop in stops)
        if number:
            were = "was" if number == 1 else "were"
            told = "exact answers about the table, not charged"
            print(f"  stopped  {count_of(number, 'run')} {were} {words}: {told}")
    for stop in stops:
        what = "contract" if stop.why == BROKEN else "unread, as declared in"
        print(f"  {stop.time}  {stop.vintage:<16} stopped   {what} {stop.asked[:16]}")


def account_json(account: Account, audit: Audit, setting: ReleaseSetting | None) -> dict[str, object]:
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
        "cap": _figures(account.caps, *_CAPS),
        "guarantee": _figures(account.guarantee, *_CAPS),
        "spent": {
            **_figures(account.spent, "mu_squared", "threshold_delta"),
            "epsilon": account.epsilon_spent,
            "releases": account.charged_releases,
        },
        "left": left,
        "reasons": list(account.reasons),
        "stopped": [asdict(stop) for stop in account.stops],
        "releases": [
            {"vintage": each.name.vintage, "phase": each.phase, "charged": each.is_charged, "time": each.time}
            | _figures(each, "epsilon", "delta", "mu_squared", "threshold_delta")
            for each in account.reservations
        ],
        "verified_entries": audit.entries,
        "head": audit.head,
    }


_CAPS = ("epsilon", "delta", "threshold_delta", "mu_squared")


def _figures(of: object, *names: str) -> dict[str, float]:
    return {name: float(getattr(of, name)) for name in names}


#: Options that mean nothing by themselves, and what they need.
_WITH_CAP = ("threshold_delta", "population", "unit")
_WITH_DATASET = ("cap", "reason", "configuration", "subject_id")
_WITHOUT_A_LEDGER = ("dataset", "cap", "reason", "configuration", "export", "subject_id")


def show_or_set(options: argparse.Namespace) -> int:
    if options.verify is not None:
        _require_none(options, (*_WITHOUT_A_LEDGER, *_WITH_CAP), "--verify reads a file alone, and no ledger")
        _verify_export(options)
        return 0
    if options.cap is None:
        _require_none(options, _WITH_CAP, "it only counts together with --cap EPSILON DELTA")
    if options.dataset is None:
        _require_none(options, _WITH_DATASET, "it is about one dataset, which must be named")
    ledger = open_user_ledger()
    if options.export is not None:
        _write_export(ledger, options)
    elif options.dataset is None:
        _show_all(ledger, options)
    elif options.subject_id is not None:
        _require_none(options, ("cap", "configuration"), "--subject-id is noted by itself")
        ledger.rename_subject(options.dataset, options.subject_id, options.reason)
        print(f"The ledger now knows the subjects of {options.dataset!r} by {options.subject_id!r}.")
    elif options.cap is not None:
        _show_account(ledger, _set_caps(ledger, options), options)
    elif options.reason:
        ledger.set_apart(options.dataset, options.reason)
        reason = options.reason.strip()
        print(f"The ledger now keeps why {options.dataset!r} is about other people: {reason}")
    else:
        _show_one(ledger, options)
    return 0


def _require_none(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(options, name) not in (None, ""):
            given = "DATASET" if name == "dataset" else "--" + name.replace("_", "-")
            raise ParameterError(
                f"{given} can't be used so: {why}. Nothing was changed. Correct the command."
            )


def _verify_export(options: argparse.Namespace) -> None:
    audit = audit_entries(read_export(options.verify), export_at(options.verify))
    if options.json:
        accounts = [account_json(account, audit, None) for account in audit.accounts]
        print(json.dumps({"verified_entries": audit.entries, "head": audit.head, "datasets": accounts}))
        return
    for account in audit.accounts:
        print_account(account, None)
    print(f"{options.verify}: {audit.in_words}. The last one is {audit.head}.")
    print("A release records such a hash in its privacy.json (ledger.head): it must be that of one entry.")


def _write_export(ledger: Ledger, options: argparse.Namespace) -> None:
    if options.dataset is not None and not ledger.is_registered(options.dataset):
        raise _unknown_dataset(ledger, options.dataset)
    entries = ledger.entries()
    write_export(entries, options.export)
    print(
        f"Wrote all {len(entries):,} entries of the ledger to {options.export}. They hold the names of all "
        "its datasets, and the key by which their tables were noted: give the file to auditors alone."
    )
    print(f"Verify it anywhere: marginalia ledger --verify '{options.export}'")


def _show_all(ledger: Ledger, options: argparse.Namespace) -> None:
    audit, salted = ledger.audit(), salted_datasets(user_ledger_place())
    settings = [(account, ReleaseSetting.of_latest(account)) for account in audit.accounts]
    if options.json:
        accounts = [account_json(account, audit, setting) for account, setting in settings]
        body = {"verified_entries": audit.entries, "head": audit.head, "datasets": accounts, "salted": salted}
        print(json.dumps(body))
        return
    for account, setting in settings:
        print_account(account, setting)
    if not audit.accounts:
        print("No dataset is registered in this ledger.")
    if salted:
        print(f"SynDiffix has no budget. This ledger keeps the salts of: {', '.join(salted)}")
    print(f"{audit.in_words[0].upper()}{audit.in_words[1:]}.")


def _show_one(ledger: Ledger, options: argparse.Namespace) -> None:
    """The account; of a dataset without one what else there is: its salt of SynDiffix, written reasons."""
    dataset: str = options.dataset
    salted, reasons = salted_datasets(user_ledger_place()), ledger.reasons(dataset)
    stops = ledger.stops(dataset)
    if ledger.is_registered(dataset):
        _show_account(ledger, ledger.account(dataset), options)
    elif options.json and (dataset in salted or reasons or stops):
        body = {"dataset": dataset, "salted": dataset in salted, "reasons": reasons, "cap": None}
        print(json.dumps(body | {"stopped": [asdict(stop) for stop in stops]}))
    elif dataset in salted or reasons or stops:
        without = "no budget and no salt yet: its first run makes one"
        salt = "no budget, as SynDiffix has none; this ledger keeps the salt of its noise"
        print(f"{dataset}  ({salt if dataset in salted else without})")
        print_notes(reasons, stops)
    else:
        raise _unknown_dataset(ledger, dataset)


def _unknown_dataset(ledger: Ledger, dataset: str) -> ParameterError:
    meant = did_you_mean(dataset, [*ledger.datasets(), *salted_datasets(user_ledger_place())], repr) or (
        "its first run under differential privacy registers it; other protections have no budget."
    )
    return ParameterError(f"The ledger has no dataset {dataset!r}: {meant}")


def _show_account(ledger: Ledger, account: Account, options: argparse.Namespace) -> None:
    audit = ledger.audit()
    setting = ReleaseSetting.of_latest(account)
    if options.configuration is not None:
        setting = ReleaseSetting.of_configuration(options.configuration, account)
    if options.json:
        print(json.dumps(account_json(account, audit, setting)))
        return
    print_account(account, setting)
    print(f"  {audit.in_words}")


def _set_caps(ledger: Ledger, options: argparse.Namespace) -> Account:
    epsilon, delta = (
        _positive(text, name) for text, name in zip(options.cap, ("EPSILON", "DELTA"), strict=True)
    )
    threshold = _positive(options.threshold_delta, "--threshold-delta") if options.threshold_delta else None
    dataset: str = options.dataset
    if not ledger.is_registered(dataset):
        share = default_threshold_delta_cap(delta) if threshold is None else threshold
        unit, population = options.unit or "subject", options.population or ""
        return ledger.register(Registration(dataset, epsilon, delta, share, population, unit, options.reason))
    account = ledger.account(dataset)
    _require_unchanged("unit", options.unit, account.unit, dataset)
    _require_unchanged("population", options.population, account.population, dataset)
    now = account.caps
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


def _require_unchanged(what: str, given: str | None, registered: str, dataset: str) -> None:
    if given not in (None, registered):
        raise ParameterError(
            f"The {what} of {dataset!r} can't change: it is {registered or 'not described'} since the "
            f"dataset was registered. Leave --{what} out."
        )


def _positive(text: str, name: str) -> float:
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
