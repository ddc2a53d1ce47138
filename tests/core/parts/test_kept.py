"""Work that stopped goes on: nothing that was done is done again, and nothing is loaded that is not ours."""

import pickle
from pathlib import Path

import pytest

from tasks.core.errors import ClusterLost
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, KeptWork
from tasks.core.records.columns import Schema
from tasks.core.records.encoding import EncodingOptions
from tasks.core.records.partitions.encoding import PartitionPlace, encode_partitions
from tests.core.records.partitions.test_partitions import SCHEMAS, Noting, both, rows, write


def kept(workers, folder: Path, secret: bytes = b"s") -> KeptWork:
    return KeptWork(workers, PartStore(str(folder)), "job", secret)


def test_what_was_done_is_not_done_again(tmp_path):
    first = Noting(after=2)
    with pytest.raises(ClusterLost):
        list(kept(first, tmp_path).each("count", len, ["a", "bb", "ccc"]))
    again = Noting()
    assert list(kept(again, tmp_path).each("count", len, ["a", "bb", "ccc"])) == [1, 2, 3]
    assert first.done["count"] == 2 and again.done["count"] == 1
    kept(again, tmp_path).forget()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


class Boom:
    def __reduce__(self):
        return print, ("loaded",)


def test_what_somebody_else_wrote_is_not_loaded(tmp_path, capsys):
    def forged(folder: Path) -> None:
        (folder / "made.pickle").write_bytes(pickle.dumps(Boom()))
        (folder / "signature").write_text("0" * 64)

    PartStore(str(tmp_path)).put("job/count/0", forged)
    assert list(kept(InProcess(), tmp_path).each("count", len, ["a"])) == [1]
    assert list(kept(InProcess(), tmp_path, b"other").each("count", len, ["bb"])) == [2]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("stops_after", [1, 6, 11])
def test_a_table_that_was_half_read_is_read_on(stops_after, tmp_path):
    source = write(rows(300, 2, 60), tmp_path, "csv")
    schema = Schema(SCHEMAS["open"], "id")
    place = PartitionPlace(4, PartStore(str(tmp_path / "parts")), "run")
    first, again, all_parts = Noting(after=stops_after), Noting(), Noting()
    asked = EncodingOptions(total=True, key=b"k")
    with pytest.raises(ClusterLost):
        encode_partitions(source, schema, asked, place, first)
    made = encode_partitions(source, schema, asked, place, again)
    anew = PartitionPlace(4, PartStore(str(tmp_path / "anew")), "run")
    others = encode_partitions(source, schema, asked, anew, all_parts)
    assert [part.sha256 for part in made.parts] == [part.sha256 for part in others.parts]
    assert first.done + again.done == all_parts.done
    both(source, schema, place, total=True)
