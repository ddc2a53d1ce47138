"""The aggregate stage's sensitive files: published vectors, and the large writer against the small one."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import sensitive_text, stored_marginals
from tasks.core.aggregates.interchange import write_reportable_tsv
from tasks.core.aggregates.sensitive_text import write_rarest, write_true_counts
from tasks.core.evaluation.sensitive_aggregates import write_sensitive_aggregates
from tasks.core.records.table import RecordTable
from tests.oracles.marginals import as_aggregates, coded
from tests.oracles.partitions import FarAway, in_partitions, left_in_store
from tests.oracles.rare import ONE_THREAD, T1_FILE, counted, from_file
from tests.oracles.raw_tables import raw_tables


def written(text, folder, resolution, **declared):
    """The files of a table, tables read back by name."""
    records, marginals = from_file(text, folder, **declared)
    (folder / "files").mkdir()
    told = []
    paths = write_sensitive_aggregates(
        RecordTable.in_folder(folder / "records"),
        marginals,
        resolution,
        folder / "files",
        "my",
        ONE_THREAD,
        told.append,
    )
    assert sorted(paths) == sorted((folder / "files").iterdir())
    assert told == sorted(told)
    assert told[-1] == 1.0
    tables = {}
    for path in paths:
        if path.suffix == ".tsv":
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file, delimiter="\t", strict=True))
            tables[path.stem.removeprefix("my_sensitive_")] = rows
    return folder / "files", tables, records


def test_t2_the_files_of_the_five_records(tmp_path):
    """S10.1 and S10.2, resolution 2."""
    folder, tables, _ = written(T1_FILE, tmp_path, 2)
    assert sorted(path.name.removeprefix("my_sensitive_") for path in folder.iterdir()) == [
        "aggregates_to_length_2.tsv",
        "analysis_by_record.parquet",
        "linkable_attributes.svg",
        "linkable_attributes.tsv",
        "linkable_columns.svg",
        "linkable_columns.tsv",
        "rare_by_length.svg",
        "rare_by_length.tsv",
        "rarest_combinations.tsv",
    ]
    assert tables["aggregates_to_length_2"][:9] == [
        ["selections", "count"], ["record_count", "5"],
        ["A:a1", "3"], ["B:b2", "3"], ["C:c1", "3"], ["A:a2", "2"], ["B:b1", "1"], ["C:c2", "1"],
        ["A:a1;B:b2", "2"],
    ]  # fmt: skip
    assert len(tables["aggregates_to_length_2"]) == 2 + 6 + 8
    assert tables["rarest_combinations"][:4] == [
        ["selections", "count"], ["B:b1", "1"], ["C:c2", "1"], ["A:a2", "2"],
    ]  # fmt: skip
    assert tables["rarest_combinations"][-3:] == [
        ["A:a1;B:b1;C:c1", "1"], ["A:a1;B:b2;C:c1", "1"], ["A:a2;B:b2;C:c1", "1"],
    ]  # fmt: skip
    assert len(tables["rarest_combinations"]) == 1 + 17
    assert tables["rare_by_length"] == [
        ["sen_combo_length", "combo_count", "rare_count", "rare_proportion"],
        ["1", "6", "2", str(2 / 6)], ["2", "8", "5", "0.625"], ["3", "3", "3", "1.0"],
    ]  # fmt: skip
    assert tables["linkable_columns"][:2] == [
        ["column", "attributes", "rare_pct", "unique_pct"], ["C", "2", "100.0", "100.0"],
    ]  # fmt: skip
    assert tables["linkable_attributes"][:2] == [
        ["attribute", "count", "rare_count", "rare_pct", "unique_count", "unique_pct"],
        ["A:a2", "2", "2", "100.0", "2", "100.0"],
    ]
    by_record = pq.read_table(folder / "my_sensitive_analysis_by_record.parquet").to_pydict()
    assert by_record == {
        "record": [0, 1, 2, 3, 4],
        "unique_length": [1, 3, 1, 2, 0],
        "rare_length": [1, 3, 1, 2, 0],
    }


def test_cells_are_quoted_only_where_they_need_it(tmp_path):
    folder, tables, _ = written('"a\tb",C\n"x ""y""",plain\n"line\nbreak",plain\n', tmp_path, 2)
    assert [row[0] for row in tables["linkable_columns"][1:]] == ["a\tb", "C"]
    assert ["C:plain", "2"] in tables["aggregates_to_length_2"]
    assert ['C:plain;a\tb:x "y"', "1"] in tables["aggregates_to_length_2"]
    assert b"\nC:plain\t2\n" in (folder / "my_sensitive_aggregates_to_length_2.tsv").read_bytes()
    assert {row[0] for row in tables["linkable_attributes"][1:]} == {
        "C:plain", 'a\tb:x "y"', "a\tb:line\nbreak",
    }  # fmt: skip


