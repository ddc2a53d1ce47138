"""SynDiffix beside the published peer: time and memory, in one run; for quality see `syndiffix_quality`.

The peer is the package `PEER` in an environment of its own; ours is measured with several salts about it.
"""

import statistics
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.data import FOLDER, ROOT, Table
from tests.benchmarks.running import (
    Figures,
    Result,
    measured,
    median,
    number,
    peer_python,
    print_line,
    report,
)
from tests.benchmarks.syndiffix_tables import adult_columns, mixed, national_24, taxi_19

PEER = ("syndiffix==1.0.8", "pandas<3")
SALTS = 5


def theirs(table: Table, salt: int, strategy: str) -> Result:
    """One measurement of the peer."""
    script = ROOT / "tests" / "benchmarks" / "syndiffix_peer.py"
    # -P: the script's folder has a module with the name of the peer's package.
    return _run([peer_python("peer-syndiffix", *PEER), "-P", script], table, salt, strategy)


def ours(table: Table, salt: int, strategy: str) -> Result:
    """One measurement of ours."""
    return _run([sys.executable, "-m", "tests.benchmarks.syndiffix_ours"], table, salt, strategy)


def output_of(side: str, table: Table, salt: int, strategy: str) -> Path:
    """Where a measurement's synthetic table is kept; a folder where there are several."""
    return FOLDER / f"syndiffix-{table.path.stem}-{strategy}-{salt}.{side}"


def synthetic_table(side: str, table: Table, salt: int, strategy: str) -> pa.Table:
    """The table that ``ours`` makes, or the ``peer``'s: its own is the same for a salt, so it is kept."""
    output = output_of(side, table, salt, strategy)
    if side == "ours":
        ours(table, salt, strategy)
    elif not output.exists():
        theirs(table, salt, strategy)
    return pq.read_table(output)


def _run(program: list[object], table: Table, salt: int, strategy: str) -> Result:
    output = output_of("peer" if "-P" in program else "ours", table, salt, strategy)
    return measured([*program, table.path, output, f"{salt + 1:032x}", strategy])


def spread(values: list[float]) -> list[float]:
    """Mean and standard deviation."""
    return [round(statistics.mean(values), 4), round(statistics.stdev(values), 4) if values[1:] else 0.0]


def _beside(name: str, table: Table, bar: float, strategy: str = "default") -> str:
    ours(table, 0, strategy)  # compiles what is not in the cache, which takes memory too
    mine = [ours(table, 0, strategy)]
    them = [theirs(table, 0, strategy)]
    mine += [ours(table, salt, strategy) for salt in range(1, SALTS)]
    peaks = {
        key: max(int(number(result, "peak_mb")) for result in results)
        for key, results in (("peak_mb", mine), ("peer_peak_mb", them))
    }
    return report(name, median(mine), median(them), bar, data=table.name, **peaks)


def _alone(name: str, table: Table) -> None:
    ours(table, 0, "default")
    print_line(name, data=table.name, unit="CPU s", **ours(table, 0, "default"))


FIGURES: Figures = {
    "syndiffix_adult_3": lambda: _beside("syndiffix_adult_3", adult_columns(3), 40),
    "syndiffix_adult_5": lambda: _beside("syndiffix_adult_5", adult_columns(5), 30, "single"),
    "syndiffix_adult_14": lambda: _beside("syndiffix_adult_14", adult_columns(14), 20),
    "syndiffix_taxi_19": lambda: _beside("syndiffix_taxi_19", taxi_19(), 20),
    "syndiffix_national_24": lambda: _beside("syndiffix_national_24", national_24(), 20),
    "syndiffix_columns_100": lambda: _alone("syndiffix_columns_100", mixed(10_000, 100)),
    "syndiffix_rows_million": lambda: _alone("syndiffix_rows_million", mixed(1_000_000, 5)),
}
