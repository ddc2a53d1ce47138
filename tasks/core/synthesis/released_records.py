"""Released records, read back: the wide form that `write_wide_tsv` wrote goes in, their object comes out.

For whoever compares a release with a table and has nothing of it but its files.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids
from tasks.core.errors import StoredTableMismatch
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords


def read_released_records(path: Path, schema: Schema) -> SyntheticRecords:
    r"""The records in a released file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "records.tsv")
    ...     _ = file.write_text("sex\ttown\nfemale\tLyon\nmale\t\n")
    ...     found = read_released_records(file, Schema((Column("sex"), Column("town"))))
    >>> [found.attributes[place].text for place in found.attribute_ids], found.offsets.tolist()
    (['sex:female', 'town:Lyon', 'sex:male'], [0, 2, 3])

    Args:
        path: tab-separated, a line a record and a column a header.
        schema: of the release: its columns, and items of those of several, are the headers.

    Raises:
        StoredTableMismatch: it has another column, or is no such file.
    """
    table = _read_texts(path)
    attributes: list[Attribute] = []
    cells: list[Ids] = []
    for header in table.column_names:
        column, item = _meant(header, schema.columns)
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


def _meant(header: str, columns: Sequence[Column]) -> tuple[int, str | None]:
    """Which column a header is of, and which of its items. Raises StoredTableMismatch."""
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
