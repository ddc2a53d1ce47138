"""SynDiffix on raw data: typed table, dependence, clusters, rows of a cluster, one table; and their trees.

Only the table leaves ``sensitive/``, stitched and shuffled (`hand_over_tables`). A step is given what its
result depends on alone, so that another subset of the same table's columns finds what was made before.

A tree follows from its own columns alone. So a step finds those that an earlier step, a worker elsewhere, or
any run of the same table and settings grew. Dependences are stored by pairs, for any later selection.

<workspace>/sensitive/<dataset>/trees/<keyed hash>/             of the newest table, settings and code alone
<workspace>/sensitive/<dataset>/dependence/<keyed hash>.json    one for each table, way of measuring and code
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.configuration.model import Report, RunConfiguration
from tasks.configuration.protections import SynDiffix
from tasks.configuration.sections import Model
from tasks.core.evaluation.typed_tables import distances, write_distances
from tasks.core.ledger.salts import require_apart, salt_of
from tasks.core.ledger.tables import PublicTable
from tasks.core.records.cell_reading import CellReading
from tasks.core.records.dropped import write_dropped
from tasks.core.syndiffix.clusters import Clusters, read_clusters, write_clusters
from tasks.core.syndiffix.dependence import ColumnRelations, KnownPairs
from tasks.core.syndiffix.growing import GrowingPlace, TreeFiles, grow_sets, measure_pairs
from tasks.core.syndiffix.microdata import DrawnCells
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.syndiffix.stitching import Microdata, StitchingBasis
from tasks.core.syndiffix.synthesizer import Synthesizer, tables_per_question
from tasks.core.tables.number_format import NumberFormat
from tasks.core.tables.texts import TypeLetter
from tasks.engine import current_engine, temporary_parts
from tasks.ledger_place import user_ledger_place
from tasks.messages import say
from tasks.plan.describe import RunFacts
from tasks.plan.syndiffix import missing_id_notes
from tasks.sensitive.evaluate import owner_naming, store_owner_page
from tasks.sensitive.hand_over import hand_over_folders
from tasks.sensitive.ledger import dataset_salt
from tasks.sensitive.read import DROPPED, TABLE, SensitiveTable
from tasks.step import Output, as_plain, step
from tasks.storage import SENSITIVE, StoredTable, Workspace, load_json, write_whole
from tasks.version import code_hash

_CONTENTS = "contents.npy"  # of the rows as they are in the file, which types have no part in
_NUMBERS = "numbers of "


class Origin(Model):
    """What trees follow from, beside their columns and settings."""

    dataset: str
    salt: str  # a keyed hash of the dataset's, which is all that a step may be given
    ids: tuple[str, ...]

    @classmethod
    def of(cls, workspace: Workspace, dataset: str, ids: tuple[str, ...], table: PublicTable) -> "Origin":
        """Of a dataset, whose salt is made where it has none."""
        require_apart(user_ledger_place(), workspace.root)
        salt = dataset_salt(dataset, table).hex()
        return cls(dataset=dataset, salt=workspace.keyed_hash(f"salt {salt}"), ids=ids)


class Part(Model):
    """What a step works on, and all that its trees follow from."""

    columns: tuple[str, ...]  # headers, in the selection's order
    settings: SynDiffix  # those that what is made of these columns depends on, and no others
    origin: Origin


def cached_by_columns(workspace: Workspace, kind: str, table: StoredTable, part: Part, *more: object) -> Path:
    """Where runs find what others made of a table's columns: by the table, the settings and the code."""
    way = [table.sha256, as_plain(part.origin), as_plain(part.settings.for_trees(())), *more, code_hash()]
    name = workspace.keyed_hash(json.dumps(way, sort_keys=True))[:40]
    return workspace.sensitive / part.origin.dataset / kind / name


@dataclass
class _Held:
    key: tuple[object, ...]
    settings: SynDiffix
    synthesizer: Synthesizer
    basis: StitchingBasis | None = None

    def has(self, columns: tuple[str, ...], *, exactly: bool) -> bool:
        names = (column.name for column in self.synthesizer.columns)
        return tuple(name for name in names if exactly or name in columns) == columns


#: At most one: one table's trees are enough to hold.
_held: list[_Held] = []


def release_trees() -> None:
    _held.clear()


