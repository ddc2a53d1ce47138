"""Evaluation against raw data: SDS's files of the published example, and rare combinations by an oracle."""

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import cubes
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.evaluation import comparison
from tasks.core.evaluation.raw import RawInputs, evaluate_raw, list_combinations
from tasks.core.evaluation.sensitive_files import RecordsPromise, write_sensitive_files
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tasks.core.records.table import RecordTable
from tests.core.evaluation.test_comparison import ABC, SYNTHETIC
from tests.oracles.marginals import T1, as_aggregates, coded, count, rows
from tests.oracles.partitions import FarAway, in_partitions, left_in_store
from tests.oracles.synthetic import synthetic

MIXED = Schema((Column("b"), Column("M", delimiter=";", max_items=3), Column("A")))
ONE_THREAD = QueryResources(threads=1)
TABLE = st.lists(
    st.tuples(
        st.sets(st.sampled_from("xyz"), max_size=1),
        st.sets(st.sampled_from("pqrs"), max_size=3),
        st.sets(st.sampled_from("vw"), max_size=1),
    ).map(list),
    max_size=20,
)


def inputs_of(table, drawn, folder: Path, schema: Schema, resolution: int) -> RawInputs:
    for name in ("records", "marginals"):
        (folder / name).mkdir(parents=True)
    coded(schema, table).write(folder / "records")
    marginals = count_marginals(folder / "records", folder / "marginals", 3, ONE_THREAD)
    return RawInputs(
        RecordTable.in_folder(folder / "records"),
        marginals,
        as_aggregates(marginals),
        synthetic(schema, drawn),
        resolution,
    )


def written(inputs: RawInputs, folder: Path) -> dict[str, list[list[str]]]:
    (folder / "files").mkdir()
    evaluation = evaluate_raw(inputs, ONE_THREAD)
    paths = write_sensitive_files(evaluation, folder / "files", "my", RecordsPromise(is_private=True))
    assert sorted(paths) == sorted((folder / "files").iterdir())
    found = {}
    for path in paths:
        if path.suffix == ".tsv":
            with path.open(newline="", encoding="utf-8") as file:
                found[path.stem.removeprefix("my_")] = list(csv.reader(file, delimiter="\t"))
    return found


