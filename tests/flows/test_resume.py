"""Killed, interrupted, out of disk, or with its intermediates touched: what is left, and the next run."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.processes import (
    BEFORE_LEAVE,
    LOST,
    NOT_RESERVED,
    POINTS,
    PUBLISHED,
    ROOT,
    Blow,
    Run,
    assert_whole,
    configuration_file,
    phases,
    releases,
    struck,
    unfinished,
)

pytestmark = pytest.mark.server

#: Struck in the ordinary suite: before anything is kept, around the draw, and around the release.
_KILLED = ("during encode", "during drawing", "after the measurement", "during hand-over", "before latest")
_INTERRUPTED = ("during encode", "before drawing", "during generate", "during publish", "during count")


def points(ordinary):
    return [pytest.param(point, marks=[] if point in ordinary else [pytest.mark.slow]) for point in POINTS]


def blow(point: str, number: signal.Signals) -> Blow:
    return Blow(number, *POINTS[point])


@pytest.mark.parametrize("point", points(_KILLED))
def test_kill_and_clean_resume(point, tmp_path):
    path = configuration_file(tmp_path)
    killed = Run(tmp_path, ["run", str(path)], blow(point, signal.SIGKILL))
    assert killed.finish() == -signal.SIGKILL, killed.said
    assert [name for name in releases(tmp_path) if name != "latest"] == ["2026-11-1"] * (point in PUBLISHED)
    assert_whole(tmp_path)
    assert command.main(["run", str(path)]) == 0
    assert phases() == LOST.get(point, ["commit"])
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []
    release = tmp_path / "out" / "release" / "people" / "latest"
    assert pipeline.json_of(release / "privacy.json")["ledger"]["releases"] == len(phases())
    assert list((tmp_path / "out" / "sensitive" / "people").glob("*/evaluation/evaluation.json"))


@pytest.mark.parametrize(
    ("point", "is_said"),
    [("after the measurement", True), pytest.param("during drawing", False, marks=pytest.mark.slow)],
)
def test_a_table_that_changed_after_a_draw_is_told_also_where_the_run_died_right_after_it(
    point, is_said, tmp_path, capfd
):
    path = configuration_file(tmp_path)
    killed = Run(tmp_path, ["run", str(path), "--agg"], blow(point, signal.SIGKILL))
    assert killed.finish() == -signal.SIGKILL, killed.said
    configuration_file(tmp_path, pipeline.rows(40, seed=5))
    for _ in range(2):
        assert command.main(["run", str(path), "--agg"]) == 0
        assert ("the table has changed since a run measured it" in capfd.readouterr().err) == is_said
    assert phases() == LOST.get(point, ["commit"])


@pytest.mark.parametrize("point", points(_INTERRUPTED))
def test_interrupt_leaves_nothing_partial(point, tmp_path, capfd):
    path = configuration_file(tmp_path)
    with struck(blow(point, signal.SIGINT)) as struck_at:
        assert command.main(["run", str(path)]) == 130
    assert struck_at
    said = capfd.readouterr().err.splitlines()
    assert said[-1].startswith("marginalia: interrupted. ")
    assert not any("Traceback" in line for line in said)
    assert unfinished(tmp_path) == []
    assert [name for name in releases(tmp_path) if name != "latest"] == ["2026-11-1"] * (point in PUBLISHED)
    assert_whole(tmp_path)
    expected = [] if point in NOT_RESERVED else BEFORE_LEAVE.get(point, ["commit"])
    assert phases() == expected


def test_a_run_interrupted_while_drawing_is_resumed_without_a_draw(tmp_path, capfd):
    path = configuration_file(tmp_path)
    with struck(blow("during drawing", signal.SIGINT)):
        assert command.main(["run", str(path)]) == 130
    assert "The noise is being drawn: the run stops as soon as" in capfd.readouterr().err
    assert command.main(["run", str(path)]) == 0
    assert phases() == ["commit"]
    assert_whole(tmp_path)


def test_the_command_ends_on_sigterm_with_143_and_one_line(tmp_path):
    path = configuration_file(tmp_path)
    stopped = Run(tmp_path, ["run", str(path)], blow("during generate", signal.SIGTERM))
    assert stopped.finish() == 143, stopped.said
    assert stopped.said.splitlines()[-1].startswith("marginalia: interrupted. ")
    assert "Traceback" not in stopped.said
    assert unfinished(tmp_path) == []
    assert releases(tmp_path) == []
    assert phases() == ["commit"]


def test_a_changed_intermediate_is_an_error_and_a_deleted_one_is_made_again(tmp_path, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", str(path)]) == 0
    capfd.readouterr()
    (coded,) = (tmp_path / "out" / "sensitive" / "people").glob("*/coded_records")
    victim = max((file for file in coded.rglob("*") if file.is_file()), key=lambda file: file.stat().st_size)
    victim.write_bytes(victim.read_bytes() + b"x")
    assert command.main(["run", str(path)]) == 1
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("marginalia:")]
    assert "coded_records was changed after it was written" in line and "delete the folder" in line
    shutil.rmtree(coded)
    assert command.main(["run", str(path)]) == 0
    assert len(list((tmp_path / "out" / "sensitive" / "people").glob("*/coded_records"))) == 1
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert phases() == ["commit"]


def test_a_changed_measurement_is_an_error_and_is_never_made_again(tmp_path, own_ledger, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--aggregate", str(path)]) == 0
    capfd.readouterr()
    (kept,) = (own_ledger / "measurements").iterdir()
    shutil.rmtree(kept)
    assert command.main(["run", str(path)]) == 1
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("marginalia:")]
    assert "It can't be made again" in line
    assert phases() == ["commit"]


def test_a_ledger_that_a_release_does_not_know_is_refused(tmp_path, monkeypatch, capfd):
    path = configuration_file(tmp_path)
    assert command.main(["run", "--aggregate", str(path)]) == 0
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "another"))
    configuration_file(tmp_path, vintage="2026-12")
    capfd.readouterr()
    assert command.main(["run", str(path)]) == 1
    assert "it was cut short, or is another ledger" in capfd.readouterr().err
    assert releases(tmp_path) == ["2026-11-1", "latest"]


@pytest.fixture
def small_disk(tmp_path):
    """A megabyte of disk at the configuration's output_dir."""
    place = tmp_path / "out"
    place.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place]).returncode
    ):
        pytest.skip("needs to mount a tmpfs")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def _resize(place: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)


