"""Combinations of the synthetic records, listed while they are compared: SDS's two files (sds.md 5).

The short ones in every run, all of them on request. Counts of synthetic and raw records go in, a set of
columns at a time; tab-separated files come out. What is listed waits in scratch files, so that memory does
not grow with the number of lines. Sensitive.
"""

import io
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from tasks.core.aggregates import kernels as counting
from tasks.core.aggregates.cubes import CubeTable
from tasks.core.aggregates.selections import bytes_of
from tasks.core.aggregates.sensitive_text import write_counts_tsv
from tasks.core.aggregates.text_kernels import SPARE, number_cells
from tasks.core.aggregates.wide_form import attribute
from tasks.core.arrays import Bytes, Flags, Ids, Integers
from tasks.core.evaluation import kernels
from tasks.core.evaluation.compared_sides import SlotNumbering
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.core.tables.delimited import needs_quotes

_HEADER = ("combo_length", "combo", "record_id", "syn_count", "sen_count")
#: Three numbers, a length, tabs, quotation marks and a line feed take no more.
_MOST_BESIDE = 4 * 20 + 8
_ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Told:
    """The synthetic records' combinations of a table's sets: ids, counts, and the rare ones' lines."""

    ids: Ids
    counts: Integers
    lines: memoryview


class SyntheticCombinations:
    """Collects what is told of each set of columns, shortest first, and writes it."""

    def __init__(
        self, numbering: SlotNumbering, schema: Schema, resolution: int, scratch: Path | None
    ) -> None:
        """Args: numbering: of all sides. resolution: below it a combination is rare. scratch: or memory."""
        self._numbering, self._resolution, self._scratch = numbering, resolution, scratch
        named = [(column, value) for column, own in enumerate(numbering.values) for value in own]
        found = [attribute(schema.columns[column], column, value) for column, value in named]
        order = sorted(range(len(found)), key=lambda place: found[place].text)
        self._attributes = [found[place] for place in order]
        self._ids = np.argsort(order).astype(np.int32)
        self._before = np.cumsum([0, *map(len, numbering.values)])[:-1] - 1
        self._lines, self._rows = _file(scratch), _file(scratch)
        self._parts: list[tuple[int, int]] = []
        self._pending: list[Told] = []
        self._waiting = 0

    def tell(self, table: CubeTable, synthetic: int, sensitive: int) -> Told:
        """The combinations of a table's sets, of the sides at these places; uses up the synthetic cube."""
        codes, cells = table.cells(synthetic)
        counts = table.cubes[synthetic][cells].astype(np.int64)
        ids = np.empty(codes.shape, np.int32)
        sets, before = table.sets_of(cells).astype(np.uint32), self._before[np.array(table.sets)]
        number_cells(sets, np.ascontiguousarray(codes.T), before, self._ids, ids)
        rare = np.flatnonzero(counts < self._resolution)
        if not len(rare):
            return Told(ids, counts, memoryview(b""))
        true = table.cubes[sensitive][cells[rare]].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(counts[rare])])
        holders = _holders(table, synthetic, cells[rare], starts)
        rows = ids[rare]
        longest = self._sizes[rows].sum(axis=1) + _MOST_BESIDE
        out = np.empty(int((longest * counts[rare]).sum()) + SPARE, np.uint8)
        both = (counts[rare], true)
        end = kernels.write_combinations(rows, both, (starts, holders), self._pieces, self._resolution, out)
        return Told(ids, counts, out[:end].data)

    def take(self, told: Told | None) -> None:
        """Keep what was told, one set of columns after the other; None: nothing was."""
        if told is None:
            return
        self._lines.write(told.lines)
        if self._pending and told.ids.shape[1] != self._pending[0].ids.shape[1]:
            self._flush()
        self._pending.append(told)
        self._waiting += len(told.counts)
        if self._waiting >= _ROWS_AT_ONCE:
            self._flush()

    def write_aggregates(
        self, number_of_records: int, path: Path, resources: QueryResources = QueryResources()
    ) -> None:
        """Write the counts of all combinations (see `interchange.write_aggregates_tsv`)."""
        self._flush()
        self._rows.seek(0)
        levels = {
            length: self._read(list(parts))
            for length, parts in itertools.groupby(self._parts, key=lambda part: part[0])
        }
        write_counts_tsv(self._attributes, number_of_records, levels, path, resources)

    def write_rare(self, path: Path) -> None:
        """Write each combination with a count below the resolution, once per record that holds it.

        Columns ``combo_length, combo, record_id, syn_count, sen_count``; the record's number is its place
        among the synthetic records, the sensitive count is rounded down to the resolution. By length, then
        by columns in file order, then by their values, then by record.
        """
        self._lines.seek(0)
        with path.open("wb") as file:
            file.write("\t".join(_HEADER).encode() + b"\n")
            shutil.copyfileobj(self._lines, file, 1 << 20)

    def _flush(self) -> None:
        if self._pending:
            ids, counts = (
                np.concatenate(each)
                for each in zip(*((one.ids, one.counts) for one in self._pending), strict=True)
            )
            self._rows.write(np.ascontiguousarray(ids).data)
            self._rows.write(counts.data)
            self._parts.append((ids.shape[1], len(ids)))
            self._pending, self._waiting = [], 0

    def _read(self, parts: list[tuple[int, int]]) -> Iterator[tuple[Ids, Integers]]:
        for length, number in parts:
            ids = np.frombuffer(self._rows.read(4 * length * number), np.int32).reshape(-1, length)
            yield ids, np.frombuffer(self._rows.read(8 * number), np.int64)

    @cached_property
    def _pieces(self) -> tuple[Bytes, Integers, Flags]:
        """Quotes are doubled piece by piece, the enclosing ones are added where any piece needs them."""
        texts = [each.text for each in self._attributes]
        escaped = [text.replace('"', '""').encode() + b" AND " for text in texts]
        return *bytes_of(escaped), np.array([needs_quotes(text) for text in texts], np.bool_)

    @cached_property
    def _sizes(self) -> Integers:
        return np.diff(self._pieces[1])


def _holders(table: CubeTable, side: int, cells: Integers, starts: Integers) -> Integers:
    """The records of each cell, ascending, one cell's behind the other's."""
    cube, holders = table.cubes[side], np.empty(starts[-1], np.int64)
    cube[:] = 0
    cube[cells] = np.arange(1, len(cells) + 1)
    following = starts[:-1].copy()
    for part in table.rows[side]:
        counting.group_rows((part.numbers, part.last, table.size), cube, following, holders)
    blocks = sum(len(part.slots) for part in table.rows[side])
    if blocks > 1:
        holders %= sum(len(part.numbers) for part in table.rows[side]) // blocks
    if blocks > len(table.sets):
        cell_of = np.repeat(np.arange(len(cells)), np.diff(starts))
        holders = holders[np.lexsort((holders, cell_of))]
    return holders


def _file(scratch: Path | None) -> IO[bytes]:
    """A file that is nobody else's and gone with its last user."""
    return io.BytesIO() if scratch is None else tempfile.TemporaryFile(dir=scratch)
