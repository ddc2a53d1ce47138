"""Typed tables held against each other: total variation by columns and pairs."""

import pyarrow as pa
import pytest

from tasks.core.evaluation.typed_tables import distances, write_distances

RAW = pa.table({"a": [1, 1, 2, 2], "b": ["x", "x", "y", None]})


def test_a_table_is_at_no_distance_from_itself_in_any_order():
    found = distances(RAW, RAW.take([3, 1, 0, 2]), {})
    assert [apart for _, apart in (*found.single, *found.pairs)] == [0.0, 0.0, 0.0]


def test_a_missing_cell_is_a_value_and_a_pair_sees_more_than_its_columns():
    synthetic = pa.table({"a": [1, 2, 1, 2], "b": ["x", "x", "y", None]})
    found = distances(RAW, synthetic, {})
    assert [apart for _, apart in found.single] == [0.0, 0.0]
    assert found.pairs[0][1] == pytest.approx(0.5)
    blank = pa.table({"a": [1, 1, 2, 2], "b": pa.array(["x", "x", "y", "y"])})
    assert distances(RAW, blank, {}).single[1][1] == 0.25


def test_numbers_are_compared_in_public_bins():
    raw, synthetic = pa.table({"a": [1.0, 2.0, 9.0]}), pa.table({"a": [1.5, 1.7, 8.0]})
    assert distances(raw, synthetic, {"a": (0, 5, 10)}).single[0][1] == 0.0
    assert distances(raw, synthetic, {}).single[0][1] == 1.0


def test_values_that_only_one_side_holds_count_in_full():
    raw = pa.table({"b": ["only", "raw", "x", "x"]})
    assert distances(raw, pa.table({"b": ["x", "x", "z", "w"]}), {}).single[0][1] == 0.5


def test_the_files_have_a_line_for_each_column_pair_and_question(tmp_path):
    found = distances(RAW, RAW, {})
    write_distances(found, [distances(RAW, RAW.select(["b"]), {})], tmp_path, "p")
    assert (tmp_path / "p_total_variation.tsv").read_text().splitlines() == [
        "columns\ttotal_variation", "a\t0.0", "b\t0.0", "a × b\t0.0",
    ]  # fmt: skip
    assert (tmp_path / "p_total_variation_by_table.tsv").read_text().splitlines()[1:] == ["1\tb\t0.0"]
    assert (tmp_path / "p_total_variation_of_columns.svg").read_text().startswith("<svg")
    body = found.to_dict([found])
    assert body["total_variation"] == [{"length": 1, "mean": 0.0}, {"length": 2, "mean": 0.0}]
