"""The smallest SVG: escaping, ticks, text."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.charts import svg, theme
from tasks.core.charts.plot import nice_ticks, short_number


@given(st.text())
def test_any_text_gives_well_formed_markup_that_says_the_same(text):
    element = ET.fromstring(svg.label(0, 0, text))
    # An XML parser turns carriage returns into line feeds.
    assert (element.text or "") == svg.clean(text).replace("\r\n", "\n").replace("\r", "\n")


@given(st.text())
def test_any_text_is_safe_in_an_attribute(text):
    drawn = svg.tag("g", id=text)
    assert drawn.count('"') == (2 if text else 0)
    assert drawn.count("<") == drawn.count(">") == 1


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\x85", "\u202e", "\u2066", "\ud800"])
def test_control_and_reordering_characters_become_a_box(char):
    assert svg.clean(f"a{char}b") == "a\ufffdb"


@given(st.floats(1e-3, 1e12), st.integers(2, 8))
def test_ticks_are_round_ascending_and_reach_the_top(top, most):
    ticks = nice_ticks(top, most)
    assert ticks[0] == 0
    assert ticks == sorted(set(ticks))
    assert ticks[-1] >= top * (1 - 1e-6)
    assert len(ticks) <= most + 2


def test_a_long_text_is_cut_with_an_ellipsis():
    assert svg.shortened("a rather long label", 8) == "a rathe…"
    assert svg.shortened("short", 8) == "short"
    assert svg.shortened("  ", 8) == "\u2423"


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (0.5, "0.5"), (400, "400"), (12_000, "12k"), (3e6, "3M"), (2e9, "2G")]
)
def test_ticks_are_short(value, shown):
    assert short_number(value) == shown


def test_a_text_that_is_cut_fits_its_room():
    for text in ("short", "a name of a column that is long", "W" * 50, "\u4e2d" * 30, "", "x" * 100_000):
        shown = svg.fitted(text, 100)
        assert svg.text_width(shown) <= 100
        assert shown == text or shown.endswith("…") or text == ""


def test_every_colour_has_one_for_dark_pages():
    colours = {
        theme.INK,
        theme.SOFT,
        theme.FAINT,
        theme.GRID_LINE,
        theme.PAPER,
        theme.RELEASED,
        theme.SYNTHETIC,
        theme.SYNTHETIC_INK,
    }
    assert colours | {theme.STRIPE} | {colour for colour, _ in theme.SERIES} == set(theme.DARK)
