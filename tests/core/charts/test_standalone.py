"""Charts as files of their own: well formed, and saying their numbers."""

import itertools
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

import pytest

from tasks.core.charts import theme
from tasks.core.charts.bars import PERCENTAGES, Bar, Series, bars
from tasks.core.charts.plot import Axes, line_over_bars
from tasks.core.charts.svg import Chart, text_width
from tasks.core.evaluation.comparison import compare_two
from tasks.core.evaluation.sensitive_files import synthetic_charts
from tests.core.evaluation.test_comparison import ABC, SYNTHETIC
from tests.oracles.marginals import T1, coded

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> tuple[ElementTree.Element, list[str]]:
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {"width", "height", "viewBox", "role", "aria-label"} <= set(root.attrib)
    assert root.find(f"{SVG}title") is not None
    return root, [element.text or "" for element in root.iter(f"{SVG}text")]


def chart(size: int, largest: float = 1e6, line: Sequence[float] | None = None) -> Chart:
    axes = Axes(
        "A <title> & more",
        x="Length",
        y="",
        description="Told.",
        places=[f"{10 << place:,}" for place in range(size)],
    )
    bars = [largest * (place + 1) / max(size, 1) for place in range(size)]
    line = [place / max(size, 1) for place in range(size)] if line is None else line
    return line_over_bars(axes, ("Line", line), ("Bars", bars), theme.BY_COUNT)


def placed(element: ElementTree.Element, down: float = 0.0) -> Iterator[tuple[ElementTree.Element, float]]:
    """Every element, and how far the groups that it is in move it down."""
    for inner in element:
        moved = inner.attrib.get("transform", "")
        by = float(moved.removesuffix(")").split()[1]) if moved.startswith("translate") else 0.0
        yield inner, down + by
        yield from placed(inner, down + by)


def lines_of_text(root: ElementTree.Element) -> dict[float, list[tuple[float, float]]]:
    """Where texts of ordinary size begin and end, by the height that they stand on, inside the margins."""
    found: dict[float, list[tuple[float, float]]] = {}
    texts = ((each, down) for each, down in placed(root) if each.tag == f"{SVG}text")
    for text, down in texts:
        size = float(text.attrib["font-size"])
        width, x = text_width(text.text or "", size), float(text.attrib["x"])
        start = x - width * {"middle": 0.5, "end": 1.0}.get(text.attrib.get("text-anchor", ""), 0.0)
        if size in (theme.SMALL, theme.TEXT) and "transform" not in text.attrib:
            found.setdefault(down + float(text.attrib["y"]), []).append((start, start + width))
    return found


@pytest.mark.parametrize("size", [0, 1, 3, 15, 60])
@pytest.mark.parametrize("largest", [9.5, 163_840.0, 1e9])
def test_no_text_touches_another_one_or_leaves_the_chart(size, largest):
    root, texts = parsed(chart(size, largest).as_file())
    assert "A <title> & more" in texts and ("0.00" in texts or not size)
    assert len(list(root.iter(f"{SVG}circle"))) == size
    for places in lines_of_text(root).values():
        places.sort()
        assert places[0][0] >= 0 and places[-1][1] <= float(root.attrib["width"])
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(places))


def test_line_and_bars_stand_in_panels_of_their_own():
    root, _ = parsed(chart(5).as_file())
    shapes = list(placed(root))
    lowest = max(float(each.attrib["cy"]) + down for each, down in shapes if each.tag == f"{SVG}circle")
    tops = [
        float(each.attrib["y"]) + down
        for each, down in shapes
        if each.attrib.get("fill") == theme.BY_COUNT
        if each.tag == f"{SVG}rect"
    ]
    assert len(tops) == 6, "five bars and the legend's box"
    assert lowest < min(tops)


def test_a_small_proportion_is_not_shown_as_none_and_numbers_have_separators():
    _, texts = parsed(chart(3, 1_234_567, line=(0.0, 0.004, 0.00001)).as_file())
    assert {"0.00", "0.004", "<0.0001", "1,234,567", "1.5M"} <= set(texts)


def ranked(rows: tuple[tuple[str, float], ...]) -> str:
    shown = [Bar(name, (value,)) for name, value in rows]
    series = [Series("", theme.RARE)]
    return bars("Most linkable", "Told.", shown, series, PERCENTAGES, axis="Share").as_file()


def test_long_names_of_a_ranking_stay_within_the_chart():
    names = ("W" * 60, "native-country:Outlying-US(Guam-USVI-etc)", "\u4e2d" * 40)
    root, _ = parsed(ranked(tuple((name, 50.0) for name in names)))
    for places in lines_of_text(root).values():
        assert min(places)[0] >= 0


def test_a_ranking_is_drawn_in_its_order_and_cut_names_are_marked():
    _, texts = parsed(ranked((("occupation", 82.44), ("x" * 80, 12.0), ("<b>", 0.0))))
    assert texts.index("occupation") < texts.index("<b>")
    assert "82.44\u202f%" in texts
    assert any(text.endswith("…") for text in texts)
    _, texts = parsed(ranked(()))
    assert "There is none." in texts


def test_the_charts_of_the_evaluation_carry_t11a():
    charts = synthetic_charts(compare_two(coded(ABC, T1), coded(ABC, SYNTHETIC), 2, 3))
    assert set(charts) == {
        "synthetic_leakage_by_length", "preservation_by_count", "proportional_error_by_count",
        "preservation_by_length",
    }  # fmt: skip
    assert {"0.25", "4", "1"} <= set(parsed(charts["synthetic_leakage_by_length"])[1])
    assert {"0.93", "9", "10"} <= set(parsed(charts["preservation_by_count"])[1])
    assert {"0.22", "9"} <= set(parsed(charts["proportional_error_by_count"])[1])
    assert {"0.83", "2.5", "1.75"} <= set(parsed(charts["preservation_by_length"])[1])
