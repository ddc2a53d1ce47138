"""True counts as SDS's files, however many.

Neither the lines nor what they are sorted by are ever in memory all together: integers are sorted in runs
that fit, and the runs are merged.
"""

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.interchange import CountedIds, first_lines, write_true_counts_json
from tasks.core.aggregates.linkability import rarest_cells
from tasks.core.aggregates.selections import TextOrder, quoted_pieces
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, Marginals
from tasks.core.aggregates.wide_form import attribute_cells, number_everything
from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.queries import QueryResources, query_text

#: Integers that are sorted at once, and how far apart those are that runs may be cut at.
AT_ONCE = 1 << 23
_APART = 1 << 12


def in_ascending_order(
    parts: Iterable[Integers], scratch: Path, at_once: int = AT_ONCE
) -> Iterator[Integers]:
    """Sort integers, in memory where they are few, otherwise by sorted runs in a file.

    >>> parts = [np.array([4, 15, 1, 8]), np.array([10, 2, 9, 3])]
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     [part.tolist() for part in in_ascending_order(parts, Path(scratch), at_once=4)]
    [[1, 2, 3, 4], [8, 9, 10, 15]]

    Yields ascending arrays, each above the one before. ``at_once``: how many integers are sorted at once;
    about twice as many are in memory.
    """
    with tempfile.TemporaryFile(dir=scratch) as file:
        sizes, last = [], np.empty(0, np.int64)
        for run in _runs(parts, at_once):
            if len(last):
                file.write(last.data)
                sizes.append(len(last))
            last = run
        if not sizes:
            yield last
            return
        file.write(last.data)
        file.flush()
        stored = np.memmap(file, np.int64, "r")
        runs = np.split(stored, np.cumsum(sizes))
        yield from _merged(runs, at_once)


def _runs(parts: Iterable[Integers], at_once: int) -> Iterator[Integers]:
    pending: list[Integers] = []
    waiting = 0
    for part in parts:
        pending.append(part)
        waiting += len(part)
        if waiting >= at_once:
            yield _sorted(pending)
            pending, waiting = [], 0
    if pending:
        yield _sorted(pending)


def _sorted(parts: list[Integers]) -> Integers:
    together = np.concatenate(parts)
    together.sort()
    return together


