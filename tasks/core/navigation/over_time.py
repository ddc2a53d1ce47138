"""Releases of one dataset over time on one page: what changed more than noise or rounding explains.

In: the releases in their order, and what is known of each. Out: the page, and all counts as a table.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tasks.core.charts import theme
from tasks.core.charts.plot import Axes, Dots, Line, plot
from tasks.core.charts.svg import Chart
from tasks.core.evaluation.over_time import (
    FALSE_ALARM,
    NUMBER_OF_RECORDS,
    Change,
    Combination,
    OverTime,
    ReleasedCounts,
    compare_over_time,
)
from tasks.core.figures import format_near, format_whole
from tasks.core.metadata.errata import Erratum, status_of
from tasks.core.navigation.page import html
from tasks.core.tables.writing import Row, write_rows

#: Charts and lines of changes on the page; the table has all.
MOST_CHARTS, MOST_LINES = 24, 200
_RECORDS = "number of records"
#: Settings that follow from a draw and change with every release.
_FOLLOW = frozenset({"synthesis.random_seed"})


class Point(NamedTuple):
    """A release's count.

    Attributes:
        value: None where it was not published.
        low, high: where the true count lies, as far as noise or rounding tell.
        is_struck: of a release that was withdrawn: drawn hollow, and no line leads to it.
    """

    label: str
    value: float | None
    low: float = 0.0
    high: float = 0.0
    is_struck: bool = False
    is_changed: bool = False


@dataclass(frozen=True)
class DatedRelease:
    """One release of a dataset, with its public settings; without counts it can't be compared."""

    name: str
    vintage: str
    protection: str
    settings: tuple[tuple[str, str], ...]
    errata: tuple[Erratum, ...]
    counts: ReleasedCounts | None

    @property
    def stands(self) -> bool:
        return status_of(self.errata) != "withdrawn"


class History:
    def __init__(self, dataset: str, releases: Sequence[DatedRelease]) -> None:
        """Args: dataset: its name. releases: in their order; withdrawn ones are shown and not compared."""
        self.dataset, self.releases = dataset, list(releases)
        self._standing = [
            place for place, each in enumerate(releases) if each.stands and each.counts is not None
        ]
        self.found: OverTime = compare_over_time(
            [each for place in self._standing if (each := releases[place].counts) is not None]
        )
        self._rows = [_by_combination(each.counts) for each in releases]

    def place(self, compared: int) -> int:
        return self._standing[compared]

    def combinations(self) -> list[Combination]:
        return sorted({combination for rows in self._rows for combination in rows})

    def points(self, combination: Combination) -> list[Point]:
        changed = {
            self.place(change.after)
            for change in self.found.changes
            if change.combination == combination and change.after == change.before + 1
        }
        points = []
        for place, (release, rows) in enumerate(zip(self.releases, self._rows, strict=True)):
            point = Point(release.vintage, None, is_struck=not release.stands)
            if release.counts is not None and combination in rows:
                row = rows[combination]
                low, high = _range_of_count(release.counts, row)
                value = float(release.counts.counts[row])
                point = point._replace(value=value, low=low, high=high, is_changed=place in changed)
            points.append(point)
        return points

    def count(self, place: int, combination: Combination) -> int | None:
        rows, counts = self._rows[place], self.releases[place].counts
        return None if counts is None or combination not in rows else round(counts.counts[rows[combination]])


def _by_combination(counts: ReleasedCounts | None) -> dict[Combination, int]:
    return {} if counts is None else {each: row for row, each in enumerate(counts.combinations)}


def _range_of_count(counts: ReleasedCounts, row: int) -> tuple[float, float]:
    """Where the true count lies: by rounding, or by the noise of 95 of 100 draws."""
    value = float(counts.counts[row])
    if counts.kind == "rounded":
        return value, value + counts.resolution - 1
    scales = np.where(counts.weights[row] > 0, counts.scales[row], 0.0)
    half_width = 1.96 * float(scales.max(initial=0.0)) + 0.5
    return value - half_width, value + half_width


def told(combination: Combination) -> str:
    if combination == NUMBER_OF_RECORDS:
        return _RECORDS
    return "; ".join(f"{column}: {cell}" if cell else column for column, cell in combination)


def render_over_time(history: History) -> str:
    """One self-contained HTML page; equal releases give equal bytes."""
    found = history.found
    changed = dict.fromkeys(each.combination for each in found.changes if each.combination)
    kinds = {each.counts.kind for each in history.releases if each.counts is not None}
    context: dict[str, Any] = {
        "title": f"{history.dataset} over time",
        "history": history,
        "lines": list(_vintages(history)),
        "found": found,
        "compared": sum(found.compared),
        "false_alarm": format_near(100 * FALSE_ALARM),
        "noisy": "noisy" in kinds,
        "rounded": "rounded" in kinds,
        "sampled": "sampled" in kinds,
        "uncounted": [each.name for each in history.releases if each.counts is None],
        "withdrawn": [each.name for each in history.releases if not each.stands],
        "records": _chart(history, NUMBER_OF_RECORDS),
        "charts": [
            (told(each), _dates_of_changes(history, each), _chart(history, each))
            for each in list(changed)[:MOST_CHARTS]
        ],
        "changes": [_change_row(history, each) for each in found.changes[:MOST_LINES]],
        "more": max(0, len(found.changes) - MOST_LINES),
    }
    return html("over_time.html.j2", context, ("comparison.css", "over_time.css"))


