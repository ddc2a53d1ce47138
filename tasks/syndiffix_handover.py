"""SynDiffix's crossing: stitched and shuffled tables leave ``sensitive/``; nothing else of the trees does.

See `bundles` for what lies there.
"""

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration import RunConfiguration
from tasks.describe import Described
from tasks.failures import sanitised
from tasks.handover import hand_over_folders
from tasks.storage import StoredTable, Workspace


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
    folders = {"synthetic_table": table, "tables": answers}
    return hand_over_folders(workspace, configuration, described, folders)
