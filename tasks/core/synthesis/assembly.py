"""Published order and files of synthetic records, a bounded piece at a time (S4.0, S1.4)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids, Words
from tasks.core.errors import StoredTableMismatch
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import AnySynthetic, SyntheticRecords, header_places
from tasks.core.tables.writing import as_lines, quoted, quoted_texts

#: Cells that are turned into text at once, and how many bytes they may come to.
_CELLS_AT_ONCE = 1 << 22
_BYTES_AT_ONCE = 1 << 28


def order_records(
    headers: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    sizes: Ids,
    attribute_ids: Ids,
) -> SyntheticRecords:
    """Records in the published order (S4.0), whatever order they and their attributes come in.

    More filled records first, and those equally filled by their cells as text in header order, an empty
    cell before any other.
    """
    rank_of, attribute_of = _rank_attributes(headers, attributes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    ranks = _sort_within(sizes, rank_of[attribute_ids])
    width = max(len(attributes).bit_length(), 1)
    order = []
    for size in np.unique(sizes)[::-1]:
        records = np.flatnonzero(sizes == size)
        keys = _pack(ranks[offsets[records][:, None] + np.arange(int(size))[::-1]], width)
        order.append(records[np.lexsort(keys[::-1])] if size else records)
    places = np.concatenate([np.empty(0, np.int64), *order])
    new_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[places], dtype=np.int64)])
    moved = np.arange(len(ranks)) + np.repeat(offsets[places] - new_offsets[:-1], sizes[places])
    ids = _sort_within(sizes[places], attribute_of[ranks[moved]])
    return SyntheticRecords(headers=headers, attributes=attributes, offsets=new_offsets, attribute_ids=ids)


def _sort_within(sizes: Ids, values: Ids) -> Ids:
    """The values of records of these sizes, one after the other, ascending within each."""
    keys = np.repeat(np.arange(len(sizes)), sizes) << 32
    keys |= values
    keys.sort()
    return keys.astype(np.int32)  # its lower half


def _pack(ranks: Ids, width: int) -> Words:
    """Keys (words, N) of rows of ranks, each of so many bits: they compare word by word as the rows do."""
    each = 64 // width
    keys = np.zeros((-(-ranks.shape[1] // each), len(ranks)), np.uint64)
    for place, own in enumerate(ranks.T):
        keys[place // each] = (keys[place // each] << np.uint64(width)) | own.astype(np.uint64)
    return keys


def _rank_attributes(headers: tuple[str, ...], attributes: tuple[Attribute, ...]) -> tuple[Ids, Ids]:
    """Rank of each attribute, and the attribute of each rank.

    Later headers rank lower, and within a header values rank by code point. Where two records of equal
    size first differ, going through their headers in order, either both have that header and the lower
    value comes first, or the one whose next attribute is under a later header has an empty cell, and
    comes first: the lower rank comes first either way.
    """
    places = header_places(headers, attributes)
    by_rank = sorted(range(len(attributes)), key=lambda i: (-int(places[i]), attributes[i].value))
    attribute_of = np.array(by_rank, np.int32)
    rank_of = np.empty_like(attribute_of)
    rank_of[attribute_of] = np.arange(len(by_rank), dtype=np.int32)
    return rank_of, attribute_of


def write_wide_tsv(records: AnySynthetic, path: Path) -> None:
    """One line a record and one column a header; the empty text where a record has no value.

    Tab-separated, UTF-8, lines ended by a line feed, a cell quoted only where it holds a tab, a quote or a
    line break (and where it is the only cell of its line and empty, since readers skip empty lines).
    """
    texts = pa.array([quoted(attribute.value) for attribute in records.attributes], pa.string())
    empty = quoted("", alone=len(records.headers) == 1)
    with path.open("wb") as file:
        only = len(records.headers) == 1
        file.write(("\t".join(quoted(h, alone=only) for h in records.headers) + "\n").encode())
        for cells in cells_in_chunks(records, texts):
            columns = [pc.fill_null(texts.take(pa.array(ids, mask=ids < 0)), empty) for ids in cells]
            for line in as_lines(columns) if columns else [b"\n" * cells.shape[1]]:
                file.write(line)


def cells_in_chunks(records: AnySynthetic, texts: pa.Array) -> Iterator[Ids]:
    """Cells (headers, records) of a bounded number of records at a time: attribute ids, -1 for empty."""
    header_of = header_places(records.headers, records.attributes)
    longest = np.zeros(max(len(records.headers), 1), np.int64)
    lengths = pc.binary_length(texts).to_numpy().astype(np.int64)
    np.maximum.at(longest, header_of, lengths)
    most = min(_CELLS_AT_ONCE // len(longest), _BYTES_AT_ONCE // (int((longest + 1).sum())))
    step = max(most, 1)
    for part in records.parts():
        for start in range(0, part.number_of_records, step):
            offsets = part.offsets[start : start + step + 1]
            ids = part.attribute_ids[offsets[0] : offsets[-1]]
            cells = np.full((len(part.headers), len(offsets) - 1), -1, np.int32)
            cells[header_of[ids], np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))] = ids
            yield cells


LONG_HEADER = ("Id", "Attribute", "Value", "AttributeValue")
_VALUES_AT_ONCE = 1 << 20


def write_long_tsv(records: AnySynthetic, path: Path) -> None:
    """A line for each value of each record, in the records' order and that of their headers.

    Columns: ``Id`` (the record's place from 0), ``Attribute``, ``Value`` and ``AttributeValue`` (both, with a
    colon between); empty cells have no line.
    """
    with path.open("wb") as file:
        file.write(("\t".join(LONG_HEADER) + "\n").encode())
        first = 0
        for part in records.parts():
            for columns in _long_columns(part, first):
                for line in as_lines(columns):
                    file.write(line)
            first += part.number_of_records


def _long_columns(records: SyntheticRecords, first_record: int) -> Iterator[list[pa.Array]]:
    each = [(a.header, a.value, a.text) for a in records.attributes]
    texts = [pa.array([quoted(row[place]) for row in each], pa.string()) for place in range(3)]
    places = header_places(records.headers, records.attributes)
    holder = np.repeat(np.arange(records.number_of_records), np.diff(records.offsets))
    for start in range(0, len(holder), _VALUES_AT_ONCE):
        # A piece may begin or end within a record: ids ascend by text, so order its values by header here.
        first, last = _bounds_of_whole_records(records, holder, start)
        ids = records.attribute_ids[first:last]
        owner = holder[first:last]
        order = np.lexsort((places[ids], owner))
        picked = pa.array(ids[order])
        yield [
            pa.array(owner[order] + first_record).cast(pa.string()),
            *(text.take(picked) for text in texts),
        ]


def _bounds_of_whole_records(
    records: SyntheticRecords, holder: npt.NDArray[np.int64], start: int
) -> tuple[int, int]:
    bounds = records.offsets
    first = int(bounds[np.searchsorted(bounds, start)])
    end = min(start + _VALUES_AT_ONCE, len(holder))
    return first, int(bounds[np.searchsorted(bounds, end)])


def write_condensed_tsv(records: AnySynthetic, schema: Schema, path: Path, empty: str = "") -> None:
    """One line a record and one column of the table a column, items joined by their column's delimiter."""
    alone = len(schema.columns) == 1
    with path.open("wb") as file:
        names = [quoted(column.name, alone=alone) for column in schema.columns]
        file.write(("\t".join(names) + "\n").encode())
        if not names:
            file.write(b"\n" * records.number_of_records)
            return
        for columns in _condensed_columns(records, schema):
            filled = (quoted_texts(pc.fill_null(column, empty), alone=alone) for column in columns)
            for line in as_lines(list(filled)):
                file.write(line)


