"""SynDiffix's crossing: stitched and shuffled tables leave ``sensitive/``; nothing else of the trees does.

See `bundles` for what lies there.
"""

import shutil
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.bundles import Bundle, configured_digest, declared_input, name_of, seal
from tasks.configuration import RunConfiguration
from tasks.configuration_places import SYNDIFFIX
from tasks.describe import Described
from tasks.failures import sanitised
from tasks.storage import MEASUREMENT, StoredTable, Workspace


@task(cache_policy=NO_CACHE, persist_result=False)
@sanitised
def hand_over_tables(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: Described,
    table: StoredTable,
    answers: StoredTable | None,
) -> StoredTable:
    """Put the synthetic table, and those of single questions, where they are published from."""
    digest = configured_digest(configuration, described.schema)
    place = workspace.root / MEASUREMENT / configuration.dataset / f"{described.vintage}-{digest[:8]}"
    declared = declared_input(configuration)
    name = Bundle(place, SYNDIFFIX, configuration.dataset, described.vintage, digest, declared)

    def write(folder: Path) -> None:
        _copy(workspace.path(table), folder / "synthetic_table")
        if answers is not None:
            _copy(workspace.path(answers), folder / "tables")
        (folder / "schema.json").write_text(described.schema.to_json(), encoding="utf-8")
        seal(folder, name_of(name))

    return workspace.store(place, "measurement", write)


def _copy(source: Path, folder: Path) -> None:
    """Bytes alone: what is in ``sensitive/`` is closed to others, this is for who publishes."""
    folder.mkdir()
    for path in source.iterdir():
        shutil.copyfile(path, folder / path.name)
