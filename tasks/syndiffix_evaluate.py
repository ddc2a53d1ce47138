"""SynDiffix's evaluation against the raw table: what was lost, exactly, and so for ``sensitive/`` alone."""

import json
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from prefect import task

from tasks.core.evaluation.typed_tables import TableDistances, distances
from tasks.core.evaluation.typed_tables_files import write_distances
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace
from tasks.syndiffix_trees import TABLE


@task
@sanitised
def evaluate_tables(
    workspace: Workspace,
    table: StoredTable,
    synthetic: StoredTable,
    answers: StoredTable | None,
    bins: dict[str, tuple[float, ...]],
    prefix: str,
    run: str,
) -> StoredTable:
    """Total variation of every column and pair, of the one table and of those of single questions.

    Args:
        workspace: where it is.
        table: the raw one, typed.
        synthetic: stitched.
        answers: tables of single questions; None: there are none.
        bins: public edges by numeric column.
        prefix: of the files' names.
        run: the run's folder in ``sensitive/``.
    """
    with closing(Progress("evaluate")) as progress:
        raw = pq.read_table(workspace.path(table) / TABLE)
        whole = pq.read_table(workspace.path(synthetic) / TABLE)
        found = distances(raw, whole, bins, lambda done: progress("pairs", done))
        by_question: list[TableDistances] = []
        if answers is not None:
            for path in sorted(workspace.path(answers).glob("*.parquet")):
                by_question.append(distances(raw, pq.read_table(path), bins))

    def write(folder: Path) -> None:
        text = json.dumps(found.to_dict(by_question), indent=1, sort_keys=True)
        (folder / "evaluation.json").write_text(text + "\n", encoding="utf-8")
        write_distances(found, by_question, folder, prefix)

    return workspace.store(
        workspace.sensitive / run / "evaluation", "evaluation against the raw table", write
    )
