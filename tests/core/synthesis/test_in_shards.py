"""Records made in shards: the same bytes whoever works, and together as one process makes them.

Fitted to noisy tables, fitted to rounded counts, and drawn from reported counts.
"""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import FunctionalDependency
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.evaluation.comparison import code_synthetic
from tasks.core.evaluation.release import count_in_parts
from tasks.core.fitting import sharded_search
from tasks.core.fitting.fit import fit, fit_in_shards
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.fitting.sharded_search import read_shard_cells
from tasks.core.parts.shards import ShardPlace, record_shards
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    draw_aggregate_seeded,
    draw_aggregate_seeded_shards,
    write_aggregate_seeded,
)
from tasks.core.synthesis.fitted import domain_to_fit, draw_fitted, draw_fitted_shards, write_fitted
from tasks.core.synthesis.fitted_to_counts import (
    HeldConstraints,
    draw_fitted_to_counts,
    draw_fitted_to_counts_shards,
    read_reported,
    write_fitted_to_counts,
)
from tasks.core.synthesis.records import number_to_draw, read_synthetic_records
from tests.core.synthesis.test_constraints import THREE, raw_records, written
from tests.core.synthesis.test_constraints import drawn as drawn_of
from tests.core.synthesis.test_fitted_to_counts import rounded
from tests.oracles import constraints as oracle
from tests.oracles.constraints import plain_contract
from tests.oracles.partitions import FarAway
from tests.oracles.workloads import SCHEMA, draw, parameters, people

RESOLUTION = 10
#: A town's area follows from it.
FOLLOWS = FunctionalDependency(
    determinants=("town",), dependent="area", values={"Ely": "north", "Rye": "south"}
)
CONTRACT = plain_contract(
    structural_zeros=THREE.structural_zeros, orderings=THREE.orderings, functional_dependencies=(FOLLOWS,)
)
CONSTRAINED = with_constraints(oracle.SCHEMA, CONTRACT)


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def files(part):
    with part.folder() as folder:
        return files_in(folder)


def shard_records(part):
    with part.folder() as folder:
        return read_synthetic_records(folder)


def rows_of(shards):
    """How often each record is in shards."""
    return Counter(
        tuple(records.attribute_ids[records.offsets[row] : records.offsets[row + 1]].tolist())
        for records in shards
        for row in range(records.number_of_records)
    )


def assert_only_shards_are_left(folder):
    assert {path.parent.parent.name for path in folder.rglob("*") if path.is_file()} == {"shards"}


def written_in(folder, most, write):
    """What ``write`` has written, in shards of so many records, which are gone."""
    (folder / "found").mkdir()
    write(folder / "found", ShardPlace(most, PartStore(str(folder)), "shards", InProcess()))
    assert not (folder / "shards").exists()
    return folder / "found"


# ---- fitted to noisy tables ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measurement():
    """Ships are few, and a record speaks up to two tongues; triples are measured, too."""
    return draw(people(3000, 1), parameters(4.0), 1)


def fitted(measurement, folder, most=700, workers=InProcess(), number=None, **options):
    shards = record_shards(number_to_draw(measurement.number_of_records, number), most, 7)
    return draw_fitted_shards(measurement, shards, store=PartStore(str(folder)), workers=workers, **options)


def off_targets(domain, targets, shards, number):
    """By table the share of the records that is off the target: half of the sum of all differences."""
    found = {}
    for target in targets:
        counts = sum(table_counts(domain, target.columns, np.asfortranarray(cells)) for cells in shards)
        found[target.columns] = np.abs(counts - target.counts).sum() / 2 / number
    return found


@pytest.mark.parametrize("number", [None, 0, 40])
def test_one_shard_of_fitted_records_is_made_in_this_process(tmp_path, measurement, number):
    found = written_in(
        tmp_path, 10_000, lambda to, place: write_fitted(measurement, 7, to, place, number=number)
    )
    (tmp_path / "alone").mkdir()
    draw_fitted(measurement, 7, number=number).write(tmp_path / "alone")
    assert files_in(found) == files_in(tmp_path / "alone")


def test_several_shards_of_fitted_records_are_joined_and_go(tmp_path, measurement):
    folder = written_in(tmp_path, 700, lambda to, place: write_fitted(measurement, 7, to, place, number=2003))
    parts = fitted(measurement, tmp_path / "parts", number=2003)
    found, shards = read_synthetic_records(folder), list(map(shard_records, parts))
    assert found.attribute_ids.tolist() == [each for own in shards for each in own.attribute_ids.tolist()]
    assert [records.number_of_records for records in shards] == [668, 668, 667]
    assert len({(records.headers, records.attributes) for records in shards}) == 1
    assert len({records.attribute_ids.tobytes() for records in shards}) == 3
    assert np.load(folder / "cells.npy").shape[0] == found.number_of_records == 2003
    assert_only_shards_are_left(tmp_path / "parts")


