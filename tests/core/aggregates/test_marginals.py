"""Exact counting against published examples and an obvious oracle."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import grouping, marginals, stored_marginals
from tasks.core.aggregates.marginals import count_marginals, merge_partials
from tasks.core.aggregates.stored_marginals import Marginals, read_marginals
from tasks.core.errors import InternalError, ParameterError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import T1, as_aggregates, coded, count, read_back
from tests.oracles.rare import ONE_THREAD, texts_of

ABC = Schema(tuple(Column(name) for name in "ABC"))


def stored(records: CodedRecords, folder: Path) -> Path:
    folder.mkdir(parents=True)
    records.write(folder)
    return folder


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.fixture(scope="module", autouse=True)
def by_duckdb():
    """However few records there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "_FEW_RECORDS", -1)
        yield


def counted(records: CodedRecords, folder: Path, length=3, resources=ONE_THREAD) -> Marginals:
    """By DuckDB; the same bytes are counted in memory."""
    source, destination = stored(records, folder / "records"), made(folder / "marginals")
    found = count_marginals(source, destination, length, resources)
    assert digest(in_memory(source, folder / "few", length)) == digest(destination)
    return found


def in_memory(source: Path, destination: Path, length: int) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "_FEW_RECORDS", 1 << 40)
        return count_marginals(source, made(destination), length, ONE_THREAD).folder


def digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


T1_COUNTS = (
    "A:a1 3,A:a2 2,B:b1 1,B:b2 3,C:c1 3,C:c2 1,"
    "A:a1;B:b1 1,A:a1;B:b2 2,A:a1;C:c1 2,A:a2;B:b2 1,A:a2;C:c1 1,A:a2;C:c2 1,B:b1;C:c1 1,B:b2;C:c1 2,"
    "A:a1;B:b1;C:c1 1,A:a1;B:b2;C:c1 1,A:a2;B:b2;C:c1 1"
)


@pytest.mark.parametrize("length", [3, -1, 5])
def test_t1_the_five_row_example_has_its_seventeen_combinations(tmp_path, length):
    marginals = counted(coded(ABC, T1), tmp_path, length)
    assert (
        ",".join(f"{text} {count}" for text, count in texts_of(as_aggregates(marginals)).items()) == T1_COUNTS
    )
    assert marginals.facts.number_of_records == 5
    assert read_marginals(marginals.folder) == marginals


SETTINGS = settings(max_examples=10, deadline=None)
COLUMNS = [
    Column("A"),
    Column("A-"),
    Column("M", delimiter=";", max_items=3),
    Column("0"),
    Column("N", delimiter=";", max_items=2),
]
VALUES = ["x", "y", "10", "9", "é"]
TABLES = st.lists(
    st.tuples(*(st.sets(st.sampled_from(VALUES), max_size=most) for most in (1, 1, 3, 1, 2))).map(list),
    max_size=25,
)


@given(table=TABLES, uncapped=st.booleans(), parts=st.integers(1, 3))
@SETTINGS
def test_counts_are_those_of_the_oracle(tmp_path_factory, table, uncapped, parts):
    tmp_path = tmp_path_factory.mktemp("oracle")
    columns = (replace(c, max_items=0) if uncapped and c.delimiter else c for c in COLUMNS)
    records = coded(Schema(tuple(columns)), table)
    whole = counted(records, tmp_path / "whole", 3)
    aggregates = as_aggregates(whole)
    for length in whole.lengths:
        assert read_back(aggregates, length) == count(table, length)
        assert (np.diff(aggregates.combinations[length - 1], axis=1) > 0).all()
    assert [a.text for a in aggregates.attributes] == sorted(a.text for a in aggregates.attributes)
    folders = [stored(part, tmp_path / f"part_{i}") for i, part in enumerate(cut(records, parts))]
    partials = [
        count_marginals(folder, made(tmp_path / f"partial_{i}"), 3, ONE_THREAD)
        for i, folder in enumerate(folders)
    ]
    merged = merge_partials(partials, made(tmp_path / "merged"), ONE_THREAD)
    assert digest(merged.folder) == digest(whole.folder)


