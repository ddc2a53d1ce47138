"""The spread of one count over another."""

import xml.etree.ElementTree as ET

from tasks.core.charts import theme
from tasks.core.charts.axes import Axes
from tasks.core.charts.bands import Band, bands
from tasks.core.charts.bars import ErrorBar

AXES = Axes("t", "reported count", "synthetic count")
TWO = (Band(10.0, 5, (0.0, 1.0, 4.0, 9.0, 20.0)), Band(100.0, 1, (90.0, 90.0, 95.0, 100.0, 110.0)))


def areas(chart, colour):
    return [p for p in ET.fromstring(chart.in_page()).iter("path") if p.get("fill") == colour]


def points(path):
    return [tuple(map(float, each.split())) for each in path.get("d").strip("MZ").split("L")]


def test_the_outer_band_holds_the_inner_one_and_that_the_median():
    chart = bands(TWO, AXES, None)
    outer, inner = [points(each) for each in areas(chart, theme.SYNTHETIC)]
    [median] = [p for p in ET.fromstring(chart.in_page()).iter("path") if p.get("stroke") == theme.SYNTHETIC]
    lowest, low, middle = outer[0][1], inner[0][1], points(median)[0][1]
    assert lowest >= low >= middle >= inner[-1][1] >= outer[-1][1]
    assert "6 combinations" in chart.in_page()


def test_where_the_true_count_is_lies_above_the_line_of_equal_counts():
    chart = bands(TWO, AXES, ErrorBar(0, 9, "where the true count is"))
    [true] = areas(chart, theme.RELEASED)
    assert "where the true count is" in chart.in_page()
    assert "where the true count is" not in bands(TWO, AXES, None).in_page()
    outline = points(true)
    assert outline[-1][1] < outline[0][1]


def test_a_single_count_is_drawn_too():
    root = ET.fromstring(bands(TWO[:1], AXES, None).in_page())
    assert len(list(root.iter("circle"))) == 1
