"""One measurement of ours, in a process of its own: section, table and arguments in, one JSON line out.

CPU seconds of the section named, user and system of all threads, kernels compiled and noise tables on
disk (each section runs once before it is timed); imports count in ``whole`` alone.
"""

import time

_START = time.process_time()

import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402

import pyarrow.parquet as pq  # noqa: E402

from tests.benchmarks.core_job import (  # noqa: E402
    aggregates_of_peer,
    coded,
    draw,
    generated_folder,
    mean_errors,
    parameters_of,
    run_core_job,
)
from tests.benchmarks.running import Result, peak_mb, timed  # noqa: E402


def count(path: Path, length: str) -> Result:
    """Exact marginals by DuckDB, one thread."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "coded"
        folder.mkdir()
        coded(path).write(folder)
        _counted(folder, int(length), scratch)
        return timed(lambda: _counted(folder, int(length), scratch))


def count_codes(path: Path, length: str) -> Result:
    """The same of coded records on disk; coding is not what is measured. A small table is counted before."""
    with tempfile.TemporaryDirectory() as scratch:
        _counted(generated_folder(1000, 15), 2, scratch)
        result = timed(lambda: _counted(path, int(length), scratch))
    return {"records": pq.read_metadata(path / "records.parquet").num_rows} | result


def _counted(folder: Path, length: int, scratch: str) -> Result:
    """How many combinations there are."""
    from tasks.core.aggregates.marginals import count_marginals
    from tasks.core.queries import QueryResources

    resources = QueryResources(Path(scratch), threads=1)
    found = count_marginals(folder, Path(tempfile.mkdtemp(dir=scratch)), length, resources)
    return {"combinations": sum(pq.read_metadata(found.path(k)).num_rows for k in found.lengths)}


def fit(path: Path, length: str, accountant: str) -> Result:
    """Codes in memory to released counts."""
    run = _fit(path, int(length), accountant)
    run()
    return timed(lambda: {"survivors": run()})


def survivors(path: Path, length: str, fits: str) -> Result:
    """Released combinations by length, of many fits with the peer's accountant."""
    run = _fit(path, int(length), "zcdp")
    return {"survivors": [run() for _ in range(int(fits))]}


def _fit(path: Path, length: int, accountant: str) -> Callable[[], list[int]]:
    """A fit of a table; how many combinations of each length it releases."""
    from tasks.core.dp.normalization import normalised_counts

    records = coded(path, tags=True)
    parameters = parameters_of(records, length, accountant)
    return lambda: [len(counts) for counts in normalised_counts(draw(records, parameters)).counts]


def synthesis(path: Path, records: str) -> Result:
    """Records drawn from the peer's own aggregates."""
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters, draw_aggregate_seeded

    aggregates = aggregates_of_peer(path)
    parameters = AggregateSeededParameters(target_number_of_records=int(records))
    draw_aggregate_seeded(aggregates, AggregateSeededParameters(target_number_of_records=1), 1)
    return timed(lambda: {"records": draw_aggregate_seeded(aggregates, parameters, 2).number_of_records})


def errors(path: Path) -> Result:
    """Mean 2- and 3-way count errors of a full run, ours and the peer's, against the peer's aggregates."""
    mine, theirs = mean_errors(path)
    for length, (us, them) in enumerate(zip(mine, theirs, strict=True), start=2):
        assert us <= 1.03 * them, f"mean error of length {length}: {us} and {them}"
    return {"ours": [round(value, 2) for value in mine], "peer": [round(value, 2) for value in theirs]}


def whole(path: Path, length: str) -> Result:
    """CSV to page, imports included, without Prefect and Great Expectations."""
    with tempfile.TemporaryDirectory() as folder:
        run_core_job(path, int(length), Path(folder))
    return {"cpu_s": time.process_time() - _START}


def starts(path: Path) -> Result:
    """CPU seconds of importing Prefect and Great Expectations, each in a process of its own."""
    found: Result = {}
    for module in ("prefect", "great_expectations"):
        code = f"import time; import {module}; print(time.process_time())"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        )
        found[f"import_{module}_cpu_s"] = round(float(done.stdout.split()[-1]), 2)
    return found


def main() -> None:
    section, path, *arguments = sys.argv[1:]
    sections = {
        run.__name__: run for run in (count, count_codes, fit, survivors, synthesis, errors, whole, starts)
    }
    print(json.dumps(sections[section](Path(path), *arguments) | {"peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
