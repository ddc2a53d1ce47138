"""The summary in words, the table of measures, and statistics of runs side by side."""

import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.linkability import RecordAnalysis
from tasks.core.errors import InternalError
from tasks.core.evaluation.comparison import SlotNumbering, compare_sides
from tasks.core.evaluation.raw import PAIRS, RawEvaluation, SyntheticCombinations
from tasks.core.evaluation.sensitive_files import (
    RecordsPromise,
    four_sentences,
    join_stats,
    measures_rows,
    write_joined_stats,
)
from tasks.core.tables.writing import read_rows, write_rows
from tests.core.evaluation.test_comparison import ABC, SYNTHETIC, rounded_down
from tests.oracles.marginals import T1, coded, rows

#: Every combination of these is in two records of T1.
SAFE = rows("a1,b2, a1,,c1 ,b2,c1 a2,,")


def evaluation(drawn, resolution: int = 2) -> RawEvaluation:
    table, synthetic = coded(ABC, T1), coded(ABC, drawn)
    reportable = rounded_down(count_in_memory(table, 3), resolution)
    sides = (table, reportable, synthetic)
    combinations = SyntheticCombinations(SlotNumbering(sides), ABC, resolution, None)
    found = compare_sides(sides, PAIRS, resolution, 3)
    return RawEvaluation(*found, RecordAnalysis(5, (2, 1, 1), (0, 0, 0)), combinations)


def test_the_summary_says_what_was_found_in_four_sentences():
    found = four_sentences(evaluation(SAFE), RecordsPromise(is_private=False, holds_resolution=True))
    assert found == (
        "Sensitive table: a combination of up to 3 attributes can single out 80.0 % of its records, as fewer "
        "than 2 records share it. For 80.0 % no other record has that combination; for a further 0.0 % it is "
        "only rare.",
        "Reported counts: 58.8 % of the sensitive table's combinations are not among them. The counts of the "
        "others are off by 0.43 records on average; the mean count is 1.59.",
        "Synthetic records: every combination of attributes in them, of any length, is in at least 2 records "
        "of the sensitive table.",
        "Synthetic records: they hold 100.0 % of the reported combinations. Their counts are off from the "
        "reported ones by 0.57 records on average; the mean reported count is 2.00.",
    )


def test_without_the_resolution_held_the_claim_ends_at_the_reporting_length():
    claim = four_sentences(evaluation(SAFE), RecordsPromise(is_private=False))[2]
    assert "up to 3 attributes" in claim
    assert claim.endswith("Nothing is promised of longer combinations.")


def test_under_differential_privacy_the_leaked_share_is_told():
    claim = four_sentences(evaluation(SYNTHETIC), RecordsPromise(is_private=True))[2]
    assert "10.0 % are rare in the synthetic records too" in claim
    assert "20.0 % appear at all. The noise protects people" in claim


def test_a_broken_promise_of_k_anonymity_stops_the_evaluation():
    for drawn in (SYNTHETIC, rows("a1,b3,")):
        with pytest.raises(InternalError, match="do not share"):
            four_sentences(evaluation(drawn), RecordsPromise(is_private=False))


def test_t11_in_the_table_of_measures():
    found = evaluation(SYNTHETIC)
    header, *lines = measures_rows(found.reportable, found.synthetic, found.released)
    assert header[:4] == (
        "Metric", "Sensitive-vs-reportable", "Sensitive-vs-synthetic", "Reportable-vs-synthetic",
    )  # fmt: skip
    table = {line[0]: line[1:4] for line in lines}
    assert table["Suppressed combinations %"] == ("58.823529", "47.058824", "0")
    assert table["Fabricated combinations %"] == ("0", "0", "28.571429")
    assert table["Fabricated combinations %, of the second's"] == ("0", "0", "22.222222")
    assert table["Record expansion %"][0] == "-20"
    assert table["Mean error"][:2] == ("0.428571", "0.444444")
    assert table["Mean proportional error %"][:2] == ("14.285714", "22.222222")
    assert table["Leaked combinations"] == ("0", "1", "")
    assert table["Rare combinations that appear"] == ("0", "2", "")
    assert table["Leaked combinations %, of the second's"][1] == "11.111111"
    assert table["Leaked combinations %, of the sensitive"][1] == "5.882353"
    assert all(len(line) == 5 and line[4] for line in lines)
    assert [line[0] for line in lines[-3:]] == [f"Total variation distance, length {k}" for k in (1, 2, 3)]


def test_statistics_of_runs_stand_side_by_side_with_blanks(tmp_path):
    write_rows(tmp_path / "a.tsv", [("Metric", "Value"), ("x", "1"), ("z", "3")])
    write_rows(tmp_path / "b.tsv", [("Metric", "Value"), ("x", "4"), ("y", "5"), ("z", "6")])
    assert join_stats({"0_a": tmp_path / "a.tsv", "1_b": tmp_path / "b.tsv"}) == [
        ("Metric", "0_a", "1_b"),
        ("x", "1", "4"),
        ("y", "", "5"),
        ("z", "3", "6"),
    ]
    assert join_stats({}) == [("Metric",)]


def test_both_joined_tables_are_written_and_failed_runs_left_out(tmp_path):
    folders = {}
    for run in ("0_one", "1_two", "2_failed"):
        folders[run] = tmp_path / run
        folders[run].mkdir()
    for run, value in (("0_one", "1.00 %"), ("1_two", "2.00 %")):
        for name in ("stats_aggregate_counts", "stats_synthetic_data"):
            write_rows(folders[run] / f"my_{name}.tsv", [("Metric", "Value"), ("S %", value)])
    paths = write_joined_stats(folders, "my", tmp_path)
    assert [path.name for path in paths] == [
        "my_joined_stats_aggregate_counts.tsv", "my_joined_stats_synthetic_data.tsv",
    ]  # fmt: skip
    for path in paths:
        assert read_rows(path) == [["Metric", "0_one", "1_two"], ["S %", "1.00 %", "2.00 %"]]
