"""What is made from what, from top to bottom: boxes and arrows by name go in, a chart comes out.

A row holds three boxes at most; what is more goes one row down. An arrow over several rows has a narrow lane
of its own in each, so that it passes beside the boxes and not behind them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tasks.core.charts import svg, theme
from tasks.core.charts.svg import Chart

#: With its margins 600 px: a browser shows it beside a side bar without shrinking it.
WIDTH = 550
_GAP, _RISE, _EDGE, _LINE, _LANE = 14, 34, 8, 15, 6
_ACROSS, _WIDEST = 3, 250


@dataclass(frozen=True)
class Box:
    """One box. Attributes: names: a line each, or two where it is long."""

    names: Sequence[str]
    note: str
    fill: str
    parents: Sequence[str] = ()


#: A box, by its key, or a lane, by its arrow.
_Item = str | tuple[str, str]


#: What stands beside each other.
_Row = list[_Item]


def _places(row: _Row) -> list[tuple[float, float]]:
    """Of each item of a row where it begins, and its width."""
    lanes, gaps = sum(isinstance(item, tuple) for item in row), _GAP * (len(row) - 1)
    box = min((WIDTH - gaps - _LANE * lanes) / max(len(row) - lanes, 1), _WIDEST)
    widths = [_LANE if isinstance(item, tuple) else box for item in row]
    left = (WIDTH - sum(widths) - gaps) / 2
    return [(left + sum(widths[:place]) + _GAP * place, width) for place, width in enumerate(widths)]


def layers(boxes: Mapping[str, Box], title: str, description: str) -> Chart:
    """Boxes under all that they are made from; an arrow that a longer way shows as well is left out."""
    edges = [(parent, key) for key in boxes for parent in _direct(key, boxes)]
    rows = _rows(boxes, edges)
    _order(rows, edges)
    middles: dict[_Item, list[tuple[float, float, float]]] = {}
    parts, top = [], 2.0
    for row in rows:
        drawn = [
            (item, left, width, _lines(boxes[item], width) if isinstance(item, str) else [])
            for item, (left, width) in zip(row, _places(row), strict=True)
        ]
        tall = max(_height(lines) for *_, lines in drawn)
        for item, left, width, lines in drawn:
            middle = left + width / 2
            if isinstance(item, str):
                parts.append(_drawn(boxes[item], lines, (left, top, width)))
                middles[item] = [(middle, top, top + _height(lines))]
            else:
                middles.setdefault(item, []).append((middle, top, top + tall))
        top += tall + _RISE
    arrows = [_arrow([middles[a][0], *middles.get((a, b), []), middles[b][0]]) for a, b in edges]
    return Chart(WIDTH, top - _RISE + 2, title, description, [*arrows, *parts])


def _direct(key: str, boxes: Mapping[str, Box]) -> list[str]:
    """The parents that are not reached through another parent."""
    parents = boxes[key].parents
    return [each for each in parents if not any(each in _before(other, boxes) for other in parents)]


def _before(key: str, boxes: Mapping[str, Box]) -> set[str]:
    return {found for parent in boxes[key].parents for found in (parent, *_before(parent, boxes))}


def _rows(boxes: Mapping[str, Box], edges: Sequence[tuple[str, str]]) -> list[_Row]:
    depth: dict[str, int] = {}
    for key, box in boxes.items():
        at = max((depth[parent] + 1 for parent in box.parents), default=0)
        while list(depth.values()).count(at) == _ACROSS:
            at += 1
        depth[key] = at
    rows: list[_Row] = [[] for _ in range(max(depth.values()) + 1)]
    for key, at in depth.items():
        rows[at].append(key)
    for parent, key in edges:
        for at in range(depth[parent] + 1, depth[key]):
            rows[at].append((parent, key))
    return rows


def _order(rows: Sequence[_Row], edges: Sequence[tuple[str, str]]) -> None:
    for above, row in pairwise(rows):
        at = {item: place / len(above) for place, item in enumerate(above)}

        def nearest(item: _Item, at: dict[_Item, float] = at) -> float:
            ends = [item] if isinstance(item, tuple) else [edge for edge in edges if edge[1] == item]
            found = [at[each] for edge in ends for each in (edge, edge[0]) if each in at]
            return sum(found) / len(found) if found else 1.0

        row.sort(key=nearest)


def _lines(box: Box, width: float) -> Sequence[tuple[str, float, str]]:
    room = width - 2 * _EDGE
    lines = [(line, theme.TEXT, theme.INK) for name in box.names for line in _wrapped(name, room, theme.TEXT)]
    return lines + [(line, theme.SMALL, theme.SOFT) for line in _wrapped(box.note, room, theme.SMALL) if line]


def _wrapped(text: str, room: float, size: float) -> list[str]:
    """A text in two lines at most, broken after blanks, underscores and dots."""
    if svg.text_width(text, size) <= room:
        return [text]
    pieces, first = re.findall(r"[^ _.]*[ _.]?", text), ""
    while pieces and svg.text_width(first + pieces[0], size) <= room:
        first += pieces.pop(0)
    return (
        [first.rstrip(), svg.fitted("".join(pieces), room, size)] if first else [svg.fitted(text, room, size)]
    )


def _height(lines: Sequence[object]) -> float:
    return _LINE * len(lines) + 10


def _arrow(points: Sequence[tuple[float, float, float]]) -> str:
    """From the bottom of the first, through each lane, to the top of the last; each is (x, top, bottom)."""
    path = f"M{svg.coordinate(points[0][0])} {svg.coordinate(points[0][2])}"
    for above, below in pairwise(points):
        half = (below[1] - above[2]) / 2
        numbers = (above[0], above[2] + half, below[0], below[1] - half, below[0], below[1])
        path += "C" + " ".join(map(svg.coordinate, numbers))
        if below is not points[-1]:
            path += f"V{svg.coordinate(below[2])}"
    x, _, _ = points[-1]
    head = f"M{svg.coordinate(x)} {svg.coordinate(points[-1][1])}l-4 -7h8z"
    return svg.tag("path", d=path, fill="none", stroke=theme.SOFT) + svg.tag("path", d=head, fill=theme.SOFT)


def _drawn(box: Box, lines: Sequence[tuple[str, float, str]], place: tuple[float, float, float]) -> str:
    left, top, width = place
    parts = [svg.rect(left, top, width, _height(lines), box.fill, rx=5, stroke=theme.SOFT)]
    for number, (text, size, colour) in enumerate(lines, start=1):
        y = top + 1 + _LINE * number
        parts.append(svg.label(left + _EDGE, y, text, font_size=size, fill=colour))
    return svg.tag("g", svg.tag("title", svg.escape("; ".join([*box.names, box.note]))) + "".join(parts))
