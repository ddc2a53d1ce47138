"""The plot of series over two axes, and the matrix."""

import itertools
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tasks.core.charts import svg, theme
from tasks.core.charts.bars import Half, matrix
from tasks.core.charts.plot import (
    Axes,
    AxisScale,
    Columns,
    Dots,
    Line,
    plot,
    proportion,
    scale_of,
)
from tasks.core.charts.svg import Chart, LegendEntry, legend
from tasks.core.navigation.fidelity import Band
from tasks.core.navigation.report import spread_chart

AXES = Axes("title", "across", "up")


def line(points, place: int = 0, label: str = "one") -> Line:
    return Line(label, points, *theme.SERIES[place])


def path(chart: Chart) -> list[tuple[float, float]]:
    [drawn] = list(ET.fromstring(chart.in_page()).iter("path"))
    return [tuple(map(float, point.split())) for point in drawn.get("d")[1:].split("L")]


def test_a_line_is_drawn_to_scale_and_a_logarithmic_axis_gives_every_power_of_ten_the_same_room():
    points = path(plot([line(((0, 0), (5, 0.5), (10, 1.0)))], Axes("t", "x", "y", top=1.0)))
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.02)
    drawn = path(plot([line(((1, 1), (10, 1), (100, 1)))], Axes("t", "x", "y", x_spacing="log")))
    (x0, _), (x1, _), (x2, _) = drawn
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)


def test_each_line_differs_in_colour_and_dashes():
    lines = [line(((0, 0), (1, i)), i, str(i)) for i in range(4)]
    drawn = list(ET.fromstring(plot(lines, AXES).in_page()).iter("path"))
    looks = {(p.get("stroke"), p.get("stroke-dasharray")) for p in drawn}
    assert len(looks) == 4


def test_no_points_give_an_empty_plot():
    ET.fromstring(plot([], AXES).in_page())
    ET.fromstring(plot([line(())], Axes("t", "x", "y", "log", "log1p")).in_page())


def test_an_error_of_nothing_has_a_place_on_a_logarithmic_axis():
    chart = plot([line(((10, 0), (100, 99)))], Axes("t", "x", "y", "log", "log1p"))
    (_, bottom), (_, top) = path(chart)
    axis = [line for line in ET.fromstring(chart.in_page()).iter("line") if line.get("stroke") == theme.SOFT]
    assert bottom == float(axis[0].get("y1"))
    assert top < bottom


def test_a_limit_is_drawn_in_ink_with_its_words_and_is_within_the_axis():
    chart = plot([line(((10, 1), (100, 2)))], AXES, (9, "at most 9"))
    root = ET.fromstring(chart.in_page())
    [limit] = [each for each in root.iter("line") if each.get("stroke") == theme.INK]
    assert "at most 9" in [text.text for text in root.iter("text")]
    height = float(limit.get("y1"))
    assert height < min(y for _, y in path(chart))


def both(names, below, above) -> Chart:
    halves = Half(above, theme.SYNTHETIC, 0.8), Half(below, theme.RELEASED, 0.55)
    return matrix("t", "Told.", names, *halves)


def test_the_matrix_shows_both_sources_on_their_side_of_the_diagonal_and_leaves_empty_what_is_not_known():
    below, above = np.full((2, 2), 0.25), np.full((2, 2), 0.75)
    chart = both(["a", "b"], below, above)
    texts = [t.text for t in ET.fromstring(chart.in_page()).iter("text")]
    assert texts.count(".25") == texts.count(".75") == 1
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
        matrix("t", "Told.", ["a", "b"], Half(values, theme.RARE, 0.5, 0.04), has_diagonal=True).in_page()
    )
    assert [t.text for t in root.iter("text")] == ["a", "a", "b", "b", ".020", ".040"]
    shades = [r.get("fill-opacity") for r in root.iter("rect") if r.get("fill") == theme.RARE]
    assert shades == ["0.52", "1"]


def test_columns_are_as_high_as_their_figures():
    series = [Columns("A", (10.0, None), theme.RELEASED), Columns("B", (20.0, 5.0), theme.SYNTHETIC)]
    chart = plot(series, Axes("t", "", "", places=["x", "y"])).in_page()
    heights = {
        shape.find("title").text: float(shape.find("rect").get("height"))
        for shape in ET.fromstring(chart).iter("g")
    }
    assert heights["B: 20"] == pytest.approx(2 * heights["A: 10"], rel=1e-2)
    assert heights["B: 5"] == pytest.approx(heights["B: 20"] / 4, rel=1e-2)
    assert len(heights) == 3


