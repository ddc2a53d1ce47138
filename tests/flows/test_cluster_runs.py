"""Whole runs on a cluster of this machine: what they release is what a run in one process releases."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from flows.command import main as command
from tasks.cluster import Cluster
from tasks.core.syndiffix.forest import Forest
from tasks.public import generate
from tests.flows import pipeline, visits
from tests.flows.processes import assert_whole

pytestmark = pytest.mark.server


def written(folder: Path, body: dict[str, Any], secret: Path | None = None) -> Path:
    """The configuration's file; in a workspace with the secret of another, so that hashes are the same."""
    folder.mkdir()
    if secret is not None:
        (folder / "out" / "sensitive").mkdir(parents=True)
        shutil.copyfile(secret, folder / "out" / "sensitive" / ".secret")
    path = folder / "people.json"
    path.write_text(json.dumps(body | {"output_dir": str(folder / "out")}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def on_cluster():
    """Settings of a run on two workers that all runs share: to start them costs more than a run."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield {"engine": "dask", "dask_address": cluster.scheduler_address, "partitions": 2}


def files_of(folder: Path, *names: str) -> dict[str, bytes]:
    """The files of the newest run's tables of these names, by their place in them."""
    found = {}
    for name in names:
        (table,) = (folder / "out" / "sensitive" / "people").glob(f"*/{name}")
        found |= {f"{name}/{place}": content for place, content in pipeline.tree(table).items()}
    return found


def test_a_run_on_a_cluster_makes_the_same_bytes(tmp_path, on_cluster):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(600))
    body = pipeline.anonymous(tmp_path, synthesis_mode="fitted")
    one, many = tmp_path / "one", tmp_path / "many"
    assert command.main(["run", str(written(one, body))]) == 0
    secret = one / "out" / "sensitive" / ".secret"
    cluster = body | on_cluster | {"partitions": 3}
    assert command.main(["run", str(written(many, cluster, secret))]) == 0
    assert_whole(many)
    released = [pipeline.tree(folder / "out" / "release" / "people" / "2026-11-1") for folder in (one, many)]
    assert released[0].keys() == released[1].keys()
    different = {name for name in released[0] if released[0][name] != released[1][name]}
    assert different <= {"MANIFEST.json", "lineage.json", "lineage.mmd"}, different
    sensitive = [files_of(folder, "marginals", "evaluation", "aggregate") for folder in (one, many)]
    by_record = {name for names in sensitive for name in names if "analysis_by_record" in name}
    common = sensitive[0].keys() & sensitive[1].keys()
    assert sensitive[0].keys() ^ sensitive[1].keys() <= by_record
    hashes = {name for name in common if name.endswith("sources.json")}
    assert {n for n in common - hashes - by_record if sensitive[0][n] != sensitive[1][n]} == set()


@pytest.mark.parametrize("mode", ["fitted", pytest.param("aggregate_seeded", marks=pytest.mark.slow)])
def test_a_release_is_drawn_on_a_cluster_of_its_own(mode, tmp_path):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    body = pipeline.flat(tmp_path, synthesis_mode=mode, engine="dask", workers=2, partitions=2)
    assert command.main(["run", str(written(tmp_path / "run", body))]) == 0
    assert_whole(tmp_path / "run")
    release = tmp_path / "run" / "out" / "release" / "people" / "latest"
    assert "dask" not in (release / "configuration.json").read_text()


def test_a_mode_that_asks_the_whole_table_is_refused_before_anything_is_read(tmp_path, capsys):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(50))
    body = pipeline.anonymous(tmp_path, synthesis_mode="row_seeded", engine="dask")
    assert command.main(["check", str(written(tmp_path / "run", body))]) == 2
    assert "row_seeded asks the whole table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mode", "is_private"),
    [
        ("fitted", True),
        pytest.param("fitted", False, marks=pytest.mark.slow),
        ("aggregate_seeded", False),
    ],
)
def test_many_records_are_made_in_shards_on_a_cluster_or_not(
    mode, is_private, tmp_path, monkeypatch, on_cluster
):
    monkeypatch.setattr(generate, "_SHARD_RECORDS", 128)
    pipeline.write(tmp_path / "people.csv", pipeline.rows(600))
    body = (pipeline.flat if is_private else pipeline.anonymous)(tmp_path, synthesis_mode=mode)
    first = written(tmp_path / "one", body | on_cluster)
    assert command.main(["run", str(first)]) == 0
    assert_whole(tmp_path / "one")
    out = tmp_path / "one" / "out"
    release = out / "release" / "people" / "2026-11-1"
    records = pipeline.microdata(release)[1]
    reported = (release / "people_reportable_aggregates.tsv").read_text().splitlines()
    counted = {line.split("\t")[0]: int(line.split("\t")[1]) for line in reported[1:]}
    column = pipeline.microdata(release)[0].index("sex")
    for sex in "mf":
        held = sum(row[column] == sex for row in records)
        assert abs(held - counted[f"sex:{sex}"]) <= 60
    assert len(records) > 4 * 100
    assert not list((out / "intermediate").glob("people/partitions/*"))
    (measurement,) = (out / "measurement" / "people").iterdir()
    made = pipeline.tree(release)
    shutil.rmtree(out / "intermediate")
    again = written(tmp_path / "two", body, out / "sensitive" / ".secret")
    assert command.main(["publish", str(again), "--measurement", str(measurement)]) == 0
    rebuilt = pipeline.tree(tmp_path / "two" / "out" / "release" / "people" / "2026-11-1")
    name = "people_synthetic_microdata.tsv"
    assert rebuilt[name] == made[name]


