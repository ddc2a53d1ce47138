"""What stands on the screen, what a person does there, and that charts then show what the files say."""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from tests.chromium import ExplorerPage, number
from tests.core.navigation.explorer.releases.making import KINDS
from tests.oracles.released_files import UNTOLD, Actual, Chosen, ReleasedFiles

#: Of each chart that is drawn, its rows: name, numbers, what a screen reader says, ends of bars in percent.
_READ = """() => [...document.querySelectorAll(".explorer article")].map(card => [
    card.querySelector("h3").textContent,
    [...card.querySelectorAll("button[aria-pressed]")].map(row => {
        const text = (query) => row.querySelector(query)?.textContent ?? null;
        const bar = (query) => row.querySelector(`svg ${query}`)?.getAttribute("width") ?? null;
        const range = row.querySelector("svg .range line");
        const ends = range && [range.getAttribute("x1"), range.getAttribute("x2")];
        return [text(".label"), text(".figures .estimated"), text(".figures .actual"), text(".unseen"),
            bar("rect.estimated"), bar("rect.actual"), ends];
    })])"""


class Bars(NamedTuple):
    """Ends of what is drawn, in percent of its room; None where it is not."""

    estimated: float | None
    actual: float | None
    range: tuple[float, float] | None


class Row(NamedTuple):
    """A value on the screen. Attributes: low, high: of the range. bars: what is drawn of all these."""

    estimated: int | None
    actual: int | None
    low: int | None
    high: int | None
    bars: Bars


def charts(explorer: ExplorerPage) -> dict[str, dict[str, Row]]:
    """The rows of all charts that are drawn, by the chart's name and the value's."""
    return {name: dict(map(_row, rows)) for name, rows in explorer.page.evaluate(_READ)}


def _row(read: list[str]) -> tuple[str, Row]:
    label, estimated, actual, spoken, *drawn = read
    between = re.search(r"between ([\d,]+) and ([\d,]+)", spoken)
    assert (actual is None) == (re.search(r"actual -?\d", spoken) is None)
    low, high = map(number, between.groups()) if between else (None, None)
    bars = Bars(*map(_percent, drawn[:2]), tuple(map(_percent, drawn[2])) if drawn[2] else None)
    return label, Row(number(estimated), number(actual), low, high, bars)


def _percent(text: str | None) -> float | None:
    return None if text is None else float(text.removesuffix("%"))


#: Where a chart's axis ends, in percent; of what only bounds are known, these may lie beyond it.
END = 100.0


def on_kinds(*quick: str) -> list[object]:
    """All kinds for a test's parameter; but for a few it is slow, and some need tables of others."""
    found = []
    for kind in KINDS:
        marks = [] if kind.startswith("survey") else [pytest.mark.needs_shared]
        found.append(pytest.param(kind, marks=marks if kind in quick else [*marks, pytest.mark.slow]))
    return found


def agrees(explorer: ExplorerPage, files: ReleasedFiles, chosen: Chosen) -> int:
    """Every number of every chart is the files'; returns how many published counts were among them."""
    published = 0
    for name, rows in charts(explorer).items():
        assert rows or name not in files.columns, "a chart without a value"
        for text, row in rows.items():
            column, label = place_of(files, name, text)
            assert row.estimated == files.estimated(chosen, column, label), (column, label)
            published += same_actual(row, files.actual(chosen, column, label), (column, label, chosen))
        drawn_to_scale(rows)
    return published


def place_of(files: ReleasedFiles, chart: str, text: str) -> tuple[str, str]:
    """The column and the value of a row; a chart of chosen values names both."""
    if chart in files.columns:
        return chart, text
    column, _, label = text.partition(": ")
    return column, label


def same_actual(row: Row, expected: Actual | None, what: object) -> bool:
    """The second bar is what the files say; returns whether they say a count."""
    if expected is UNTOLD:
        assert row.low is not None and row.low <= (row.low if row.actual is None else row.actual) <= row.high
        return False
    if expected is None:
        assert (row.actual, row.low, row.high) == (None, None, None), what
        return False
    assert row.actual == expected.value, what
    for found, wanted in ((row.low, expected.low), (row.high, expected.high)):
        # The end that noise gives may be cut by what other counts leave: by one where that is near.
        assert found is not None and (wanted is None or abs(found - wanted) <= 1), what
    return expected.value is not None


def drawn_to_scale(rows: dict[str, Row]) -> None:
    """All ends of bars and ranges of a chart stand for their numbers by one scale."""
    pairs = []
    for row in rows.values():
        ends = row.bars.range or (None, None)
        pairs += [(row.estimated, row.bars.estimated), (row.actual, row.bars.actual)]
        pairs += [(row.low, ends[0]), (row.high, ends[1])]
    assert all((number is None) == (percent is None) for number, percent in pairs)
    told = [(number, percent) for number, percent in pairs if number is not None and percent is not None]
    scale = next((percent / number for number, percent in told if number and percent < END), None)
    assert scale is None or all(abs(percent - min(scale * number, END)) < 1e-6 for number, percent in told)


def show(explorer: ExplorerPage, page: str) -> None:
    """Turn to a page of charts, where there are several."""
    if page:
        explorer.press(page)


def pages_of(explorer: ExplorerPage) -> list[str]:
    """The names of its pages of charts; one without a name where there is one."""
    return explorer.page.get_by_role("group", name="Pages").get_by_role("button").all_inner_texts() or [""]


def choose(explorer: ExplorerPage, draw: random.Random, column: str, but: Sequence[str] = ()) -> str:
    """Click one of the values that somebody holds within what is chosen so far."""
    rows = charts(explorer)[column].items()
    label = draw.choice([label for label, row in rows if row.estimated and label not in but])
    explorer.click(column, label)
    return label
