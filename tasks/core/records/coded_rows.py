"""The rows of a table as codes: batches of cells and the public columns go in, `CodedRows` come out.

Cells are normalised where they are distinct, of which there are few, and carried to the rows by one look-up.
Nothing is joined, chosen or capped yet.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Codes, Integers
from tasks.core.errors import InputError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.binning import code_texts
from tasks.core.records.cells import CellCollector, RawColumn
from tasks.core.records.columns import Column
from tasks.core.records.dropped import REASONS
from tasks.core.records.multi_values import ItemCells, code_items

R = TypeVar("R")


@dataclass(frozen=True)
class SingleCells:
    """A single-valued column.

    Attributes:
        values: the text of codes 1, 2, ...
        codes: for each row the code of its cell, 0 = absent.
        dropped: for each of `dropped.REASONS` how many cells are absent for it.
    """

    values: tuple[str, ...]
    codes: Codes
    dropped: Integers


CodedColumn = SingleCells | ItemCells


@dataclass(frozen=True)
class CodedRows:
    """Rows in some order, before they are joined to records.

    Attributes:
        ids: the subject ids, if there are any.
        columns: of the schema.
        number_of_rows: how many.
    """

    ids: RawColumn | None
    columns: tuple[CodedColumn, ...]
    number_of_rows: int


def with_cells(resources: QueryResources, work: Callable[[duckdb.DuckDBPyConnection], R]) -> R:
    """What some work with cells returns; what a library says of a failure is reduced to its kind.

    Args:
        resources: threads, memory and scratch.
        work: given a connection to read cells with.

    Raises:
        InputError: text that isn't UTF-8, or a type that has no text.
        ResourceLimit: memory and scratch don't suffice.
    """
    failure: InputError | ResourceLimit
    try:
        with resources.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            return work(connection)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        failure = InputError(
            "The input holds text that is not UTF-8, or a type that has no text: convert it."
        )
    except (duckdb.OutOfMemoryException, MemoryError):
        failure = ResourceLimit(
            "Reading the input needs more memory than it may use: raise the memory limit."
        )
    raise failure


def code_rows(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[Column],
    positions: Sequence[int],
    subject: int | None,
    connection: duckdb.DuckDBPyConnection,
) -> CodedRows:
    """Code the rows.

    Args:
        batches: of the rows, each column named by its position in the file.
        columns: of the schema, measured ones alone.
        positions: of each in the file.
        subject: position of the subject id, or None.
        connection: see `with_cells`.
    """
    raw = _gathered(batches, columns, positions, subject, connection)
    ids = raw.pop() if subject is not None else None
    number = (ids or raw[0]).number_of_rows if (ids or raw) else 0
    coded = []
    for column in columns:  # the texts of one column go before the next is coded
        coded.append(_coded(raw.pop(0), column, connection))
    return CodedRows(ids, tuple(coded), number)


def _gathered(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[Column],
    positions: Sequence[int],
    subject: int | None,
    connection: duckdb.DuckDBPyConnection,
) -> list[RawColumn]:
    wanted = [str(position) for position in positions]
    described: dict[str, Column] = dict(zip(wanted, columns, strict=True))
    names = wanted if subject is None else [*wanted, str(subject)]
    collectors = {name: CellCollector(connection, described.get(name)) for name in names}
    for batch in batches:
        for name, collector in collectors.items():
            collector.add(batch.column(batch.schema.get_field_index(name)))
    raw = []
    for name in names:
        raw.append(collectors.pop(name).finish())
    return raw


def _coded(raw: RawColumn, column: Column, connection: duckdb.DuckDBPyConnection) -> CodedColumn:
    if column.is_multi_valued:
        return code_items(raw, column, connection)
    texts = [text if used else None for text, used in zip(raw.cells.to_pylist(), raw.used, strict=True)]
    coded = code_texts(texts, column, connection)
    dropped = np.zeros(len(REASONS), np.int64)
    if coded.reasons.any():
        np.add.at(dropped, coded.reasons, raw.rows_of_cells())
    return SingleCells(coded.values, raw.coded(coded.codes, len(coded.values)), dropped)
