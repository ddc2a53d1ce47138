"""SynDiffix's steps on raw data: typed table, dependence, clusters, rows of a cluster, one table of all.

All that they store is in ``sensitive/``. The table leaves it only stitched and shuffled, and nothing else of
the trees does (`hand_over_tables`; see `tasks.public.bundles` for what lies there). A step is given what its
result depends on and nothing else, so that another subset of the same table's columns finds what was
made before.
"""

import json
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration.model import RunConfiguration
from tasks.core.records.dropped import write_dropped
from tasks.core.syndiffix.clusters import Clusters, read_clusters, write_clusters
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.syndiffix.synthesizer import tables_per_question
from tasks.core.tables.number_format import NumberFormat
from tasks.core.tables.texts import TypeLetter
from tasks.failures import sanitised
from tasks.plan.describe import RunFacts
from tasks.plan.syndiffix_notes import without_ids
from tasks.progress import Progress, say
from tasks.sensitive.hand_over import hand_over_folders
from tasks.sensitive.read import DROPPED, SensitiveTable
from tasks.sensitive.syndiffix.dependence import KnownDependence, read_measured, write_measured
from tasks.sensitive.syndiffix.trees import (
    TABLE,
    Part,
    Trees,
    places,
    read_cluster_rows,
    write_cluster_rows,
    write_typed,
)
from tasks.storage import StoredTable, Workspace

_CLUSTERS = "clusters.json"


@task
@sanitised
def type_columns(
    workspace: Workspace,
    table: SensitiveTable,
    columns: tuple[tuple[str, TypeLetter | None, str, str], ...],
    ids: tuple[str, ...],
    run: str,
) -> StoredTable:
    """Read the whole table: rows are told apart by all of their cells, also by those of no selected column.

    Args:
        workspace: where it is.
        table: the input.
        columns: all but the ids, with the declared type of those that have one, and the marks of numbers.
        ids: the id columns.
        run: the run's folder in ``sensitive/``.
    """
    declared = [ChosenColumn(name, letter, NumberFormat(*marks)) for name, letter, *marks in columns]
    found = read_table(table.source, declared, ids)
    for line in [*found.complaints, *without_ids(found.ids)]:
        say(line)
    whole = found.columns
    for name in ids:
        whole = whole.append_column(name, found.ids[name])

    def write(folder: Path) -> None:
        write_typed(whole, found.contents, folder)
        write_dropped(found.dropped, folder / DROPPED)

    return workspace.store(workspace.sensitive / run / "typed_table", "typed table", write)


@task
@sanitised
def measure_dependence(workspace: Workspace, table: StoredTable, part: Part, run: str) -> StoredTable:
    """How every two columns depend on each other; pairs that were measured before are not measured again.

    Args:
        workspace: where it is.
        table: typed.
        part: all that is synthesized of it, with `SynDiffix.for_clusters`.
        run: the run's folder in ``sensitive/``.
    """
    with closing(Progress("measure dependence")) as progress:
        trees = Trees(workspace, table, part, progress)
        synthesizer = trees.solver()
        sample = part.settings.sample_size if synthesizer.is_sampled else 0
        known = KnownDependence(workspace, table, part, sample)
        measured = synthesizer.measure(known.pairs())
        known.add(measured)
        trees.keep()
    return workspace.store(
        workspace.sensitive / run / "dependence",
        "dependence of columns",
        lambda folder: write_measured(measured, folder),
    )


@task
@sanitised
def solve_clusters(
    workspace: Workspace, table: StoredTable, measured: StoredTable | None, part: Part, run: str
) -> StoredTable:
    """Which columns are synthesized together. Args: as of `measure_dependence`, and what it measured."""
    with closing(Progress("solve clusters")) as progress:
        synthesizer = Trees(workspace, table, part, progress).solver()
        known = None if measured is None else read_measured(workspace.path(measured))
        clusters = synthesizer.clusters(known)

    def write(folder: Path) -> None:
        (folder / _CLUSTERS).write_text(write_clusters(clusters) + "\n", encoding="utf-8")

    return workspace.store(workspace.sensitive / run / "clusters", "clusters", write)


def stored_clusters(workspace: Workspace, solved: StoredTable) -> Clusters:
    """What `solve_clusters` stored."""
    return read_clusters((workspace.path(solved) / _CLUSTERS).read_text(encoding="utf-8"))


@task
@sanitised
def synthesize_cluster(workspace: Workspace, table: StoredTable, part: Part, run: str) -> StoredTable:
    """Rows of one cluster, bucket by bucket: as yet neither stitched nor shuffled, and so not to be shown.

    Args:
        workspace: where it is.
        table: typed.
        part: the cluster's, with `SynDiffix.for_trees`.
        run: the folder in ``sensitive/`` that the rows are to have.
    """
    with closing(Progress("synthesize")) as progress:
        trees = Trees(workspace, table, part, progress)
        synthesizer, basis = trees.grown()
        rows = synthesizer.draw(places(synthesizer, part.columns), basis)
        trees.keep()
    return workspace.store(
        workspace.sensitive / run,
        "rows of a cluster",
        lambda folder: write_cluster_rows(rows, part.columns, folder),
    )


@task
@sanitised
def stitch_clusters(
    workspace: Workspace,
    table: StoredTable,
    solved: StoredTable,
    drawn: list[StoredTable],
    part: Part,
    run: str,
) -> StoredTable:
    """All clusters' rows as one shuffled table, its columns in the order of the part's."""
    clusters = stored_clusters(workspace, solved)
    with closing(Progress("stitch")) as progress:
        synthesizer, basis = Trees(workspace, table, part, progress).grown(exactly=True)
        rows = [
            read_cluster_rows(workspace.path(each), combination)
            for each, combination in zip(drawn, clusters.combinations, strict=True)
        ]
        stitched = synthesizer.stitched(clusters, rows, basis)

    def write(folder: Path) -> None:
        pq.write_table(stitched, folder / TABLE)

    return workspace.store(workspace.sensitive / run / "synthetic_table", "synthetic table", write)


@task
@sanitised
def answer_questions(
    workspace: Workspace,
    table: StoredTable,
    questions: tuple[tuple[str, ...], ...],
    part: Part,
    run: str,
) -> StoredTable:
    """One accurate table for each set of columns, by number, and an index of them."""
    with closing(Progress("answer questions")) as progress:
        trees = Trees(workspace, table, part, progress)
        synthesizer, _ = trees.grown()
        sets = [places(synthesizer, names) for names in questions]

        def write(folder: Path) -> None:
            for number, answer in enumerate(tables_per_question(synthesizer, sets), start=1):
                pq.write_table(answer, folder / f"{number:05}.parquet")
                progress("tables", number / len(sets))
            index = {f"{number:05}.parquet": names for number, names in enumerate(questions, start=1)}
            (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")

        stored = workspace.store(workspace.sensitive / run / "tables", "a table per question", write)
        trees.keep()
    return stored


@task(cache_policy=NO_CACHE, persist_result=False)
@sanitised
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