class Trees:
    def __init__(self, into: Output, table: StoredTable, part: Part) -> None:
        self._into, self._table, self._part = into, table, part
        self._workspace: Workspace = into.run

    def solver(self) -> Synthesizer:
        """For exactly these columns, and this way of clustering."""
        return self._found(exactly=True).synthesizer

    def grown(self, *, exactly: bool = False) -> tuple[Synthesizer, StitchingBasis]:
        """For these columns, perhaps among others unless ``exactly``; and what their rows are drawn by."""
        held = self._found(exactly=exactly)
        held.basis = held.basis or held.synthesizer.basis()
        return held.synthesizer, held.basis

    def keep(self) -> None:
        """Store what was grown, so that any later run finds it; of another table, settings or code, none."""
        self._remove_others()
        self._files.keep(self._found(exactly=False).synthesizer.forest)

    def grow_elsewhere(self, sets: Sequence[tuple[str, ...]]) -> None:
        """Have the engine's workers grow what rows of each set of columns are drawn by."""
        synthesizer = self._found(exactly=False).synthesizer
        with self._growing() as place:
            numbers = [column_places(synthesizer, names) for names in sets]
            grow_sets(synthesizer.forest, numbers, place, self._into.progress.of("trees"))

    def measure_elsewhere(self, known: KnownPairs) -> KnownPairs:
        """Have the engine's workers measure the dependence of pairs that are not known; return all."""
        forest = self.solver().forest
        with self._growing() as place:
            return measure_pairs(forest, known, place, self._into.progress.of("dependence"))

    @contextmanager
    def _growing(self) -> Iterator[GrowingPlace]:
        self._remove_others()
        with temporary_parts(self._into.run, self._into.key) as store:
            yield GrowingPlace(current_engine().workers, store, self._files)

    def _remove_others(self) -> None:
        for other in self._folder.parent.glob("*"):
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)

    @cached_property
    def _folder(self) -> Path:
        return cached_by_columns(self._workspace, "trees", self._table, self._part)

    @property
    def _files(self) -> TreeFiles:
        # A key of their own: workers get it, and not the workspace's.
        return TreeFiles(
            self._folder, bytes.fromhex(self._workspace.keyed_hash(f"trees {self._folder.name}"))
        )

    def _found(self, *, exactly: bool) -> _Held:
        columns, settings = self._part.columns, self._part.settings
        key = (self._workspace.root, self._table.sha256, self._part.origin)
        for held in _held:
            same = settings in (held.settings, held.settings.for_trees(columns))
            if held.key == key and same and held.has(columns, exactly=exactly):
                return held
        release_trees()
        new = _Held(key, settings, self._new())
        _held.append(new)
        return new

    def _new(self) -> Synthesizer:
        settings, origin = self._part.settings, self._part.origin
        salt = salt_of(user_ledger_place(), origin.dataset)
        folder = self._workspace.path(self._table)
        return Synthesizer(
            pq.read_table(folder / TABLE),
            settings.parameters(salt),
            columns=self._part.columns,
            ids=origin.ids,
            progress=self._say,
            known=self._files,
            contents=np.load(folder / _CONTENTS),
        )

    def _say(self, step: str, done: int, of: int) -> None:
        self._into.progress(step, done / max(of, 1))


def column_places(synthesizer: Synthesizer, columns: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(n for n, column in enumerate(synthesizer.columns) if column.name in columns)


def write_cluster_rows(rows: Microdata, names: tuple[str, ...], folder: Path) -> None:
    """Rows of one cluster, its columns ascending: a column of cells and one of numbers for each."""
    cells = [rows.cells[column] for column in sorted(rows.cells)]
    arrays = [each.values for each in cells] + [pa.array(each.numbers) for each in cells]
    pq.write_table(pa.table(arrays, names=[*names, *(_NUMBERS + name for name in names)]), folder / TABLE)


def read_cluster_rows(folder: Path, columns: tuple[int, ...]) -> Microdata:
    """The rows that `write_cluster_rows` wrote, under these numbers of their columns."""
    table = pq.read_table(folder / TABLE)
    count = len(columns)
    cells = {
        column: DrawnCells(
            np.asarray(table.column(count + place).to_numpy(), np.float64), _whole(table.column(place))
        )
        for place, column in enumerate(columns)
    }
    return Microdata(table.num_rows, cells)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole


_FILE = "dependence.json"


class KnownDependence:
    """The pairs of a table that were measured in one way; a pair's value follows from the pair alone."""

    def __init__(self, workspace: Workspace, table: StoredTable, part: Part, sample: int) -> None:
        """Args: sample: rows that are measured by; 0: all."""
        self._columns = part.columns
        self._safe = frozenset(part.settings.value_safe_columns)
        self._path = cached_by_columns(workspace, "dependence", table, part, sample).with_suffix(".json")

    def pairs(self) -> Mapping[tuple[str, str], float]:
        return {
            (one, other): value
            for one, other, safe_one, safe_other, value in self._rows()
            if (one in self._safe, other in self._safe) == (safe_one, safe_other)
        }

    def add(self, relations: ColumnRelations) -> None:
        rows = {(one, other, a, b): value for one, other, a, b, value in self._rows()}
        for place, one in enumerate(self._columns):
            for other_place, other in enumerate(self._columns[:place]):
                key = (other, one, other in self._safe, one in self._safe)
                rows[key] = float(relations.dependence[other_place, place])
        self._path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps([[*key, value] for key, value in sorted(rows.items())])
        write_whole(self._path, lambda part: part.write_text(text, encoding="utf-8"))

    def _rows(self) -> list[tuple[str, str, bool, bool, float]]:
        try:
            found: list[tuple[str, str, bool, bool, float]] = load_json(self._path)
        except (OSError, ValueError):
            return []
        return found


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
    pq.write_table(whole, into.folder / TABLE)
    np.save(into.folder / _CONTENTS, found.contents)
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
    body = {"dependence": measured.dependence.tolist(), "entropies": measured.entropies.tolist()}
    (into.folder / _FILE).write_text(json.dumps(body), encoding="utf-8")


@step(SENSITIVE, makes="clusters", folder="clusters", progress="solve clusters")
def solve_clusters(into: Output, table: StoredTable, measured: StoredTable | None, part: Part) -> None:
    """Which columns are synthesized together, by what `measure_dependence` measured."""
    synthesizer = Trees(into, table, part).solver()
    relations = None
    if measured is not None:
        body = load_json(into.path(measured) / _FILE)
        figures = (np.array(body[name], np.float64) for name in ("dependence", "entropies"))
        relations = ColumnRelations(*figures)
    clusters = synthesizer.clusters(relations)
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
