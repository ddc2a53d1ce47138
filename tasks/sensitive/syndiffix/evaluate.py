"""SynDiffix's evaluation against the raw table: what was lost, exactly, and so for ``sensitive/`` alone."""

import json

import pyarrow.parquet as pq

from tasks.configuration.model import Report
from tasks.configuration.sections import Model
from tasks.core.evaluation.typed_tables import distances, write_distances
from tasks.sensitive.evaluate import owner_naming, store_owner_page
from tasks.sensitive.syndiffix.trees import TABLE
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable


class TableEvaluation(Model):
    """What of a run's configuration the evaluation depends on.

    Attributes:
        bins: public edges by numeric column.
        prefix: of the files' names.
        report: what the page calls things; the owner's page does so, too.
    """

    bins: dict[str, tuple[float, ...]]
    prefix: str
    report: Report = Report()


@step(SENSITIVE, makes="evaluation against the raw table", folder="evaluation", progress="evaluate")
def evaluate_tables(
    into: Output,
    settings: TableEvaluation,
    table: StoredTable,
    synthetic: StoredTable,
    answers: StoredTable | None,
) -> None:
    """Total variation of every column and pair, of one table and those of single questions; the owner's page.

    Args:
        into: what is filled.
        settings: what of the configuration matters.
        table: the raw one, typed.
        synthetic: the one of all columns.
        answers: those of single questions; None where there are none.
    """
    from tasks.core.navigation.owner_page import answers_of_tables, owner_title, render_owner_page
    from tasks.core.navigation.payload.owner import Compared, payload_of_true_table

    raw, whole = (pq.read_table(into.path(each) / TABLE) for each in (table, synthetic))
    found = distances(raw, whole, settings.bins, into.progress.of("pairs"))
    files = [] if answers is None else sorted(into.path(answers).glob("*.parquet"))
    by_question = [distances(raw, pq.read_table(path), settings.bins) for path in files]
    text = json.dumps(found.to_dict(by_question), indent=1, sort_keys=True)
    (into.folder / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    write_distances(found, by_question, into.folder, settings.prefix)
    dataset = into.run.dataset
    compared = Compared(dataset, owner_naming(settings.report, settings.prefix), "row")
    payload = payload_of_true_table(compared, owner_title(dataset), raw, whole, settings.bins)
    page = render_owner_page(dataset, payload, answers_of_tables(found))
    store_owner_page(into.folder, settings.prefix, page)
