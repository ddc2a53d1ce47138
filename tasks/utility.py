"""What synthetic records are worth, measured against the raw table on request: for ``sensitive/`` alone."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from prefect import task
from pydantic import Field

from tasks.configuration import RunConfiguration
from tasks.configuration_utility import UtilityRequest
from tasks.core.evaluation.utility.coded_pair import coded_pair
from tasks.core.evaluation.utility.measures import MOST_ROWS, UtilityColumns, measure_utility
from tasks.core.evaluation.utility.table_pair import TablePair
from tasks.core.evaluation.utility.typed_pair import typed_pair
from tasks.core.evaluation.utility.utility_files import write_utility
from tasks.core.queries import Resources
from tasks.core.records.coded import read_coded_records
from tasks.core.synthesis.records import read_synthetic_records
from tasks.failures import sanitised
from tasks.models import Model
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace
from tasks.syndiffix_trees import TABLE


class UtilitySettings(Model):
    """What of a run's configuration the measures depend on.

    Attributes:
        request: what was asked for.
        prefix: of the files' names.
        bins: SynDiffix's public edges by numeric column; coded records have theirs.
    """

    request: UtilityRequest
    prefix: str
    bins: dict[str, tuple[float, ...]] = Field({})

    @classmethod
    def of(
        cls, configuration: RunConfiguration, bins: dict[str, tuple[float, ...]] | None = None
    ) -> "UtilitySettings | None":
        """Those of a run; None where it does not ask for it."""
        request = configuration.evaluate_utility
        if request is None:
            return None
        return cls(request=request, prefix=configuration.prefix, bins=bins or {})


@task
@sanitised
def measure_records(
    workspace: Workspace,
    settings: UtilitySettings,
    tables: tuple[StoredTable, StoredTable],
    run: str,
    resources: Resources,
) -> StoredTable:
    """Measure synthetic records.

    Args:
        workspace: where it is.
        settings: what of the configuration matters.
        tables: the coded records and the synthetic ones.
        run: the run's folder in ``sensitive/``.
        resources: the number of threads.
    """

    def pair() -> TablePair:
        records = read_coded_records(workspace.path(tables[0]))
        return coded_pair(records, read_synthetic_records(workspace.path(tables[1])), MOST_ROWS)

    return _measured(workspace, settings, pair, run, resources.threads)


@task
@sanitised
def measure_table(
    workspace: Workspace,
    settings: UtilitySettings,
    tables: tuple[StoredTable, StoredTable],
    run: str,
    resources: Resources,
) -> StoredTable:
    """Measure SynDiffix's synthetic table.

    Args:
        workspace: where it is.
        settings: what of the configuration matters.
        tables: the raw one, typed, and the synthetic one.
        run: the run's folder in ``sensitive/``.
        resources: the number of threads.
    """

    def pair() -> TablePair:
        raw, synthetic = (pq.read_table(workspace.path(table) / TABLE) for table in tables)
        return typed_pair(raw, synthetic, settings.bins, MOST_ROWS)

    return _measured(workspace, settings, pair, run, resources.threads)


def _measured(
    workspace: Workspace, settings: UtilitySettings, pair: Callable[[], TablePair], run: str, threads: int
) -> StoredTable:
    """A folder of its own, as a stored one is never added to."""
    about = UtilityColumns(target=settings.request.target, group=settings.request.group)
    with closing(Progress("utility")) as progress:
        found = measure_utility(pair(), about, threads, progress)

    def write(folder: Path) -> None:
        write_utility(found, folder, settings.prefix)

    return workspace.store(workspace.sensitive / run / "utility", "utility against the raw table", write)
