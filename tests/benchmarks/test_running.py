"""Figures one after another: a failure costs no other figure, and names are looked up."""

import json
import os
import subprocess
import sys

import pytest

from tests.benchmarks.data import ROOT
from tests.benchmarks.running import chosen, run


def good() -> None:
    """A figure without a bar."""


def slow() -> str:
    """A figure that meets its bar."""
    return ""


def below() -> str:
    return "a ratio of 3.0 is below the bar of 20"


def broken() -> None:
    raise AssertionError("both count the same combinations")


def absent() -> None:
    raise RuntimeError("the peer can't be installed")


FIGURES = (broken, good, absent, slow, below)


def names(figures):
    return [figure.__name__ for figure in figures]


def test_a_figure_that_fails_is_reported_and_the_next_one_runs(capsys):
    ran = []

    def last():
        ran.append("last")

    assert run([broken, good, absent, below, last]) == 1
    assert ran == ["last"]
    said = capsys.readouterr()
    assert [json.loads(line) for line in said.out.splitlines()] == [
        {"name": "broken", "failed": "AssertionError: both count the same combinations"},
        {"name": "absent", "failed": "RuntimeError: the peer can't be installed"},
        {"name": "below", "failed": "a ratio of 3.0 is below the bar of 20"},
    ]
    assert said.err == "3 of 5 figures failed: broken, absent, below.\n"


def test_the_exit_code_is_0_where_all_figures_succeed(capsys):
    assert run([good, slow]) == 0
    assert capsys.readouterr().out == ""


def test_a_figure_that_is_skipped_costs_no_other(capsys):
    def skipped():
        raise SystemExit("Skipped: its peer is missing.")

    assert run([skipped, good]) == 1
    assert "Skipped: its peer is missing." in capsys.readouterr().out


def test_ctrl_c_stops_at_once():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([interrupted, good])


def test_figures_are_chosen_by_name_and_slow_ones_left_out_unless_they_are_named():
    assert names(chosen(FIGURES, [])) == ["broken", "good", "absent", "slow", "below"]
    assert names(chosen(FIGURES, [], ("slow",))) == ["broken", "good", "absent", "below"]
    assert names(chosen(FIGURES, ["below", "good"], ("slow",))) == ["good", "below"]
    assert names(chosen(FIGURES, ["slow"], ("slow",))) == ["slow"]


def test_a_name_that_is_unknown_gets_the_nearest_one():
    with pytest.raises(SystemExit, match=r"No figure is called belwo: did you mean below\?"):
        chosen(FIGURES, ["good", "belwo"])
    with pytest.raises(SystemExit, match="the figures are broken, good, absent, slow, below"):
        chosen(FIGURES, ["xyz"])


def test_make_bench_passes_its_name_on():
    """`make` with the recipe shown instead of run, and the program that it names with an unknown figure."""
    shown = subprocess.run(
        ["make", "-n", "-o", ".venv/.dev", "bench", "NAME=dp_fit_adult_r33", "SKIP_SLOW_PEERS=1"],
        cwd=ROOT,
        # `make test` may be what runs this: its flags would have this one tell of its folder, too.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    recipe = shown.splitlines()[-1].split()
    assert recipe[1:] == ["-m", "tests.benchmarks", "dp_fit_adult_r33", "--skip-slow-peers"]
    done = subprocess.run(
        [sys.executable, *recipe[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "No figure is called dp_fit_adult_r33: did you mean dp_fit_adult_r3?\n"
