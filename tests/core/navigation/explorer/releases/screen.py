"""What stands on the screen: every chart's rows with their numbers and bars, read at one moment."""

import re
from typing import NamedTuple

from tests.chromium import ExplorerPage, number

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
