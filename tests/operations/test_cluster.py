"""A cluster that an operator runs: workers and scheduler are killed, parts lie in storage that fails."""

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.command import main as command
from tasks.cluster import Cluster
from tasks.core.aggregates.marginals import count_table
from tasks.core.errors import ClusterLost
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions
from tasks.core.records.partitions.encoding import PartitionPlace, encode_partitions
from tasks.core.tables.header import InputFile
from tests.benchmarks.data import generated_codes
from tests.flows import pipeline
from tests.flows.processes import Run, assert_whole
from tests.operations.clusters import RunningCluster, in_a_flow, running_cluster
from tests.operations.faulty_storage import faulty_storage
from tests.operations.hosts import HOME, hosts, reached_from_hosts

pytestmark = [
    pytest.mark.operations,
    pytest.mark.server,
    pytest.mark.usefixtures("own_ledger", "prefect_server"),
]
RUNS = 20
#: So a part sees two losses at most, and survives seven: a step has six parts.
PARTS_A_LOSS = 15
#: Ten million take five minutes: `MARGINALIA_ROWS_ON_HOSTS=10000000`.
ROWS_ON_HOSTS = int(os.environ.get("MARGINALIA_ROWS_ON_HOSTS", "50000"))


def table(path: Path, rows: int) -> Path:
    codes = generated_codes(rows, 8)
    names = pa.array([None, *[f"v{code}" for code in range(1, 256)]])
    columns = {
        f"c{place}": pa.DictionaryArray.from_arrays(pa.array(own), names).dictionary_decode()
        for place, own in enumerate(codes)
    }
    pq.write_table(pa.table(columns), path)
    return path


def counted(path: Path, folder: Path, workers: Any) -> str:
    """A hash of the marginals of a table that is read and counted in partitions."""
    source, store = InputFile(path), PartStore(str(folder / "parts"))
    schema = Schema(tuple(Column(name) for name in source.headers.names))
    options = EncodingOptions(total=True, key=b"secret", resources=QueryResources(threads=1))
    made = encode_partitions(source, schema, options, PartitionPlace(6, store, "coded"), workers)
    (folder / "marginals").mkdir()
    count_table(replace(made, prefix="counts"), folder / "marginals", 3, QueryResources(threads=1))
    digest = hashlib.sha256()
    for file in sorted((folder / "marginals").iterdir()):
        digest.update(file.read_bytes())
    shutil.rmtree(folder)
    return digest.hexdigest()


