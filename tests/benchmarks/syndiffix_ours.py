"""One measurement of our SynDiffix, in a process of its own: table, output, salt and strategy in.

CPU seconds, of all threads, from building to the sampled table; kernels are compiled and loaded by the
table's first rows with another salt before, and reading is done. One JSON line out.

The strategy is ``default``, ``single``, ``questions`` (one table of each pair of columns, in a folder),
``target=COLUMN``, ``ids=COLUMN`` or ``without=COLUMN``.
"""

import json
import sys
import time
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flows.command.main import hide_pandas_from_pyarrow
from tasks.core.syndiffix.reading import read_table
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    DefaultClustering,
    MlClustering,
    SingleClustering,
    SynDiffixParameters,
)
from tasks.core.syndiffix.synthesizer import Synthesizer, tables_per_question
from tests.benchmarks.running import peak_mb

_WARM_UP_ROWS = 500


def main() -> None:
    """One measurement, one JSON line."""
    path, output, salt, strategy = sys.argv[1:]
    hide_pandas_from_pyarrow()  # as the command does
    table = read_table(Path(path)).columns
    synthesize(table.slice(0, _WARM_UP_ROWS), bytes(8), strategy)
    base = peak_mb()
    begun = time.process_time()
    tables = synthesize(table, bytes.fromhex(salt), strategy)
    result: dict[str, object] = {"cpu_s": time.process_time() - begun}
    result |= {"peak_mb": peak_mb(), "base_mb": base, "rows": tables[0].num_rows, "tables": len(tables)}
    write(tables, Path(output))
    print(json.dumps(result))


def synthesize(table: pa.Table, salt: bytes, strategy: str) -> list[pa.Table]:
    """Build and sample: one table, or one of each pair of columns."""
    which, _, column = strategy.partition("=")
    chosen = {"single": SingleClustering(), "questions": SingleClustering(), "target": MlClustering(column)}
    clustering = chosen.get(which, DefaultClustering())
    if which == "without":
        table = table.drop_columns([column])
    parameters = SynDiffixParameters(AnonymizationParameters(salt), clustering=clustering)
    synthesizer = Synthesizer(table, parameters, ids=[column] if which == "ids" else [])
    if strategy != "questions":
        return [synthesizer.sample()]
    pairs = list(combinations(range(table.num_columns), 2))
    return list(tables_per_question(synthesizer, pairs))


def write(tables: list[pa.Table], output: Path) -> None:
    """One file, or a folder of numbered ones."""
    if len(tables) == 1:
        pq.write_table(tables[0], output)
        return
    output.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        pq.write_table(table, output / f"{number:04d}.parquet")


if __name__ == "__main__":
    main()