def _merged(runs: list[Integers], at_once: int) -> Iterator[Integers]:
    """Cut all runs at the same integers, and sort what lies between two cuts.

    Nothing right of a cut belongs before what is left of it, in any run:

        run 0    1  4 | 8 15      1 2 3 4 are sorted and go out while the rest is still in the file
        run 1    2  3 | 9 10
    """
    apart = max(1, min(_APART, at_once // (2 * len(runs))))
    samples = np.sort(np.concatenate([run[::apart] for run in runs]))
    cuts = samples[:: max(1, at_once // apart)][1:]
    bounds = [np.searchsorted(run, cuts) for run in runs]
    starts = [0] * len(runs)
    for place in range(len(cuts) + 1):
        ends = [
            int(of[place]) if place < len(cuts) else len(run) for of, run in zip(bounds, runs, strict=True)
        ]
        slices = [run[start:end] for run, start, end in zip(runs, starts, ends, strict=True)]
        yield _sorted(slices)
        starts = ends


#: So many of the rarest combinations of each length are listed.
MOST_RAREST = 1000


def write_true_counts(
    marginals: Marginals,
    path: Path,
    resources: QueryResources = QueryResources(),
    longest: int | None = None,
    progress: ShareDone = lambda fraction: None,
) -> None:
    """Write true counts as TSV (see `write_counts_tsv`), of no more than ``longest`` attributes each."""
    numbering = number_everything(marginals)
    lengths = [length for length in marginals.lengths if longest is None or length <= longest]
    reading = _Reading(marginals, lengths, progress)
    levels = {length: reading.report(attribute_cells(marginals, length, numbering)) for length in lengths}
    write_counts_tsv(numbering.attributes, marginals.facts.number_of_records, levels, path, resources)


def write_sensitive_json(
    marginals: Marginals, path: Path, progress: ShareDone = lambda fraction: None
) -> None:
    """Write true counts as SDS's aggregated-data JSON, in the order of the marginals; sensitive."""
    numbering, reading = number_everything(marginals), _Reading(marginals, marginals.lengths, progress)
    levels = (attribute_cells(marginals, length, numbering) for length in marginals.lengths)
    parts = reading.report(itertools.chain.from_iterable(levels))
    write_true_counts_json(marginals, numbering, parts, path)


def write_rarest(marginals: Marginals, path: Path) -> None:
    """Write the combinations of each length that fewest records hold, up to `MOST_RAREST` of them.

    Lines as of `write_counts_tsv`, without the number of records: by length, then the rarest first, equally
    rare ones by text. Where too many are equally rare, those of the first columns are taken. Sensitive.
    """
    numbering = number_everything(marginals)
    order, pieces = TextOrder(numbering.attributes), quoted_pieces(numbering.attributes)
    with path.open("wb") as file:
        file.write(first_lines(0, "count")[0])
        for length in marginals.lengths:
            cells = rarest_cells(marginals, length, MOST_RAREST)
            ids = numbering.ids(cells)
            places = np.lexsort([*order.ranks(ids).T[::-1], cells.counts])
            file.writelines(pieces.lines(ids[places], cells.counts[places]))


class _Reading:
    def __init__(self, marginals: Marginals, lengths: Sequence[int], progress: ShareDone) -> None:
        self._all = sum(pq.read_metadata(marginals.path(length)).num_rows for length in lengths)
        self._progress, self._read = progress, 0

    def report(self, rows: CountedIds) -> Iterator[tuple[Ids, Integers]]:
        for ids, counts in rows:
            yield ids, counts
            self._read += len(counts)
            self._progress(self._read / self._all)


def write_counts_tsv(
    attributes: Sequence[Attribute],
    number_of_records: int,
    levels: Mapping[int, CountedIds],
    path: Path,
    resources: QueryResources = QueryResources(),
) -> None:
    """Write true counts as `interchange.write_reportable_tsv` writes aggregates: the same lines and order.

    What does not fit in memory is in the scratch of the resources, otherwise beside the file.
    """
    order, pieces = TextOrder(attributes), quoted_pieces(attributes)
    with path.open("wb") as file:
        file.writelines(first_lines(number_of_records, "count"))
        for length, rows in levels.items():
            if order.fits(length, number_of_records):
                parts = _by_key(rows, order, (length, number_of_records), resources.scratch or path.parent)
            else:
                parts = _by_query(rows, order, length, resources)
            for ids, counts in parts:
                file.writelines(pieces.lines(ids, counts))


def _by_key(
    rows: CountedIds, order: TextOrder, of: tuple[int, int], scratch: Path
) -> Iterator[tuple[Ids, Integers]]:
    """Rows in the order of the file, each packed in one integer; ``of``: length and most count."""
    length, most = of
    keys = (order.keys(ids, counts, most) for ids, counts in rows)
    for part in in_ascending_order(keys, scratch):
        for start in range(0, len(part), ROWS_A_READ):
            yield order.of_keys(part[start : start + ROWS_A_READ], length, most)


def _by_query(
    rows: CountedIds, order: TextOrder, length: int, resources: QueryResources
) -> Iterator[tuple[Ids, Integers]]:
    """Rows in the order of the file, where there are too many attributes for one integer."""
    names = [f"rank_{place}" for place in range(1, length + 1)]
    schema = pa.schema([("negated_count", pa.int64()), *((name, pa.int32()) for name in names)])
    ranked = (
        pa.RecordBatch.from_arrays(
            [pa.array(-counts), *map(pa.array, order.ranks(ids).T.copy())], schema=schema
        )
        for ids, counts in rows
    )
    with resources.connect() as connection:
        connection.register("cells", pa.RecordBatchReader.from_batches(schema, ranked))
        for found in connection.sql(query_text("aggregates/order_cells")).to_arrow_reader(ROWS_A_READ):
            ranks = np.stack([found[name].to_numpy() for name in names], axis=1)
            yield order.ids(ranks), -found["negated_count"].to_numpy()
