"""What is kept of a run in ``sensitive/``: its parameters, and which table each label was measured from."""

import json
from typing import Any

from tasks.caching import as_plain
from tasks.configuration.model import RunConfiguration
from tasks.core.ledger.names import ReleaseName
from tasks.leftovers import process_mark
from tasks.messages import say
from tasks.plan.describe import RunFacts
from tasks.public.bundles.opening import configured_digest
from tasks.storage import FULL, SENSITIVE, RunWorkspace, StoredTable, Workspace, load_json

_TABLES = "tables.json"


def keep_configuration(run: RunWorkspace, configuration: RunConfiguration) -> None:
    """Write the record; with paths, and with the seed, so it stays where the raw records are."""
    folder = run.folder(SENSITIVE)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_plain(configuration), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / "configuration.json").write_text(text + "\n", encoding="utf-8")


def record_drawn(workspace: Workspace, name: ReleaseName, table_hash: str) -> None:
    """Record the table that a release is about to be drawn from: whoever draws may die right after it."""
    add_to_record(workspace, name.dataset, _TABLES, {_label(name.vintage, name.digest): table_hash})


def fingerprint(workspace: Workspace, table: StoredTable, made: StoredTable) -> str:
    return f"{workspace.keyed_hash(table.sha256)} {workspace.keyed_hash(made.sha256)}"


def compare_with_last(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    table: StoredTable,
    made: StoredTable,
) -> None:
    """Say on the terminal, and nowhere else, that a label was measured from another table before.

    Other bytes alone are not told of, such as other line ends or a column that is not used: ``made``, which
    a release follows from, must differ too.

    Under differential privacy the table of a label is the one that it was drawn from, or the first that was
    seen here where it was drawn elsewhere; under k-anonymity it is the last one that was counted.
    """
    label = _label(described.vintage, configured_digest(configuration, described.schema))
    now, is_kept = fingerprint(workspace, table, made), configuration.protection.is_drawn_once
    before = read_record(workspace, configuration.dataset, _TABLES).get(label)
    if before is not None and not set(before.split()) & set(now.split()):
        say(_changed(described.vintage, is_kept=is_kept))
    if before is None or not is_kept:
        add_to_record(workspace, configuration.dataset, _TABLES, {label: now})


def _label(vintage: str, digest: str) -> str:
    return f"{vintage}-{digest[:8]}"


def read_record(workspace: Workspace, dataset: str, file: str) -> dict[str, Any]:
    """What earlier runs noted; nothing where it can't be read."""
    try:
        body: dict[str, Any] = load_json(workspace.sensitive / dataset / file)
    except (OSError, ValueError):
        return {}
    return body


def add_to_record(workspace: Workspace, dataset: str, file: str, entries: dict[str, Any]) -> None:
    path = workspace.sensitive / dataset / file
    part = path.with_name(f".{file}-{process_mark()}.part")
    record = read_record(workspace, dataset, file) | entries
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        if error.errno in FULL:
            raise workspace.is_full() from None
        raise


def _changed(vintage: str, *, is_kept: bool) -> str:
    changed = f"ATTENTION: the table has changed since a run measured it as vintage {vintage!r}."
    if is_kept:
        return (
            f"{changed} The release of that vintage stays as it was drawn first, without the changes. Give "
            "the changed table a vintage of its own."
        )
    return (
        f"{changed} This run makes another release beside the earlier one: somebody who has both sees what "
        "changed. If the table is a new one, give it a vintage of its own. If it corrects the earlier one, "
        "withdraw the earlier release."
    )