def _dates_of_changes(history: History, combination: Combination) -> str:
    marks = [each for each in history.found.changes if each.combination == combination]
    return "; ".join(
        _date_of_change(history, each) for each in sorted(marks, key=lambda each: (each.after, -each.before))
    )


def _date_of_change(history: History, change: Change) -> str:
    since, label = (history.releases[history.place(each)].vintage for each in (change.before, change.after))
    return label if change.after == change.before + 1 else f"{label} (since {since})"


def _chart(history: History, combination: Combination) -> Chart:
    """Counts with their ranges over the releases, joined by a line; a changed one has the second colour."""
    points = history.points(combination)
    known = [f"{point.label}: {point.value:.0f}" for point in points if point.value is not None]
    placed = list(enumerate(points))
    standing = [(place, point) for place, point in placed if not point.is_struck]
    lines = [
        Line("", ((place + 0.5, point.value), (other + 0.5, following.value)), theme.RELEASED, thick=1.4)
        for (place, point), (other, following) in itertools.pairwise(standing)
        if point.value is not None and following.value is not None
    ]
    looks = {(False, False): theme.RELEASED, (False, True): theme.SYNTHETIC, (True, False): theme.SOFT}
    dots = [
        Dots(
            [
                (place + 0.5, point.value, point.low, point.high, f"{point.label}: {point.value:.0f}")
                for place, point in placed
                if point.value is not None and (point.is_struck, point.is_changed) == look
            ],
            colour,
            is_hollow=look[0],
        )
        for look, colour in looks.items()
    ]
    labels, described = [point.label for point in points], f"By release: {', '.join(known)}."
    axes = Axes(told(combination), "", "", y_spacing="around", description=described, places=labels)
    return plot([*lines, *dots], axes, size=(theme.WIDTH, 120))


def _vintages(history: History) -> Iterator[dict[str, Any]]:
    changed_at = {
        history.place(after): (before, after) for before, after in history.found.pairs if after == before + 1
    }
    before: DatedRelease | None = None
    for place, release in enumerate(history.releases):
        pair = changed_at.get(place)
        told_errata = [each.told(release.name) for each in release.errata]
        yield {
            "release": release,
            "status": status_of(release.errata),
            "errata": [text[:1].upper() + text[1:] for text in told_errata],
            "records": history.count(place, NUMBER_OF_RECORDS),
            "changed": sum((each.before, each.after) == pair for each in history.found.changes)
            if pair
            else None,
            "compared": None if pair is None else history.found.compared[history.found.pairs.index(pair)],
            "settings": _changed_settings(before, release),
        }
        before = release if release.stands else before


def _changed_settings(before: DatedRelease | None, release: DatedRelease) -> list[str]:
    if before is None:
        return []
    one, other = (
        {name: text for name, text in each.settings if name not in _FOLLOW} for each in (before, release)
    )
    return [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]


def _change_row(history: History, change: Change) -> dict[str, Any]:
    before, after = (history.releases[history.place(each)] for each in (change.before, change.after))
    is_rounded = after.counts is not None and after.counts.kind == "rounded"
    return {
        "what": told(change.combination),
        "before": before.vintage,
        "after": after.vintage,
        "was": "not published" if change.was is None else format_whole(change.was),
        "now": "not published" if change.now is None else format_whole(change.now),
        "by": f"{_format_signed(change.at_least)} to {_format_signed(change.at_most)}",
        "chance": "certain" if change.p_value == 0 and is_rounded else _format_chance(change.p_value),
    }


def _format_signed(value: int) -> str:
    return f"+{format_whole(value)}" if value > 0 else format_whole(value)


def _format_chance(p_value: float) -> str:
    return "below 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def write_over_time_tsv(history: History, path: Path) -> None:
    """Every count of every release, and the releases at which it changed.

    Columns: ``combination``, one a release, and ``changed_at``: the vintages, with a semicolon between two.
    """
    changed: dict[Combination, list[str]] = {}
    for change in history.found.changes:
        changed.setdefault(change.combination, []).append(_date_of_change(history, change))
    rows: list[Row] = [("combination", *(each.name for each in history.releases), "changed_at")]
    for combination in history.combinations():
        counts = [history.count(place, combination) for place in range(len(history.releases))]
        shown = ["" if count is None else count for count in counts]
        rows.append((told(combination), *shown, "; ".join(changed.get(combination, []))))
    write_rows(path, rows)
