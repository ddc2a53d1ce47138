"""What a run on a cluster needs, and which runs can't be on one."""

import pytest

from tasks.core.errors import ParameterError
from tasks.plan.describe import describe
from tasks.plan.resources import cluster_needs, tree_worker_mb
from tests.flows import pipeline, visits


def test_more_partitions_need_less_memory_and_rows_and_lengths_more_of_all():
    few, many = (cluster_needs(10**8, 15, 3, number) for number in (10, 100))
    assert many.worker_mb < few.worker_mb and many.stored_mb == few.stored_mb
    assert many.cpu_hours > few.cpu_hours
    more = cluster_needs(2 * 10**8, 15, 3, 100)
    assert more.worker_mb > many.worker_mb and more.cpu_hours > many.cpu_hours
    assert cluster_needs(10**8, 15, 2, 100).cpu_hours < many.cpu_hours
    assert cluster_needs(10**8, 15, 3, 100, has_ids=True).worker_mb > many.worker_mb
    advised = cluster_needs(10**8, 15, 3, few.advised)
    assert advised.worker_mb < 2048 + 400 and cluster_needs(10, 2, 1, 1).advised == 1


@pytest.mark.parametrize("mode", ["row_seeded", "value_seeded", "unseeded"])
def test_a_mode_that_asks_the_whole_table_is_refused(mode, tmp_path):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(20))
    body = pipeline.anonymous(tmp_path, synthesis_mode=mode)
    describe(pipeline.from_flat(body))
    with pytest.raises(ParameterError, match=f"{mode} asks the whole table"):
        describe(pipeline.from_flat(body | {"engine": "dask"}))


def test_a_cluster_that_is_not_encrypted_is_noted(tmp_path):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(20))
    for address, is_noted in (("tcp://host:8786", True), ("tls://host:8786", False), ("", False)):
        asked = pipeline.flat(tmp_path, engine="dask", dask_address=address)
        notes = describe(pipeline.from_flat(asked)).notes
        assert any("not encrypted" in note for note in notes) == is_noted


@pytest.mark.usefixtures("own_ledger")
def test_check_says_what_workers_need(tmp_path, capsys):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(200))
    said = pipeline.checked(tmp_path, capsys, pipeline.flat(tmp_path, engine="dask", partitions=3, workers=5))
    assert "a cluster of 5 workers on this machine: 3 partitions" in said and "CPU minute" in said


@pytest.mark.usefixtures("own_ledger")
def test_check_says_that_workers_grow_syndiffix_s_trees(tmp_path, capsys):
    visits.prepared(tmp_path)
    said = [
        pipeline.checked(tmp_path, capsys, visits.flat(tmp_path, **engine)).splitlines()
        for engine in ({}, {"engine": "dask", "partitions": 100})
    ]
    (told,) = [line for line in said[1] if line not in said[0]]
    assert "workers grow the trees" in told and "partitions" not in told
    assert tree_worker_mb(10**6, 5) > 4 * (tree_worker_mb(10**6, 3) - 330)
