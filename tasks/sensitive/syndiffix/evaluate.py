"""SynDiffix's evaluation against the raw table: what was lost, exactly, and so for ``sensitive/`` alone."""

import json
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from prefect import task

from tasks.configuration.sections import Model
from tasks.core.evaluation.typed_tables import TableDistances, distances, write_distances
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.sensitive.syndiffix.trees import TABLE
from tasks.storage import StoredTable, Workspace


class TableEvaluation(Model):
    """What of a run's configuration the evaluation depends on.

    Attributes:
        bins: public edges by numeric column.
        prefix: of the files' names.
    """

    bins: dict[str, tuple[float, ...]]
    prefix: str


@task
@sanitised
def evaluate_tables(
    workspace: Workspace,
    settings: TableEvaluation,
    table: StoredTable,
    released: tuple[StoredTable, StoredTable | None],
    run: str,
) -> StoredTable:
    """Total variation of every column and pair, of the one table and of those of single questions.

    Args:
        workspace: where it is.
        settings: what of the configuration matters.
        table: the raw one, typed.
        released: the synthetic table; those of single questions, None where there are none.
        run: the run's folder in ``sensitive/``.
    """
    with closing(Progress("evaluate")) as progress:
        synthetic, answers = released
        raw = pq.read_table(workspace.path(table) / TABLE)
        whole = pq.read_table(workspace.path(synthetic) / TABLE)
        found = distances(raw, whole, settings.bins, lambda done: progress("pairs", done))
        by_question: list[TableDistances] = []
        if answers is not None:
            for path in sorted(workspace.path(answers).glob("*.parquet")):
                by_question.append(distances(raw, pq.read_table(path), settings.bins))

    def write(folder: Path) -> None:
        text = json.dumps(found.to_dict(by_question), indent=1, sort_keys=True)
        (folder / "evaluation.json").write_text(text + "\n", encoding="utf-8")
        write_distances(found, by_question, folder, settings.prefix)

    return workspace.store(
        workspace.sensitive / run / "evaluation", "evaluation against the raw table", write
    )
