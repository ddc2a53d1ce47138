"""SynDiffix's quality beside the published peer's, over five salts: mean total variations, see `variation`.

The peer's synthetic tables are the same for the same salt, so those of an earlier run are taken again.
"""

import statistics

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

from tests.benchmarks.data import Table
from tests.benchmarks.judged import judging_tables, scored
from tests.benchmarks.running import number, print_line
from tests.benchmarks.syndiffix import SALTS, ours, output_of, spread, theirs
from tests.benchmarks.syndiffix_tables import baselines, census_like, national_24
from tests.benchmarks.variation import mean_error, mean_variations

_DEVIATIONS = 2  # of the peer's, by which ours may be worse
_RELATION_SALTS = 4
_JUDGED = {"adult13": 0.056, "natdemo10": 0.060}


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
    return mean_variations(pq.read_table(table.path), _synthetic(side, table, salt, strategy))


def _synthetic(side: str, table: Table, salt: int, strategy: str) -> pa.Table:
    output = output_of(side, table, salt, strategy)
    if side == "ours":
        ours(table, salt, strategy)
    elif not output.exists():
        theirs(table, salt, strategy)
    return pq.read_table(output)


def syndiffix_relations() -> None:
    """The relations of all pairs of columns of three census-like tables, beside the peer's."""
    for table in census_like():
        a, b = (
            spread([_relation_error(side, table, salt) for salt in range(_RELATION_SALTS)])
            for side in ("ours", "peer")
        )
        about = {"data": table.name, "salts": _RELATION_SALTS}
        print_line("syndiffix_relations", **about, ours=a, peer=b, bar=b[0], as_good=a[0] <= b[0])


def _relation_error(side: str, table: Table, salt: int) -> float:
    return mean_error(pq.read_table(table.path), _synthetic(side, table, salt, "default"))


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


def syndiffix_judge() -> None:
    """Mean 3-way total variation on the judge's tables, by the judge of ``$MARGINALIA_JUDGE``."""
    for name, bar in _JUDGED.items():
        errors = [_judged(name, salt) for salt in range(SALTS)]
        print_line("syndiffix_judge", data=name, tv3_mean_sd=spread(errors), bar=bar)


def _judged(name: str, salt: int) -> float:
    tables = judging_tables()
    source, synthetic = tables / f"{name}.parquet", tables / f"{name}-{salt}.csv"
    pq.write_table(pv.read_csv(tables / f"{name}_train.csv"), source)
    table = Table(name, source)
    ours(table, salt, "default")
    pv.write_csv(pq.read_table(output_of("ours", table, salt, "default")), synthetic)
    return number(scored(name, synthetic), "tvd3")


FIGURES = (syndiffix_quality, syndiffix_questions_national, syndiffix_judge)
