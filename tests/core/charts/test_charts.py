"""Charts of counts and shares."""

import re
import xml.etree.ElementTree as ET

import pytest

from tasks.core.charts import charts
from tasks.core.charts.charts import Bar, ErrorBar, Share, SurvivalLevel

NAMES = ("noisy", "synthetic")


def rects(chart: str, fill: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(chart).iter("rect") if element.get("fill") == fill]


def test_bars_are_as_long_as_their_counts():
    chart = charts.bars([Bar("a", 100, 50), Bar("b", 200, 200)], "t", ErrorBar(20, 20), NAMES)
    noisy = [float(r.get("width")) for r in rects(chart, charts.svg.NOISY)][1:]
    synthetic = [float(r.get("width")) for r in rects(chart, charts.svg.SYNTHETIC)][1:]
    assert noisy[1] == pytest.approx(2 * noisy[0], rel=1e-2)
    assert synthetic[0] == pytest.approx(noisy[0] / 2, rel=1e-2)
    assert synthetic[1] == pytest.approx(noisy[1], rel=1e-2)


def test_the_error_bar_reaches_as_far_as_stated_and_never_below_zero():
    chart = charts.bars([Bar("a", 100, None), Bar("b", 10, None)], "t", ErrorBar(20, 20), NAMES)
    ends = [
        re.findall(r"^M([\d.]+) [\d.]+H([\d.]+)", p.get("d"))[0] for p in ET.fromstring(chart).iter("path")
    ]
    # The first is the legend's.
    (low, high), (least, _) = [tuple(map(float, end)) for end in ends[1:]]
    per_record = float(rects(chart, charts.svg.NOISY)[1].get("width")) / 100
    assert high - low == pytest.approx(40 * per_record, rel=1e-2)
    assert least == pytest.approx(132)


def test_an_error_bar_too_short_to_see_is_left_out_but_told():
    chart = charts.bars([Bar("a", 40_000, 40_000)], "t", ErrorBar(0, 9, "true"), NAMES)
    root = ET.fromstring(chart)
    assert not list(root.iter("path"))
    assert "true" not in [text.text for text in root.iter("text")]
    assert "(true: 40\u202f000 to 40\u202f009)" in chart


def test_the_names_of_a_pair_stand_on_two_lines_where_one_is_too_short():
    texts = [
        t.text
        for t in ET.fromstring(
            charts.two_shares(
                [("a × b", 0.5, 0.2), ("marital-status × native-country", 0.5, 0.2)], "t", NAMES
            )
        ).iter("text")
    ]
    assert {"a × b", "marital-status", "× native-country"} <= set(texts)


def test_a_hostile_label_is_shown_as_text():
    chart = charts.bars([Bar("<script>alert('x')</script>", 1, 2)], '"><svg onload=x>', ErrorBar(1, 1), NAMES)
    assert "<script" not in chart
    assert "<svg onload" not in chart
    ET.fromstring(chart)


def test_every_chart_has_a_title_and_a_description():
    drawn = [
        charts.bars([], "no values", None, NAMES),
        charts.shares([Share("length 1", 3, None, None)], "shares"),
        charts.two_shares([("a × b", 0.5, 0.25)], "pairs", NAMES),
        charts.gauge(0.5, 3.0, "budget"),
    ]
    for chart in drawn:
        root = ET.fromstring(chart)
        assert root.get("role") == "img"
        assert root.find("title").text
        assert root.find("desc").text


def test_what_is_not_known_is_drawn_as_such_and_not_as_a_number():
    chart = charts.shares([Share("length 1", 30, None, None)], "t")
    assert rects(chart, "url(#not-known)")
    assert "not known" in chart


def test_shares_are_to_scale():
    chart = charts.shares([Share("length 2", 25, 5.0, 75)], "t")
    widths = [
        float(r.get("width")) for r in rects(chart, charts.svg.NOISY) + rects(chart, charts.svg.SYNTHETIC)
    ]
    whole = float(max(rects(chart, charts.svg.FAINT), key=lambda r: float(r.get("width"))).get("width"))
    assert [w / whole for w in widths if w != 11] == pytest.approx([0.2, 0.05], rel=1e-2)


def test_the_gauge_never_runs_over():
    root = ET.fromstring(charts.gauge(9.0, 3.0, "t"))
    whole, spent = [float(r.get("width")) for r in root.iter("rect")]
    assert spent == whole


def test_the_gauge_is_as_large_on_a_telephone_as_its_text():
    """390 pixels leave 358 to the page: what is drawn wider shrinks, and its letters with it."""
    root = ET.fromstring(charts.gauge(1.0, 3.0, "t"))
    drawn = float(root.get("viewBox").split()[2])
    letters = [float(label.get("font-size")) for label in root.iter("text")]
    bar = min(float(r.get("height")) for r in root.iter("rect"))
    assert min(letters) * 358 / drawn >= 11 and bar * 358 / drawn >= 14


def test_the_terminal_curve_falls_from_never_to_always():
    text = charts.curve_text([SurvivalLevel("length 1", 23.375, 133), SurvivalLevel("length 2", 49.625, 99)])
    lines = text.splitlines()
    assert lines[0].split() == ["true", "count", "length", "1", "length", "2"]
    assert "<0.1 %" in lines[1]
    assert all(cell in (">99.9 %", "100 %") for cell in re.findall(r"[<>\d.]+ %", lines[-1]))
    chances = [float(re.findall(r"([\d.]+) %", line)[1]) for line in lines[1:]]
    assert chances == sorted(chances)
    assert len({len(line) for line in lines}) == 1


def test_the_terminal_curve_of_no_threshold_is_certain():
    assert "100 %" in charts.curve_text([SurvivalLevel("length 1", 23.375, None)])


def test_no_length_gives_a_heading_alone():
    assert charts.curve_text([]).startswith("true count")
