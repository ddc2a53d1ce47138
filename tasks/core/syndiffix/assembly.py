"""From clusters to one table: each cluster's rows are drawn, then stitched to the rest (syndiffix.md 3.6).

In: a forest, clusters, what cells are drawn from. Out: `Microdata` of a cluster, of all, and a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Floats, Integers
from tasks.core.syndiffix.buckets import Buckets
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.forest import Forest
from tasks.core.syndiffix.hashing import generator_of
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.microdata import CellSource, DrawnCells, draw_cells
from tasks.core.syndiffix.stitching import StitchedRows, patch, stitch


@dataclass(frozen=True)
class Microdata:
    """Rows over some columns.

    Attributes:
        rows: how many.
        cells: of each column, by its number.
    """

    rows: int
    cells: Mapping[int, DrawnCells]

    def take(self, rows: Integers) -> "Microdata":
        """Some of the rows."""
        return Microdata(len(rows), {column: _take(cells, rows) for column, cells in self.cells.items()})


class JoiningBasis(Protocol):
    """What joining two clusters' rows needs to know of the columns."""

    def ordered(self, columns: Sequence[int]) -> list[int]:
        """Columns by entropy, then number: rows are divided by the plainest first."""

    def interval(self, column: int) -> Interval:
        """Where a column's numbers lie."""

    def generator(self, purpose: str, columns: Sequence[int]) -> np.random.Generator:
        """The generator of one purpose and some columns."""


@dataclass(frozen=True)
class StitchingBasis:
    """What drawing and stitching need to know of the columns.

    Attributes:
        forest: for names, intervals and the salt.
        sources: of each column's cells.
        entropies: of each column in bits, (d,): rows are divided by the plainest column first.
        difference_sd: standard deviation of the difference of two counts of the same rows, in rows.
    """

    forest: Forest
    sources: Sequence[CellSource]
    entropies: Floats
    difference_sd: float

    def ordered(self, columns: Sequence[int]) -> list[int]:
        """Columns by entropy, then number."""
        return sorted(columns, key=lambda column: (self.entropies[column], column))

    def interval(self, column: int) -> Interval:
        """Where a column's numbers lie, after push-down."""
        return self.forest.ranked(column).interval

    def generator(self, purpose: str, columns: Sequence[int]) -> np.random.Generator:
        """The generator of one purpose and some columns."""
        names = (self.forest.columns[column].name for column in columns)
        return generator_of(self.forest.anonymization.salt, purpose, *names)


def draw_rows(buckets: Buckets, columns: Sequence[int], basis: StitchingBasis) -> Microdata:
    """Rows of one cluster: as many of each bucket as it counts, cells drawn from its intervals."""
    generator = basis.generator("microdata", columns)
    rows = np.repeat(np.arange(len(buckets.counts)), buckets.counts)
    lower, upper = buckets.lower[rows], buckets.upper[rows]
    return Microdata(
        len(rows),
        {
            column: draw_cells(basis.sources[column], lower[:, place], upper[:, place], generator)
            for place, column in enumerate(columns)
        },
    )


def assemble(clusters: Clusters, drawn: Sequence[Microdata], basis: JoiningBasis) -> Microdata:
    """All clusters' rows in one table; ``drawn`` has the initial cluster's first, then the derived ones'."""
    table = drawn[0]
    for cluster, right in zip(clusters.derived, drawn[1:], strict=True):
        table = join_tables(table, right, cluster, basis)
    return table


def shuffle(table: Microdata, basis: JoiningBasis) -> Microdata:
    """Rows in an order that tells nothing of the buckets they come from."""
    return table.take(basis.generator("shuffle", sorted(table.cells)).permutation(table.rows))


def join_tables(left: Microdata, right: Microdata, cluster: DerivedCluster, basis: JoiningBasis) -> Microdata:
    """The left table's rows with the derived columns of the right one's, paired by the stitch columns."""
    generator = basis.generator("stitch", cluster.columns)
    derived = {column: right.cells[column] for column in cluster.derived}
    if not cluster.stitch:
        rows = patch(left.rows, right.rows, generator)
        # Where one side has no rows there is nothing to pair with, and the table is empty.
        kept = left if len(rows) == left.rows else left.take(rows)
        return Microdata(len(rows), {**kept.cells, **{c: _take(cells, rows) for c, cells in derived.items()}})
    columns = basis.ordered(cluster.stitch)
    found = stitch(
        _numbers(left, columns),
        _numbers(right, columns),
        [basis.interval(column) for column in columns],
        cluster.owner,
        generator,
    )
    shared = {column: _alternate(left.cells[column], right.cells[column], found) for column in columns}
    kept = left.take(found.left)
    added = {column: _take(cells, found.right) for column, cells in derived.items()}
    return Microdata(len(found.left), {**kept.cells, **added, **shared})


def _numbers(table: Microdata, columns: Sequence[int]) -> Floats:
    return np.stack([table.cells[column].numbers for column in columns], axis=1)


def _take(cells: DrawnCells, rows: Integers) -> DrawnCells:
    return DrawnCells(cells.numbers[rows], cells.values.take(pa.array(rows)))


def _alternate(left: DrawnCells, right: DrawnCells, found: StitchedRows) -> DrawnCells:
    """A stitch column's cells, each from the side that owns it."""
    both = DrawnCells(
        np.concatenate([left.numbers, right.numbers]), pa.concat_arrays([left.values, right.values])
    )
    return _take(both, np.where(found.from_left, found.left, found.right + len(left.numbers)))
