"""Other forms of synthetic records: long (a line a value) and condensed (items joined back).

sds.md 4.0 and 1.4. A million records are written in bounded pieces.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.records.columns import Schema
from tasks.core.synthesis.assembly import chunks
from tasks.core.synthesis.records import AnySynthetic, SyntheticRecords, header_places
from tasks.core.tables.delimited import as_lines, quoted

LONG_HEADER = ("Id", "Attribute", "Value", "AttributeValue")
_CELLS_AT_ONCE = 1 << 20


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
    """The four columns as they are written, a bounded number of values at a time."""
    each = [(a.header, a.value, a.text) for a in records.attributes]
    texts = [pa.array([quoted(row[place]) for row in each], pa.string()) for place in range(3)]
    places = header_places(records.headers, records.attributes)
    holder = np.repeat(np.arange(records.number_of_records), np.diff(records.offsets))
    for start in range(0, len(holder), _CELLS_AT_ONCE):
        # A piece may begin or end within a record: ids ascend by text, so order its values by header here.
        first, last = _whole_records(records, holder, start)
        ids = records.attribute_ids[first:last]
        owner = holder[first:last]
        order = np.lexsort((places[ids], owner))
        picked = pa.array(ids[order])
        yield [
            pa.array(owner[order] + first_record).cast(pa.string()),
            *(text.take(picked) for text in texts),
        ]


def _whole_records(records: SyntheticRecords, holder: npt.NDArray[np.int64], start: int) -> tuple[int, int]:
    """The values of the records that begin in a piece of values."""
    bounds = records.offsets
    first = int(bounds[np.searchsorted(bounds, start)])
    end = min(start + _CELLS_AT_ONCE, len(holder))
    return first, int(bounds[np.searchsorted(bounds, end)])


def write_condensed_tsv(records: AnySynthetic, schema: Schema, path: Path, empty: str = "") -> None:
    """One line a record and one column of the table a column, items joined by their column's delimiter.

    Args:
        records: to write.
        schema: the public schema, whose column names and delimiters are used.
        path: of the file.
        empty: what stands where a record has no value.
    """
    alone = len(schema.columns) == 1
    with path.open("wb") as file:
        names = [quoted(column.name, alone=alone) for column in schema.columns]
        file.write(("\t".join(names) + "\n").encode())
        if not names:
            file.write(b"\n" * records.number_of_records)
            return
        for columns in _condensed_columns(records, schema):
            filled = [_quoted(pc.fill_null(column, empty), alone=alone) for column in columns]
            for line in as_lines(filled):
                file.write(line)


def _condensed_columns(records: AnySynthetic, schema: Schema) -> Iterator[list[pa.Array]]:
    """Each column's cells, null where empty, a bounded number of records at a time."""
    column_of = {attribute.header: attribute.column for attribute in records.attributes}
    texts = pa.array([a.value if a.item is None else a.item for a in records.attributes], pa.string())
    for cells in chunks(records, texts):
        columns = []
        for index, column in enumerate(schema.columns):
            own = [row for row, header in enumerate(records.headers) if column_of.get(header) == index]
            parts = [texts.take(pa.array(cells[row], mask=cells[row] < 0)) for row in own]
            columns.append(_joined(parts, column.delimiter or "", cells.shape[1]))
        yield columns


def _joined(parts: list[pa.Array], delimiter: str, size: int) -> pa.Array:
    """Cells of several headers as one, null where all of them are."""
    joined = pa.nulls(size, pa.string())
    for part in parts:
        # Not null_handling="skip": with it Arrow leaves out the cells that are null everywhere.
        both = pc.binary_join_element_wise(joined, part, delimiter)
        joined = pc.coalesce(both, joined, part)
    return joined


def _quoted(cells: pa.Array, *, alone: bool) -> pa.Array:
    """Cells as they are written; see `quoted`."""
    coded = cells.dictionary_encode()
    texts = pa.array([quoted(text, alone=alone) for text in coded.dictionary.to_pylist()], pa.string())
    return texts.take(coded.indices)
