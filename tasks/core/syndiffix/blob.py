"""The blob: one file with a table of every few columns, which answers later questions without the data.

`write_blob` alone decides what of trees and table is in it; answers read the blob and nothing else, neither
the table nor the salt. Their random numbers are public, as all that they act on is: the same question has the
same answer, to everybody.

    people.sdxblob.zip
      blob.json                 columns, public parameters, dependences and entropies, rounded
      types.arrow               types of the columns as they were in the table
      tables/0.parquet          the table of column 0 alone
      tables/0-2-5.parquet      the table of columns 0, 2 and 5 together

Each table is what asking for these columns alone would give, so what protects any table of SynDiffix protects
it. Nothing else is stored that does not follow from noisy counts:

* Dependences and entropies are those of the noisy counts of all rows, rounded, never of a sample, which is
  counted without noise. The true number of rows is in none of them.
* Numbers by which tables are stitched (ranks of texts, what stands for null, intervals) and the columns that
  predict a target are found at reading, from the published tables.
* A rank in ``prefix*rank`` is no longer one among the table's own texts, which would tell how many there are.
  It is a place among the rows of the column's own published table.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations
from math import comb
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.arrays import ColumnNumbers, Floats, StepDone
from tasks.core.errors import InputError, ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.dependence import ColumnRelations, relate_columns
from tasks.core.syndiffix.entities import unit_sentence
from tasks.core.syndiffix.hashing import generator_of
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.microdata import CellSource, DrawnCells
from tasks.core.syndiffix.published import on_one_scale, public_basis
from tasks.core.syndiffix.settings import LARGEST_STORED, DefaultClustering, MlClustering
from tasks.core.syndiffix.solver import select_features, solve, solve_with_features
from tasks.core.syndiffix.stitching import JoiningBasis, Microdata, StitchingBasis, join_tables, shuffle
from tasks.core.syndiffix.synthesizer import Synthesizer, silent
from tasks.core.tables.writing import place, plain_type

VERSION = 1
ENDING = ".sdxblob.zip"
_HEADER, _TYPES = "blob.json", "types.arrow"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # when a file was made is in none: the same blob has the same bytes
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, pa.ArrowException, EOFError, OSError),
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError),
)


@dataclass(frozen=True)
class BlobHeader:
    """What a blob says of the whole table.

    Attributes:
        relations: (d, d) and (d,), rounded, from noisy counts.
        clustering: how columns are divided where a question's table is not stored.
        parameters: how entities are protected and trees divided, without the salt; for people to read.
    """

    columns: pa.Schema
    relations: ColumnRelations
    clustering: DefaultClustering
    parameters: Mapping[str, object]


def require_blob_name(path: Path) -> None:
    """Refuse another name. Raises ParameterError."""
    if not path.name.endswith(ENDING) or path.name == ENDING:
        raise ParameterError(f"A blob's file must end in {ENDING}, and {path.name!r} doesn't: name it so.")


def _write_members(
    stream: BinaryIO, header: BlobHeader, tables: Iterable[tuple[ColumnNumbers, pa.Table]]
) -> None:
    content = {
        "version": VERSION,
        "columns": header.columns.names,
        "parameters": header.parameters,
        "clustering": asdict(header.clustering),
        "dependence": header.relations.dependence.tolist(),
        "entropies": header.relations.entropies.tolist(),
    }
    with zipfile.ZipFile(stream, "w") as file:
        _add_member(file, _HEADER, json.dumps(content, indent=1).encode())
        _add_member(file, _TYPES, header.columns.remove_metadata().serialize().to_pybytes())
        for combination, table in tables:
            buffer = io.BytesIO()
            pq.write_table(table, buffer, compression="zstd")
            _add_member(file, _member_name(combination), buffer.getvalue())


def _add_member(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.external_attr = 0o644 << 16
    # Parquet is compressed already.
    entry.compress_type = zipfile.ZIP_DEFLATED if name == _HEADER else zipfile.ZIP_STORED
    file.writestr(entry, content)


def _member_name(combination: ColumnNumbers) -> str:
    return f"tables/{'-'.join(map(str, combination))}.parquet"


class BlobFile:
    def __init__(self, path: Path) -> None:
        """Open a file; InputError if there is none, or it is no blob, broken or of another version."""
        self._path = path
        try:
            self._file = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise InputError(
                f"The blob {path} must be a file, and there is none: correct its name."
            ) from None
        except _BROKEN:
            raise _broken_file_error(path) from None
        try:
            self.header = self._read_header()
            members = set(self._file.namelist())
            count = len(self.header.columns)
            self.stored = frozenset(_stored_combinations(members, count))
            if not self.stored.issuperset(chain(*(combinations(range(count), size) for size in (1, 2)))):
                raise _broken_file_error(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._file.close()

    def read(self, combination: ColumnNumbers) -> pa.Table:
        """A stored table, dictionaries as plain cells; InputError if it is broken. See `restore_types`."""
        with _refuse_if_broken(self._path):
            table = pq.read_table(io.BytesIO(self._file.read(_member_name(combination))))
            kinds = [plain_type(self.header.columns.types[column]) for column in combination]
            names = [self.header.columns.names[column] for column in combination]
            return table.cast(pa.schema(list(zip(names, kinds, strict=True))))

    def restore_types(self, table: pa.Table) -> pa.Table:
        """A table of the blob's columns with the types that they had at first."""
        columns = []
        for name in table.column_names:
            kind = self.header.columns.field(name).type
            column = table[name].combine_chunks()
            columns.append(column.dictionary_encode() if pa.types.is_dictionary(kind) else column)
        return pa.table(columns, names=table.column_names)

    def _read_header(self) -> BlobHeader:
        with _refuse_if_broken(self._path):
            content: dict[str, Any] = json.loads(self._file.read(_HEADER))
            version = content["version"]
            if version != VERSION:
                given = version if isinstance(version, int) else "an unknown one"
                raise InputError(
                    f"The blob {self._path} must be of version {VERSION}, and is of version {given}: build "
                    "it anew from the table."
                )
            columns = pa.ipc.read_schema(pa.py_buffer(self._file.read(_TYPES)))
            relations = ColumnRelations(
                np.array(content["dependence"], np.float64), np.array(content["entropies"], np.float64)
            )
            count = len(columns)
            if relations.dependence.shape != (count, count) or relations.entropies.shape != (count,):
                raise _broken_file_error(self._path)
            try:
                clustering = DefaultClustering(**content["clustering"])
            except ParameterError:
                raise _broken_file_error(self._path) from None
            return BlobHeader(columns, relations, clustering, content["parameters"])


