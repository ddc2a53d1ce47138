"""Charts of counts and shares, and the smallest SVG that they are drawn in."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.charts import svg, theme
from tasks.core.charts.bars import (
    NOT_KNOWN,
    PERCENTAGES,
    SHARES,
    Bar,
    Series,
    Whole,
    bars,
    budget_gauge,
    shares,
)
from tasks.core.charts.plot import nice_ticks, short_number
from tasks.core.charts.svg import Chart

SERIES = (Series("noisy", theme.RELEASED), Series("synthetic", theme.SYNTHETIC, theme.SYNTHETIC_INK))


def drawn(rows, numbers=PERCENTAGES, series=SERIES) -> Chart:
    return bars("t", "Told.", rows, series, numbers)


def rects(chart: Chart, fill: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(chart.in_page()).iter("rect") if element.get("fill") == fill]


def test_bars_are_as_long_as_their_counts_and_a_mark_stands_where_its_number_is():
    chart = drawn([Bar("a", (100, 50)), Bar("b", (200, 200))])
    noisy = [float(r.get("width")) for r in rects(chart, theme.RELEASED)][1:]
    synthetic = [float(r.get("width")) for r in rects(chart, theme.SYNTHETIC)][1:]
    assert [*noisy, *synthetic] == pytest.approx([noisy[1] / 2, noisy[1], noisy[0] / 2, noisy[1]], rel=1e-2)
    marked = drawn([Bar("a", (100,), mark=50)], series=[SERIES[1]])
    [mark] = [
        line for line in ET.fromstring(marked.in_page()).iter("line") if line.get("stroke") == theme.INK
    ]
    [bar] = rects(marked, theme.SYNTHETIC)[1:]
    assert float(mark.get("x1")) - 132 == pytest.approx(float(bar.get("width")) / 2, abs=0.02)


def test_the_names_of_a_pair_stand_on_two_lines_where_one_is_too_short():
    pairs = drawn([Bar("a × b", (0.5, 0.2)), Bar("marital-status × native-country", (0.5, 0.2))], SHARES)
    texts = [text.text for text in ET.fromstring(pairs.in_page()).iter("text")]
    assert {"a × b", "marital-status", "× native-country"} <= set(texts)


def test_of_a_value_without_a_count_nothing_is_told_and_a_note_comes_after_the_figures():
    rows = [Bar("a", (None, 3), note="in another table")]
    assert "<title>a; synthetic 3.00\u202f%; in another table</title>" in drawn(rows).in_page()


def test_shares_are_to_scale_and_a_whole_of_nothing_is_an_empty_bar():
    parts = ((20, theme.RELEASED), (5, theme.SYNTHETIC), (75, theme.FAINT))
    chart = shares([Whole("length 2", parts, "told")], (), "t", "d")
    widths = [float(rects(chart, colour)[0].get("width")) for _, colour in parts]
    assert [width / sum(widths) for width in widths] == pytest.approx([0.2, 0.05, 0.75], rel=1e-2)
    root = ET.fromstring(chart.in_page())
    assert (root.get("role"), root.find("title").text, root.find("desc").text) == ("img", "t", "d")
    assert "told" in chart.in_page() and NOT_KNOWN.removeprefix("url(#").removesuffix(")") in chart.in_page()
    nothing = shares([Whole("length 2", ((0, theme.RELEASED),), "none")], (), "t", "d")
    assert not rects(nothing, theme.RELEASED)
    assert len(rects(nothing, theme.GRID_LINE)) == 2, "the stripes' ground and the bar"


def test_the_gauge_never_runs_over_and_is_as_large_on_a_telephone_as_its_text():
    """390 pixels leave 358 to the page: what is drawn wider shrinks, and its letters with it."""
    root = ET.fromstring(budget_gauge(3.0, 9.0, 3.0).in_page())
    whole, spent = [float(r.get("width")) for r in root.iter("rect")]
    assert spent == whole
    shrunk = 358 / float(root.get("viewBox").split()[2])
    assert min(float(label.get("font-size")) for label in root.iter("text")) * shrunk >= 11
    assert min(float(r.get("height")) for r in root.iter("rect")) * shrunk >= 14


@given(st.text())
def test_any_text_gives_well_formed_markup_that_says_the_same_and_is_safe_in_an_attribute(text):
    element = ET.fromstring(svg.label(0, 0, text))
    # An XML parser turns carriage returns into line feeds.
    assert (element.text or "") == svg.clean(text).replace("\r\n", "\n").replace("\r", "\n")
    tag = svg.tag("g", id=text)
    assert tag.count('"') == (2 if text else 0)
    assert tag.count("<") == tag.count(">") == 1


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\x85", "\u202e", "\u2066", "\ud800"])
def test_control_and_reordering_characters_become_a_box(char):
    assert svg.clean(f"a{char}b") == "a\ufffdb"


@given(st.floats(1e-3, 1e12), st.integers(2, 8))
def test_ticks_are_round_ascending_and_reach_the_top(top, most):
    ticks = nice_ticks(top, most)
    assert ticks[0] == 0 and ticks == sorted(set(ticks))
    assert ticks[-1] >= top * (1 - 1e-6)
    assert len(ticks) <= most + 2
    shown = {0: "0", 0.5: "0.5", 400: "400", 12_000: "12k", 3e6: "3M", 2e9: "2G"}
    assert {value: short_number(value) for value in shown} == shown


def test_a_text_that_is_cut_fits_its_room_and_has_an_ellipsis():
    assert svg.shortened("a rather long label", 8) == "a rathe…"
    assert (svg.shortened("short", 8), svg.shortened("  ", 8)) == ("short", "\u2423")
    for text in ("short", "a name of a column that is long", "W" * 50, "\u4e2d" * 30, "", "x" * 100_000):
        shown = svg.fitted(text, 100)
        assert svg.text_width(shown) <= 100
        assert shown == text or shown.endswith("…") or text == ""


def test_every_colour_has_one_for_dark_pages():
    names = ("INK", "SOFT", "FAINT", "GRID_LINE", "PAPER", "RELEASED", "SYNTHETIC", "SYNTHETIC_INK", "STRIPE")
    colours = {getattr(theme, name) for name in names} | {colour for colour, _ in theme.SERIES}
    assert colours == set(theme.DARK)
