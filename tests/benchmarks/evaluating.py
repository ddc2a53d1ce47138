"""Evaluation of synthetic against sensitive counts beside the peer's counting.

``python -m tests.benchmarks.evaluating [table] [length]`` prints one measurement of ours, by default of adult
at length 3; `evaluation_adult_r3` is the figure that ``make bench`` shows.

On our side: from coded records and synthetic records in memory (and reportable counts, R = 3, resolution
10), coding the synthetic records, counting both tables, comparing sensitive with synthetic, sensitive with
reportable and reportable with synthetic, and every measure of all three. On the peer's side: the two counts
alone that any such comparison would begin with (it has no evaluation), from its own table in memory to a
dictionary of texts. One thread each. Beside it: what files and the analysis of records add on our side.
"""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.core_job import coded
from tests.benchmarks.data import Table, adult, made_once, write_csv
from tests.benchmarks.running import Result, interleaved, measured, median, peer, report, timed

_RESOLUTION = 10
_BAR = 200.0


def evaluation_adult_r3() -> str:
    """Evaluation to length 3, CPU seconds, beside the smaller of what the peer's runs took."""
    table = adult()
    synthetic = Table("synthetic", synthetic_table(table.path, 3))
    command = [sys.executable, "-m", "tests.benchmarks.evaluating", table.path, 3]

    def them() -> Result:
        raw, drawn = peer("count", table, 3), peer("count", synthetic, 3)
        seconds = float(str(raw["cpu_s"])) + float(str(drawn["cpu_s"]))
        return {"cpu_s": seconds, "combinations": [raw["combinations"], drawn["combinations"]]}

    mine, theirs = interleaved(lambda: measured(command), them)
    assert mine[0]["combinations"] == theirs[0]["combinations"], "both count the same combinations"
    least = min(float(str(result["cpu_s"])) for result in theirs)
    beside = {name: median(mine, name) for name in ("records_cpu_s", "files_cpu_s")}
    return report("evaluation_adult_r3", median(mine), least, _BAR, data=table.name, beside=beside)


def synthetic_table(path: Path, length: int) -> Path:
    """Aggregate-seeded records of a table's rounded counts, as CSV, made once."""

    def write(destination: Path) -> None:
        drawn = _drawn(path, length)
        place = {header: column for column, header in enumerate(drawn.headers)}
        rows = [drawn.headers]
        for record in range(drawn.number_of_records):
            row = [""] * len(place)
            for own in drawn.attribute_ids[drawn.offsets[record] : drawn.offsets[record + 1]]:
                row[place[drawn.attributes[own].header]] = drawn.attributes[own].value
            rows.append(row)
        write_csv(destination, rows)

    return made_once(f"{path.stem}-synthetic-r{length}.csv", write)


def _reported(path: Path, length: int):  # type: ignore[no-untyped-def]
    """The table's counts, rounded down to the resolution."""
    from tasks.core.aggregates.cubes import count_in_memory

    exact = count_in_memory(coded(path), length)
    floors = [counts // _RESOLUTION * _RESOLUTION for counts in exact.counts]
    return replace(
        exact,
        number_of_records=exact.number_of_records // _RESOLUTION * _RESOLUTION,
        combinations=tuple(ids[floor > 0] for ids, floor in zip(exact.combinations, floors, strict=True)),
        counts=tuple(floor[floor > 0] for floor in floors),
    )


def _drawn(path: Path, length: int):  # type: ignore[no-untyped-def]
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters, draw_aggregate_seeded

    return draw_aggregate_seeded(_reported(path, length), AggregateSeededParameters(), 1)


def ours(path: Path, length: int) -> Result:
    """One measurement."""
    from tasks.core.aggregates.marginals import count_marginals
    from tasks.core.evaluation.compared_sides import code_synthetic
    from tasks.core.evaluation.comparison import compare_sides
    from tasks.core.evaluation.raw import PAIRS, RawInputs, evaluate_raw, measures
    from tasks.core.evaluation.sensitive_files import RecordsPromise, measures_rows, write_sensitive_files
    from tasks.core.queries import QueryResources
    from tasks.core.records.table import RecordTable

    one = QueryResources(threads=1)
    records, reportable, drawn = coded(path), _reported(path, length), _drawn(path, length)

    def run() -> Result:
        synthetic = code_synthetic(drawn, records.schema)
        found = compare_sides((records, reportable, synthetic), PAIRS, _RESOLUTION, length, one)
        all_of_them = [*map(measures, found), measures_rows(found[1], found[0], found[2])]
        assert all_of_them
        return {"combinations": [int(found[0].total(name)) for name in ("reference", "compared")]}

    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name in ("coded", "marginals", "files"):
            (root / name).mkdir()
        records.write(root / "coded")
        marginals = count_marginals(root / "coded", root / "marginals", length, one)
        inputs = RawInputs(RecordTable.in_folder(root / "coded"), marginals, reportable, drawn, _RESOLUTION)
        evaluate_raw(inputs, one)
        result = timed(run)
        whole = timed(lambda: {"found": evaluate_raw(inputs, one)})
        claim = RecordsPromise(is_private=False)
        files = timed(lambda: {"n": len(write_sensitive_files(whole["found"], root / "files", "my", claim))})
    result["records_cpu_s"] = round(float(str(whole["cpu_s"])) - float(str(result["cpu_s"])), 3)
    result["files_cpu_s"] = round(float(str(files["cpu_s"])), 3)
    return result


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else adult().path
    print(json.dumps(ours(chosen, int(sys.argv[2]) if len(sys.argv) > 2 else 3)))
