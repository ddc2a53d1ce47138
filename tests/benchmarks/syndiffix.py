"""SynDiffix beside the published peer: time, memory and quality, over several salts, in one run.

The peer is the package `PEER` in an environment of its own. Each salt is one measurement of either side, in
turn; the peer has three salts, or one where it takes minutes. Errors are mean total variations (see
`variation`), each with its standard deviation over the salts.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests.benchmarks.data import FOLDER, ROOT, Table
from tests.benchmarks.syndiffix_tables import adult_columns, mixed, national_24, taxi_19
from tests.benchmarks.variation import mean_variations

PEER = ("syndiffix==1.0.8", "pandas<3")
_SALTS = 5
_PEER_SALTS = 3
Result = dict[str, object]


def peer_python() -> Path:
    """The peer's own environment, made when it is missing."""
    folder = FOLDER / "peer-syndiffix"
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        FOLDER.mkdir(exist_ok=True)
        print(f"Making the peer's environment ({', '.join(PEER)})", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
        (folder / "made").touch()
    return python


def theirs(table: Table, salt: int, strategy: str) -> Result:
    """One measurement of the peer, with its errors."""
    script = ROOT / "tests" / "benchmarks" / "syndiffix_peer.py"
    # -P: the script's folder has a module with the name of the peer's package.
    return _run([peer_python(), "-P", script], table, salt, strategy)


def ours(table: Table, salt: int, strategy: str) -> Result:
    """One measurement of ours, with its errors."""
    return _run([sys.executable, "-m", "tests.benchmarks.syndiffix_ours"], table, salt, strategy)


def _run(program: list[object], table: Table, salt: int, strategy: str) -> Result:
    from tests.benchmarks.__main__ import _measured

    side = "peer" if "-P" in program else "ours"
    output = FOLDER / f"syndiffix-{table.path.stem}-{strategy}-{salt}.{side}"
    secret = f"{salt + 1:032x}"
    result = _measured([*program, table.path, output, secret, strategy])
    if output.is_file():
        one, two = mean_variations(pq.read_table(table.path), pq.read_table(output))
        result |= {"tv1": one, "tv2": two}
    return result


def _spread(results: list[Result], key: str) -> list[float]:
    """Mean and standard deviation."""
    values = [float(str(result[key])) for result in results]
    return [round(statistics.mean(values), 4), round(statistics.stdev(values), 4) if values[1:] else 0.0]


def _peak(results: list[Result]) -> int:
    return max(int(str(result["peak_mb"])) for result in results)


def _beside(name: str, table: Table, bar: float, strategy: str = "default", peer_salts: int = 1) -> None:
    from tests.benchmarks.__main__ import median, report

    ours(table, 0, strategy)  # compiles what is not in the cache, which takes memory too
    mine, them = [], []
    for salt in range(_SALTS):
        mine.append(ours(table, salt, strategy))
        if salt < peer_salts:
            them.append(theirs(table, salt, strategy))
    errors = {
        f"{key}_mean_sd": {"ours": _spread(mine, key), "peer": _spread(them, key)} for key in ("tv1", "tv2")
    }
    report(
        name,
        median(mine),
        median(them),
        bar,
        data=table.name,
        peak_mb=_peak(mine),
        peer_peak_mb=_peak(them),
        salts=[len(mine), len(them)],
        **errors,
    )


def syndiffix_adult_3() -> None:
    """Three columns of 48,842 records."""
    _beside("syndiffix_adult_3", adult_columns(3), 40, peer_salts=_PEER_SALTS)


def syndiffix_adult_5() -> None:
    """Five columns in one cluster."""
    _beside("syndiffix_adult_5", adult_columns(5), 30, "single")


def syndiffix_adult_14() -> None:
    """All 14 columns, clusters solved."""
    _beside("syndiffix_adult_14", adult_columns(14), 20)


def syndiffix_taxi_19() -> None:
    """19 columns of a thousand rides."""
    _beside("syndiffix_taxi_19", taxi_19(), 20, peer_salts=_PEER_SALTS)


def syndiffix_national_24() -> None:
    """24 columns of a thousand people."""
    _beside("syndiffix_national_24", national_24(), 20, peer_salts=_PEER_SALTS)


def _alone(table: Table, name: str) -> None:
    ours(table, 0, "default")
    result = ours(table, 0, "default")
    print(json.dumps({"name": name, "data": table.name, "unit": "CPU s"} | result), flush=True)


def syndiffix_columns_100() -> None:
    """A hundred columns of 10,000 records: ours alone."""
    _alone(mixed(10_000, 100), "syndiffix_columns_100")


def syndiffix_rows_million() -> None:
    """A million records of five columns: ours alone."""
    _alone(mixed(1_000_000, 5), "syndiffix_rows_million")


def syndiffix_questions_national() -> None:
    """A table for each pair of 24 columns: its error beside that of the same pair in the single table."""
    table = national_24()
    single = [ours(table, salt, "default") for salt in range(_SALTS)]
    pairs = [_questions(table, salt) for salt in range(_SALTS)]
    line = {
        "name": "syndiffix_questions_national",
        "data": table.name,
        "unit": "CPU s",
        "single_cpu_s": _spread(single, "cpu_s"),
        "questions_cpu_s": _spread(pairs, "cpu_s"),
        "questions_peak_mb": _peak(pairs),
        "tables": pairs[0]["tables"],
        "tv2_mean_sd": {"single": _spread(single, "tv2"), "questions": _spread(pairs, "tv2")},
    }
    print(json.dumps(line), flush=True)


def _questions(table: Table, salt: int) -> Result:
    """One table of each pair, and the mean of their errors."""
    result = ours(table, salt, "questions")
    original = pq.read_table(table.path)
    folder = FOLDER / f"syndiffix-{table.path.stem}-questions-{salt}.ours"
    errors = [mean_variations(original, pq.read_table(path))[1] for path in sorted(folder.iterdir())]
    return result | {"tv2": statistics.mean(errors)}


FIGURES = (
    syndiffix_adult_3,
    syndiffix_adult_5,
    syndiffix_adult_14,
    syndiffix_taxi_19,
    syndiffix_national_24,
    syndiffix_columns_100,
    syndiffix_rows_million,
    syndiffix_questions_national,
)