def listed(inputs: RawInputs, folder: Path) -> list[list[str]]:
    """All rare combinations, as they are exported."""
    found = list_combinations(inputs.table, inputs.synthetic, 3, inputs.resolution, ONE_THREAD)
    found.write_rare(folder / "all.tsv")
    with (folder / "all.tsv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


def test_t2_and_t11a_in_sds_s_files(tmp_path):
    found = written(inputs_of(T1, SYNTHETIC, tmp_path, ABC, 2), tmp_path)
    assert found["sensitive_analysis_by_length"] == [
        [
            "combo_length",
            *("sen_rare", "sen_rare_pct", "sen_unique", "sen_unique_pct"),
            *("sen_risky", "sen_risky_pct"),
        ],
        ["1", "0", "0.0", "2", "50.0", "2", "50.0"],
        ["2", "0", "0.0", "0", "0.0", "0", "0.0"],
        ["3", "0", "0.0", "0", "0.0", "0", "0.0"],
    ]  # fmt: skip
    assert dict(found["parameters"]) == {
        "parameter": "value", "resolution": "2", "limit": "3", "total_sensitive_records": "4",
        "unique_identifiable": "2", "rare_identifiable": "0", "risky_identifiable": "2",
        "risky_identifiable_pct": "50.0",
    }  # fmt: skip
    assert found["synthetic_leakage_by_length"] == [
        ["syn_combo_length", "combo_count", "leak_count", "leak_proportion"],
        ["1", "4", "0", "0.0"], ["2", "4", "1", "0.25"], ["3", "1", "0", "0.0"],
    ]  # fmt: skip
    header, row = found["preservation_by_count"]
    assert header[0] == "syn_count_bucket"
    assert [float(value) for value in row] == pytest.approx(
        [10, 2.11111, 1.66667, 0.925926, 0.222222], abs=5e-6
    )
    by_length = [[float(value) for value in row] for row in found["preservation_by_length"][1:]]
    assert by_length[0] == pytest.approx([1, 2.5, 0.83333, 0.25], abs=5e-6)
    assert found["stats_synthetic_data"] == [
        ["Metric", "Value"],
        ["Suppressed combinations %", "47.06 %"],
        ["Fabricated combinations %", "0.00 %"],
        ["1-counts mean value +/- mean error", "2.17 +/- 0.75"],
        ["2-counts mean value +/- mean error", "1.38 +/- 0.00"],
        ["3-counts mean value +/- mean error", "1.00 +/- 1.00"],
        ["Mean value +/- Mean error", "1.59 +/- 0.44"],
        ["Expansion Ratio", "0.00 %"],
        ["Mean Proportional error %", "22.22 %"],
    ]
    assert found["stats_aggregate_counts"][1:3] == [
        ["Suppressed combinations %", "0.00 %"],
        ["Fabricated combinations %", "0.00 %"],
    ]
    evaluation = json.loads((tmp_path / "files" / "evaluation.json").read_text())
    assert evaluation["synthetic"]["leakage_by_length"][1]["leaked"] == 1
    assert [row["marginals"] for row in evaluation["total_variation"]] == [3, 3, 1]


@given(sensitive=TABLE, drawn=TABLE, resolution=st.integers(1, 4))
@settings(max_examples=6, deadline=None)
def test_rare_synthetic_combinations_are_listed_with_their_records(
    tmp_path_factory, sensitive, drawn, resolution
):
    tmp_path = tmp_path_factory.mktemp("rare")
    inputs = inputs_of(sensitive, drawn, tmp_path, MIXED, resolution)
    expected = []
    for length in (1, 2, 3):
        s, y = count(sensitive, length), count(drawn, length)
        for record_id, record in enumerate(drawn):
            attributes = [(column, value) for column, values in enumerate(record) for value in values]
            for chosen in map(frozenset, itertools.combinations(attributes, length)):
                if y[chosen] < resolution:
                    texts = sorted(
                        f"M_{v}:1" if c == 1 else f"{'b' if c == 0 else 'A'}:{v}" for c, v in chosen
                    )
                    rounded = s[chosen] // resolution * resolution
                    expected.append([length, " AND ".join(texts), record_id, y[chosen], rounded])
    short = written(inputs, tmp_path)["synthetic_rare_combos_to_length_2"]
    header, *lines = listed(inputs, tmp_path)
    assert short == [header, *(line for line in lines if int(line[0]) <= 2)]
    assert header == ["combo_length", "combo", "record_id", "syn_count", "sen_count"]
    assert sorted(lines) == sorted([str(value) for value in line] for line in expected)
    assert [int(line[0]) for line in lines] == sorted(line[0] for line in expected)
    together = [
        (combo, [int(line[2]) for line in of]) for combo, of in itertools.groupby(lines, lambda x: x[1])
    ]
    assert len({combo for combo, _ in together}) == len(together)
    assert all(held == sorted(held) for _, held in together)


def test_holders_of_a_pair_of_items_ascend_whatever_their_slots(tmp_path):
    drawn = [[set(), set(items), set()] for items in ("pqr", "pr", "pqr", "pr")]
    found = written(inputs_of([], drawn, tmp_path, MIXED, 9), tmp_path)
    lines = found["synthetic_rare_combos_to_length_2"][1:]
    assert [line[2] for line in lines if line[1] == "M_p:1 AND M_r:1"] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("table", [[], rows("a1,b1,")])
def test_fewer_records_than_the_resolution_divide_by_nothing(tmp_path, table):
    found = written(inputs_of(table, [], tmp_path, ABC, 10), tmp_path)
    assert dict(found["parameters"])["risky_identifiable_pct"] == "0.0"
    assert dict(found["parameters"])["total_sensitive_records"] == "0"


def test_a_value_is_quoted_only_where_it_must_be(tmp_path):
    table = [[{'a\tb "c"'}], [{"plain, #text"}], [{"two\nlines"}], [{" x'"}], [{"NULL"}]]
    written(inputs_of(table, table, tmp_path, Schema((Column("A"),)), 2), tmp_path)
    text = (tmp_path / "files" / "my_synthetic_rare_combos_to_length_2.tsv").read_text()
    assert text.startswith("combo_length\tcombo\trecord_id\tsyn_count\tsen_count\n")
    assert "\n1\tA:plain, #text\t1\t1\t0\n" in text
    assert '\n1\t"A:a\tb ""c"""\t0\t1\t0\n' in text
    assert '\n1\t"A:two\nlines"\t2\t1\t0\n' in text
    assert "\n1\tA:NULL\t4\t1\t0\n" in text
    assert "\n1\tA: x'\t3\t1\t0\n" in text


@given(
    table=TABLE,
    drawn=TABLE,
    resolution=st.integers(1, 4),
    number=st.sampled_from([1, 2, 5]),
    at_once=st.sampled_from([1, 30, 1 << 20]),
    few=st.sampled_from([0, 1 << 12]),
    most_cells=st.sampled_from([0, 1 << 22]),
    rows_at_once=st.sampled_from([0, 30, 100, 1 << 15]),
)
@settings(max_examples=8, deadline=None)
def test_files_of_a_table_in_partitions_are_those_of_the_whole_one(
    tmp_path_factory, table, drawn, resolution, number, at_once, few, most_cells, rows_at_once
):
    """On one thread and on two, whatever is read or counted together, in dense tables and by sorting."""
    folder = tmp_path_factory.mktemp("parted")
    whole = inputs_of(table, drawn, folder, MIXED, resolution)
    records = in_partitions(coded(MIXED, table), folder, number, FarAway())

    def files(inputs: RawInputs, name: str) -> dict[str, bytes]:
        own = folder / name
        own.mkdir()
        told: list[float] = []
        found = evaluate_raw(inputs, QueryResources(threads=2), told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0
        write_sensitive_files(found, own, "my", RecordsPromise(is_private=True))
        listed(inputs, own)
        return {path.name: path.read_bytes() for path in own.iterdir()}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "_STORED_CELLS_AT_ONCE", at_once)
        patch.setattr(comparison, "_FEW_RECORDS", few)
        patch.setattr(cubes, "_MOST_CELLS", most_cells)
        expected = files(whole, "whole")
        patch.setattr(cubes, "_ROWS_AT_ONCE", rows_at_once)
        assert files(replace(whole, table=records), "parts") == files(whole, "together") == expected
    assert left_in_store(records) == []
