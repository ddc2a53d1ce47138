"""The privacy statement of a release, and the contract's rules judged on released numbers."""

import json
from pathlib import Path

from prefect import task

from tasks.configuration.model import RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Json
from tasks.core.contracts.translation import load_contract
from tasks.core.statement.contract_verdicts import contract_json
from tasks.core.statement.released_json import MANIFEST_KEYS, check_released_json
from tasks.progress import say
from tasks.public.bundles.bundle import CountsBundle
from tasks.public.bundles.opening import open_counts
from tasks.storage import StoredTable, Workspace


@task
def state_privacy(
    workspace: Workspace,
    configuration: RunConfiguration,
    measurement: StoredTable,
    aggregates: StoredTable,
    work: str,
) -> StoredTable:
    """Write ``privacy.json`` and, where there is a contract, ``contract.json``."""
    bundle = open_counts(workspace, measurement)
    reported = read_aggregates(workspace.path(aggregates))
    body = bundle.statement(configuration, reported)
    for sentence in _missing(bundle, reported) + bundle.attentions():
        say(f"ATTENTION: {sentence}")

    def write(folder: Path) -> None:
        _write_json(folder / "privacy.json", body)
        if configuration.input.contract:
            _write_json(folder / "contract.json", _judged(bundle, configuration, reported))

    return workspace.store(workspace.root / work / "statement", "privacy statement", write)


def _missing(bundle: CountsBundle, reported: Aggregates) -> list[str]:
    """What whoever runs it should look at: a release without counts, or columns without a released value."""
    if not reported.attributes:
        return ["nothing is released but the number of records: too few of them hold any one value."]
    held = {attribute.column for attribute in reported.attributes}
    missing = [column.name for place, column in enumerate(bundle.schema().columns) if place not in held]
    if not missing:
        return []
    names = ", ".join(map(repr, missing))
    return [
        f"of {names} no value is released. See that bins, domains, sensitive_zeros and delimiters "
        "are what the column holds."
    ]


def _judged(bundle: CountsBundle, configuration: RunConfiguration, reported: Aggregates) -> Json:
    """The contract's verdicts: those that were drawn with, else from what is released alone."""
    kept = bundle.verdicts()
    if kept is not None:
        check_released_json(kept, MANIFEST_KEYS)
        return kept
    contract = load_contract(Path(configuration.input.contract or ""))
    numbers = bundle.numbers(configuration, reported)
    body = contract_json(contract, numbers, reported, strict=bundle.contract_mode == "strict")
    check_released_json(body, MANIFEST_KEYS)
    return body


def _write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
