"""SynDiffix's quality beside the published peer's over five salts: mean total variations, see `variation`."""

import statistics

import pyarrow.parquet as pq

from tests.benchmarks.data import Table
from tests.benchmarks.running import number, print_line
from tests.benchmarks.syndiffix import SALTS, ours, output_of, spread, synthetic_table
from tests.benchmarks.syndiffix_tables import baselines, census_like, national_24
from tests.benchmarks.variation import mean_error, mean_variations

_DEVIATIONS = 2  # of the peer's, by which ours may be worse
_RELATION_SALTS = 4


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
