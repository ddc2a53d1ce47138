"""SynDiffix beside the published peer: time and memory, in one run, and quality over five salts.

The peer is the package `PEER` in an environment of its own; ours is measured with several salts about it.
Quality is told in mean total variations, see `variation`.
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
from tests.benchmarks.syndiffix_tables import (
    adult_columns,
    baselines,
    census_like,
    mixed,
    national_24,
    taxi_19,
)
from tests.benchmarks.variation import mean_error, mean_variations

PEER = ("syndiffix==1.0.8", "pandas<3")
SALTS = 5
_DEVIATIONS = 2  # of the peer's, by which ours may be worse
_RELATION_SALTS = 4


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


def syndiffix_quality() -> None:
    """Each table of the published baselines: ours beside the peer's, and whether it is as good."""
    for table, strategy in baselines():
        mine = [_errors("ours", table, salt, strategy) for salt in range(SALTS)]
        them = [_errors("peer", table, salt, strategy) for salt in range(SALTS)]
        line: dict[str, object] = {"data": table.name, "strategy": strategy}
        columns = len(pq.read_schema(table.path))
        for ways, key in enumerate(("tv1_mean_sd", "tv2_mean_sd")[:columns]):
            a, b = (spread([errors[ways] for errors in each]) for each in (mine, them))
            line[key] = {"ours": a, "peer": b, "as_good": a[0] <= b[0] + _DEVIATIONS * b[1]}
        print_line("syndiffix_quality", **line)


def _errors(side: str, table: Table, salt: int, strategy: str) -> tuple[float, float]:
    return mean_variations(pq.read_table(table.path), synthetic_table(side, table, salt, strategy))


def syndiffix_relations() -> None:
    """The relations of all pairs of columns of three census-like tables, beside the peer's."""
    for table in census_like():
        a, b = (
            spread(
                [
                    mean_error(pq.read_table(table.path), synthetic_table(side, table, salt, "default"))
                    for salt in range(_RELATION_SALTS)
                ]
            )
            for side in ("ours", "peer")
        )
        about = {"data": table.name, "salts": _RELATION_SALTS}
        print_line("syndiffix_relations", **about, ours=a, peer=b, bar=b[0], as_good=a[0] <= b[0])


def syndiffix_questions_national() -> None:
    """A table for each pair of 24 columns: its error beside that of the same pair in the single table."""
    table = national_24()
    single = [_errors("ours", table, salt, "default")[1] for salt in range(SALTS)]
    results = [ours(table, salt, "questions") for salt in range(SALTS)]
    print_line(
        "syndiffix_questions_national",
        data=table.name,
        unit="CPU s",
        questions_cpu_s=spread([number(result, "cpu_s") for result in results]),
        questions_peak_mb=max(int(number(result, "peak_mb")) for result in results),
        tables=results[0]["tables"],
        tv2_mean_sd={
            "single": spread(single),
            "questions": spread([_question_error(table, salt) for salt in range(SALTS)]),
        },
    )


def _question_error(table: Table, salt: int) -> float:
    """The mean of the pairs' errors."""
    original = pq.read_table(table.path)
    folder = output_of("ours", table, salt, "questions")
    return statistics.mean(mean_variations(original, pq.read_table(path))[1] for path in folder.iterdir())


FIGURES: Figures = {
    "syndiffix_adult_3": lambda: _beside("syndiffix_adult_3", adult_columns(3), 40),
    "syndiffix_adult_5": lambda: _beside("syndiffix_adult_5", adult_columns(5), 30, "single"),
    "syndiffix_adult_14": lambda: _beside("syndiffix_adult_14", adult_columns(14), 20),
    "syndiffix_taxi_19": lambda: _beside("syndiffix_taxi_19", taxi_19(), 20),
    "syndiffix_national_24": lambda: _beside("syndiffix_national_24", national_24(), 20),
    "syndiffix_columns_100": lambda: _alone("syndiffix_columns_100", mixed(10_000, 100)),
    "syndiffix_rows_million": lambda: _alone("syndiffix_rows_million", mixed(1_000_000, 5)),
    "syndiffix_relations": syndiffix_relations,
    "syndiffix_quality": syndiffix_quality,
    "syndiffix_questions_national": syndiffix_questions_national,
}
