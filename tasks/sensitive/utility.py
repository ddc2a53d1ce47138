"""What synthetic records are worth, measured against the raw table on request: for ``sensitive/`` alone."""

from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from prefect import task
from pydantic import Field

from tasks.configuration.model import RunConfiguration
from tasks.configuration.sections import Model, UtilityRequest
from tasks.core.evaluation.utility.files import write_utility
from tasks.core.evaluation.utility.measures import MOST_ROWS, UtilityColumns, measure_utility
from tasks.core.evaluation.utility.table_pair import TablePair, coded_pair, typed_pair
from tasks.core.queries import QueryResources
from tasks.core.records.coded import read_coded_records
from tasks.core.synthesis.records import read_synthetic_records
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.sensitive.syndiffix.trees import TABLE
from tasks.storage import StoredTable, Workspace


class UtilitySettings(Model):
    """What of a run's configuration the measures depend on.

    Attributes:
        request: what was asked for.
        prefix: of the files' names.
        is_typed: whether the tables are SynDiffix's typed ones, or coded records.
        bins: the typed ones' public edges by numeric column; coded records have theirs.
    """

    request: UtilityRequest
    prefix: str
    is_typed: bool = False
    bins: dict[str, tuple[float, ...]] = Field({})

    @classmethod
    def of(
        cls, configuration: RunConfiguration, bins: dict[str, tuple[float, ...]] | None = None
    ) -> "UtilitySettings | None":
        """Those of a run, with its edges where its tables are typed; None where it does not ask for it."""
        request = configuration.evaluate_utility
        if request is None:
            return None
        typed = bins is not None
        return cls(request=request, prefix=configuration.prefix, is_typed=typed, bins=bins or {})


@task
@sanitised
def measure_worth(
    workspace: Workspace,
    settings: UtilitySettings,
    tables: tuple[StoredTable, StoredTable],
    run: str,
    resources: QueryResources,
) -> StoredTable:
    """Measure what is synthetic against what is raw; into a folder of its own: no stored one is added to.

    Args:
        workspace: where it is.
        settings: what of the configuration matters.
        tables: coded records and synthetic ones, or SynDiffix's typed table and its synthetic one.
        run: the run's folder in ``sensitive/``.
        resources: the number of threads.
    """
    about = UtilityColumns(target=settings.request.target, group=settings.request.group)
    with closing(Progress("utility")) as progress:
        found = measure_utility(_pair(workspace, settings, *tables), about, resources.threads, progress)

    def write(folder: Path) -> None:
        write_utility(found, folder, settings.prefix)

    return workspace.store(workspace.sensitive / run / "utility", "utility against the raw table", write)


def _pair(
    workspace: Workspace, settings: UtilitySettings, raw: StoredTable, synthetic: StoredTable
) -> TablePair:
    """Both tables as codes, read as what they are stored as."""
    places = workspace.path(raw), workspace.path(synthetic)
    if settings.is_typed:
        typed, made = (pq.read_table(place / TABLE) for place in places)
        return typed_pair(typed, made, settings.bins, MOST_ROWS)
    return coded_pair(read_coded_records(places[0]), read_synthetic_records(places[1]), MOST_ROWS)
