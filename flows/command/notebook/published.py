"""Published tables for a notebook: a blob's answers, and two synthetic tables stitched.

No raw table is read, and no salt.
"""

import io
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows.command.without_pandas import hide_pandas_from_pyarrow
from tasks.core.syndiffix.blob import BlobFile, read_blob
from tasks.core.syndiffix.published import stitch_tables
from tasks.core.tables.writing import write_table


def describe_blob(request: dict[str, Any], _: bytes) -> dict[str, Any]:
    """What a blob is about. Args: request: ``path``, of its file.

    Returns:
        ``path``, as given; ``columns``, their names; ``protects``, a sentence on whom it protects.

    Raises:
        InputError: there is none, or it is no blob.
    """
    with BlobFile(Path(request["path"])) as blob:
        header = blob.header
    return {
        "path": request["path"],
        "columns": header.columns.names,
        "protects": str(header.parameters["protects"]),
    }


def answer_of_blob(request: dict[str, Any], _: bytes) -> dict[str, Any]:
    """Write the table of some of a blob's columns.

    Args:
        request: ``path``, of the blob; ``columns``; ``target``, one of them or None; ``output``, the Parquet
            file to write.

    Raises:
        MarginaliaError: see `read_blob`.
    """
    hide_pandas_from_pyarrow()
    table = read_blob(Path(request["path"]), request["columns"], request["target"])
    write_table(table, Path(request["output"]))
    return {}


def stitch_two(request: dict[str, Any], tables: bytes) -> dict[str, Any]:
    """Write two tables as one.

    Args:
        request: ``left_bytes``, where the second table begins; ``owner``, see `stitch_tables`; ``output``,
            the Parquet file to write.
        tables: two Parquet files, one after the other.

    Raises:
        MarginaliaError: see `stitch_tables`.
    """
    hide_pandas_from_pyarrow()
    first = request["left_bytes"]
    left, right = (pq.read_table(io.BytesIO(part)) for part in (tables[:first], tables[first:]))
    write_table(stitch_tables(left, right, request["owner"]), Path(request["output"]))
    return {}
