"""Records drawn from reported counts, in shards: those of so many threads, whoever draws them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tasks.core.errors import ParameterError
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    draw_aggregate_seeded,
    draw_aggregate_seeded_in_shards,
)
from tests.core.parts.other_workers import Backwards, Sent
from tests.core.synthesis.test_constrained_headers import rounded
from tests.core.synthesis.test_fitted_in_shards import files
from tests.oracles.workloads import people

COUNTS = rounded(people(1000, 1), 10)


def in_shards(folder, most=300, parameters=AggregateSeededParameters(), workers=InProcess(), counts=COUNTS):
    store = PartStore(str(folder))
    return draw_aggregate_seeded_in_shards(
        counts, parameters, 7, shard_records=most, store=store, workers=workers
    )


def rows(shards):
    return Counter(
        tuple(records.attribute_ids[records.offsets[row] : records.offsets[row + 1]].tolist())
        for records in shards
        for row in range(records.number_of_records)
    )


@pytest.mark.parametrize("target", [None, 0, 1, 1001])
@pytest.mark.parametrize("most", [300, 10_000])
def test_shards_hold_what_as_many_threads_draw(tmp_path, target, most):
    parameters = AggregateSeededParameters(target_number_of_records=target)
    found = in_shards(tmp_path, most, parameters)
    several = target in (None, 1001) and most == 300
    assert len(found.parts) == (4 if several else 1)
    alone = draw_aggregate_seeded(COUNTS, parameters, 7, threads=len(found.parts))
    assert rows(found.stream()) == rows([alone])
    sizes = [records.number_of_records for records in found.stream()]
    assert sizes == [shard.number_of_records for shard in found.shards]
    assert found.number_of_records == alone.number_of_records
    assert {path.parent.parent.name for path in tmp_path.rglob("*") if path.is_file()} == {"shards"}


@pytest.mark.parametrize("workers", [Backwards(), Sent()], ids=["backwards", "sent"])
def test_shards_are_the_same_whoever_works_in_whatever_order(tmp_path, workers):
    expected, found = in_shards(tmp_path / "one"), in_shards(tmp_path / "other", workers=workers)
    assert found.shards == expected.shards
    assert [files(part) for part in found.parts] == [files(part) for part in expected.parts]


def test_nothing_is_reported(tmp_path):
    empty = replace(
        COUNTS,
        attributes=(),
        number_of_records=0,
        combinations=(np.empty((0, 1), np.int32),),
        counts=(np.empty(0, np.int64),),
    )
    found = in_shards(tmp_path, counts=empty)
    assert [records.number_of_records for records in found.stream()] == [0]


def test_synthetic_counts_are_of_all_records(tmp_path):
    parameters = AggregateSeededParameters(use_synthetic_counts=True)
    with pytest.raises(ParameterError, match="in one place, but these are 4 shards"):
        in_shards(tmp_path / "several", parameters=parameters)
    assert len(in_shards(tmp_path / "one", 10_000, parameters).parts) == 1
