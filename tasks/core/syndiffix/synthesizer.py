"""SynDiffix, whole: a table goes in, a synthetic table of the same columns comes out, or one a question.

Not differentially private: what protects is aggregation, suppression of small groups, flattening of large
contributors, and noise that is the same whenever the same is asked (X7.1).

A question is a set of columns. Of few columns that are together in one cluster, the counts are far better
than those of the same columns in a table of many. All of a run share one forest, so that a tree is grown
once however many tables need it.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tasks.core.arrays import ColumnNumbers, StepDone, Words
from tasks.core.errors import InputError
from tasks.core.syndiffix.clusters import Clusters, one_cluster, separate_clusters
from tasks.core.syndiffix.columns import EncodedColumn, encode_column
from tasks.core.syndiffix.dependence import (
    ColumnRelations,
    KnownPairs,
    entropies,
    is_sample_worthwhile,
    relate_columns,
)
from tasks.core.syndiffix.entities import entities_of_ids, entities_of_rows, row_contents
from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.hashing import generator_of, hash_string
from tasks.core.syndiffix.microdata import CellSource
from tasks.core.syndiffix.noise_kernels import count_noise, secret
from tasks.core.syndiffix.own_counts import keep_own_counts
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    ClusteringStrategy,
    DefaultClustering,
    MlClustering,
    NoClustering,
    SingleClustering,
    SynDiffixParameters,
    with_ids,
)
from tasks.core.syndiffix.solver import known_clusters, select_features, solve, solve_with_features
from tasks.core.syndiffix.stitching import Microdata, StitchingBasis, assemble, draw_rows, shuffle

if TYPE_CHECKING:
    from tasks.core.syndiffix.growing import TreeFiles


def silent(step: str, done: int, of: int) -> None: ...


class Synthesizer:
    """The trees of one table, and what is synthesized from them.

    A value that one person holds does not come out, and counts are noisy:

    >>> people = pa.table({"town": ["Lyon"] * 60 + ["Lille"] * 39 + ["Nice"]})
    >>> parameters = SynDiffixParameters(AnonymizationParameters(salt=b"kept in the ledger"))
    >>> sorted(set(Synthesizer(people, parameters).sample()["town"].to_pylist()))
    ['Lille', 'Lyon']
    """

    def __init__(
        self,
        table: pa.Table,
        parameters: SynDiffixParameters,
        *,
        columns: Sequence[str] | None = None,
        ids: Sequence[str] = (),
        progress: StepDone = silent,
        known: "TreeFiles | None" = None,
        contents: Words | None = None,
    ) -> None:
        """Encode the table.

        Args:
            table: with the columns that are named below; others only tell rows apart.
            columns: headers of what is synthesized, in the order of the output; None: all but the ids.
            ids: headers of the id columns; none: each row is an entity of its own.
            known: trees of this table that need not be grown.
            contents: see `row_contents`; None: of the table's cells.

        Raises:
            InputError: a column is missing, or of a type that has no cells to draw.
            ParameterError: the clustering names a column that is not selected.
        """
        selected = list(columns) if columns is not None else [c for c in table.column_names if c not in ids]
        _require_columns([*selected, *ids, *parameters.value_safe_columns], selected, table.column_names)
        self.parameters = parameters
        self.ids = tuple(ids)
        self.strategy = with_ids(parameters.clustering, selected)
        self._progress = progress
        self.columns = tuple(encode_column(name, table[name]) for name in selected)
        if contents is None:
            contents = row_contents(zip(table.column_names, table.columns, strict=True), table.num_rows)
        self._rows = entities_of_rows(contents, self._salt)
        self._hashes = entities_of_ids([table[name] for name in ids]) if ids else self._rows
        self.forest = self._plant(np.arange(table.num_rows), parameters.anonymization, known)
        self.relations: ColumnRelations | None = None

    @property
    def _salt(self) -> bytes:
        return self.parameters.anonymization.salt

    def clusters(self, relations: ColumnRelations | None = None) -> Clusters:
        """Which columns are synthesized together, by the strategy; measures what is needed and not given."""
        count, strategy = len(self.columns), self.strategy
        match strategy:
            case Clusters():
                return strategy
            case SingleClustering():
                return one_cluster(count)
            case NoClustering():
                return separate_clusters(count)
            case MlClustering():
                return self._ml_clusters(strategy)
            case DefaultClustering():
                return self._solve_clusters(strategy, relations)

    def _solve_clusters(self, strategy: DefaultClustering, relations: ColumnRelations | None) -> Clusters:
        known = known_clusters(len(self.columns), strategy)
        if known is not None:
            return known
        self.relations = relations or self.measure()
        self._progress("solve", 0, 1)
        generator = generator_of(self._salt, "solve")
        return solve(self.relations.dependence, self.relations.entropies, strategy, generator)

    def _ml_clusters(self, strategy: MlClustering) -> Clusters:
        self._progress("features", 0, 1)
        values = np.stack([column.values for column in self.columns], axis=1)
        is_text = [column.vocabulary is not None for column in self.columns]
        features = select_features(values, is_text, strategy)
        return solve_with_features(features, entropies(self.forest), strategy)

    def sample(self) -> pa.Table:
        """The synthetic table; the same each time."""
        clusters = self.clusters()
        basis = self.basis()
        drawn = []
        for done, combination in enumerate(clusters.combinations):
            self._progress("clusters", done, len(clusters.combinations))
            drawn.append(self.draw(combination, basis))
        return self.stitch_clusters(clusters, drawn, basis)

    def draw(self, combination: ColumnNumbers, basis: StitchingBasis) -> Microdata:
        """Rows of one cluster's columns, ascending; not to be shown before they are stitched and shuffled."""
        rows = draw_rows(self.forest.buckets(combination), combination, basis)
        pairs = {pair: self.forest.buckets(pair) for pair in combinations(combination, 2)}
        return keep_own_counts(rows, basis, pairs)

    def stitch_clusters(
        self, clusters: Clusters, drawn: Sequence[Microdata], basis: StitchingBasis
    ) -> pa.Table:
        """The synthetic table from the rows of all clusters, in the order of ``clusters.combinations``."""
        table = assemble(clusters, drawn, basis)
        if clusters.derived:  # where rows were lost or repeated, counts are no longer quite the columns' own
            table = keep_own_counts(table, basis)
        table = shuffle(table, basis)
        found = [(self.columns[column], table.cells[column].values) for column in clusters.columns]
        return pa.table({column.name: column.in_output_type(cells) for column, cells in found})

    def basis(self) -> StitchingBasis:
        sources = [
            CellSource(
                column, self.forest.null_values[number], self.forest.buckets((number,)), self._is_safe(column)
            )
            for number, column in enumerate(self.columns)
        ]
        # Each of two counts has two layers of noise.
        deviation = 2 * self.parameters.anonymization.layer_noise_sd * self._rows_per_entity()
        return StitchingBasis(
            [column.name for column in self.columns],
            entropies(self.forest),
            {number: self.forest.ranked(number).interval for number in range(len(self.columns))},
            self._salt,
            (),
            sources,
            deviation,
        )

    def _rows_per_entity(self) -> float:
        if not self.ids:
            return 1.0
        distinct = [np.unique(column[column > 0]) for column in self._hashes.T]
        entities = min(distinct, key=len)
        key, everybody = secret(self.parameters.anonymization), np.bitwise_xor.reduce(entities)
        noise = count_noise(key, key.count_sd, np.uint64(hash_string("entities")), everybody)
        return max(self.forest.buckets((0,)).rows / max(len(entities) + noise, 1.0), 1.0)

    def _is_safe(self, column: EncodedColumn) -> bool:
        return column.name in self.parameters.value_safe_columns

    def _plant(
        self, rows: np.ndarray, anonymization: AnonymizationParameters, known: "TreeFiles | None" = None
    ) -> Forest:
        columns = [
            ForestColumn(column.name, column.values[rows], self._is_safe(column)) for column in self.columns
        ]
        hashes, bucketization = self._hashes[rows], self.parameters.bucketization
        return Forest(columns, hashes, anonymization, bucketization, known=known)

    @property
    def is_sampled(self) -> bool:
        """Whether dependence is measured on a sample of the rows."""
        size = self.strategy.sample_size if isinstance(self.strategy, DefaultClustering) else self.forest.rows
        return is_sample_worthwhile(self.forest.rows, len(self.columns), size)

    def measure(self, known: KnownPairs = MappingProxyType({})) -> ColumnRelations:
        """How the columns depend on each other; ``known``: pairs of headers, not to be measured again."""
        forest = self.forest
        if self.is_sampled and isinstance(self.strategy, DefaultClustering):
            # The rows with the least hashes: as good as at random, and the same in any order of the rows.
            rows = np.argsort(self._rows[:, 0], kind="stable")[: self.strategy.sample_size]
            forest = self._plant(rows, self.parameters.anonymization.for_sample())
        return relate_columns(forest, known, lambda done, of: self._progress("dependence", done, of))


def needs_dependence(strategy: ClusteringStrategy, columns: int) -> bool:
    """Whether the clusters of so many columns are solved by how these depend on each other."""
    return isinstance(strategy, DefaultClustering) and known_clusters(columns, strategy) is None


def _require_columns(names: Sequence[str], selected: Sequence[str], known: Sequence[str]) -> None:
    if missing := sorted({name for name in names if name not in known}):
        raise InputError(
            f"The table has no column {', '.join(map(repr, missing))}: name columns of its header."
        )
    if len(set(selected)) < len(selected) or not selected:
        raise InputError("The columns to synthesize must be named, each once: correct their list.")


def tables_per_question(synthesizer: Synthesizer, column_sets: Sequence[Sequence[int]]) -> Iterator[pa.Table]:
    """One table for each set of column numbers, all of them in one cluster, in the sets' order."""
    basis = synthesizer.basis()
    for columns in column_sets:
        combination = tuple(sorted(columns))
        yield synthesizer.stitch_clusters(
            Clusters(combination), [synthesizer.draw(combination, basis)], basis
        )
