"""``marginalia ledger``: a dataset's account, verified, and its caps."""

import argparse
import json
import math

from flows.command.ledger_shown import (
    ReleaseSetting,
    as_json,
    print_account,
    print_reasons,
    print_stops,
    stops_json,
)
from tasks.core.dp.budget import default_threshold_delta_cap
from tasks.core.errors import ParameterError
from tasks.core.figures import plain_up
from tasks.core.hints import did_you_mean
from tasks.core.ledger.account import Account, Registration
from tasks.core.ledger.audit import audited, export_at, read_export, write_export
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.salts import salted_datasets
from tasks.ledger_place import kept_place
from tasks.sensitive.ledger import kept_ledger

#: Options that mean nothing by themselves, and what they need.
_WITH_CAP = ("threshold_delta", "population", "unit")
_WITH_DATASET = ("cap", "reason", "configuration", "subject_id")
_WITHOUT_A_LEDGER = ("dataset", "cap", "reason", "configuration", "export", "subject_id")


def show_or_set(options: argparse.Namespace) -> int:
    """Show accounts, verified, or register, lower or raise a dataset's caps, or export or verify entries."""
    _require_sense(options)
    if options.verify is not None:
        _verify(options)
        return 0
    ledger = kept_ledger()
    if options.export is not None:
        _export(ledger, options)
    elif options.dataset is None:
        _show_all(ledger, options)
    elif options.subject_id is not None:
        _require_none(options, ("cap", "configuration"), "--subject-id is noted by itself")
        ledger.rename_subject(options.dataset, options.subject_id, options.reason)
        print(f"The ledger now knows the subjects of {options.dataset!r} by {options.subject_id!r}.")
    elif options.cap is not None:
        _show(ledger, _set(ledger, options), options)
    elif options.reason:
        ledger.set_apart(options.dataset, options.reason)
        reason = options.reason.strip()
        print(f"The ledger now keeps why {options.dataset!r} is about other people: {reason}")
    else:
        _show_one(ledger, options)
    return 0


def _require_sense(options: argparse.Namespace) -> None:
    """Refuse options that would be ignored."""
    if options.verify is not None:
        _require_none(options, (*_WITHOUT_A_LEDGER, *_WITH_CAP), "--verify reads a file alone, and no ledger")
    if options.cap is None:
        _require_none(options, _WITH_CAP, "it only counts together with --cap EPSILON DELTA")
    if options.dataset is None:
        _require_none(options, _WITH_DATASET, "it is about one dataset, which must be named")


def _require_none(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(options, name) not in (None, ""):
            given = "DATASET" if name == "dataset" else "--" + name.replace("_", "-")
            raise ParameterError(
                f"{given} can't be used so: {why}. Nothing was changed. Correct the command."
            )


def _verify(options: argparse.Namespace) -> None:
    audit = audited(read_export(options.verify), export_at(options.verify))
    if options.json:
        accounts = [as_json(account, audit, None) for account in audit.accounts]
        print(json.dumps({"verified_entries": audit.entries, "head": audit.head, "datasets": accounts}))
        return
    for account in audit.accounts:
        print_account(account, None)
    print(f"{options.verify}: {audit.in_words}. The last one is {audit.head}.")
    print("A release records such a hash in its privacy.json (ledger.head): it must be that of one entry.")


def _export(ledger: Ledger, options: argparse.Namespace) -> None:
    if options.dataset is not None and not ledger.is_registered(options.dataset):
        raise _unknown(ledger, options.dataset)
    entries = ledger.entries()
    write_export(entries, options.export)
    print(
        f"Wrote all {len(entries):,} entries of the ledger to {options.export}. They hold the names of all "
        "its datasets, and the key by which their tables were noted: give the file to auditors alone."
    )
    print(f"Verify it anywhere: marginalia ledger --verify '{options.export}'")


def _show_all(ledger: Ledger, options: argparse.Namespace) -> None:
    audit, salted = ledger.audit(), salted_datasets(kept_place())
    if options.json:
        accounts = [as_json(account, audit, ReleaseSetting.of_latest(account)) for account in audit.accounts]
        body = {"verified_entries": audit.entries, "head": audit.head, "datasets": accounts, "salted": salted}
        print(json.dumps(body))
        return
    for account in audit.accounts:
        print_account(account, ReleaseSetting.of_latest(account))
    if not audit.accounts:
        print("No dataset is registered in this ledger.")
    if salted:
        print(f"SynDiffix has no budget. This ledger keeps the salts of: {', '.join(salted)}")
    print(f"{audit.in_words[0].upper()}{audit.in_words[1:]}.")


def _show_one(ledger: Ledger, options: argparse.Namespace) -> None:
    """The account; of a dataset without one what else there is: its salt of SynDiffix, written reasons."""
    dataset: str = options.dataset
    salted, reasons = salted_datasets(kept_place()), ledger.reasons(dataset)
    stops = ledger.stops(dataset)
    if ledger.is_registered(dataset):
        _show(ledger, ledger.account(dataset), options)
    elif options.json and (dataset in salted or reasons or stops):
        body = {"dataset": dataset, "salted": dataset in salted, "reasons": reasons, "cap": None}
        print(json.dumps(body | {"stopped": stops_json(stops)}))
    elif dataset in salted or reasons or stops:
        without = "no budget and no salt yet: its first run makes one"
        salt = "no budget, as SynDiffix has none; this ledger keeps the salt of its noise"
        print(f"{dataset}  ({salt if dataset in salted else without})")
        print_reasons(reasons)
        print_stops(stops)
    else:
        raise _unknown(ledger, dataset)


def _unknown(ledger: Ledger, dataset: str) -> ParameterError:
    meant = did_you_mean(dataset, [*ledger.datasets(), *salted_datasets(kept_place())], repr) or (
        "its first run under differential privacy registers it; other protections have no budget."
    )
    return ParameterError(f"The ledger has no dataset {dataset!r}: {meant}")


def _show(ledger: Ledger, account: Account, options: argparse.Namespace) -> None:
    audit = ledger.audit()
    setting = ReleaseSetting.of_latest(account)
    if options.configuration is not None:
        setting = ReleaseSetting.of_configuration(options.configuration, account)
    if options.json:
        print(json.dumps(as_json(account, audit, setting)))
        return
    print_account(account, setting)
    print(f"  {audit.in_words}")


def _set(ledger: Ledger, options: argparse.Namespace) -> Account:
    epsilon, delta = (
        _number(text, name) for text, name in zip(options.cap, ("EPSILON", "DELTA"), strict=True)
    )
    threshold = _number(options.threshold_delta, "--threshold-delta") if options.threshold_delta else None
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
