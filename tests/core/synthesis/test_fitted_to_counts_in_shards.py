"""Records fitted to rounded counts, in shards: as in one process, and with every constraint."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import FunctionalDependency
from tasks.core.evaluation.compared_sides import code_synthetic
from tasks.core.evaluation.release import count_in_parts
from tasks.core.fitting import sharded_search
from tasks.core.parts.shards import ShardPlace, record_shards
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.synthesis.fitted_to_counts import (
    HeldConstraints,
    draw_fitted_to_counts,
    draw_fitted_to_counts_shards,
    read_reported,
    write_fitted_to_counts,
)
from tasks.core.synthesis.records import number_to_draw, read_synthetic_records
from tests.core.parts.other_workers import Backwards, Sent
from tests.core.synthesis.test_constrained_headers import rounded
from tests.core.synthesis.test_constraints import THREE, raw_records, written
from tests.core.synthesis.test_fitted_in_shards import files, files_in, shard_records
from tests.oracles import constraints as oracle
from tests.oracles.constraints import plain_contract
from tests.oracles.workloads import SCHEMA, people

RESOLUTION = 10


def in_shards(counts, folder, most=700, workers=InProcess(), held=None, number=None):
    known = PartStore(str(folder.parent)).put(f"{folder.name}-counts", counts.write)
    shards = record_shards(number_to_draw(counts.number_of_records, number), most, 7)
    reported = partial(read_reported, known, RESOLUTION, held)
    return draw_fitted_to_counts_shards(reported, shards, store=PartStore(str(folder)), workers=workers)


def constrained():
    """Counts of a table that breaks everything, and what is to hold.

    No count reports an area, nor the home `none`; records get an area by their town, and no such home.
    """
    follows = FunctionalDependency(
        determinants=("town",), dependent="area", values={"Ely": "north", "Rye": "south"}
    )
    contract = plain_contract(
        structural_zeros=THREE.structural_zeros,
        orderings=THREE.orderings,
        functional_dependencies=(follows,),
    )
    raw = raw_records(oracle.SCHEMA, 800, 1)
    work, home, *others, area = raw.slots
    raw = replace(raw, slots=(work, np.where(home == 3, 1, home).astype(np.uint8), *others, 0 * area))
    held = HeldConstraints.of(with_constraints(oracle.SCHEMA, contract), oracle.SCHEMA)
    return contract, rounded(raw, 10), held


@pytest.mark.parametrize("most", [10_000, 150])
def test_written_in_one_shard_or_joined_of_several(tmp_path, most):
    _, counts, held = constrained()
    for name in ("found", "alone"):
        (tmp_path / name).mkdir()
    place = ShardPlace(most, PartStore(str(tmp_path)), "shards", InProcess())
    write_fitted_to_counts(counts, RESOLUTION, 7, tmp_path / "found", place, held=held)
    if most > counts.number_of_records:
        draw_fitted_to_counts(counts, RESOLUTION, 7, held=held).write(tmp_path / "alone")
        assert files_in(tmp_path / "found") == files_in(tmp_path / "alone")
    assert read_synthetic_records(tmp_path / "found").number_of_records == counts.number_of_records
    assert not (tmp_path / "shards").exists()


@pytest.mark.parametrize("workers", [Backwards(), Sent()], ids=["backwards", "sent"])
def test_shards_are_the_same_whoever_works_in_whatever_order(tmp_path, workers):
    _, counts, held = constrained()
    expected = in_shards(counts, tmp_path / "one", most=150, held=held)
    found = in_shards(counts, tmp_path / "other", most=150, held=held, workers=workers)
    assert len(found) > 3
    assert list(map(files, found)) == list(map(files, expected))


def test_each_shard_holds_the_constraints_and_all_have_the_same_attributes(tmp_path):
    contract, counts, held = constrained()
    shards = list(map(shard_records, in_shards(counts, tmp_path / "parts", most=3, number=40, held=held)))
    rows = [written(records, oracle.SCHEMA) for records in shards]
    assert len({tuple(sorted({text for row in shard for text in row["area"]})) for shard in rows}) > 2
    assert not any(oracle.broken(contract, row) for shard in rows for row in shard)
    assert len({(records.headers, records.attributes) for records in shards}) == 1
    brought_in = shards[0].attributes[len(counts.attributes) :]
    assert [attribute.text for attribute in brought_in] == ["area:north", "area:south"]
    assert {path.parent.parent.name for path in (tmp_path / "parts").rglob("*") if path.is_file()} == {
        "shards"
    }


def test_sets_may_be_counted_one_at_a_time(tmp_path, monkeypatch):
    counts = rounded(people(1000, 1), 10)
    expected = in_shards(counts, tmp_path / "all", most=300)
    monkeypatch.setattr(sharded_search, "_CELLS_AT_ONCE", 1)
    found = in_shards(counts, tmp_path / "each", most=300)
    assert list(map(files, found)) == list(map(files, expected))


def test_the_counts_of_all_shards_come_as_near_to_the_reported_ones(tmp_path):
    """Within 0.3 % of the records of those of one process, for 4 shards of 1000 records each."""
    counts = rounded(people(4000, 1), 10)
    alone = draw_fitted_to_counts(counts, RESOLUTION, 7)
    expected = count_in_memory(code_synthetic(alone, SCHEMA), 3)
    found = in_shards(counts, tmp_path / "parts", most=1000)
    assert len(found) == 4
    ours = count_in_parts(map(shard_records, found), SCHEMA, 3)
    for length in range(3):
        assert off(ours, counts, length) < off(expected, counts, length) + 0.003


def off(found, counts, length):
    """Half of the sum of all differences of the reported combinations of a length, a record."""
    held = {
        tuple(found.attributes[place].text for place in row): count
        for row, count in zip(found.combinations[length].tolist(), found.counts[length], strict=True)
    }
    apart = [
        abs(held.get(tuple(counts.attributes[place].text for place in row), 0) - count)
        for row, count in zip(counts.combinations[length].tolist(), counts.counts[length], strict=True)
    ]
    return np.sum(apart) / 2 / counts.number_of_records
