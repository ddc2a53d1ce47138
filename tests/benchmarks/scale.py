"""Tables that the peer can't hold: ``python -m tests.benchmarks.scale [whole|fit] [records]``.

One JSON line each. ``whole``: a million records of 15 columns, Parquet to page at R = 3, CPU seconds by
stage and peak memory. ``fit``: ten million, the DP fit alone from codes in memory, and its memory above the
start.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.core_job import draw, generated_records, parameters_of, run_core_job
from tests.benchmarks.data import FOLDER, generated_codes
from tests.benchmarks.running import peak_mb, print_line

COLUMNS = 15


def table(records: int) -> Path:
    """A Parquet file of texts, 10 % empty, chained dependence."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"scale-{records}.parquet"
    if not path.exists():
        names = pa.array([None, *[f"v{code}" for code in range(1, 256)]])
        columns = {
            f"c{place}": pa.DictionaryArray.from_arrays(pa.array(codes), names).dictionary_decode()
            for place, codes in enumerate(generated_codes(records, COLUMNS))
        }
        pq.write_table(pa.table(columns), path)
    return path


def whole(records: int) -> dict[str, object]:
    """The whole job of the core."""
    path = table(records)
    with tempfile.TemporaryDirectory() as folder:
        stages = run_core_job(path, 3, Path(folder))
    return {"cpu_s": round(sum(stages.values()), 1), "stages": stages, "peak_mb": peak_mb(), "bar_mb": 2048}


def fit(records: int) -> dict[str, object]:
    """The DP fit alone."""
    coded = generated_records(records, COLUMNS)
    start = resident_mb()
    begun = time.process_time()
    measurement = draw(coded, parameters_of(coded, 3, "gdp"))
    seconds = time.process_time() - begun
    survivors = [int(level.survives.sum()) for level in measurement.levels]
    # The peak includes making the table, so it bounds what the fit took from above.
    above = max(peak_mb() - start, 0)
    return {"cpu_s": round(seconds, 1), "survivors": survivors, "peak_above_start_mb": above, "bar_mb": 1536}


def resident_mb() -> int:
    """Resident megabytes now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 2**20


def main() -> None:
    """Run one section, or both."""
    sections = {"whole": (whole, 1_000_000), "fit": (fit, 10_000_000)}
    wanted = sys.argv[1:2] or list(sections)
    for name in wanted:
        run, records = sections[name]
        number = int(sys.argv[2]) if len(sys.argv) > 2 else records
        print_line(f"scale_{name}", records=number, **run(number))


if __name__ == "__main__":
    main()
