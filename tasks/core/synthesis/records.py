"""Synthetic records: sets of attributes, in published order; in memory, in a folder, in shards.

Compressed rows: record i holds ``attribute_ids[offsets[i]:offsets[i + 1]]``, ascending. Ids and headers
are those of the aggregates that the records were drawn from. On disk: a folder with ``attributes.parquet``
(header, value, column_id, item; the headers in its metadata) and ``records.parquet`` (one list a record).

    attributes    0 sex:female   1 sex:male   2 town:Lyon
    records       a woman in Lyon, a man       attribute_ids = [0, 2, 1], offsets = [0, 2, 3]

All shards have the headers and attributes of the whole, and each its records in the published order; shard
stands after shard. So the order of all records is a function of the records and of their number alone.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Attribute, attribute_table, attributes_of_table
from tasks.core.aggregates.wide_form import attribute
from tasks.core.arrays import ColumnNumbers, Ids, Integers
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.columns import Column
from tasks.core.stored_files import read_parquet

#: Their two files.
ATTRIBUTES, RECORDS = "attributes.parquet", "records.parquet"
#: Beside fitted records: the same as cells of measured columns, `other` included.
CELLS = "cells.npy"
#: So many stored records are read at a time.
_MOST_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class SyntheticRecords:
    """n records over the wide form's headers.

    Attributes:
        headers, attributes: as of `Aggregates`.
        offsets: int64 (n + 1,), from 0 to ``len(attribute_ids)``.
        attribute_ids: int32, at most one per header within a record.
    """

    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    offsets: Integers
    attribute_ids: Ids

    @property
    def number_of_records(self) -> int:
        return len(self.offsets) - 1

    def parts(self) -> Iterator["SyntheticRecords"]:
        """All of them at once: they are in memory."""
        yield self

    def at(self, places: Integers) -> "SyntheticRecords":
        """Those at some places, ascending."""
        lengths = np.diff(self.offsets)
        is_taken = np.zeros(self.number_of_records, np.bool_)
        is_taken[places] = True
        offsets = np.concatenate([[0], np.cumsum(lengths[is_taken])]).astype(np.int64)
        ids = _as_if_read(self.attribute_ids[np.repeat(is_taken, lengths)])
        return SyntheticRecords(self.headers, self.attributes, offsets, ids)

    def write(self, folder: Path) -> None:
        """Write the two files into an existing empty folder; equal records give equal bytes."""
        table = attribute_table(self.attributes)
        table = table.replace_schema_metadata({b"headers": json.dumps(self.headers).encode()})
        pq.write_table(table, folder / ATTRIBUTES, compression="zstd")
        lists = pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.attribute_ids))
        pq.write_table(pa.table({"attribute_ids": lists}), folder / RECORDS, compression="zstd")


@dataclass(frozen=True)
class StoredRecords:
    """Records in a folder that `SyntheticRecords.write` wrote; at most a part is in memory at a time."""

    folder: Path
    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    number_of_records: int

    def parts(self) -> Iterator[SyntheticRecords]:
        """The records in their order, some at a time; of none one empty part."""
        if self.number_of_records <= _MOST_AT_ONCE:
            yield self._only
        else:
            yield from self._read()

    @cached_property
    def _only(self) -> SyntheticRecords:
        """All of them, where they are one part: it is read once, however often it is asked for."""
        empty = SyntheticRecords(self.headers, self.attributes, np.zeros(1, np.int64), np.zeros(0, np.int32))
        return next(self._read(), empty)

    def _read(self) -> Iterator[SyntheticRecords]:
        with pq.ParquetFile(self.folder / RECORDS) as file:
            for batch in file.iter_batches(_MOST_AT_ONCE):
                lists = batch.column(0)
                offsets = lists.offsets.to_numpy()
                yield SyntheticRecords(
                    self.headers,
                    self.attributes,
                    offsets - offsets[0],
                    lists.values.to_numpy()[offsets[0] : offsets[-1]],
                )

    def at(self, places: Integers) -> SyntheticRecords:
        """Those at some places, ascending: few enough for memory."""
        taken, first = list[SyntheticRecords](), 0
        for part in self.parts():
            end = first + part.number_of_records
            own = places[np.searchsorted(places, first) : np.searchsorted(places, end)]
            taken.append(part.at(own - first))
            first = end
        return _join_parts(taken)

    def whole(self) -> SyntheticRecords:
        return _join_parts(list(self.parts()))


#: Records that are read a part at a time, wherever they are.
AnySynthetic = SyntheticRecords | StoredRecords


def open_synthetic_records(folder: Path) -> StoredRecords:
    table = read_parquet(folder / ATTRIBUTES)
    with pq.ParquetFile(folder / RECORDS) as file:
        number = file.metadata.num_rows
    return StoredRecords(
        folder,
        headers=tuple(json.loads(table.schema.metadata[b"headers"])),
        attributes=attributes_of_table(table),
        number_of_records=number,
    )


def read_synthetic_records(folder: Path) -> SyntheticRecords:
    return open_synthetic_records(folder).whole()


def _join_parts(parts: Sequence[SyntheticRecords]) -> SyntheticRecords:
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.attribute_ids) for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return SyntheticRecords(
        parts[0].headers,
        parts[0].attributes,
        np.concatenate([*offsets, ends[-1:]]),
        _as_if_read(np.concatenate([part.attribute_ids for part in parts])),
    )


def _as_if_read(ids: Ids) -> Ids:
    """As where they are read from a file: kernels are compiled for that."""
    ids.flags.writeable = False
    return ids


def number_to_draw(reported: int, asked: int | None) -> int:
    """As many records as asked for, or as reported; none where that is below 0."""
    return max(0, reported if asked is None else asked)


def header_places(headers: Sequence[str], attributes: Sequence[Attribute]) -> Ids:
    """For each attribute the place of its header in the output, int32."""
    places = {header: place for place, header in enumerate(headers)}
    return np.array([places[attribute.header] for attribute in attributes], np.int32)


def number_attributes(
    columns: Sequence[Column], values: Sequence[Mapping[int, str]], sizes: Sequence[int]
) -> tuple[tuple[Attribute, ...], list[Ids]]:
    """Attributes ascending by text, and for each column which of them a code stands for.

    ``values`` are by code, ``sizes`` how many codes there are; of each column comes int32 (size,): a place
    among the attributes, or -1 for a code without one.

    >>> town = Column("town")
    >>> attributes, ids = number_attributes([town], [{1: "Lyon", 2: "Lille"}], [3])
    >>> [attribute.text for attribute in attributes], ids[0].tolist()
    (['town:Lille', 'town:Lyon'], [-1, 1, 0])
    """
    found = sorted(
        (
            (attribute(about, column, value), column, code)
            for column, (about, own) in enumerate(zip(columns, values, strict=True))
            for code, value in own.items()
        ),
        key=lambda each: (each[0].text, each[1]),
    )
    ids = [np.full(size, -1, np.int32) for size in sizes]
    for place, (_, column, code) in enumerate(found):
        ids[column][code] = place
    return tuple(each for each, _, _ in found), ids


def group_by_columns(
    columns: Integers, codes: Integers
) -> Iterator[tuple[ColumnNumbers, Integers, Integers]]:
    """The codes of rows that are of the same columns, both (N, length): ascending by column; and which rows.

    >>> [(own, found.tolist()) for own, found, _ in group_by_columns(np.array([[2, 0]]), np.array([[7, 5]]))]
    [((0, 2), [[5, 7]])]
    """
    if not len(columns):
        return
    order = np.argsort(columns, axis=1, kind="stable")
    columns, codes = (np.take_along_axis(each, order, axis=1) for each in (columns, codes))
    different, group = np.unique(columns, axis=0, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    for own, rows in zip(different.tolist(), np.split(by_group, ends[:-1]), strict=True):
        yield tuple(own), codes[rows], rows


def publish_shards(
    fitted: Sequence[StoredPart],
    publish: Callable[[StoredPart], Callable[[Path], None]],
    store: PartStore,
    workers: Workers,
) -> list[StoredPart]:
    """Published shards in the place of fitted ones, each published by itself.

    ``publish``: a fitted shard to what writes its records into an empty folder; can be sent.
    """
    work = partial(_publish_shard, publish, store)
    published = list(workers.each("publish records", work, list(enumerate(fitted))))
    for part in fitted:
        part.store.remove(part.key)
    return published


def _publish_shard(
    publish: Callable[[StoredPart], Callable[[Path], None]], store: PartStore, shard: tuple[int, StoredPart]
) -> StoredPart:
    place, fitted = shard
    return store.put(f"shards/{place}", publish(fitted))


def join_shards(parts: Sequence[StoredPart], folder: Path) -> None:
    """Write all shards as one folder of records, a batch at a time; and their cells, if they have any."""
    number = 0
    with ExitStack() as stack:
        rows = None
        for part in parts:
            with part.folder() as shard:
                if rows is None:
                    shutil.copyfile(shard / ATTRIBUTES, folder / ATTRIBUTES)
                with pq.ParquetFile(shard / RECORDS) as file:
                    number += file.metadata.num_rows
                    rows = rows or stack.enter_context(
                        pq.ParquetWriter(folder / RECORDS, file.schema_arrow, compression="zstd")
                    )
                    for batch in file.iter_batches():
                        rows.write_batch(batch)
    _join_cells(parts, number, folder / CELLS)


def _join_cells(parts: Sequence[StoredPart], number: int, path: Path) -> None:
    joined, start = None, 0
    for part in parts:
        with part.folder() as shard:
            if not (shard / CELLS).exists():
                return
            cells = np.load(shard / CELLS, mmap_mode="r", allow_pickle=False)
            if joined is None:
                joined = np.lib.format.open_memmap(path, "w+", cells.dtype, (number, cells.shape[1]))
            joined[start : start + len(cells)] = cells
            start += len(cells)
