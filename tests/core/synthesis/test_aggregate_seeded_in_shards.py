"""Records drawn from reported counts, in shards: those of so many threads, whoever draws them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tasks.core.parts.shards import ShardPlace
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    draw_aggregate_seeded,
    draw_aggregate_seeded_shards,
    write_aggregate_seeded,
)
from tasks.core.synthesis.records import read_synthetic_records
from tests.core.parts.other_workers import Backwards, Sent
from tests.core.synthesis.test_constrained_headers import rounded
from tests.core.synthesis.test_fitted_in_shards import files, shard_records
from tests.oracles.workloads import people

COUNTS = rounded(people(1000, 1), 10)


def in_shards(folder, number=4, parameters=AggregateSeededParameters(), workers=InProcess(), counts=COUNTS):
    store = PartStore(str(folder))
    return draw_aggregate_seeded_shards(counts, parameters, 7, number, store=store, workers=workers)


def rows_written(folder, most, parameters):
    (folder / "found").mkdir()
    place = ShardPlace(most, PartStore(str(folder)), "shards", InProcess())
    write_aggregate_seeded(COUNTS, parameters, 7, folder / "found", place, threads=3)
    assert not (folder / "shards").exists()
    return rows([read_synthetic_records(folder / "found")])


def rows(shards):
    return Counter(
        tuple(records.attribute_ids[records.offsets[row] : records.offsets[row + 1]].tolist())
        for records in shards
        for row in range(records.number_of_records)
    )


@pytest.mark.parametrize("target", [None, 1001])
@pytest.mark.parametrize("most, threads", [(300, 4), (10_000, 3)])
def test_shards_hold_what_as_many_threads_draw(tmp_path, target, most, threads):
    parameters = AggregateSeededParameters(target_number_of_records=target)
    expected = rows([draw_aggregate_seeded(COUNTS, parameters, 7, threads=threads)])
    assert rows_written(tmp_path, most, parameters) == expected


@pytest.mark.parametrize("workers", [Backwards(), Sent()], ids=["backwards", "sent"])
def test_shards_are_the_same_whoever_works_in_whatever_order(tmp_path, workers):
    expected, found = in_shards(tmp_path / "one"), in_shards(tmp_path / "other", workers=workers)
    assert list(map(files, found)) == list(map(files, expected))
    assert {path.parent.parent.name for path in tmp_path.rglob("*") if path.is_file()} == {"shards"}


def test_nothing_is_reported(tmp_path):
    empty = replace(
        COUNTS,
        attributes=(),
        number_of_records=0,
        combinations=(np.empty((0, 1), np.int32),),
        counts=(np.empty(0, np.int64),),
    )
    assert [shard_records(part).number_of_records for part in in_shards(tmp_path, counts=empty)] == [0]


def test_with_synthetic_counts_all_records_are_made_in_one_place(tmp_path):
    parameters = AggregateSeededParameters(use_synthetic_counts=True)
    expected = rows([draw_aggregate_seeded(COUNTS, parameters, 7)])
    assert rows_written(tmp_path, 300, parameters) == expected