def _stored_combinations(members: set[str], columns: int) -> Iterator[ColumnNumbers]:
    for member in members:
        parts = member.removeprefix("tables/").removesuffix(".parquet").split("-")
        if all(part.isascii() and part.isdigit() for part in parts):
            combination = tuple(map(int, parts))
            if _member_name(combination) == member and max(combination) < columns:
                yield combination


@contextmanager
def _refuse_if_broken(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN:
        raise _broken_file_error(path) from None


def _broken_file_error(path: Path) -> InputError:
    return InputError(
        f"{path} must be a blob as it was written, and is another file, incomplete or broken: copy it again, "
        "or build it anew from the table."
    )


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

    ``synthesizer``: its strategy says which larger tables there are.
    ``largest``: columns of the largest table, at least 2; 2 where triples would be too many.

    Raises:
        ParameterError: another name; too many tables; clusters for a target; a folder that is not there.
    """
    require_blob_name(path)
    count = len(synthesizer.columns)
    require_size(count, largest)
    if isinstance(synthesizer.strategy, MlClustering):
        raise ParameterError("A blob must be built without a target: name the target when it is read.")
    measured = relate_columns(synthesizer.forest, progress=lambda done, of: progress("dependence", done, of))
    relations = ColumnRelations(measured.dependence.round(_DECIMALS), measured.entropies.round(_DECIMALS))
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
    stored = _combinations_to_store(count, largest, clusters)
    tables = _public_tables(synthesizer, stored, progress)
    place(path, lambda stream: _write_members(stream, header, tables))
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
    places, width = _public_places(source, ranks[starred], generator)
    written = pc.utf8_lpad(pa.array(places).cast(vocabulary.type), width, "0")
    prefixes = pc.replace_substring_regex(texts.filter(pa.array(starred)), _RANK, "*")
    new = pc.binary_join_element_wise(prefixes, written, pa.scalar("", vocabulary.type))
    return pc.replace_with_mask(texts, pa.array(starred), new).cast(source.column.cell_type)


def _public_places(
    source: CellSource, ranks: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, int]:
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


def _combinations_to_store(count: int, largest: int, clusters: Clusters) -> list[ColumnNumbers]:
    few = chain.from_iterable(
        combinations(range(count), size) for size in range(1, min(largest, ALL_UP_TO, count) + 1)
    )
    stitched = (tuple(sorted(cluster.stitch)) for cluster in clusters.derived)
    needed = {each for each in (*clusters.combinations, *stitched) if ALL_UP_TO < len(each) <= largest}
    # Larger ones last, so that the file is in the order in which a person counts.
    return [*few, *sorted(needed, key=lambda each: (len(each), each))]


def _public_tables(
    synthesizer: Synthesizer, stored: list[ColumnNumbers], progress: StepDone
) -> Iterator[tuple[ColumnNumbers, pa.Table]]:
    basis, forest = synthesizer.basis(), synthesizer.forest
    for done, combination in enumerate(stored):
        progress("tables", done, len(stored))
        yield combination, _public_table(synthesizer, combination, basis)
        # A tree of three columns is as large as the table, and there may be thousands.
        for grown in [each for each in forest.grown if len(each) >= ALL_UP_TO]:
            forest.forget(grown)


def _public_table(synthesizer: Synthesizer, combination: ColumnNumbers, basis: StitchingBasis) -> pa.Table:
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


def _public_parameters(synthesizer: Synthesizer) -> dict[str, object]:
    parameters = synthesizer.parameters
    # Without the salt, which nobody may know.
    anonymization = asdict(replace(parameters.anonymization, salt=bytes(8)))
    del anonymization["salt"]
    return {
        "unit": "subject" if synthesizer.ids else "row",
        "ids": list(synthesizer.ids),
        "protects": unit_sentence(synthesizer.ids),
        "anonymization": anonymization,
        "bucketization": asdict(parameters.bucketization),
        "value_safe_columns": sorted(parameters.value_safe_columns),
    }


def read_blob(path: Path, columns: Sequence[str], target: str | None = None) -> pa.Table:
    """The synthetic table of some columns, in the order asked for.

    ``target``: which of them is to be predicted from the others: it is then with its features.

    Raises:
        InputError: no file, or none that is a whole blob of this version.
        ParameterError: a column that is unknown or named twice; a target that is not asked for.
    """
    with closing(BlobFile(path)) as blob:
        ids = _column_ids(columns, blob.header.columns.names)
        if target is not None and target not in columns:
            raise ParameterError(
                f"The target must be among the columns asked for, and {target!r} is not: add it."
            )
        exact = tuple(sorted(ids))
        if exact in blob.stored:
            table = blob.read(exact)
        else:
            place = None if target is None else blob.header.columns.names.index(target)
            table = _assemble_answer(blob, exact, place)
        return blob.restore_types(table.select(list(columns)))


def _column_ids(columns: Sequence[str], known: Sequence[str]) -> list[int]:
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


def _assemble_answer(blob: BlobFile, columns: ColumnNumbers, target: int | None) -> pa.Table:
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
        values, is_text = answer.as_numbers(answer.assemble(clusters))
        features = select_features(values, is_text, strategy)
        clusters = solve_with_features(features, selected.entropies, strategy)
    return answer.table(clusters)


class _Answer:
    def __init__(self, blob: BlobFile, columns: ColumnNumbers, target: int | None) -> None:
        self._blob = blob
        self._columns = columns
        self._target = target
        self._texts: set[int] = set()
        self._missing: dict[int, float] = {}

    def table(self, clusters: Clusters) -> pa.Table:
        rows = shuffle(self.assemble(clusters), self._basis({}))
        names = self._blob.header.columns.names
        return pa.table({names[column]: rows.cells[column].values for column in sorted(rows.cells)})

    def assemble(self, clusters: Clusters) -> Microdata:
        found = _renumber(clusters, self._columns)
        tables, basis = self._read(self._stored_parts(found))
        return self._join(found, tables, basis)

    def as_numbers(self, table: Microdata) -> tuple[Floats, list[bool]]:
        values = [
            np.where(cells.numbers == self._missing[column], np.nan, cells.numbers)
            for column, cells in sorted(table.cells.items())
        ]
        return np.stack(values, axis=1), [column in self._texts for column in sorted(table.cells)]

    def _divide_into_stored(self, combination: ColumnNumbers) -> Clusters:
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
            derived.append(DerivedCluster("shared", stitch, tuple(sorted(set(chosen) - there))))
            there.update(chosen)
        return Clusters(initial, tuple(derived))

    def _stored_parts(self, clusters: Clusters) -> set[ColumnNumbers]:
        parts = {tuple(sorted(cluster.stitch)) for cluster in clusters.derived} & self._blob.stored
        for combination in clusters.combinations:
            if combination in self._blob.stored:
                parts.add(combination)
            else:
                parts |= self._stored_parts(self._divide_into_stored(combination))
        return parts

    def _join(
        self, clusters: Clusters, tables: Mapping[ColumnNumbers, Microdata], basis: JoiningBasis
    ) -> Microdata:
        rights = [
            tables[each] if each in tables else self._join(self._divide_into_stored(each), tables, basis)
            for each in clusters.combinations
        ]
        table = rights[0]
        for cluster, right in zip(clusters.derived, rights[1:], strict=True):
            table = _stitch_to_own_table(table, right, cluster, tables, basis)
        return table

    def _read(self, needed: Iterable[ColumnNumbers]) -> tuple[dict[ColumnNumbers, Microdata], JoiningBasis]:
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

    def _basis(self, intervals: Mapping[int, Interval]) -> JoiningBasis:
        header = self._blob.header
        return public_basis(header.columns.names, header.relations.entropies, intervals)


def _stitch_to_own_table(
    left: Microdata,
    right: Microdata,
    cluster: DerivedCluster,
    tables: Mapping[ColumnNumbers, Microdata],
    basis: JoiningBasis,
) -> Microdata:
    """Two tables stitched, each first to the stitch columns' own table, whose counts are the better ones."""
    own = tables.get(tuple(sorted(cluster.stitch)))
    if cluster.owner == "shared" and own is not None and own.rows:
        both = []
        for side in (left, right):
            others = tuple(column for column in sorted(side.cells) if column not in cluster.stitch)
            both.append(join_tables(own, side, DerivedCluster("left", cluster.stitch, others), basis))
        left, right = both
    return join_tables(left, right, cluster, basis)


def _renumber(clusters: Clusters, columns: ColumnNumbers) -> Clusters:
    derived = (
        DerivedCluster(
            each.owner, tuple(columns[c] for c in each.stitch), tuple(columns[c] for c in each.derived)
        )
        for each in clusters.derived
    )
    return Clusters(tuple(columns[c] for c in clusters.initial), tuple(derived))
