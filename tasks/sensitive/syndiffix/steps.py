"""SynDiffix's steps on raw data: typed table, dependence, clusters, rows of a cluster, one table.

Only the table leaves ``sensitive/``, stitched and shuffled (`hand_over_tables`). A step is given what its
result depends on alone, so that another subset of the same table's columns finds what was made before.
"""

import json

import pyarrow.parquet as pq

from tasks.configuration.model import Report, RunConfiguration
from tasks.core.evaluation.typed_tables import distances, write_distances
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.dropped import write_dropped
from tasks.core.syndiffix.clusters import Clusters, read_clusters, write_clusters
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.syndiffix.synthesizer import tables_per_question
from tasks.core.tables.number_format import NumberFormat
from tasks.core.tables.texts import TypeLetter
from tasks.engine import current_engine
from tasks.messages import say
from tasks.plan.describe import RunFacts
from tasks.plan.syndiffix import missing_id_notes
from tasks.sensitive.evaluate import owner_naming, store_owner_page
from tasks.sensitive.hand_over import hand_over_folders
from tasks.sensitive.read import DROPPED, SensitiveTable
from tasks.sensitive.syndiffix.trees import (
    TABLE,
    KnownDependence,
    Part,
    Trees,
    column_places,
    read_cluster_rows,
    read_relations,
    write_cluster_rows,
    write_relations,
    write_typed,
)
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable, Workspace

_CLUSTERS = "clusters.json"
_SETS = "sets.json"


@step(SENSITIVE, makes="typed table", folder="typed_table")
def type_columns(
    into: Output,
    table: SensitiveTable,
    columns: tuple[tuple[str, TypeLetter | None, dict[str, str], dict[str, object]], ...],
    ids: tuple[str, ...],
) -> None:
    """Read the whole table: rows are told apart by all of their cells, also by those of no selected column.

    ``columns``: all but the ids, with the declared type of those that have one, the marks of numbers, and
    how cells are read.
    """
    declared = [
        ChosenColumn(name, letter, NumberFormat(**marks), CellReading.of(reading))
        for name, letter, marks, reading in columns
    ]
    found = read_table(table.source, declared, ids)
    for line in [*found.complaints, *missing_id_notes(found.ids)]:
        say(line)
    whole = found.columns
    for name in ids:
        whole = whole.append_column(name, found.ids[name])
    write_typed(whole, found.contents, into.folder)
    write_dropped(found.dropped, into.folder / DROPPED)


@step(SENSITIVE, makes="dependence of columns", folder="dependence", progress="measure dependence")
def measure_dependence(into: Output, table: StoredTable, part: Part) -> None:
    """How every two columns depend on each other; pairs that were measured before are not measured again.

    The part is all that is synthesized, with `SynDiffix.for_clusters`.
    """
    trees = Trees(into, table, part)
    synthesizer = trees.solver()
    sample = part.settings.sample_size if synthesizer.is_sampled else 0
    known = KnownDependence(into.run, table, part, sample)
    pairs = known.pairs()
    # A sample is measured sooner here than it is sent.
    if current_engine().is_elsewhere and not synthesizer.is_sampled:
        pairs = trees.measure_elsewhere(pairs)
    measured = synthesizer.measure(pairs)
    known.add(measured)
    trees.keep()
    write_relations(measured, into.folder)


@step(SENSITIVE, makes="clusters", folder="clusters", progress="solve clusters")
def solve_clusters(into: Output, table: StoredTable, measured: StoredTable | None, part: Part) -> None:
    """Which columns are synthesized together, by what `measure_dependence` measured."""
    synthesizer = Trees(into, table, part).solver()
    clusters = synthesizer.clusters(None if measured is None else read_relations(into.path(measured)))
    (into.folder / _CLUSTERS).write_text(write_clusters(clusters) + "\n", encoding="utf-8")


def stored_clusters(workspace: Workspace, solved: StoredTable) -> Clusters:
    return read_clusters((workspace.path(solved) / _CLUSTERS).read_text(encoding="utf-8"))