class Losing(Cluster):
    """A cluster that loses a worker at a random moment after every few parts that were done.

    Its losses keep pace with its work. By the clock, a machine under load would lose workers faster than new
    ones start, and every part would be given up, as it should be.
    """

    def __init__(self, running: RunningCluster) -> None:
        super().__init__(running.address, 0)
        self._running, self._done = running, 0
        self.kills: list[threading.Timer] = []
        self.killed: list[bool] = []

    def each(self, name: str, work: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        for found in super().each(name, work, parts):
            self._done += 1
            if self._done % PARTS_A_LOSS == 0:
                self.kills.append(threading.Timer((self._done * 7919 % 97) / 97, self._kill, [self._done]))
                self.kills[-1].start()
            yield found

    def _kill(self, seed: int) -> None:
        self.killed.append(self._running.kill_some_worker(seed))


def test_twenty_runs_whose_workers_are_killed_at_random_are_identical(tmp_path):
    path = table(tmp_path / "table.parquet", 200_000)
    found, killed = [], []
    with running_cluster(tmp_path / "cluster", 3) as running:

        def job() -> None:
            with Losing(running) as cluster:
                list(cluster.each("start", abs, range(6)))
                for number in range(RUNS):
                    folder = tmp_path / str(number)
                    folder.mkdir()
                    found.append(counted(path, folder, cluster))
                for kill in cluster.kills:
                    kill.join()
                killed.extend(cluster.killed)

        in_a_flow(job)
    assert len(found) == RUNS and len(set(found)) == 1
    assert sum(killed) >= RUNS // 2


def _deadly(folder: Path, times: int, part: int) -> int:
    """A part whose worker dies so many times before it is done."""
    number = len(list(folder.iterdir()))
    if number < times:
        (folder / str(number)).touch()
        os._exit(1)
    return part


@pytest.mark.parametrize(("times", "is_done"), [(5, True), (8, False)])
def test_a_part_is_given_up_after_its_workers_were_lost_eight_times(times, is_done, tmp_path):
    (tmp_path / "deaths").mkdir()
    found: list[Any] = []

    def job() -> None:
        with Cluster(running.address, 0) as cluster:
            work = partial(_deadly, tmp_path / "deaths", times)
            try:
                found.extend(cluster.each("count", work, [7]))
            except ClusterLost as error:
                found.append(str(error))

    with running_cluster(tmp_path / "cluster", 1) as running:
        in_a_flow(job)
    assert len(list((tmp_path / "deaths").iterdir())) == times
    assert found == [7] if is_done else "lost again and again" in found[0]


def configured(folder: Path, **changes: Any) -> Path:
    body = pipeline.anonymous(folder, synthesis_mode="fitted", engine="dask", partitions=6, **changes)
    path = folder / "people.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def parts_done(url: str, work: str) -> int:
    """How many parts of some work the newest run did, as Prefect tells."""
    runs = httpx.post(f"{url}/flow_runs/filter", json={"sort": "START_TIME_DESC", "limit": 1}).json()
    asked = {"flow_runs": {"id": {"any_": [runs[0]["id"]]}}, "limit": 200}
    tasks = httpx.post(f"{url}/task_runs/filter", json=asked).json()
    return sum(each["name"].startswith(work) and each["state_type"] == "COMPLETED" for each in tasks)


def test_a_killed_scheduler_is_told_and_the_next_run_goes_on(tmp_path, prefect_server):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(60_000))
    with running_cluster(tmp_path / "one", 1) as running:
        run = Run(tmp_path, ["run", "--aggregate", str(configured(tmp_path, dask_address=running.address))])
        home = tmp_path / "out" / "sensitive" / "people" / "partitions"
        for _ in range(3_000):
            if len(list(home.glob("*/done/*/read/*"))) >= 2:
                break
            time.sleep(0.05)
        running.kill_scheduler()
        assert run.finish() == 1
    assert "must answer, but does not" in run.said and "finished parts are kept" in run.said
    before = len(list(home.glob("*/done/*/read/[0-9]")))
    assert before >= 2
    with running_cluster(tmp_path / "two", 1) as running:
        assert command.main(["run", str(configured(tmp_path, dask_address=running.address))]) == 0
    assert parts_done(prefect_server, "read part") == 6 - before
    assert_whole(tmp_path)
    assert not list(home.glob("*/done"))


def test_parts_lie_in_storage_that_fails_once(tmp_path, prefect_server, monkeypatch):
    pipeline.write(tmp_path / "people.csv", pipeline.rows(600))
    with faulty_storage() as storage:
        told = storage.credentials()
        for name, value in told.items():
            monkeypatch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="shared")
        with running_cluster(tmp_path / "cluster", 2, told) as running:
            asked = {"dask_address": running.address, "shared_storage": "s3://shared/parts"}
            storage.refusals = 12  # more than a client tries by itself
            assert command.main(["run", str(configured(tmp_path, **asked, retention_days=1))]) == 0
        assert_whole(tmp_path)
        keys = [each["Key"] for each in client.list_objects_v2(Bucket="shared").get("Contents", [])]
        assert keys and all(key.startswith("parts/people/") for key in keys)
        assert not [key for key in keys if "/pieces/" in key or "/done/" in key]


@pytest.mark.needs_root
def test_workers_on_hosts_of_their_own_make_the_same_bytes(tmp_path, prefect_server):
    path = table(tmp_path / "table.parquet", ROWS_ON_HOSTS)
    (tmp_path / "here").mkdir()
    found = {counted(path, tmp_path / "here", InProcess())}
    port = int(prefect_server.rpartition(":")[2].partition("/")[0])
    with (
        hosts(4) as machines,
        reached_from_hosts(port) as reached,
        temporary_settings(updates={PREFECT_API_URL: f"http://{HOME}:{reached}/api"}),
    ):
        for number in (1, 2, 4):
            with running_cluster(tmp_path / f"cluster-{number}", hosts=machines[:number]) as running:
                (tmp_path / str(number)).mkdir()

                def job(running: Any = running, number: int = number) -> None:
                    with Cluster(running.address, 0) as cluster:
                        found.add(counted(path, tmp_path / str(number), cluster))

                in_a_flow(job)
    assert len(found) == 1
