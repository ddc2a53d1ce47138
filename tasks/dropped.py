"""The table of cells that were not counted, put where the operator finds it, and the line that names it."""

import shutil

from tasks.configuration import RunConfiguration
from tasks.core.records.dropped import is_any_dropped
from tasks.progress import say
from tasks.storage import StoredTable, Workspace

#: Its name in the folder of the step that read the table.
DROPPED = "dropped_cells.tsv"


def tell_dropped(workspace: Workspace, configuration: RunConfiguration, read: StoredTable, run: str) -> None:
    """Put the table into the run's own folder, and say where it is.

    Under differential privacy the line is the same whatever was dropped, and names a folder of this run
    also where the step was skipped: a terminal may be logged, and neither may tell of the table (rule 3).

    Args:
        workspace: where it is.
        configuration: the run's.
        read: what the step that read the table stored.
        run: the run's folder in ``sensitive/``.
    """
    path = workspace.sensitive / run / f"{configuration.prefix}_{DROPPED}"
    shutil.copyfile(workspace.path(read) / DROPPED, path)
    if configuration.is_private:
        say(
            f"ATTENTION: see {path} for cells that were not counted, if there are any, and why: numbers that "
            "can't be read, values outside their domain. It must not leave this machine."
        )
    elif is_any_dropped(path):
        say(
            f"ATTENTION: some cells were not counted. {path} says of which columns, why and how many; where "
            "they are numbers, see decimal and thousands. It must not leave this machine."
        )
