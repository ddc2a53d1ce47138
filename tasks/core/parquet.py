"""Parquet files that this project wrote: a path in, its table out."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def read_parquet(path: Path) -> pa.Table:
    """A whole file; `pq.read_table` would first load what reads folders of files, for a tenth of a second."""
    with pq.ParquetFile(path) as file:
        return file.read()
