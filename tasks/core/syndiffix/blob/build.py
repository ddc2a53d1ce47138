"""The blob: tables of all few columns, built once, from which any later question is answered.

Neither the table nor the salt is needed then.

In: a synthesizer. Out: a blob's file (`file`), which `answers` reads.

What protects the tables is what protects any table of SynDiffix; each is what asking for these columns alone
would give. Nothing else is stored that does not follow from noisy counts:

* Dependences and entropies are those of the noisy counts of all rows, rounded, never of a sample, which is
  counted without noise. The true number of rows is in none of them.
* Numbers by which tables are stitched (ranks of texts, what stands for null, intervals) are not stored: they
  are found at reading, from the published cells.
* A rank in ``prefix*rank`` is no longer one among the table's own texts, which would tell how many there are.
  It is a place among the rows of the column's own published table.
* Which columns predict a target is found at reading, from the published tables.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain, combinations
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import ColumnNumbers, StepDone
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.assembly import StitchingBasis, shuffle
from tasks.core.syndiffix.blob.file import BlobHeader, require_blob_name, write_blob_file
from tasks.core.syndiffix.clusters import Clusters
from tasks.core.syndiffix.dependence import ColumnRelations, relate_columns
from tasks.core.syndiffix.entities import unit_told
from tasks.core.syndiffix.forest import Forest
from tasks.core.syndiffix.hashing import generator_of
from tasks.core.syndiffix.microdata import CellSource, DrawnCells
from tasks.core.syndiffix.settings import LARGEST_STORED, DefaultClustering, MlClustering
from tasks.core.syndiffix.solver import solve
from tasks.core.syndiffix.synthesizer import Synthesizer, silent

ALL_UP_TO = 3  # columns: every table of so many is stored
_MOST_TABLES = 20_000
_DECIMALS = 2  # of dependences and entropies: as many as the solver looks at
_RANK = r"\*[0-9]+$"


def count_tables(columns: int, largest: int = LARGEST_STORED) -> int:
    """How many tables of up to three columns a blob has; the clusters of all columns may add a few."""
    return sum(comb(columns, size) for size in range(1, min(largest, ALL_UP_TO) + 1))


def write_blob(
    synthesizer: Synthesizer, path: Path, *, largest: int = LARGEST_STORED, progress: StepDone = silent
) -> int:
    """Build a table's blob; the same bytes each time. Returns how many tables it has.

    Args:
        synthesizer: of the table; its strategy says which larger tables there are.
        path: of the file, ending in ``.sdxblob.zip``.
        largest: columns of the largest table, at least 2; 2 where triples would be too many.
        progress: is told which step is at work, how much of it is done, of how much.

    Raises:
        ParameterError: another name; too many tables; clusters for a target; a folder that is not there.
    """
    require_blob_name(path)
    count = len(synthesizer.columns)
    require_size(count, largest)
    if isinstance(synthesizer.strategy, MlClustering):
        raise ParameterError("A blob must be built without a target: name the target when it is read.")
    relations = _relations(synthesizer.forest, progress)
    strategy = synthesizer.strategy
    is_solved = isinstance(strategy, DefaultClustering)
    clustering = strategy if isinstance(strategy, DefaultClustering) else DefaultClustering()
    clusters = solve_public(relations, clustering) if is_solved else synthesizer.clusters()
    header = BlobHeader(
        pa.schema([(column.name, column.output_type) for column in synthesizer.columns]),
        relations,
        clustering,
        _public_parameters(synthesizer),
    )
    stored = _combinations(count, largest, clusters)
    write_blob_file(path, header, _tables(synthesizer, stored, progress))
    return len(stored)


def solve_public(relations: ColumnRelations, clustering: DefaultClustering) -> Clusters:
    """Clusters by what a blob holds: whoever reads it finds the same, as no salt is in them."""
    return solve(relations.dependence, relations.entropies, clustering, generator_of(b"", "blob", "solve"))


def public_texts(source: CellSource, cells: DrawnCells, generator: np.random.Generator) -> pa.Array:
    """A column's cells, the rank of every ``prefix*rank`` replaced.

    A bucket of r rows of the column's own table stands for r places, after those of the buckets before it;
    the part of the bucket's ranks that a cell lies at becomes the same part of its places, at random where
    ranks have several. So the order of texts stays, and neither their number nor the rank of any is told.
    """
    vocabulary = source.column.vocabulary
    if vocabulary is None or source.value_safe:
        return cells.values
    texts = cells.values.cast(vocabulary.type)
    valid = texts.is_valid().to_numpy(zero_copy_only=False)
    ranks = np.where(valid, cells.numbers, 0).astype(np.int64)
    is_own = pc.equal(texts, vocabulary.take(pa.array(ranks))) if valid.any() else texts.is_valid()
    starred = valid & ~is_own.fill_null(True).to_numpy(zero_copy_only=False)
    if not starred.any():
        return cells.values
    places, width = _places(source, ranks[starred], generator)
    written = pc.utf8_lpad(pa.array(places).cast(vocabulary.type), width, "0")
    prefixes = pc.replace_substring_regex(texts.filter(pa.array(starred)), _RANK, "*")
    new = pc.binary_join_element_wise(prefixes, written, pa.scalar("", vocabulary.type))
    return pc.replace_with_mask(texts, pa.array(starred), new).cast(source.column.cell_type)


def _places(source: CellSource, ranks: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, int]:
    """The public place of each rank, and the digits of the last one."""
    weights, texts = source.weights, source.column.bounds[1] + 1
    ends = np.concatenate([[0.0], np.cumsum(weights.counts)])
    bucket = np.searchsorted(weights.lower, ranks, side="right")  # 0: before all of them
    lower, upper = (np.concatenate([[0.0], bound])[bucket] for bound in (weights.lower, weights.upper))
    inside = (bucket > 0) & (ranks < upper)
    spread = generator.random(len(ranks))
    part = (ranks - lower + spread) / np.where(inside, upper - lower, 1.0)
    # Of a bucket that the list of texts ends in, a part would tell where: the order within it is given up.
    part = np.where(upper > texts, spread, part)
    before = ends[bucket - 1].clip(0, None)
    found = np.where(inside, before + np.floor(part * (ends[bucket] - before)), ends[bucket])
    return found.astype(np.int64), len(str(int(ends[-1])))


def require_size(columns: int, largest: int) -> None:
    """Refuse a blob of too many tables, which can be known before anything is read. Raises ParameterError."""
    if largest < 2:
        raise ParameterError(
            f"A blob must hold at least all pairs, not tables of {largest}: choose 2 or more."
        )
    if (tables := count_tables(columns, largest)) > _MOST_TABLES:
        raise ParameterError(
            f"A blob may hold {_MOST_TABLES} tables, and {columns} columns have {tables} of up to "
            f"{min(largest, ALL_UP_TO)}: select fewer columns, or leave out all of more than two columns "
            "(--blob-largest 2)."
        )


def _combinations(count: int, largest: int, clusters: Clusters) -> list[ColumnNumbers]:
    """The columns of each table: all few, and the clusters of all with what they are stitched by."""
    few = chain.from_iterable(
        combinations(range(count), size) for size in range(1, min(largest, ALL_UP_TO, count) + 1)
    )
    stitched = (tuple(sorted(cluster.stitch)) for cluster in clusters.derived)
    needed = {each for each in (*clusters.combinations, *stitched) if ALL_UP_TO < len(each) <= largest}
    # Larger ones last, so that the file is in the order in which a person counts.
    return [*few, *sorted(needed, key=lambda each: (len(each), each))]


def _tables(
    synthesizer: Synthesizer, stored: list[ColumnNumbers], progress: StepDone
) -> Iterator[tuple[ColumnNumbers, pa.Table]]:
    basis, forest = synthesizer.basis(), synthesizer.forest
    for done, combination in enumerate(stored):
        progress("tables", done, len(stored))
        yield combination, _table(synthesizer, combination, basis)
        # A tree of three columns is as large as the table, and there may be thousands.
        for grown in [each for each in forest.grown if len(each) >= ALL_UP_TO]:
            forest.forget(grown)


def _table(synthesizer: Synthesizer, combination: ColumnNumbers, basis: StitchingBasis) -> pa.Table:
    drawn = shuffle(synthesizer.draw(combination, basis), basis)
    generator = basis.generator("blob", combination)
    return pa.table(
        {
            synthesizer.columns[column].name: public_texts(
                basis.sources[column], drawn.cells[column], generator
            )
            for column in combination
        }
    )


def _relations(forest: Forest, progress: StepDone) -> ColumnRelations:
    """Dependences and entropies of all rows, as a blob may tell them."""
    found = relate_columns(forest, progress=lambda done, of: progress("dependence", done, of))
    return ColumnRelations(found.dependence.round(_DECIMALS), found.entropies.round(_DECIMALS))


def _public_parameters(synthesizer: Synthesizer) -> dict[str, object]:
    """What people may know of how it was made: never the salt."""
    parameters = synthesizer.parameters
    anonymization = asdict(replace(parameters.anonymization, salt=bytes(8)))
    del anonymization["salt"]
    return {
        "unit": "subject" if synthesizer.ids else "row",
        "ids": list(synthesizer.ids),
        "protects": unit_told(synthesizer.ids),
        "anonymization": anonymization,
        "bucketization": asdict(parameters.bucketization),
        "value_safe_columns": sorted(parameters.value_safe_columns),
    }