def test_a_table_without_a_value_has_all_its_files(tmp_path):
    _, tables, _ = written("A,B\n,0\n0,\n", tmp_path, 3)
    assert tables["aggregates_to_length_2"] == [["selections", "count"], ["record_count", "2"]]
    assert tables["rarest_combinations"] == [["selections", "count"]]
    assert tables["linkable_columns"][1:] == [["A", "0", "0.0", "0.0"], ["B", "0", "0.0", "0.0"]]
    assert tables["linkable_attributes"][1:] == []


@given(table=raw_tables(most_rows=20), length=st.integers(1, 4), at_once=st.sampled_from([3, 1 << 20]))
@settings(max_examples=30, deadline=None)
def test_true_counts_have_the_lines_of_aggregates(tmp_path_factory, table, length, at_once):
    folder = tmp_path_factory.mktemp("text")
    schema, rows = table
    marginals = counted(coded(schema, rows), folder, length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitive_text, "ROWS_A_READ", at_once)
        write_true_counts(marginals, folder / "exact.tsv", ONE_THREAD)
    write_reportable_tsv(as_aggregates(marginals), folder / "aggregates.tsv", count_name="count")
    assert (folder / "exact.tsv").read_bytes() == (folder / "aggregates.tsv").read_bytes()


@given(table=raw_tables(most_rows=20), most=st.integers(1, 5), rows_in_a_group=st.sampled_from([3, 1 << 20]))
@settings(max_examples=20, deadline=None)
def test_the_rarest_are_those_of_a_full_listing(tmp_path_factory, table, most, rows_in_a_group):
    folder = tmp_path_factory.mktemp("rarest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_marginals, "ROWS_IN_A_GROUP", rows_in_a_group)
        patch.setattr(sensitive_text, "MOST_RAREST", most)
        marginals = counted(coded(*table), folder, 3)
        write_rarest(marginals, folder / "rarest.tsv")
    with (folder / "rarest.tsv").open(newline="", encoding="utf-8") as file:
        found = [(text, int(count)) for text, count in list(csv.reader(file, delimiter="\t"))[1:]]
    exact = as_aggregates(marginals)
    for ids, counts in zip(exact.combinations, exact.counts, strict=True):
        texts = [";".join(exact.attributes[a].text for a in row) for row in ids.tolist()]
        every = dict(zip(texts, counts.tolist(), strict=True))
        own = [each for each in found if each[0] in every]
        assert all(every[text] == count for text, count in own)
        assert [count for _, count in own] == sorted(every.values())[:most]
        assert own == sorted(own, key=lambda each: (each[1], each[0].split(";")))


@given(table=raw_tables(most_rows=15), number=st.sampled_from([1, 2, 5]), resolution=st.integers(1, 4))
@settings(max_examples=8, deadline=None)
def test_files_of_a_table_in_partitions_are_those_of_the_whole_one(
    tmp_path_factory, table, number, resolution
):
    """But that the analysis by record is a file a partition, one following the other."""
    folder = tmp_path_factory.mktemp("parted")
    records = coded(*table)
    marginals = counted(records, folder, 3)
    parted = in_partitions(records, folder, number, FarAway())

    def files(of, name):
        (folder / name).mkdir()
        write_sensitive_aggregates(of, marginals, resolution, folder / name, "p", ONE_THREAD)
        by_record = sorted((folder / name).glob("*analysis_by_record*"))
        rows = pa.concat_tables(map(pq.read_table, by_record))
        others = sorted({*(folder / name).iterdir()} - {*by_record})
        return len(by_record), rows, {path.name: path.read_bytes() for path in others}

    assert files(parted, "parts") == (number, *files(RecordTable.in_folder(folder / "records"), "whole")[1:])
    assert left_in_store(parted) == []
