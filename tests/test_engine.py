"""What may not stop goes on in the run's own process; nothing else does."""

from dataclasses import dataclass

import pytest

from tasks.configuration.model import Resources
from tasks.core.errors import ClusterLost, InputError, InternalError, StorageError
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess
from tasks.core.queries import QueryResources
from tasks.engine import Engine, Steadfast, current_engine, forget_parts, note_parts, temporary_parts
from tasks.step import as_plain
from tasks.storage import RunWorkspace, Workspace
from tests.flows import pipeline


@dataclass(frozen=True)
class Failing(InProcess):
    """Workers that fail after some parts."""

    error: Exception
    after: int

    def each(self, name, work, parts):
        for place, part in enumerate(parts):
            if place == self.after:
                raise self.error
            yield work(part)


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("error", [ClusterLost("gone"), StorageError("refuses"), InternalError("memory")])
def test_a_draw_goes_on_without_its_cluster(error, after, capsys):
    workers = Steadfast(Failing(error, after))
    assert list(workers.each("count", len, ["a", "bb", "ccc"])) == [1, 2, 3]
    assert "goes on in the run's own process" in capsys.readouterr().err


def test_what_is_wrong_with_a_part_is_raised():
    with pytest.raises(InputError):
        list(Steadfast(Failing(InputError("no id"), 1)).each("read", len, ["a", "bb"]))
    with pytest.raises(TypeError):
        list(Steadfast(Failing(ClusterLost("gone"), 1)).each("read", len, ["a", 3]))


def test_without_an_engine_this_process_works():
    assert current_engine() == Engine(InProcess())
    assert current_engine().steadfast == InProcess()


def test_a_purge_reaches_what_lies_in_storage(tmp_path):
    run = RunWorkspace.begin(Workspace(tmp_path), "people", QueryResources())
    store = PartStore(f"memory://{tmp_path.name}")
    part = store.put("run/0", lambda into: (into / "word").write_text("Lyon"))
    note_parts(run, store, "run")
    (folder,) = (tmp_path / "sensitive" / "people" / "partitions").iterdir()
    forget_parts(folder)
    assert store.find("run/0") is None and part.key == "run/0"
    forget_parts(tmp_path)


def test_what_goes_to_workers_and_back_goes_when_a_step_ends_and_is_noted_until_then(tmp_path, monkeypatch):
    run = RunWorkspace.begin(Workspace(tmp_path), "people", QueryResources())
    engine = Engine(InProcess(), 2, f"memory://{tmp_path.name}")
    monkeypatch.setattr("tasks.engine.current_engine", lambda: engine)
    notes = tmp_path / "sensitive" / "people" / "partitions"
    with temporary_parts(run, "trees") as store:
        part = store.put("0", lambda into: (into / "word").write_text("Lyon"))
        assert [path.name for path in notes.iterdir()] == ["trees"] and engine.store(run).holds("trees/0")
    assert not store.holds(part.key) and not list(notes.iterdir())


def test_what_a_worker_leaves_behind_after_a_step_failed_is_purged(tmp_path, monkeypatch):
    run = RunWorkspace.begin(Workspace(tmp_path), "people", QueryResources())
    engine = Engine(InProcess(), 2, f"memory://{tmp_path.name}")
    monkeypatch.setattr("tasks.engine.current_engine", lambda: engine)
    with pytest.raises(ClusterLost), temporary_parts(run, "trees") as store:
        store.put("0", lambda into: (into / "word").write_text("Lyon"))
        raise ClusterLost("gone")
    assert not store.holds("0")
    store.put("1", lambda into: (into / "word").write_text("Lille"))  # by a worker that was still at it
    (note,) = (tmp_path / "sensitive" / "people" / "partitions").iterdir()
    forget_parts(note)
    assert not store.holds("1")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"dask_address": "host:8786", "engine": "dask"}, "begins with tls://"),
        ({"dask_address": "tls://me:secret@host:8786", "engine": "dask"}, "without credentials"),
        ({"dask_address": "tls://host:8786"}, "is for engine: dask"),
        ({"engine": "dask", "shared_storage": "/shared"}, "must be a URL of storage"),
        ({"engine": "dask", "shared_storage": "s3://key:secret@bucket"}, "no credentials"),
    ],
)
def test_an_engine_that_can_not_be_is_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        Resources(**asked)


def test_what_is_written_of_a_run_in_one_process_names_no_cluster():
    assert Resources().model_dump() == {}
    assert Resources(engine="dask", partitions=3).model_dump() == {"engine": "dask", "partitions": 3}


def test_what_is_released_names_no_cluster(tmp_path):
    address, storage = "tls://secret-host.example:8786", "s3://secret-bucket/parts"
    asked = pipeline.flat(
        tmp_path, engine="dask", dask_address=address, shared_storage=storage, parallel_jobs=3
    )
    released = pipeline.from_flat(asked).as_released()
    assert released.resources.parallel_jobs == 3
    for told in (str(as_plain(released)), released.model_dump_json(), repr(released)):
        assert "secret-" not in told
