"""Counts over parts of records are those of all records in one process, exactly."""

from dataclasses import replace

import numpy as np
import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.errors import InternalError
from tasks.core.evaluation import fit
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.evaluation.release import count_in_parts
from tasks.core.parts.shards import record_shards
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.records.columns import Schema
from tasks.core.synthesis import records as records_module
from tasks.core.synthesis.fitted import draw_fitted_shards
from tasks.core.synthesis.records import SyntheticRecords, join_shards, open_synthetic_records
from tests.core.synthesis.test_in_shards import shard_records
from tests.oracles.workloads import SCHEMA, draw, parameters, people


@pytest.fixture(scope="module")
def measurement():
    return draw(people(2000, 1), parameters(2.0), 1)


@pytest.fixture(scope="module")
def sharded(measurement, tmp_path_factory):
    store = PartStore(str(tmp_path_factory.mktemp("shards")))
    shards = record_shards(1000, 30, 3)
    return draw_fitted_shards(measurement, shards, store=store, workers=InProcess())


@pytest.fixture(scope="module")
def parts(sharded):
    return list(map(shard_records, sharded))


def joined(shards):
    sizes = np.concatenate([np.diff(shard.offsets) for shard in shards])
    return SyntheticRecords(
        shards[0].headers,
        shards[0].attributes,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
        np.concatenate([shard.attribute_ids for shard in shards]),
    )


def same(one, other):
    for name in ("headers", "attributes", "number_of_records", "reporting_length"):
        assert getattr(one, name) == getattr(other, name)
    for length in range(one.reporting_length):
        assert one.combinations[length].tolist() == other.combinations[length].tolist()
        assert one.counts[length].tolist() == other.counts[length].tolist()


def counted_in_parts_as_all_at_once(shards, length):
    expected = count_in_memory(code_synthetic(joined(shards), SCHEMA), length)
    same(count_in_parts(shards, SCHEMA, length), expected)


@pytest.mark.parametrize("length", [1, 3, 9, -1])
def test_combinations_are_counted_as_all_at_once(parts, length):
    assert len(parts) == 34
    counted_in_parts_as_all_at_once(parts, length)


def test_records_in_a_file_are_coded_as_those_in_memory(sharded, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(records_module, "_MOST_AT_ONCE", 77)
    join_shards(sharded, tmp_path)
    stored, expected = open_synthetic_records(tmp_path), code_synthetic(joined(parts), SCHEMA)
    assert len(list(stored.parts())) > 5
    found = code_synthetic(stored, SCHEMA)
    assert (found.values, found.slot_columns) == (expected.values, expected.slot_columns)
    assert found.number_of_records == expected.number_of_records
    for one, other in zip(found.slots, expected.slots, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("length", [2, -1])
def test_a_record_of_one_shard_may_hold_more_than_all_others(parts, length):
    """So there are more lengths than in the first shard; and one shard has no record at all."""
    whole = joined(parts)
    tongues = [place for place, each in enumerate(whole.attributes) if each.item is not None][:3]
    sexes = [place for place, each in enumerate(whole.attributes) if each.header == "sex"]
    ids = ([sexes[0]], [], sorted([sexes[1], *tongues]))
    offsets = ([0, 1], [0], [0, 4])
    shards = [
        replace(whole, offsets=np.array(begins, np.int64), attribute_ids=np.array(held, np.int32))
        for begins, held in zip(offsets, ids, strict=True)
    ]
    counted_in_parts_as_all_at_once(shards, length)


def test_no_record_at_all(parts):
    empty = replace(joined(parts), offsets=np.zeros(1, np.int64), attribute_ids=np.empty(0, np.int32))
    counted_in_parts_as_all_at_once([empty], 2)


def test_attributes_need_not_be_in_the_order_of_their_texts(parts):
    """What only constraints bring into records stands behind all else."""
    whole = joined(parts)
    turned = replace(
        whole,
        attributes=whole.attributes[::-1],
        attribute_ids=np.int32(len(whole.attributes) - 1) - whole.attribute_ids,
    )
    counted_in_parts_as_all_at_once([turned, turned], 3)


def test_shards_of_two_tables_are_not_added_up(parts):
    one = joined(parts)
    *others, last = one.attributes
    other = replace(one, attributes=(*others, replace(last, header="tongue_welsh", item="welsh")))
    with pytest.raises(InternalError, match="same attributes"):
        count_in_parts([one, other], Schema(SCHEMA.columns), 1)


@pytest.mark.parametrize("at_once", [1, 77, 5000])
def test_a_fit_is_evaluated_as_all_at_once(measurement, sharded, tmp_path, monkeypatch, at_once):
    join_shards(sharded, tmp_path)
    path = tmp_path / "cells.npy"
    assert any(len(table.columns) > 2 for table in measurement.tables)
    expected = evaluate_fit(measurement, np.asfortranarray(np.load(path)), 5)
    monkeypatch.setattr(fit, "_MOST_AT_ONCE", at_once)
    assert evaluate_fit(measurement, np.load(path, mmap_mode="c"), 5) == expected
