"""What is kept of a run in ``sensitive/``: its parameters, and which table each label was measured from."""

import json
from pathlib import Path

from tasks.bundles import configured_digest
from tasks.caching import plain
from tasks.configuration import RunConfiguration
from tasks.describe import Described
from tasks.progress import say
from tasks.storage import StoredTable, Workspace


def keep_configuration(workspace: Workspace, configuration: RunConfiguration, run: str) -> None:
    """Write the record; with paths, and with the seed, so it stays where the raw records are."""
    folder = workspace.sensitive / run
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(configuration), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / "configuration.json").write_text(text + "\n", encoding="utf-8")


def compare_with_last(
    workspace: Workspace, configuration: RunConfiguration, described: Described, table: StoredTable
) -> None:
    """Say on the terminal, and nowhere else, that a label was measured from another table before.

    Under differential privacy the first table of a label is the one that it was drawn from; under
    k-anonymity it is the last one that was counted.
    """
    path = workspace.sensitive / configuration.dataset / "tables.json"
    known = _known(path)
    label = f"{described.vintage}-{configured_digest(configuration, described.schema)[:8]}"
    digest = workspace.keyed_hash(table.sha256)
    before = known.get(label)
    if before not in (None, digest):
        say(_changed(described.vintage, is_private=configuration.is_private))
    if before is None or not configuration.is_private:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(known | {label: digest}, indent=1, sort_keys=True), encoding="utf-8")
        part.replace(path)


def _known(path: Path) -> dict[str, str]:
    try:
        body: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return body


def _changed(vintage: str, *, is_private: bool) -> str:
    changed = f"ATTENTION: the table has changed since a run measured it as {vintage!r}."
    if is_private:
        return (
            f"{changed} The release of that label stays the one that was drawn first; what has changed is "
            "not in it. Give the changed table a vintage of its own."
        )
    return (
        f"{changed} Its release is another one, beside the earlier: whoever has both sees what changed. "
        "Give a new table a vintage of its own, and withdraw the earlier release if this one mends it."
    )
