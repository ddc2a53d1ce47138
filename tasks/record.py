"""The record of a run: all its parameters, as ``configuration.json`` in its folder in ``sensitive/``."""

import json

from tasks.caching import plain
from tasks.configuration import RunConfiguration
from tasks.storage import Workspace


def keep_configuration(workspace: Workspace, configuration: RunConfiguration, run: str) -> None:
    """Write the record; with paths, and with the seed, so it stays where the raw records are."""
    folder = workspace.sensitive / run
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(configuration), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / "configuration.json").write_text(text + "\n", encoding="utf-8")