@step(SENSITIVE, makes="grown trees", folder="grown_trees", progress="grow trees")
def grow_trees(
    into: Output,
    table: StoredTable,
    solved: StoredTable,
    questions: tuple[tuple[str, ...], ...],
    part: Part,
) -> None:
    """Have others grow the trees that later steps find: a task run for each cluster and each question.

    ``questions``: sets of columns that are answered later.
    ``part``: all that is synthesized, with `SynDiffix.for_trees`.
    """
    combinations = stored_clusters(into.run, solved).combinations
    clusters = [tuple(part.columns[column] for column in each) for each in combinations]
    sets = [*clusters, *questions]
    Trees(into, table, part).grow_elsewhere(sets)
    (into.folder / _SETS).write_text(json.dumps(sets) + "\n", encoding="utf-8")


@step(SENSITIVE, makes="rows of a cluster", folder="cluster", progress="synthesize")
def synthesize_cluster(into: Output, table: StoredTable, part: Part) -> None:
    """Rows of one cluster, bucket by bucket: as yet neither stitched nor shuffled, and so not to be shown.

    The part is the cluster's, with `SynDiffix.for_trees`.
    """
    trees = Trees(into, table, part)
    synthesizer, basis = trees.grown()
    rows = synthesizer.draw(column_places(synthesizer, part.columns), basis)
    trees.keep()
    write_cluster_rows(rows, part.columns, into.folder)


@step(SENSITIVE, makes="synthetic table", folder="synthetic_table", progress="stitch")
def stitch_clusters(
    into: Output, table: StoredTable, solved: StoredTable, drawn: list[StoredTable], part: Part
) -> None:
    """All clusters' rows as one shuffled table, its columns in the order of the part's."""
    clusters = stored_clusters(into.run, solved)
    synthesizer, basis = Trees(into, table, part).grown(exactly=True)
    rows = [
        read_cluster_rows(into.path(each), combination)
        for each, combination in zip(drawn, clusters.combinations, strict=True)
    ]
    pq.write_table(synthesizer.stitch_clusters(clusters, rows, basis), into.folder / TABLE)


@step(SENSITIVE, makes="a table per question", folder="tables", progress="answer questions")
def answer_questions(
    into: Output, table: StoredTable, questions: tuple[tuple[str, ...], ...], part: Part
) -> None:
    """One accurate table for each set of columns, by number, and an index of them."""
    trees = Trees(into, table, part)
    synthesizer, _ = trees.grown()
    sets = [column_places(synthesizer, names) for names in questions]
    for number, answer in enumerate(tables_per_question(synthesizer, sets), start=1):
        pq.write_table(answer, into.folder / f"{number:05}.parquet")
        into.progress("tables", number / len(sets))
    index = {f"{number:05}.parquet": names for number, names in enumerate(questions, start=1)}
    (into.folder / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    trees.keep()


@step(SENSITIVE)
def hand_over_tables(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    table: StoredTable,
    answers: StoredTable | None,
) -> StoredTable:
    """Put the synthetic table, and those of single questions, where they are published from."""
    folders = {"synthetic_table": table, "tables": answers}
    return hand_over_folders(workspace, configuration, described, folders)


@step(SENSITIVE, makes="evaluation against the raw table", folder="evaluation", progress="evaluate")
def evaluate_tables(
    into: Output,
    bins: dict[str, tuple[float, ...]],
    prefix: str,
    report: Report,
    table: StoredTable,
    synthetic: StoredTable,
    answers: StoredTable | None,
) -> None:
    """Total variation of every column and pair, of one table and those of single questions; the owner's page.

    Args:
        bins: public edges by numeric column.
        report: what the release's page calls things, and the owner's does, too.
        table: the raw one, typed.
    """
    from tasks.core.navigation.owner_page import (
        OwnerNames,
        answers_of_tables,
        payload_of_true_table,
        render_owner_page,
    )

    raw, whole = (pq.read_table(into.path(each) / TABLE) for each in (table, synthetic))
    found = distances(raw, whole, bins, into.progress.of("pairs"))
    files = [] if answers is None else sorted(into.path(answers).glob("*.parquet"))
    by_question = [distances(raw, pq.read_table(path), bins) for path in files]
    text = json.dumps(found.to_dict(by_question), indent=1, sort_keys=True)
    (into.folder / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    write_distances(found, by_question, into.folder, prefix)
    dataset = into.run.dataset
    names = OwnerNames(dataset, owner_naming(report, prefix), "row")
    payload = payload_of_true_table(names, raw, whole, bins)
    page = render_owner_page(dataset, payload, answers_of_tables(found))
    store_owner_page(into.folder, prefix, page)