@given(table=TABLES, most=st.sampled_from([1, 5, 12, 40]), length=st.sampled_from([-1, 2, 4]))
@SETTINGS
def test_bytes_are_the_same_whatever_is_counted_in_memory(tmp_path_factory, table, most, length):
    """Nothing, some or all is rolled up; what waits does so in memory or in a file; so with partials."""
    tmp_path = tmp_path_factory.mktemp("wide")
    records = coded(Schema(tuple(COLUMNS)), table)
    whole = counted(records, tmp_path / "whole", length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_MOST_CELLS", most)
        patch.setattr(marginals, "_WAITING_BYTES", 3 * most)
        patch.setattr(grouping, "_ROWS_A_SCAN", 3)
        resources = QueryResources(made(tmp_path / "scratch"), 1)
        wide = counted(records, tmp_path / "some", length, resources)
        assert digest(wide.folder) == digest(whole.folder)
        partials = [
            counted(part, tmp_path / f"partial_{i}", length, resources)
            for i, part in enumerate(cut(records, 2))
        ]
        merged = merge_partials(partials, made(tmp_path / "merged"), resources)
        assert digest(merged.folder) == digest(whole.folder)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_columns_of_thousands_of_values_count_right(tmp_path):
    records = wide_table(3000, 5, [9000, 2, 4000, 70_000, 3])
    table = [
        [{f"{c}-{code}"} if code else set() for c, code in enumerate(row)]
        for row in zip(*records.slots, strict=True)
    ]
    found = counted(records, tmp_path, 4)
    for length in found.lengths:
        expected = count(table, length)
        rows_ = pq.read_table(found.path(length)).to_pylist()
        combinations = found.facts.combinations(length)
        assert {
            frozenset(
                (column, f"{column}-{row[f'code_{place}']}")
                for place, column in enumerate(combinations[row["combination_id"]], start=1)
            ): row["count"]
            for row in rows_
        } == expected
        assert len(rows_) == len(expected)


def cut(records: CodedRecords, parts: int) -> list[CodedRecords]:
    pieces = [np.array_split(codes, parts) for codes in records.slots]
    sizes = [len(piece) for piece in np.array_split(np.zeros(records.number_of_records), parts)]
    return [
        replace(records, slots=tuple(piece[i] for piece in pieces), number_of_records=sizes[i])
        for i in range(parts)
    ]


def wide_table(rows_: int, seed: int, sizes: list[int]) -> CodedRecords:
    generator = np.random.default_rng(seed)
    slots = tuple(generator.integers(0, size + 1, rows_).astype(np.uint16) for size in sizes)
    values = tuple(tuple(f"v{code:05d}" for code in range(size)) for size in sizes)
    schema = Schema(tuple(Column(f"c{i}") for i in range(len(sizes))))
    return CodedRecords(schema, slots, tuple(range(len(sizes))), values, rows_)


def test_bytes_are_the_same_whatever_the_threads_and_the_memory(tmp_path):
    source = stored(wide_table(200_000, 1, [3, 40, 300, 2, 25]), tmp_path / "records")
    digests = []
    for index, (threads, memory) in enumerate([(1, 0), (2, 0), (2, 200)]):
        destination = made(tmp_path / f"marginals_{index}")
        count_marginals(source, destination, 3, QueryResources(tmp_path, threads, memory))
        digests.append(digest(destination))
    assert digests[0] == digests[1] == digests[2]


def test_what_does_not_fit_is_spilled_and_counted_right(tmp_path):
    records = wide_table(1_500_000, 2, [1000, 1000, 1000])
    source = stored(records, tmp_path / "records")
    resources = QueryResources(tmp_path, 1, 64)
    marginals = count_marginals(source, made(tmp_path / "marginals"), 3, resources)
    filled = np.stack([codes.astype(np.int64) for codes in records.slots], axis=1)
    filled = filled[(filled > 0).all(axis=1)]
    keys, counts = np.unique((filled[:, 0] << 20) + (filled[:, 1] << 10) + filled[:, 2], return_counts=True)
    table = pq.read_table(marginals.path(3))
    found = (table["code_1"].to_numpy().astype(np.int64) << 20) + (table["code_2"].to_numpy() << 10)
    assert np.array_equal(found + table["code_3"].to_numpy(), keys)
    assert np.array_equal(table["count"].to_numpy(), counts)


def test_row_groups_do_not_tell_how_the_rows_arrived(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_marginals, "ROWS_IN_A_GROUP", 5)
    rows_ = pa.table({"combination_id": range(17), "code_1": range(1, 18), "count": range(17)})
    for name, cuts in (("one", [17]), ("many", [3, 4, 9, 1])):
        with stored_marginals.length_writer(tmp_path / name, 1) as writer:
            for end, size in zip(np.cumsum(cuts), cuts, strict=True):
                writer.append(rows_.slice(int(end) - size, size))
        assert pq.read_table(tmp_path / name).to_pydict() == rows_.to_pydict()
        assert pq.ParquetFile(tmp_path / name).num_row_groups == 4
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


@pytest.mark.parametrize("length", [0, -2])
def test_a_length_that_is_none_is_refused(tmp_path, length):
    with pytest.raises(ParameterError):
        counted(coded(ABC, T1), tmp_path, length)


def test_partials_of_different_tables_do_not_add_up(tmp_path):
    one = counted(coded(ABC, T1), tmp_path / "one")
    other = counted(coded(ABC, T1[:2]), tmp_path / "other")
    with pytest.raises(InternalError, match="Partitions"):
        merge_partials([one, other], made(tmp_path / "merged"))


@pytest.mark.parametrize("table", [[], [[set(), set(), set()]] * 3])
def test_tables_of_nothing_have_no_combinations(tmp_path, table):
    marginals = counted(coded(ABC, table), tmp_path)
    assert [pq.read_table(marginals.path(length)).num_rows for length in marginals.lengths] == [0, 0, 0]
    assert as_aggregates(marginals).number_of_records == len(table)


def test_a_table_without_columns_is_counted(tmp_path):
    marginals = counted(CodedRecords(Schema(()), (), (), (), 4), tmp_path)
    assert (marginals.lengths, marginals.facts.number_of_records) == ((), 4)


def test_progress_goes_up_to_one(tmp_path):
    seen: list[float] = []
    source = stored(coded(ABC, T1), tmp_path / "records")
    destination = tmp_path / "marginals"
    destination.mkdir()
    count_marginals(source, destination, 3, ONE_THREAD, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@given(slots=st.lists(st.integers(0, 4), min_size=1, max_size=7), length=st.integers(1, 8))
def test_more_sets_of_columns_than_can_be_listed_are_refused_before_they_are(slots, length):
    schema = Schema(tuple(Column(f"c{number}") for number in range(5)))
    facts = stored_marginals.MarginalFacts(schema, tuple(sorted(slots)), ((),) * 5, 1)
    sets = sum(len(facts.combinations(k)) for k in range(1, min(length, len(slots)) + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_marginals, "MOST_COMBINATIONS", sets + 1)  # the empty set is counted too
        facts.up_to(length)
        patch.setattr(stored_marginals, "MOST_COMBINATIONS", sets)
        with pytest.raises(ResourceLimit):
            facts.up_to(length)


def test_one_record_of_many_items_does_not_exhaust_the_machine():
    schema = Schema((Column("tags", delimiter=";", max_items=0),))
    facts = stored_marginals.MarginalFacts(schema, (0,) * 200, ((),), 1)
    assert facts.up_to(-1).longest == 200, "one column's items are few sets"
    schema = Schema(tuple(Column(f"c{number}") for number in range(40)))
    facts = stored_marginals.MarginalFacts(schema, tuple(range(40)), ((),) * 40, 1)
    with pytest.raises(ResourceLimit, match="reporting_length"):
        facts.up_to(-1)
