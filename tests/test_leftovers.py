"""Leftovers: those of dead processes go, those of live ones and of other machines stay."""

import os
import subprocess
import sys

import pytest

from tasks.storage import Workspace, clear_marked, process_mark


@pytest.fixture
def dead(monkeypatch):
    """The mark of a process on this machine that is dead."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process_mark().replace(str(os.getpid()), str(process.pid), 1)


NAMES = (
    ".work-{}",
    ".candidate-{}",
    "..candidate-{}-0a1b2c3d.part",
    ".coded_records-{}-00000000.part",
    ".{}",
)


@pytest.mark.parametrize("name", NAMES)
def test_unfinished_work_of_a_dead_process_is_cleared(name, tmp_path, dead):
    (tmp_path / name.format(dead)).mkdir()
    (tmp_path / name.format(dead) / "x").touch()
    assert clear_marked(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_links_and_files_are_cleared_and_what_a_link_names_is_not(tmp_path, dead):
    (tmp_path / "2026-11-1").mkdir()
    (tmp_path / f".latest-{dead}").symlink_to("2026-11-1")
    (tmp_path / f".secret-{dead}.part").touch()
    assert clear_marked(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["2026-11-1"]


@pytest.mark.parametrize("name", NAMES)
def test_work_of_a_live_process_stays(name, tmp_path):
    (tmp_path / name.format(process_mark())).mkdir()
    assert not clear_marked(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_work_of_another_machine_and_finished_work_stay(tmp_path, dead):
    pid = dead.partition("-")[0]
    for name in (f".work-{pid}-00000000", "2026-11-1", f"aggregates-{dead}", "latest", ".results"):
        (tmp_path / name).mkdir()
    assert not clear_marked(tmp_path)
    assert len(list(tmp_path.iterdir())) == 5


def test_a_workspace_clears_its_zones_and_runs_in_which_nothing_was_finished(tmp_path, dead):
    workspace = Workspace(tmp_path)
    workspace.prepare()
    (tmp_path / "sensitive" / ".scratch" / f".{dead}").mkdir(parents=True)
    for zone in ("intermediate", "release"):
        (tmp_path / zone / f".probe-{dead}").touch()
    for folder in (
        "sensitive/d/run1",
        "sensitive/d/run2",
        "measurement/d",
        "release/d",
        "intermediate/d/run1",
    ):
        (tmp_path / folder / f".t-{dead}-00000000.part").mkdir(parents=True)
    (tmp_path / "sensitive/d/run2/coded_records").mkdir()
    workspace.clear_leftovers("d")
    kept = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if "d" in path.parts}
    assert kept == {
        "sensitive/d",
        "sensitive/d/run2",
        "sensitive/d/run2/coded_records",
        "measurement/d",
        "release/d",
        "intermediate/d",
    }
    assert list((tmp_path / "sensitive" / ".scratch").iterdir()) == []
    assert not list(tmp_path.rglob(".probe-*"))
