"""Upright bars: as high as their numbers."""

import xml.etree.ElementTree as ET

import pytest

from tasks.core.charts import theme
from tasks.core.charts.axes import Axes
from tasks.core.charts.bars import PROPORTIONS, Bar, Series
from tasks.core.charts.grouped_bars import GroupedBars, grouped_bars

SERIES = (Series("A", theme.RELEASED), Series("B", theme.SYNTHETIC))


def test_bars_are_as_high_as_their_figures():
    places = [Bar("x", (10.0, 20.0)), Bar("y", (None, 5.0))]
    chart = grouped_bars(GroupedBars(Axes("t", "", ""), places, SERIES)).in_page()
    heights = {
        shape.find("title").text: float(shape.find("rect").get("height"))
        for shape in ET.fromstring(chart).iter("g")
    }
    assert heights["B: 20"] == pytest.approx(2 * heights["A: 10"], rel=1e-2)
    assert heights["B: 5"] == pytest.approx(heights["B: 20"] / 4, rel=1e-2)
    assert len(heights) == 3


@pytest.mark.parametrize(("places", "told"), [(7, True), (8, False)])
def test_values_stand_above_bars_that_are_few(places, told):
    found = GroupedBars(Axes("t", "", ""), [Bar("x", (0.5, 0.123))] * places, SERIES, PROPORTIONS)
    texts = [text.text for text in ET.fromstring(grouped_bars(found).in_page()).iter("text")]
    assert ("0.12" in texts) == told