def _condensed_columns(records: AnySynthetic, schema: Schema) -> Iterator[list[pa.Array]]:
    column_of = {attribute.header: attribute.column for attribute in records.attributes}
    texts = pa.array([a.value if a.item is None else a.item for a in records.attributes], pa.string())
    for cells in cells_in_chunks(records, texts):
        columns = []
        for index, column in enumerate(schema.columns):
            own = [row for row, header in enumerate(records.headers) if column_of.get(header) == index]
            parts = [texts.take(pa.array(cells[row], mask=cells[row] < 0)) for row in own]
            columns.append(_join_items(parts, column.delimiter or "", cells.shape[1]))
        yield columns


def _join_items(parts: list[pa.Array], delimiter: str, size: int) -> pa.Array:
    joined = pa.nulls(size, pa.string())
    for part in parts:
        # Not null_handling="skip": with it Arrow leaves out the cells that are null everywhere.
        both = pc.binary_join_element_wise(joined, part, delimiter)
        joined = pc.coalesce(both, joined, part)
    return joined


def read_released_records(path: Path, schema: Schema) -> SyntheticRecords:
    r"""The records in a released file; StoredTableMismatch if it has another column, or is no such file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "records.tsv")
    ...     _ = file.write_text("sex\ttown\nfemale\tLyon\nmale\t\n")
    ...     found = read_released_records(file, Schema((Column("sex"), Column("town"))))
    >>> [found.attributes[place].text for place in found.attribute_ids], found.offsets.tolist()
    (['sex:female', 'town:Lyon', 'sex:male'], [0, 2, 3])
    """
    table = _read_texts(path)
    attributes: list[Attribute] = []
    cells: list[Ids] = []
    for header in table.column_names:
        column, item = _find_column(header, schema.columns)
        coded = pc.dictionary_encode(table[header].combine_chunks())
        first = len(attributes)
        attributes += [Attribute(header, value, column, item) for value in coded.dictionary.to_pylist()]
        places = pc.fill_null(coded.indices.cast(pa.int32()), -1 - first).to_numpy()
        cells.append(places + np.int32(first))
    ids = np.stack(cells, axis=1) if cells else np.empty((table.num_rows, 0), np.int32)
    held = ids >= 0
    offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))]).astype(np.int64)
    found = ids[held]
    found.flags.writeable = False  # as where they are read from a store: kernels are compiled for that
    return SyntheticRecords(tuple(table.column_names), tuple(attributes), offsets, found)


def _read_texts(path: Path) -> pa.Table:
    """All cells as texts; an empty one is null."""
    try:
        parse = csv.ParseOptions(delimiter="\t", newlines_in_values=True, ignore_empty_lines=False)
        names = csv.open_csv(path, parse_options=parse).schema.names
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
        )
        return csv.read_csv(path, parse_options=parse, convert_options=convert)
    except (pa.ArrowException, OSError):
        pass
    raise StoredTableMismatch(f"{path} must be a table of released records, but can't be read as one.")


def _find_column(header: str, columns: Sequence[Column]) -> tuple[int, str | None]:
    for place, column in enumerate(columns):
        if not column.is_multi_valued and header == column.name:
            return place, None
    for place, column in enumerate(columns):
        if column.is_multi_valued and header.startswith(f"{column.name}_"):
            return place, header.removeprefix(f"{column.name}_")
    raise StoredTableMismatch(
        f"The release has the column {header!r}, which the table does not have: give the table that the "
        "release is about."
    )
