"""Charts with two axes."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tasks.core.charts import plots
from tasks.core.charts.axes import Axes
from tasks.core.charts.plots import Curve, Limit

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
    points = path(
        plots.curves([Curve("one", ((1, 1), (10, 1), (100, 1)))], Axes("t", "x", "y", x_spacing="log"))
    )
    steps = np.diff([x for x, _ in points])
    assert steps[0] == pytest.approx(steps[1], abs=0.02)


def test_each_line_differs_in_colour_and_dashes():
    lines = [Curve(str(i), ((0, 0), (1, i))) for i in range(4)]
    drawn = list(ET.fromstring(plots.curves(lines, AXES)).iter("path"))
    looks = {(p.get("stroke"), p.get("stroke-dasharray")) for p in drawn}
    assert len(looks) == 4


def test_no_points_give_an_empty_plot():
    ET.fromstring(plots.curves([], AXES))
    ET.fromstring(plots.curves([Curve("none", ())], Axes("t", "x", "y", "log", "log1p")))


def test_an_error_of_nothing_has_a_place_on_a_logarithmic_axis():
    chart = plots.curves([Curve("one", ((10, 0), (100, 99)))], Axes("t", "x", "y", "log", "log1p"))
    (_, bottom), (_, top) = path(chart)
    axis = [line for line in ET.fromstring(chart).iter("line") if line.get("stroke") == plots.svg.SOFT]
    assert bottom == float(axis[0].get("y1"))
    assert top < bottom


def test_a_limit_is_drawn_in_ink_with_its_words_and_is_within_the_axis():
    chart = plots.curves([Curve("one", ((10, 1), (100, 2)))], AXES, Limit(9, "at most 9"))
    root = ET.fromstring(chart)
    [line] = [each for each in root.iter("line") if each.get("stroke") == plots.svg.INK]
    assert "at most 9" in [text.text for text in root.iter("text")]
    height = float(line.get("y1"))
    assert height < min(y for _, y in path(chart))


def test_a_single_point_is_a_dot():
    root = ET.fromstring(plots.curves([Curve("one", ((10, 1),))], AXES))
    assert len(list(root.iter("circle"))) == 1


def test_the_matrix_shows_both_sources_on_their_side_of_the_diagonal():
    below, above = np.full((2, 2), 0.25), np.full((2, 2), 0.75)
    chart = plots.matrix(["a", "b"], plots.AssociationSides(below, above, "x"), "t")
    texts = [t.text for t in ET.fromstring(chart).iter("text")]
    assert texts.count(".25") == texts.count(".75") == 1


def test_the_matrix_leaves_what_is_not_known_empty():
    unknown = np.full((2, 2), math.nan)
    texts = [
        t.text
        for t in ET.fromstring(
            plots.matrix(["a", "b"], plots.AssociationSides(unknown, unknown, "x"), "t")
        ).iter("text")
    ]
    assert texts == ["a", "a", "b", "b"]


def test_the_matrix_does_not_shrink_below_the_size_of_its_text():
    some = np.full((14, 14), 0.5)
    style = ET.fromstring(plots.matrix(["name"] * 14, plots.AssociationSides(some, some, "x"), "t")).get(
        "style"
    )
    assert f"min-width:{134 + 14 * 40 + 84}px" in style
