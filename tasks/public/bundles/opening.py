"""What may be published from: a folder that the measuring side handed over goes in, its bundle comes out.

All of it is protected, so who may publish may read it; ledger and ``sensitive/`` may stay closed to them.
"""

import json
from contextlib import suppress
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import naming_parameters
from tasks.core.contracts.odcs import load_contract
from tasks.core.dp.digest import configuration_digest
from tasks.core.errors import ParameterError, StoredTableMismatch
from tasks.core.hints import show_path
from tasks.core.records.columns import Schema
from tasks.core.stored_files import folder_sha256
from tasks.public.bundles.bundle import ACCOUNT, NAME, Bundle, CountsBundle, declared_input
from tasks.public.bundles.protections import DrawnBundle, RoundedBundle, TablesBundle
from tasks.storage import MEASUREMENT, StoredTable, Workspace, load_json, vintage_in_name

#: A protection's bundle, by the name of its regime in `name.json`.
KINDS: dict[str, type[Bundle]] = {
    "differential_privacy": DrawnBundle,
    "k_anonymity": RoundedBundle,
    "syndiffix": TablesBundle,
}


def open_bundle(workspace: Workspace, measurement: StoredTable) -> Bundle:
    return _read(workspace.path(measurement))


def open_counts(workspace: Workspace, measurement: StoredTable) -> CountsBundle:
    bundle = open_bundle(workspace, measurement)
    assert isinstance(bundle, CountsBundle), "a release of counts is made of counts"
    return bundle


def open_drawn(workspace: Workspace, measurement: StoredTable) -> DrawnBundle:
    bundle = open_bundle(workspace, measurement)
    assert isinstance(bundle, DrawnBundle), "only what was drawn is read as it was drawn"
    return bundle


def _read(folder: Path) -> Bundle:
    name = load_json(folder / NAME)
    regime = name["regime"]
    # What was drawn is named by the ledger's account of it.
    account = folder / ACCOUNT
    about = load_json(account) if account.is_file() else name
    return KINDS[regime](folder, regime, about["dataset"], about["vintage"], name["digest"], name["input"])


def _reading(configuration: RunConfiguration) -> dict[str, object]:
    """What decides how the table is read, and what is told of it, beside schema and parameters.

    That a strict contract was kept is told of the very table that was drawn from, so another contract is
    another release: two of them over one draw would tell two facts for one charge. One that repairs is in
    the schema as far as it decides what is drawn; where nothing is drawn once, all of it names the release.
    """
    table, reading = configuration.input, configuration.input.reading()
    if table.contract is None:
        reading.pop("contract_mode", None)
    elif table.contract_mode == "strict" or not configuration.protection.is_drawn_once:
        reading["contract"] = load_contract(Path(table.contract)).meaning
    return reading


def configured_digest(configuration: RunConfiguration, schema: Schema) -> str:
    """Of every public setting that decides how the table is read or what is drawn."""
    return configuration_digest(schema, naming_parameters(configuration, schema), _reading(configuration))


def require_made_as_configured(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable
) -> None:
    """Refuse to publish a measurement under a configuration that it was not made with.

    The release would hold settings, a dataset and a promise about its contract that are not its own.
    """
    bundle, declared = open_bundle(workspace, measurement), declared_input(configuration)
    same_regime = bundle.regime == configuration.protection.regime
    wrong = [
        words
        for words, differs in (
            (f"the dataset {bundle.dataset!r}", bundle.dataset != configuration.dataset),
            (f"the vintage {bundle.vintage!r}", configuration.vintage not in (None, bundle.vintage)),
            (
                "other settings of protection",
                not same_regime or configured_digest(configuration, bundle.schema()) != bundle.digest,
            ),
            ("another contract or other declarations of its input", declared != bundle.input),
        )
        if differs
    ]
    if wrong:
        raise ParameterError(
            "A measurement must be published under the configuration that it was drawn with, but "
            f"{measurement.key} was drawn with {' and '.join(wrong)}. Give that configuration, or make "
            "another measurement with marginalia run."
        )


def find_measurement(
    workspace: Workspace, configuration: RunConfiguration, folder: str | None
) -> StoredTable:
    """A handed-over measurement: the named one, else the newest that was made as configured."""
    home = workspace.root / MEASUREMENT / configuration.dataset
    if folder is not None:
        found = [Path(folder).absolute()]
    else:
        found = sorted(home.glob("*"), key=lambda path: path.stat().st_mtime)
        found = [path for path in found if configuration.vintage in (None, vintage_in_name(path))]
    found = [path for path in found if (path / NAME).is_file()]
    if not found:
        is_asked_for = folder is None and configuration.vintage
        of_vintage = f" of vintage {configuration.vintage!r}" if is_asked_for else ""
        raise ParameterError(
            f"Publishing needs a measurement{of_vintage}, but there is none at "
            f"{show_path(Path(folder or home))}. "
            "Make one with marginalia run."
        )
    place = found[0] if len(found) == 1 else _choose_measurement(configuration, found)
    _require_sealed(place)
    key = place.relative_to(workspace.root) if place.is_relative_to(workspace.root) else place
    return StoredTable(key.as_posix(), folder_sha256(place), MEASUREMENT, "measurement")


def _choose_measurement(configuration: RunConfiguration, places: list[Path]) -> Path:
    bundles = map(_opened, reversed(places))
    return next((each.folder for each in bundles if _is_made_as(each, configuration)), places[-1])


def _opened(place: Path) -> Bundle:
    _require_sealed(place)
    return _read(place)


def _is_made_as(bundle: Bundle, configuration: RunConfiguration) -> bool:
    with suppress(ParameterError):
        return (
            bundle.regime == configuration.protection.regime
            and configured_digest(configuration, bundle.schema()) == bundle.digest
        )
    return False


def seal(folder: Path, name: dict[str, object]) -> None:
    """Write ``name.json``, last, with the hash of all else: what is changed later is not published."""
    text = json.dumps({**name, "sha256": folder_sha256(folder)}, sort_keys=True)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def _require_sealed(folder: Path) -> None:
    name = load_json(folder / NAME)
    if name.get("sha256") != folder_sha256(folder, without=NAME):
        raise StoredTableMismatch(
            f"Measurements must never change, but {folder} was changed after it was handed over. Find out "
            "what changed it. Then do marginalia run again: it hands over what was measured."
        )
