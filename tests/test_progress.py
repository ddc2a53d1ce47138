"""Progress away from a terminal: a line where there is something new, and none again and again."""

import pytest

from tasks.messages import Progress

Told = list[tuple[float, str, float]]


def lines(told: Told, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What is written where each is told at its second."""
    now = [0.0]
    progress = Progress("work", lambda: now[0])
    for second, what, fraction in told:
        now[0] = second
        progress(what, fraction)
    progress.close()
    return [line.strip() for line in capfd.readouterr().err.splitlines()]


def test_a_step_that_stands_still_is_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert lines([(second, "solve", 0) for second in range(200)], capfd) == ["work: solve   0%"]


def test_each_step_is_told_at_once_after_ten_seconds(capfd: pytest.CaptureFixture[str]) -> None:
    told: Told = [(9, "read", 0), (11, "read", 0.5), (12, "solve", 0), (13, "write", 0)]
    assert lines(told, capfd) == ["work: read  50%", "work: solve   0%", "work: write   0%"]


def test_a_further_tenth_is_told_ten_seconds_after_the_last_line(capfd: pytest.CaptureFixture[str]) -> None:
    told: Told = [
        (10, "draw", 0),
        (15, "draw", 0.3),
        (21, "draw", 0.35),
        (40, "draw", 0.39),
        (41, "draw", 0.4),
    ]
    assert lines(told, capfd) == ["work: draw   0%", "work: draw  35%", "work: draw  40%"]
