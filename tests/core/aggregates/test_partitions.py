"""Counts of a table in partitions: the bytes of the whole table's, and nothing left behind."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import marginals
from tasks.core.aggregates.marginals import count_marginals, count_table, each_beside
from tasks.core.errors import InternalError, ParameterError
from tasks.core.parts.workers import InProcess
from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, in_partitions, left_in_store
from tests.oracles.rare import ONE_THREAD
from tests.oracles.raw_tables import raw_tables, single_valued


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@given(
    table=raw_tables(most_rows=30),
    number=st.sampled_from([1, 2, 5]),
    most=st.sampled_from([2, 8]),
    few=st.sampled_from([-1, 1 << 16]),
    length=st.integers(1, 3),
)
@settings(max_examples=20, deadline=None)
def test_counts_of_partitions_are_the_bytes_of_the_whole_table_s(
    tmp_path_factory, table, number, most, few, length
):
    """By DuckDB and in memory, added up at once and in a tree."""
    folder = tmp_path_factory.mktemp("partitions")
    for name in ("whole", "records", "parts"):
        (folder / name).mkdir()
    records = coded(*table)
    records.write(folder / "records")
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "_FEW_RECORDS", few)
        patch.setattr(marginals, "_MOST_ADDED", most)
        expected = count_marginals(folder / "records", folder / "whole", length, ONE_THREAD)
        parted = in_partitions(records, folder, number, FarAway())
        found = count_table(parted, folder / "parts", length, ONE_THREAD, told.append)
    assert files(folder / "parts") == files(folder / "whole")
    assert found.facts == expected.facts
    assert left_in_store(parted) == []
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_so_many_partitions_are_added_up_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(marginals, "_MOST_ADDED", 2)
    seen = []

    class Watched(InProcess):
        def each(self, name, work, parts):
            seen.append((name, [len(group) for _, group in parts]))
            return super().each(name, work, parts)

    (tmp_path / "parts").mkdir()
    parted = in_partitions(coded(*single_valued("x x y z z x")), tmp_path, 5, Watched())
    count_table(parted, tmp_path / "parts", 1, ONE_THREAD)
    assert seen == [("count", [1] * 5), ("add up 1", [2, 2, 1]), ("add up 2", [2, 1])]


def test_nothing_is_left_of_a_count_that_fails(tmp_path):
    (tmp_path / "parts").mkdir()
    parted = in_partitions(coded(*single_valued("x x y")), tmp_path, 2)
    other = in_partitions(coded(*single_valued("u u v w")), tmp_path / "other", 1)
    mixed = replace(parted, parts=[*parted.parts, *other.parts])
    with pytest.raises(InternalError):
        count_table(mixed, tmp_path / "parts", 1, ONE_THREAD)
    assert left_in_store(parted) == []
    with pytest.raises(ParameterError):
        count_table(parted, tmp_path / "parts", 0, ONE_THREAD)


def test_partitions_are_looked_at_beside_the_counts_of_the_whole_table(tmp_path):
    records = coded(*single_valued("x x y"))
    (tmp_path / "counts").mkdir()
    parted = in_partitions(records, tmp_path, 2, FarAway())
    counted = count_table(parted, tmp_path / "counts", 1, ONE_THREAD)
    found = list(each_beside(parted, counted, "look", _numbers))
    assert sum(own for own, _ in found) == 3
    assert [counts for _, counts in found] == [[2, 1]] * 2
    assert left_in_store(parted) == []


def _numbers(records, marginals):
    return records.number_of_records, pq.read_table(marginals.path(1))["count"].to_pylist()