@pytest.mark.needs_tmpfs
def test_full_disk_is_told_and_the_run_resumed(tmp_path, small_disk, capfd):
    path = configuration_file(tmp_path)
    for size in ("16k", "128k", "256k"):
        _resize(small_disk, size)
        capfd.readouterr()
        code = command.main(["run", str(path)])
        said = capfd.readouterr().err
        assert code in (1, 2), (size, said)
        (line,) = [line for line in said.splitlines() if line.startswith("marginalia:")]
        assert "is full" in line or "No space left" in line, (size, said)
        assert "Traceback" not in said
        assert_whole(tmp_path)
    _resize(small_disk, "64m")
    assert command.main(["run", str(path)]) == 0
    # A disk that fills up between the reservation and the noise gives the reservation back.
    assert [phase for phase in phases() if phase != "void"] == ["commit"]
    assert releases(tmp_path) == ["2026-11-1", "latest"]
    assert_whole(tmp_path)
    assert unfinished(tmp_path) == []


@pytest.mark.slow
def test_the_command_in_a_fresh_interpreter_is_killed_and_resumed(tmp_path, own_ledger):
    path = configuration_file(tmp_path)
    line = [sys.executable, "-m", "flows", "run", str(path)]
    started = subprocess.Popen(line, cwd=ROOT, stderr=subprocess.DEVNULL)
    while started.poll() is None and not own_ledger.exists():
        time.sleep(0.02)
    started.kill()
    assert started.wait() == -signal.SIGKILL
    assert releases(tmp_path) == []
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert phases() == ["commit"]
    assert_whole(tmp_path)
