"""Questions answered from a blob alone: any of its columns in one table, for a target or not.

In: a blob's file and names of columns. Out: the stored table of just these columns, or one that is put
together from several. All random numbers are public, as all that they act on is published: the same question
has the same answer, to everybody.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from tasks.core.arrays import ColumnNumbers, Floats
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.assembly import Microdata, join_tables, shuffle
from tasks.core.syndiffix.blob.build import solve_public
from tasks.core.syndiffix.blob.file import BlobFile
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.dependence import ColumnRelations
from tasks.core.syndiffix.features import select_features, solve_with_features
from tasks.core.syndiffix.forest import column_numbers
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.microdata import DrawnCells
from tasks.core.syndiffix.published import PublicBasis, on_one_scale
from tasks.core.syndiffix.settings import MlClustering


def read_blob(path: Path, columns: Sequence[str], target: str | None = None) -> pa.Table:
    """The synthetic table of some columns, in the order asked for.

    Args:
        path: of the blob.
        columns: headers, each once.
        target: which of them is to be predicted from the others: it is then with its features.

    Raises:
        InputError: no file, or none that is a whole blob of this version.
        ParameterError: a column that the blob does not have, or that is named twice; a target that is not
            asked for.
    """
    with BlobFile(path) as blob:
        ids = _numbers_of(columns, blob.header.columns.names)
        if target is not None and target not in columns:
            raise ParameterError(
                f"The target must be among the columns asked for, and {target!r} is not: add it."
            )
        exact = tuple(sorted(ids))
        if exact in blob.stored:
            table = blob.read(exact)
        else:
            place = None if target is None else blob.header.columns.names.index(target)
            table = _put_together(blob, exact, place)
        return blob.restored(table.select(list(columns)))


def _numbers_of(columns: Sequence[str], known: Sequence[str]) -> list[int]:
    problems = [
        f"Column {name!r} must be one of the blob's, and is not: "
        f"{did_you_mean(name, known, repr) or 'correct its name.'}"
        for name in dict.fromkeys(columns)
        if name not in known
    ]
    if not columns or len(set(columns)) < len(columns):
        problems.append("The columns to read must be named, each once: correct their list.")
    if problems:
        raise ParameterError(problems)
    return [known.index(name) for name in columns]


def _put_together(blob: BlobFile, columns: ColumnNumbers, target: int | None) -> pa.Table:
    clustering = blob.header.clustering
    if target is not None:
        clustering = replace(clustering, main_column=columns.index(target))
    elif isinstance(clustering.main_column, int):
        main = clustering.main_column
        clustering = replace(clustering, main_column=columns.index(main) if main in columns else None)
    relations = blob.header.relations
    selected = ColumnRelations(
        relations.dependence[np.ix_(columns, columns)], relations.entropies[list(columns)]
    )
    answer = _Answer(blob, columns, target)
    clusters = solve_public(selected, clustering)
    if target is not None:
        # The target is in every cluster, so that what it has to do with each column is in this table.
        strategy = MlClustering(columns.index(target), max_weight=clustering.max_weight)
        values, is_text = answer.as_numbers(answer.assembled(clusters))
        features = select_features(values, is_text, strategy)
        clusters = solve_with_features(features, selected.entropies, strategy)
    return answer.table(clusters)


class _Answer:
    """Tables of a blob, joined."""

    def __init__(self, blob: BlobFile, columns: ColumnNumbers, target: int | None) -> None:
        """Args: columns: all that are asked for. target: among these."""
        self._blob = blob
        self._columns = columns
        self._target = target
        self._texts: set[int] = set()
        self._missing: dict[int, float] = {}

    def table(self, clusters: Clusters) -> pa.Table:
        """Rows in random order. Args: clusters: of places among the columns asked for."""
        rows = shuffle(self.assembled(clusters), self._basis({}))
        names = self._blob.header.columns.names
        return pa.table({names[column]: rows.cells[column].values for column in sorted(rows.cells)})

    def assembled(self, clusters: Clusters) -> Microdata:
        """The rows of all clusters."""
        found = _renumbered(clusters, self._columns)
        tables, basis = self._read(self._parts(found))
        return self._joined(found, tables, basis)

    def as_numbers(self, table: Microdata) -> tuple[Floats, list[bool]]:
        """Cells as numbers (n, d), NaN for null, by the order of the columns; which of them are texts."""
        values = [
            np.where(cells.numbers == self._missing[column], np.nan, cells.numbers)
            for column, cells in sorted(table.cells.items())
        ]
        return np.stack(values, axis=1), [column in self._texts for column in sorted(table.cells)]

    def _divided(self, combination: ColumnNumbers) -> Clusters:
        """Clusters whose tables are stored, of columns whose own table is not.

        Begins with the columns that depend most on each other; then column by column is added, each by the
        stored table in which it depends most on columns that are there. With a target, tables that have it
        come first.
        """
        matrix = self._blob.header.relations.dependence
        inside = sorted(each for each in self._blob.stored if set(each) <= set(combination))

        def weight(table: ColumnNumbers, added: Iterable[int]) -> tuple[bool, float, int]:
            total = sum(matrix[one, other] for one in added for other in table if one != other)
            return self._target in table, float(total), -len(table)

        initial = max(inside, key=lambda each: (len(each), weight(each, each)))
        there = set(initial)
        derived = []
        while there < set(combination):
            bridges = [each for each in inside if len(each) > 1 and len(set(each) - there) == 1]
            chosen = max(bridges, key=lambda each: weight(each, set(each) - there))
            stitch = tuple(column for column in chosen if column in there)
            derived.append(DerivedCluster("shared", stitch, column_numbers(set(chosen) - there)))
            there.update(chosen)
        return Clusters(initial, tuple(derived))

    def _parts(self, clusters: Clusters) -> set[ColumnNumbers]:
        parts = {column_numbers(cluster.stitch) for cluster in clusters.derived} & self._blob.stored
        for combination in clusters.combinations:
            if combination in self._blob.stored:
                parts.add(combination)
            else:
                parts |= self._parts(self._divided(combination))
        return parts

    def _joined(
        self, clusters: Clusters, tables: Mapping[ColumnNumbers, Microdata], basis: PublicBasis
    ) -> Microdata:
        """All clusters' rows, of those that aren't stored put together first."""
        rights = [
            tables[each] if each in tables else self._joined(self._divided(each), tables, basis)
            for each in clusters.combinations
        ]
        table = rights[0]
        for cluster, right in zip(clusters.derived, rights[1:], strict=True):
            table = _stitched(table, right, cluster, tables, basis)
        return table

    def _read(self, needed: Iterable[ColumnNumbers]) -> tuple[dict[ColumnNumbers, Microdata], PublicBasis]:
        """Stored tables, the cells of each column as numbers of one scale, that of all of them."""
        read = {combination: self._blob.read(combination) for combination in sorted(needed)}
        cells: dict[ColumnNumbers, dict[int, DrawnCells]] = {combination: {} for combination in read}
        intervals = {}
        for column, name in enumerate(self._blob.header.columns.names):
            parts = {combination: table[name] for combination, table in read.items() if column in combination}
            if not parts:
                continue
            whole = on_one_scale(name, list(parts.values()))
            intervals[column], self._missing[column] = whole.interval, whole.missing
            if whole.is_text:
                self._texts.add(column)
            for combination, drawn in zip(parts, whole.parts, strict=True):
                cells[combination][column] = drawn
        rows = {
            combination: Microdata(read[combination].num_rows, cells[combination]) for combination in read
        }
        return rows, self._basis(intervals)

    def _basis(self, intervals: Mapping[int, Interval]) -> PublicBasis:
        header = self._blob.header
        return PublicBasis(header.columns.names, header.relations.entropies, intervals)


def _stitched(
    left: Microdata,
    right: Microdata,
    cluster: DerivedCluster,
    tables: Mapping[ColumnNumbers, Microdata],
    basis: PublicBasis,
) -> Microdata:
    """Two tables stitched, each first to the stitch columns' own table, whose counts are the better ones."""
    own = tables.get(column_numbers(cluster.stitch))
    if cluster.owner == "shared" and own is not None and own.rows:
        left, right = (
            join_tables(own, side, DerivedCluster("left", cluster.stitch, _others(side, cluster)), basis)
            for side in (left, right)
        )
    return join_tables(left, right, cluster, basis)


def _others(table: Microdata, cluster: DerivedCluster) -> tuple[int, ...]:
    return tuple(column for column in sorted(table.cells) if column not in cluster.stitch)


def _renumbered(clusters: Clusters, columns: ColumnNumbers) -> Clusters:
    """Clusters of places among some columns as clusters of these columns."""
    derived = (
        DerivedCluster(
            each.owner, tuple(columns[c] for c in each.stitch), tuple(columns[c] for c in each.derived)
        )
        for each in clusters.derived
    )
    return Clusters(tuple(columns[c] for c in clusters.initial), tuple(derived))
