"""Charts with two axes."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tasks.core.charts import theme
from tasks.core.charts.axes import Axes
from tasks.core.charts.chart import Chart
from tasks.core.charts.curves import Curve, Limit, curves
from tasks.core.charts.matrix import Half, Matrix, matrix

AXES = Axes("title", "across", "up")


def path(chart: Chart) -> list[tuple[float, float]]:
    [drawn] = list(ET.fromstring(chart.in_page()).iter("path"))
    return [tuple(map(float, point.split())) for point in drawn.get("d")[1:].split("L")]


def test_a_line_is_drawn_to_scale():
    points = path(curves([Curve("one", ((0, 0), (5, 0.5), (10, 1.0)))], Axes("t", "x", "y", top=1.0)))
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.02)


def test_a_logarithmic_axis_gives_every_power_of_ten_the_same_room():
    points = path(curves([Curve("one", ((1, 1), (10, 1), (100, 1)))], Axes("t", "x", "y", x_spacing="log")))
    steps = np.diff([x for x, _ in points])
    assert steps[0] == pytest.approx(steps[1], abs=0.02)


def test_each_line_differs_in_colour_and_dashes():
    lines = [Curve(str(i), ((0, 0), (1, i))) for i in range(4)]
    drawn = list(ET.fromstring(curves(lines, AXES).in_page()).iter("path"))
    looks = {(p.get("stroke"), p.get("stroke-dasharray")) for p in drawn}
    assert len(looks) == 4


def test_no_points_give_an_empty_plot():
    ET.fromstring(curves([], AXES).in_page())
    ET.fromstring(curves([Curve("none", ())], Axes("t", "x", "y", "log", "log1p")).in_page())


def test_an_error_of_nothing_has_a_place_on_a_logarithmic_axis():
    chart = curves([Curve("one", ((10, 0), (100, 99)))], Axes("t", "x", "y", "log", "log1p"))
    (_, bottom), (_, top) = path(chart)
    axis = [line for line in ET.fromstring(chart.in_page()).iter("line") if line.get("stroke") == theme.SOFT]
    assert bottom == float(axis[0].get("y1"))
    assert top < bottom


def test_a_limit_is_drawn_in_ink_with_its_words_and_is_within_the_axis():
    chart = curves([Curve("one", ((10, 1), (100, 2)))], AXES, Limit(9, "at most 9"))
    root = ET.fromstring(chart.in_page())
    [line] = [each for each in root.iter("line") if each.get("stroke") == theme.INK]
    assert "at most 9" in [text.text for text in root.iter("text")]
    height = float(line.get("y1"))
    assert height < min(y for _, y in path(chart))


def test_a_single_point_is_a_dot():
    root = ET.fromstring(curves([Curve("one", ((10, 1),))], AXES).in_page())
    assert len(list(root.iter("circle"))) == 1


def both(names, below, above) -> Chart:
    halves = Half(above, theme.SYNTHETIC, 0.8), Half(below, theme.RELEASED, 0.55)
    return matrix(Matrix("t", "Told.", names, *halves))


def test_the_matrix_shows_both_sources_on_their_side_of_the_diagonal():
    below, above = np.full((2, 2), 0.25), np.full((2, 2), 0.75)
    chart = both(["a", "b"], below, above)
    texts = [t.text for t in ET.fromstring(chart.in_page()).iter("text")]
    assert texts.count(".25") == texts.count(".75") == 1


def test_the_matrix_leaves_what_is_not_known_empty():
    unknown = np.full((2, 2), math.nan)
    texts = [t.text for t in ET.fromstring(both(["a", "b"], unknown, unknown).in_page()).iter("text")]
    assert texts == ["a", "a", "b", "b"]


def test_the_matrix_does_not_shrink_below_the_size_of_its_text():
    some = np.full((14, 14), 0.5)
    drawn = ET.fromstring(both(["name"] * 14, some, some).in_page())
    assert (drawn.get("width"), drawn.get("class")) == (str(134 + 14 * 40 + 84), "chart fixed")


def test_a_matrix_of_one_side_may_have_its_diagonal_and_shades_by_its_largest():
    values = np.array([[0.02, 0.04], [0.04, math.nan]])
    root = ET.fromstring(
        matrix(Matrix("t", "Told.", ["a", "b"], Half(values, theme.RARE, 0.5, 0.04), None, True)).in_page()
    )
    assert [t.text for t in root.iter("text")] == ["a", "a", "b", "b", ".020", ".040"]
    shades = [r.get("fill-opacity") for r in root.iter("rect") if r.get("fill") == theme.RARE]
    assert shades == ["0.52", "1"]