@pytest.mark.parametrize(("places", "told"), [(7, True), (8, False)])
def test_values_stand_above_columns_that_are_few(places, told):
    series = [
        Columns(name, [value] * places, theme.RELEASED, proportion)
        for name, value in (("A", 0.5), ("B", 0.123))
    ]
    chart = plot(series, Axes("t", "", "", places=["x"] * places))
    assert ("0.12" in [text.text for text in ET.fromstring(chart.in_page()).iter("text")]) == told


def test_dots_stand_on_an_axis_around_them_with_ticks_in_full():
    points = [(0.5, 10_240, 10_230, 10_250, "May: 10240"), (1.5, 10_260, 10_255, 10_265, "June")]
    dots = Dots(points, "#000000")
    chart = plot([dots], Axes("t", "", "", y_spacing="around", places=["May", "June"]))
    root = ET.fromstring(chart.in_page())
    texts = [text.text for text in root.iter("text")]
    assert texts[:3] == ["10,220", "10,240", "10,260"] and {"May", "June"} <= set(texts)
    first, second = [float(circle.get("cy")) for circle in root.iter("circle")]
    assert first > second, "more is higher"


TWO = (Band(10.0, 5, (0.0, 1.0, 4.0, 9.0, 20.0)), Band(100.0, 1, (90.0, 90.0, 95.0, 100.0, 110.0)))


def areas(chart, colour):
    return [p for p in ET.fromstring(chart.in_page()).iter("path") if p.get("fill") == colour]


def points(shape):
    return [tuple(map(float, each.split())) for each in shape.get("d").strip("MZ").split("L")]


def test_the_outer_band_holds_the_inner_one_and_that_the_median():
    chart = spread_chart(TWO, "reported count", 0)
    outer, inner = [points(each) for each in areas(chart, theme.SYNTHETIC)]
    [median] = [p for p in ET.fromstring(chart.in_page()).iter("path") if p.get("stroke") == theme.SYNTHETIC]
    lowest, low, middle = outer[0][1], inner[0][1], points(median)[0][1]
    assert lowest >= low >= middle >= inner[-1][1] >= outer[-1][1]
    assert "6 combinations" in chart.in_page()
    single = ET.fromstring(spread_chart(TWO[:1], "reported count", 0).in_page())
    assert len(list(single.iter("circle"))) == 1


def test_where_the_true_count_is_lies_above_the_line_of_equal_counts():
    chart = spread_chart(TWO, "reported count", 9)
    [true] = areas(chart, theme.RELEASED)
    assert "range of the true count" in chart.in_page()
    assert "range of the true count" not in spread_chart(TWO, "reported count", 0).in_page()
    outline = points(true)
    assert outline[-1][1] < outline[0][1]


def test_a_logarithmic_axis_from_zero_has_a_place_for_zero_and_for_its_end():
    scale = scale_of([0.0, 3.0, 999.0], "log1p")
    assert (scale.part(0), scale.part(scale.high)) == (0, 1)
    assert scale.part(9) == pytest.approx(math.log(10) / math.log(1 + scale.high))
    assert scale.ticks() == [0, 1, 10, 100, 1000]


@pytest.mark.parametrize(
    ("values", "low", "high"), [([10, 90], 10, 100), ([12, 380], 10, 500), ([30], 20, 50), ([], 1, 2)]
)
def test_a_logarithmic_axis_ends_at_round_values_around_its_points(values, low, high):
    scale = scale_of(values, "log")
    assert (scale.low, scale.high) == (low, high)
    assert all(low <= tick <= high for tick in scale.ticks())
    assert len(scale.ticks()) >= 2


def test_a_linear_axis_begins_at_zero_and_what_is_beyond_an_axis_stands_at_its_end():
    assert scale_of([3, 7], "linear").low == 0
    assert scale_of([3, 7], "linear", ends_there=True).high == 7
    assert (AxisScale(10, 100, "log").part(1), AxisScale(10, 100, "log").part(1e9)) == (0, 1)


def texts(markup):
    return [
        (float(t.get("x")), float(t.get("y")), t.text) for t in ET.fromstring(f"<g>{markup}</g>").iter("text")
    ]


def test_entries_stand_beside_each_other_without_touching_and_go_on_on_the_next_line():
    markup, height = legend([LegendEntry(f"the meaning of {i}", "#000000", "line") for i in range(6)])
    found = texts(markup)
    assert len({y for _, y, _ in found}) > 1
    assert all(x + svg.text_width(words, 11.5) <= 400 for x, _, words in found)
    for (x, y, words), (after, same, _) in itertools.pairwise(found):
        assert y != same or after >= x + svg.text_width(words, 11.5)
    assert height > max(y for _, y, _ in found)
    assert legend([]) == ("", 0.0)
