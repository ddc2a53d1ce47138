"""Charts of counts and shares."""

import xml.etree.ElementTree as ET

import pytest

from tasks.core.charts import theme
from tasks.core.charts.bars import (
    NOT_KNOWN,
    SHARES,
    Bar,
    Bars,
    Series,
    Whole,
    bars,
    budget_gauge,
    shares,
)
from tasks.core.charts.svg import Chart

SERIES = (Series("noisy", theme.RELEASED), Series("synthetic", theme.SYNTHETIC, theme.SYNTHETIC_INK))


def counts(rows, title="t") -> Chart:
    return bars(Bars(title, "Told.", rows, SERIES))


def shown_shares(rows) -> Chart:
    return bars(Bars("t", "Told.", rows, SERIES, SHARES))


def rects(chart: Chart, fill: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(chart.in_page()).iter("rect") if element.get("fill") == fill]


def test_bars_are_as_long_as_their_counts():
    chart = counts([Bar("a", (100, 50)), Bar("b", (200, 200))])
    noisy = [float(r.get("width")) for r in rects(chart, theme.RELEASED)][1:]
    synthetic = [float(r.get("width")) for r in rects(chart, theme.SYNTHETIC)][1:]
    assert noisy[1] == pytest.approx(2 * noisy[0], rel=1e-2)
    assert synthetic[0] == pytest.approx(noisy[0] / 2, rel=1e-2)
    assert synthetic[1] == pytest.approx(noisy[1], rel=1e-2)


def test_the_names_of_a_pair_stand_on_two_lines_where_one_is_too_short():
    pairs = shown_shares([Bar("a × b", (0.5, 0.2)), Bar("marital-status × native-country", (0.5, 0.2))])
    texts = [text.text for text in ET.fromstring(pairs.in_page()).iter("text")]
    assert {"a × b", "marital-status", "× native-country"} <= set(texts)


def test_a_hostile_label_is_shown_as_text():
    chart = counts([Bar("<script>alert('x')</script>", (1, 2))], '"><svg onload=x>')
    assert "<script" not in chart.in_page()
    assert "<svg onload" not in chart.in_page()
    ET.fromstring(chart.in_page())


def test_every_chart_has_a_title_and_a_description():
    drawn = [
        counts([]),
        shares([Whole("length 1", ((1, NOT_KNOWN),), "3 published")], (), "shares", "told"),
        shown_shares([Bar("a × b", (0.5, 0.25))]),
        budget_gauge(0.5, 1.0, 3.0),
    ]
    for chart in drawn:
        root = ET.fromstring(chart.in_page())
        assert root.get("role") == "img"
        assert root.find("title").text
        assert root.find("desc").text


def test_shares_are_to_scale():
    parts = ((20, theme.RELEASED), (5, theme.SYNTHETIC), (75, theme.FAINT))
    chart = shares([Whole("length 2", parts, "told")], (), "t", "d")
    widths = [float(rects(chart, colour)[0].get("width")) for _, colour in parts]
    assert [width / sum(widths) for width in widths] == pytest.approx([0.2, 0.05, 0.75], rel=1e-2)
    assert "told" in chart.in_page()


def test_a_whole_of_nothing_is_an_empty_bar():
    chart = shares([Whole("length 2", ((0, theme.RELEASED),), "none")], (), "t", "d")
    assert not rects(chart, theme.RELEASED)
    assert len(rects(chart, theme.GRID_LINE)) == 2, "the stripes' ground and the bar"


def test_the_gauge_never_runs_over():
    root = ET.fromstring(budget_gauge(3.0, 9.0, 3.0).in_page())
    whole, spent = [float(r.get("width")) for r in root.iter("rect")]
    assert spent == whole


def test_the_gauge_is_as_large_on_a_telephone_as_its_text():
    """390 pixels leave 358 to the page: what is drawn wider shrinks, and its letters with it."""
    root = ET.fromstring(budget_gauge(0.3, 1.0, 3.0).in_page())
    drawn = float(root.get("viewBox").split()[2])
    letters = [float(label.get("font-size")) for label in root.iter("text")]
    bar = min(float(r.get("height")) for r in root.iter("rect"))
    assert min(letters) * 358 / drawn >= 11 and bar * 358 / drawn >= 14


def test_of_a_value_without_a_count_nothing_is_told_and_a_note_comes_after_the_figures():
    rows = [Bar("a", (None, 3), note="in another table")]
    assert "<title>a; synthetic 3; in another table</title>" in counts(rows).in_page()


def test_a_mark_stands_where_its_number_is():
    chart = bars(Bars("t", "Told.", [Bar("a", (100,), mark=50)], [SERIES[1]]))
    [mark] = [each for each in ET.fromstring(chart.in_page()).iter("line") if each.get("stroke") == theme.INK]
    [bar] = rects(chart, theme.SYNTHETIC)[1:]
    assert float(mark.get("x1")) - 132 == pytest.approx(float(bar.get("width")) / 2, abs=0.02)
