"""What synthetic records are worth, measured against the raw table on request: for ``sensitive/`` alone."""

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pydantic import Field

from tasks.configuration.model import RunConfiguration
from tasks.configuration.sections import Model, UtilityRequest
from tasks.sensitive.table import open_records
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable, Workspace

if TYPE_CHECKING:
    from tasks.core.evaluation.utility.table_pair import TablePair


class UtilitySettings(Model):
    """What of a run's configuration the measures depend on.

    Attributes:
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
        request = configuration.evaluate_utility
        if request is None:
            return None
        typed = bins is not None
        return cls(request=request, prefix=configuration.prefix, is_typed=typed, bins=bins or {})


@step(SENSITIVE, makes="utility against the raw table", folder="utility", progress="utility")
def measure_worth(into: Output, settings: UtilitySettings, raw: StoredTable, synthetic: StoredTable) -> None:
    from tasks.core.evaluation.utility.files import write_utility
    from tasks.core.evaluation.utility.measures import UtilityColumns, measure_utility

    about = UtilityColumns(target=settings.request.target, group=settings.request.group)
    pair = _pair(into.run, settings, raw, synthetic)
    found = measure_utility(pair, about, into.run.resources.threads, into.progress)
    write_utility(found, into.folder, settings.prefix)


def _pair(
    workspace: Workspace, settings: UtilitySettings, raw: StoredTable, synthetic: StoredTable
) -> "TablePair":
    from tasks.core.evaluation.utility.measures import MOST_ROWS
    from tasks.core.evaluation.utility.table_pair import pair_of_records, pair_of_tables
    from tasks.core.synthesis.records import open_synthetic_records
    from tasks.sensitive.syndiffix.trees import TABLE

    if settings.is_typed:
        typed, made = (pq.read_table(workspace.path(table) / TABLE) for table in (raw, synthetic))
        return pair_of_tables(typed, made, settings.bins, MOST_ROWS)
    records = open_synthetic_records(workspace.path(synthetic))
    return pair_of_records(open_records(workspace, raw), records, MOST_ROWS)
