"""Parquet strings to codes, a million rows of fifteen columns: ``python -m tests.benchmarks.ingest_parquet``.

One JSON line: CPU seconds of all threads (best of five, kernels compiled) and nanoseconds a cell. An argument
is the number of rows; a second one the number of people who share them evenly, at most as many: without it no
column says whose a row is. The table is generated: cardinalities 2 to 50, chained dependence, 10 % empties.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.benchmarks.data import FOLDER, generated_codes

COLUMNS = 15
BAR = 25.0


def table(rows: int, people: int) -> Path:
    """The table as Parquet text, made when it is missing."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"ingest-{rows}x{COLUMNS}{f'-{people}' if people else ''}.parquet"
    if not path.exists():
        texts = np.array(["", *[f"v{code}" for code in range(1, 256)]])
        columns = {f"c{i}": pa.array(texts[c]) for i, c in enumerate(generated_codes(rows, COLUMNS))}
        if people:
            columns["person"] = pa.array([f"p{row * 7919 % people}" for row in range(rows)])
        pq.write_table(pa.table(columns), path, row_group_size=122_880)
    return path


def measure(rows: int, people: int = 0) -> dict[str, object]:
    """The figure."""
    path = table(rows, people)
    schema = Schema(tuple(Column(f"c{place}") for place in range(COLUMNS)), "person" if people else None)
    options = EncodingOptions(total=True, key=b"benchmark", resources=QueryResources(threads=1))
    seconds = []
    for _ in range(5):
        start = time.process_time()
        encode(InputFile(path), schema, options)
        seconds.append(time.process_time() - start)
    best = min(seconds)
    name = "ingest_parquet_1m" if rows == 1_000_000 else f"ingest_parquet_{rows}"
    return {
        "name": f"{name}_of_{people}" if people else name,
        "ours_cpu_s": round(best, 4),
        "ns_per_cell": round(best / rows / COLUMNS * 1e9, 2),
    } | ({} if people else {"bar": BAR})


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:] or ("1000000",)))))
