"""Charts with two axes."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tasks.core.navigation import plots
from tasks.core.navigation.fidelity import Density
from tasks.core.navigation.plots import Axes, Curve

AXES = Axes("title", "across", "up")


def path(chart: str) -> list[tuple[float, float]]:
    [drawn] = list(ET.fromstring(chart).iter("path"))
    return [tuple(map(float, point.split())) for point in drawn.get("d")[1:].split("L")]


def test_a_line_is_drawn_to_scale():
    points = path(plots.curves([Curve("one", ((0, 0), (5, 0.5), (10, 1.0)))], Axes("t", "x", "y", top=1.0)))
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.02)


def test_a_logarithmic_axis_gives_every_power_of_ten_the_same_room():
    points = path(plots.curves([Curve("one", ((1, 1), (10, 1), (100, 1)))], Axes("t", "x", "y", log_x=True)))
    steps = np.diff([x for x, _ in points])
    assert steps[0] == pytest.approx(steps[1], abs=0.02)


def test_each_line_differs_in_colour_and_dashes():
    lines = [Curve(str(i), ((0, 0), (1, i))) for i in range(4)]
    drawn = list(ET.fromstring(plots.curves(lines, AXES)).iter("path"))
    looks = {(p.get("stroke"), p.get("stroke-dasharray")) for p in drawn}
    assert len(looks) == 4


def test_no_points_give_an_empty_plot():
    ET.fromstring(plots.curves([], AXES))
    ET.fromstring(plots.curves([Curve("none", ())], Axes("t", "x", "y", log_x=True, log_y=True)))


def test_the_size_of_the_density_does_not_grow_with_what_it_shows():
    few = plots.density(Density(3, 44, ((1, 1, 5),)), AXES)
    many = plots.density(Density(3, 44, ((1, 1, 5_000_000),)), AXES)
    assert abs(len(few) - len(many)) < 20
    ET.fromstring(many)


def test_the_matrix_shows_both_sources_on_their_side_of_the_diagonal():
    below, above = np.full((2, 2), 0.25), np.full((2, 2), 0.75)
    chart = plots.matrix(["a", "b"], plots.Sides(below, above, "x"), "t")
    texts = [t.text for t in ET.fromstring(chart).iter("text")]
    assert texts.count(".25") == texts.count(".75") == 1


def test_the_matrix_leaves_what_is_not_known_empty():
    unknown = np.full((2, 2), math.nan)
    texts = [
        t.text
        for t in ET.fromstring(plots.matrix(["a", "b"], plots.Sides(unknown, unknown, "x"), "t")).iter("text")
    ]
    assert texts == ["a", "a", "b", "b"]
