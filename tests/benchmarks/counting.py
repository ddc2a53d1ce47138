"""Exact counting to length 4 on a million records of 15 columns, and beside the peer where the peer can.

Each measurement of ours runs in a process of its own: ``python -m tests.benchmarks.counting codes length``,
codes as coded records on disk (coding is not what is measured), one thread, one small table counted before.
The peer keeps every record's combinations and a dictionary of texts: 2.5 GB for 10,000 records, 4.1 for
20,000, 7.1 for 40,000. `PEER_RECORDS` is the largest size at which it was seen to finish.
"""

import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from tests.benchmarks.core_job import generated_records
from tests.benchmarks.data import generated, made_once
from tests.benchmarks.running import Result, interleaved, measured, median, peak_mb, peer, report, timed

RECORDS = 1_000_000
COLUMNS = 15
PEER_RECORDS = 40_000


def count_k_anonymity_r4() -> str:
    """Every combination up to length 4: a million records, and the largest table that the peer holds."""
    table = generated(PEER_RECORDS, COLUMNS)
    mine, theirs = interleaved(lambda: ours(PEER_RECORDS, 4), lambda: peer("count", table, 4))
    assert mine[0]["combinations"] == theirs[0]["combinations"], "both count the same combinations"
    return report(
        "count_k_anonymity_r4",
        median(mine),
        median(theirs),
        20,
        data=table.name,
        combinations=mine[0]["combinations"],
        peer_peak_mb=theirs[0]["peak_mb"],
        peak_mb=mine[0]["peak_mb"],
        million=ours(RECORDS, 4),
    )


def ours(records: int, length: int) -> Result:
    """One measurement of ours on a generated table."""
    return measured([sys.executable, "-m", "tests.benchmarks.counting", codes(records), length])


def codes(records: int) -> Path:
    """Coded records of the same table that `data.generated` writes, made once."""

    def write(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        generated_records(records, COLUMNS).write(folder)

    return made_once(f"codes-{records}x{COLUMNS}", write)


def counted(folder: Path, length: int, scratch: Path) -> int:
    """Count a folder of coded records; how many combinations there are."""
    from tasks.core.aggregates.marginals import count_marginals
    from tasks.core.queries import QueryResources

    destination = Path(tempfile.mkdtemp(dir=scratch))
    found = count_marginals(folder, destination, length, QueryResources(scratch, threads=1))
    return sum(pq.read_metadata(found.path(k)).num_rows for k in found.lengths)


def main() -> None:
    """One measurement, one JSON line."""
    folder, length = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        counted(codes(1000), 2, Path(scratch))
        result = timed(lambda: {"combinations": counted(folder, length, Path(scratch))})
    records = pq.read_metadata(folder / "records.parquet").num_rows
    print(json.dumps({"records": records} | result | {"peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