def test_partitions_that_are_gone_are_made_anew(tmp_path, on_cluster):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(300))
    body = pipeline.anonymous(tmp_path, synthesis_mode="fitted", **on_cluster)
    assert command.main(["run", "--aggregate", str(written(tmp_path / "run", body))]) == 0
    home = tmp_path / "run" / "out" / "sensitive" / "people" / "partitions"
    assert list(home.iterdir())
    shutil.rmtree(home)
    assert command.main(["run", str(tmp_path / "run" / "people.json")]) == 0
    assert list(home.iterdir())
    assert_whole(tmp_path / "run")


@pytest.mark.parametrize(
    ("section", "parts"),
    [
        ({"tables": [["town", "age"], ["smoker"]]}, [10]),
        pytest.param({"clustering": "none"}, [], marks=pytest.mark.slow),
        pytest.param({"clustering": {"target": "smoker"}}, [], marks=pytest.mark.slow),
    ],
)
def test_workers_of_a_cluster_grow_the_trees_of_a_run_in_one_process(
    section, parts, tmp_path, monkeypatch, on_cluster
):
    given: list[tuple[str, int]] = []
    each, grow = Cluster.each, Forest.grow_tree

    def of_one_column(self: Forest, columns: Any, rule: Any) -> Any:
        assert len(columns) == 1, "workers grow those of several"
        return grow(self, columns, rule)

    def watched(self: Cluster, name: str, work: Any, parts: Any) -> Any:
        given.append((name, len(parts)))
        return each(self, name, work, parts)

    pipeline.write(tmp_path / "visits.csv", visits.rows(), visits.HEADER)
    body = visits.flat(tmp_path, section)
    one, many = tmp_path / "one", tmp_path / "many"
    assert command.main(["run", str(written(one, body))]) == 0
    cluster = written(many, body | on_cluster, one / "out" / "sensitive" / ".secret")
    monkeypatch.setattr(Cluster, "each", watched)
    monkeypatch.setattr(Forest, "grow_tree", of_one_column)  # in this process alone
    assert command.main(["run", str(cluster)]) == 0
    assert_whole(many, "visits")
    released = [pipeline.tree(folder / "out" / "release" / "visits" / "2026-11-1") for folder in (one, many)]
    assert released[0].keys() == released[1].keys()
    different = {name for name in released[0] if released[0][name] != released[1][name]}
    assert different <= {"MANIFEST.json", "lineage.json", "lineage.mmd"}, different
    sensitive = [folder / "out" / "sensitive" / "visits" for folder in (one, many)]
    for kept in ("trees", "dependence"):
        assert pipeline.tree(sensitive[0] / kept) == pipeline.tree(sensitive[1] / kept)
    clusters = len(list(sensitive[1].glob("*/cluster-*")))
    assert given == [("grow trees", n) for n in [*parts, clusters + len(section.get("tables", ()))]]
    assert not list((sensitive[1] / "partitions").iterdir()), "what went to workers and back is gone"
