"""The chance of being published, as a terminal shows it."""

import re

from tasks.core.navigation.survival import SurvivalLevel, curve_text


def test_the_terminal_curve_falls_from_never_to_always():
    text = curve_text([SurvivalLevel("length 1", 23.375, 133), SurvivalLevel("length 2", 49.625, 99)])
    lines = text.splitlines()
    assert lines[0].split() == ["true", "count", "length", "1", "length", "2"]
    assert "<0.1 %" in lines[1]
    assert all(cell in (">99.9 %", "100 %") for cell in re.findall(r"[<>\d.]+ %", lines[-1]))
    chances = [float(re.findall(r"([\d.]+) %", line)[1]) for line in lines[1:]]
    assert chances == sorted(chances)
    assert len({len(line) for line in lines}) == 1


def test_no_length_gives_a_heading_alone():
    assert curve_text([]).startswith("true count")