def test_shards_of_fitted_records_are_the_same_whoever_works_in_whatever_order(tmp_path, measurement):
    expected = fitted(measurement, tmp_path / "one", threads=1)
    found = fitted(measurement, tmp_path / "other", workers=FarAway(), threads=2)
    assert len(found) > 3
    assert list(map(files, found)) == list(map(files, expected))


def test_more_shards_than_turns(tmp_path, measurement):
    found = fitted(measurement, tmp_path, most=20, number=401)
    assert len(found) == 21
    assert sum(shard_records(part).number_of_records for part in found) == 401


@pytest.mark.parametrize("shards", [2, 4, 8, 20])
def test_the_sum_comes_as_near_to_all_targets_as_one_process(tmp_path, shards):
    """Multi-valued tables and a measured triple among them. Within 0.2 % of the records of 4000 each."""
    measurement = draw(people(3000, 1), parameters(1.0), 1)
    domain, tables, number = domain_to_fit(measurement), noisy_tables(measurement), 4000
    alone, alone_targets = fit(domain, tables, number, 7)
    own = record_shards(number, number // shards, 7)
    parts, targets = fit_in_shards(domain, tables, own, store=PartStore(str(tmp_path)), workers=InProcess())
    cells = [read_shard_cells(part) for part in parts]
    assert any(len(target.columns) > 2 for target in targets)
    assert [target.columns for target in targets] == [target.columns for target in alone_targets]
    theirs = off_targets(domain, targets, cells, number)
    ours = off_targets(domain, alone_targets, [alone], number)
    assert max(theirs[columns] - ours[columns] for columns in ours) < 0.002


def test_each_shard_of_fitted_records_holds_the_constraints_and_columns_that_follow(tmp_path):
    found = fitted(drawn_of(CONSTRAINED, 600), tmp_path, most=150)
    assert len(found) > 3
    for records in map(shard_records, found):
        rows = written(records, CONSTRAINED)
        assert any(row["area"] for row in rows)
        assert not any(oracle.broken(CONTRACT, row) for row in rows)


# ---- fitted to rounded counts ----------------------------------------------------------------------------


def fitted_to_counts(counts, folder, most=700, workers=InProcess(), held=None, number=None):
    known = PartStore(str(folder.parent)).put(f"{folder.name}-counts", counts.write)
    shards = record_shards(number_to_draw(counts.number_of_records, number), most, 7)
    made_of = partial(read_reported, known, RESOLUTION, held)
    return draw_fitted_to_counts_shards(made_of, shards, store=PartStore(str(folder)), workers=workers)


@pytest.fixture(scope="module")
def constrained():
    """Counts of a table that breaks everything, and what is to hold.

    No count reports an area, nor the home `none`; records get an area by their town, and no such home.
    """
    raw = raw_records(oracle.SCHEMA, 800, 1)
    work, home, *others, area = raw.slots
    raw = replace(raw, slots=(work, np.where(home == 3, 1, home).astype(np.uint8), *others, 0 * area))
    return rounded(raw, RESOLUTION), HeldConstraints.of(CONSTRAINED, oracle.SCHEMA)


@pytest.mark.parametrize("most", [10_000, 150])
def test_fitted_to_counts_they_are_written_in_one_shard_or_joined_of_several(tmp_path, constrained, most):
    counts, held = constrained
    found = written_in(
        tmp_path, most, lambda to, place: write_fitted_to_counts(counts, RESOLUTION, 7, to, place, held=held)
    )
    if most > counts.number_of_records:
        (tmp_path / "alone").mkdir()
        draw_fitted_to_counts(counts, RESOLUTION, 7, held=held).write(tmp_path / "alone")
        assert files_in(found) == files_in(tmp_path / "alone")
    assert read_synthetic_records(found).number_of_records == counts.number_of_records


def test_shards_fitted_to_counts_are_the_same_whoever_works_in_whatever_order(tmp_path, constrained):
    counts, held = constrained
    expected = fitted_to_counts(counts, tmp_path / "one", most=150, held=held)
    found = fitted_to_counts(counts, tmp_path / "other", most=150, held=held, workers=FarAway())
    assert len(found) > 3
    assert list(map(files, found)) == list(map(files, expected))


def test_each_shard_fitted_to_counts_holds_the_constraints_and_all_have_the_same_attributes(
    tmp_path, constrained
):
    counts, held = constrained
    parts = fitted_to_counts(counts, tmp_path / "parts", most=3, number=40, held=held)
    shards = list(map(shard_records, parts))
    rows = [written(records, oracle.SCHEMA) for records in shards]
    assert len({tuple(sorted({text for row in shard for text in row["area"]})) for shard in rows}) > 2
    assert not any(oracle.broken(CONTRACT, row) for shard in rows for row in shard)
    assert len({(records.headers, records.attributes) for records in shards}) == 1
    brought_in = shards[0].attributes[len(counts.attributes) :]
    assert [attribute.text for attribute in brought_in] == ["area:north", "area:south"]
    assert_only_shards_are_left(tmp_path / "parts")


def test_sets_may_be_counted_one_at_a_time(tmp_path, monkeypatch):
    counts = rounded(people(1000, 1), RESOLUTION)
    expected = fitted_to_counts(counts, tmp_path / "all", most=300)
    monkeypatch.setattr(sharded_search, "_CELLS_AT_ONCE", 1)
    found = fitted_to_counts(counts, tmp_path / "each", most=300)
    assert list(map(files, found)) == list(map(files, expected))


def test_the_counts_of_all_shards_come_as_near_to_the_reported_ones(tmp_path):
    """Within 0.3 % of the records of those of one process, for 4 shards of 1000 records each."""
    counts = rounded(people(4000, 1), RESOLUTION)
    alone = draw_fitted_to_counts(counts, RESOLUTION, 7)
    expected = count_in_memory(code_synthetic(alone, SCHEMA), 3)
    found = fitted_to_counts(counts, tmp_path / "parts", most=1000)
    assert len(found) == 4
    ours = count_in_parts(map(shard_records, found), SCHEMA, 3)
    for length in range(3):
        assert off(ours, counts, length) < off(expected, counts, length) + 0.003


def off(found, counts, length):
    """Half of the sum of all differences of the reported combinations of a length, a record."""

    def by_text(side):
        rows, numbers = side.combinations[length].tolist(), side.counts[length].tolist()
        return {
            tuple(side.attributes[place].text for place in row): n
            for row, n in zip(rows, numbers, strict=True)
        }

    held = by_text(found)
    apart = [abs(held.get(texts, 0) - count) for texts, count in by_text(counts).items()]
    return sum(apart) / 2 / counts.number_of_records


# ---- drawn from reported counts --------------------------------------------------------------------------

COUNTS = rounded(people(1000, 1), RESOLUTION)


def seeded(folder, workers=InProcess(), counts=COUNTS):
    store, asked = PartStore(str(folder)), AggregateSeededParameters()
    return draw_aggregate_seeded_shards(counts, asked, 7, 4, store=store, workers=workers)


def seeded_rows(folder, most, asked):
    found = written_in(
        folder, most, lambda to, place: write_aggregate_seeded(COUNTS, asked, 7, to, place, threads=3)
    )
    return rows_of([read_synthetic_records(found)])


@pytest.mark.parametrize("target", [None, 1001])
@pytest.mark.parametrize("most, threads", [(300, 4), (10_000, 3)])
def test_aggregate_seeded_shards_hold_what_as_many_threads_draw(tmp_path, target, most, threads):
    asked = AggregateSeededParameters(target_number_of_records=target)
    expected = rows_of([draw_aggregate_seeded(COUNTS, asked, 7, threads=threads)])
    assert seeded_rows(tmp_path, most, asked) == expected


def test_aggregate_seeded_shards_are_the_same_whoever_works_in_whatever_order(tmp_path):
    expected, found = seeded(tmp_path / "one"), seeded(tmp_path / "other", FarAway())
    assert list(map(files, found)) == list(map(files, expected))
    assert_only_shards_are_left(tmp_path)


def test_where_nothing_is_reported_one_shard_without_a_record_is_made(tmp_path):
    combinations, counts = (np.empty((0, 1), np.int32),), (np.empty(0, np.int64),)
    empty = replace(COUNTS, attributes=(), number_of_records=0, combinations=combinations, counts=counts)
    assert [shard_records(part).number_of_records for part in seeded(tmp_path, counts=empty)] == [0]


def test_with_synthetic_counts_all_records_are_made_in_one_place(tmp_path):
    asked = AggregateSeededParameters(use_synthetic_counts=True)
    assert seeded_rows(tmp_path, 300, asked) == rows_of([draw_aggregate_seeded(COUNTS, asked, 7)])
