"""SynDiffix beside the published peer: time and memory, in one run; for quality see `syndiffix_quality`.

The peer is the package `PEER` in an environment of its own; ours is measured with several salts about it.
"""

import statistics
import sys
from pathlib import Path

from tests.benchmarks.data import FOLDER, ROOT, Table
from tests.benchmarks.running import Result, measured, median, peer_python, print_line, report
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


def _run(program: list[object], table: Table, salt: int, strategy: str) -> Result:
    output = output_of("peer" if "-P" in program else "ours", table, salt, strategy)
    return measured([*program, table.path, output, f"{salt + 1:032x}", strategy])


def spread(values: list[float]) -> list[float]:
    """Mean and standard deviation."""
    return [round(statistics.mean(values), 4), round(statistics.stdev(values), 4) if values[1:] else 0.0]


def _peak(results: list[Result]) -> int:
    return max(int(str(result["peak_mb"])) for result in results)


def _beside(name: str, table: Table, bar: float, strategy: str = "default") -> str:
    ours(table, 0, strategy)  # compiles what is not in the cache, which takes memory too
    mine = [ours(table, 0, strategy)]
    them = [theirs(table, 0, strategy)]
    mine += [ours(table, salt, strategy) for salt in range(1, SALTS)]
    peaks = {"peak_mb": _peak(mine), "peer_peak_mb": _peak(them)}
    return report(name, median(mine), median(them), bar, data=table.name, **peaks)


def syndiffix_adult_3() -> str:
    """Three columns of 48,842 records."""
    return _beside("syndiffix_adult_3", adult_columns(3), 40)


def syndiffix_adult_5() -> str:
    """Five columns in one cluster."""
    return _beside("syndiffix_adult_5", adult_columns(5), 30, "single")


def syndiffix_adult_14() -> str:
    """All 14 columns, clusters solved."""
    return _beside("syndiffix_adult_14", adult_columns(14), 20)


def syndiffix_taxi_19() -> str:
    """19 columns of a thousand rides."""
    return _beside("syndiffix_taxi_19", taxi_19(), 20)


def syndiffix_national_24() -> str:
    """24 columns of a thousand people."""
    return _beside("syndiffix_national_24", national_24(), 20)


def _alone(table: Table, name: str) -> None:
    ours(table, 0, "default")
    result = ours(table, 0, "default")
    print_line(name, data=table.name, unit="CPU s", **result)


def syndiffix_columns_100() -> None:
    """A hundred columns of 10,000 records: ours alone."""
    _alone(mixed(10_000, 100), "syndiffix_columns_100")


def syndiffix_rows_million() -> None:
    """A million records of five columns: ours alone."""
    _alone(mixed(1_000_000, 5), "syndiffix_rows_million")


FIGURES = (
    syndiffix_adult_3,
    syndiffix_adult_5,
    syndiffix_adult_14,
    syndiffix_taxi_19,
    syndiffix_national_24,
    syndiffix_columns_100,
    syndiffix_rows_million,
)
