"""Stored tables: whole or not at all, verified on reading, and quiet about what they hold."""

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from tasks.core.errors import ParameterError, ResourceLimit, StoredTableMismatch
from tasks.core.stored_files import folder_sha256
from tasks.storage import StoredTable, Workspace


@pytest.fixture
def workspace(tmp_path):
    found = Workspace(tmp_path / "out")
    found.prepare()
    return found


def store(workspace: Workspace, text: str = "a") -> StoredTable:
    return workspace.store(
        workspace.sensitive / "d" / "run" / "t",
        "table",
        lambda folder: (folder / "x").write_text(text) and None,
    )


def test_the_sensitive_zone_is_closed_to_others_and_to_repositories(workspace):
    for folder in (workspace.sensitive, workspace.results):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (workspace.sensitive / ".gitignore").read_text() == "*\n"


def test_a_table_reads_back_and_names_its_zone(workspace):
    table = store(workspace)
    assert table.zone == "sensitive"
    assert (workspace.path(table) / "x").read_text() == "a"
    assert table.sha256 not in repr(table)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "x").write_text("b"), "changed"),
        (lambda folder: (folder / "y").touch(), "changed"),
        (shutil.rmtree, "gone"),
    ],
    ids=["changed", "added", "gone"],
)
def test_a_table_that_is_not_what_it_was_is_an_error(change, said, workspace):
    table = store(workspace)
    change(workspace.root / table.key)
    with pytest.raises(StoredTableMismatch, match=said):
        workspace.path(table)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(errno.ENOSPC, "full"), ResourceLimit),
        (OSError(errno.EIO, "broken"), OSError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (ValueError(), ValueError),
    ],
)
def test_nothing_is_left_of_a_table_that_failed(workspace, error, raised):
    def fail(folder: Path) -> None:
        (folder / "x").touch()
        raise error

    with pytest.raises(raised):
        workspace.store(workspace.sensitive / "d" / "t", "table", fail)
    assert list((workspace.sensitive / "d").iterdir()) == []


def test_the_secret_is_made_once_and_closed(workspace):
    assert workspace.secret() == workspace.secret()
    assert len(workspace.secret()) == 32
    assert stat.S_IMODE((workspace.sensitive / ".secret").stat().st_mode) == 0o600


def test_keyed_hashes_differ_between_workspaces(workspace, tmp_path):
    other = Workspace(tmp_path / "other")
    other.prepare()
    assert workspace.keyed_hash("a") == workspace.keyed_hash("a") != other.keyed_hash("a")


def test_names_and_bytes_both_count(tmp_path):
    hashes = set()
    for name, text in (("a", "x"), ("b", "x"), ("a", "y")):
        folder = tmp_path / f"{name}{text}"
        folder.mkdir()
        (folder / name).write_text(text)
        hashes.add(folder_sha256(folder))
    assert len(hashes) == 3


def test_a_workspace_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(ParameterError, match="output_dir"):
        Workspace(tmp_path / "out").prepare()


@pytest.mark.needs_root
def test_a_workspace_that_cannot_be_written_is_refused(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop to another user")
    tmp_path.chmod(0o755)
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            Workspace(tmp_path / "out").prepare()
        except ParameterError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
