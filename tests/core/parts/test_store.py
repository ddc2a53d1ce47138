"""Parts on a shared folder and in storage: whole or not there, the same for whoever writes them again."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from tasks.core.errors import InternalError, StoredTableMismatch
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, total


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    if request.param == "folder":
        return PartStore(str(tmp_path / "parts"))
    return PartStore(f"memory://{tmp_path.name}/parts", str(tmp_path))


def write(text: str):
    def fill(folder: Path) -> None:
        (folder / "deep").mkdir()
        (folder / "deep" / "word").write_text(text)

    return fill


def read(part) -> str:
    with part.folder() as folder:
        return (folder / "deep" / "word").read_text()


def test_a_part_is_read_where_its_reference_comes(store):
    part = store.put("run/0", write("Lyon"))
    assert read(pickle.loads(pickle.dumps(part))) == "Lyon"
    assert store.find("run/0") == part
    assert part.sha256 not in repr(part)


def test_written_again_it_is_the_same(store):
    one, other = store.put("run/0", write("Lyon")), store.put("run/0", write("Lyon"))
    assert one == other and read(one) == "Lyon"


def test_a_part_that_is_gone_or_another_is_refused(store):
    part = store.put("run/0", write("Lyon"))
    store.put("run/0", write("Lille"))
    with pytest.raises(StoredTableMismatch, match="made anew"):
        read(part)
    store.remove("run/0")
    with pytest.raises(StoredTableMismatch):
        read(part)
    assert store.find("run/0") is None
    store.remove("run/0")


def test_what_fails_while_it_is_written_is_not_there(store, tmp_path):
    def fails(folder: Path) -> None:
        write("Ly")(folder)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.put("run/0", fails)
    assert store.find("run/0") is None
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("number", [1, 63, 64, 65, 200])
def test_a_total_is_the_same_however_many_parts_there_are(number):
    numbers = np.arange(number)
    found = total(
        InProcess(), "count", lambda part: [np.array([part, 1]), np.array([part**2])], numbers.tolist()
    )
    assert [counts.tolist() for counts in found] == [[numbers.sum(), number], [(numbers**2).sum()]]


@pytest.mark.parametrize("answered", [lambda parts: [*parts, parts[0]], lambda parts: parts[1:]])
@pytest.mark.parametrize("number", [2, 130])
def test_a_part_that_is_answered_twice_or_never_is_no_part_of_a_sum(answered, number):
    class Lost(InProcess):
        def each(self, name, work, parts):
            return map(work, answered(parts))

    with pytest.raises(InternalError, match="once"):
        total(Lost(), "count", lambda part: [np.array([1])], list(range(number)))
