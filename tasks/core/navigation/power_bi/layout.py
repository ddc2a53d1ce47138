"""The pages of a template: its model goes in, the JSON of ``Report/Layout`` comes out.

    +-----------------------------------------+--------------------+
    | title; what protects the release        | the selection      |
    +-----------------------------------------+   in numbers       |
    | a chart a column or group of values,    | list of columns    |
    | on a grid that their number decides     | and a chart of the |
    |                                         | column chosen there|
    |                                         | page 1: how to read|
    |                                         | it, what is left   |
    +-----------------------------------------+--------------------+

The grid is about SDS's (sds.md 6.2): 880 wide from y = 86 on, with 16 between charts. Names in the file are
hashes of places, so equal inputs give equal bytes.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.core.arrays import Json
from tasks.core.navigation.power_bi.measures import ACTUAL, AT_LEAST, AT_MOST, ESTIMATED
from tasks.core.navigation.power_bi.model import COLUMN, COMPARE, LABEL, NAME, RECORDS, TabularModel
from tasks.core.navigation.power_bi.showcase import TEXTS, ShowcaseChart, ShowcaseInputs, ShowcasePage
from tasks.core.navigation.power_bi.texts import filled_json, json_template

_GAP = 16


@dataclass(frozen=True)
class _Box:
    """A place on a page, in pixels of a page of 1280 by 720."""

    x: int
    y: int
    width: int
    height: int


_TITLE = _Box(16, 4, 880, 78)
_GRID = _Box(16, 86, 880, 618)
_NUMBERS = _Box(912, 8, 352, 120)
_LIST = _Box(912, 136, 352, 72)
_COMPARED = _Box(912, 216, 352, 488)
#: The same on the first page, where the words stand below.
_COMPARED_FIRST = _Box(912, 216, 352, 236)
_WORDS = _Box(912, 460, 352, 244)


@dataclass(frozen=True)
class Field:
    """A column or a measure that a visual shows.

    Attributes:
        table: whose it is.
        name: its own.
        is_measure: whether it is one.
    """

    table: str
    name: str
    is_measure: bool = False

    @property
    def reference(self) -> str:
        """By which the visual's parts name it."""
        return f"{self.table}.{self.name}"

    def expression(self, source: Json) -> Json:
        """In a query. Args: source: how the query refers to the table."""
        kind = "Measure" if self.is_measure else "Column"
        return {kind: {"Expression": {"SourceRef": source}, "Property": self.name}}


@dataclass
class _Visuals:
    """The visuals of a page, as they are placed."""

    page: int
    placed: list[Json] = field(default_factory=list)

    def place(self, box: _Box, visual: Json) -> None:
        """Put a visual there, before those that are placed already."""
        number = len(self.placed)
        place = {
            "x": box.x,
            "y": box.y,
            "z": number * 1000,
            "width": box.width,
            "height": box.height,
            "tabOrder": number * 1000,
        }
        name = _identity(f"page {self.page}, visual {number}")
        config = {"name": name, "layouts": [{"id": 0, "position": place}], "singleVisual": visual}
        self.placed.append({**place, "config": _as_text(config), "filters": "[]"})


def report_layout(model: TabularModel) -> Json:
    """The whole report."""
    pages = model.showcase.pages
    body: Json = filled_json(
        json_template("report.json"),
        config=_as_text(json_template("report_config.json")),
        sections=[_section(model, number, page) for number, page in enumerate(pages)],
    )
    return body


def _section(model: TabularModel, number: int, page: ShowcasePage) -> Json:
    body: Json = filled_json(
        json_template("section.json"),
        id=number,
        name=_identity(f"page {number}"),
        displayName=_on_a_line(page.name) or TEXTS.say("page", number=str(number + 1)),
        visuals=_visuals(model, number, page),
    )
    return body


def _visuals(model: TabularModel, number: int, page: ShowcasePage) -> list[Json]:
    inputs, visuals = model.inputs, _Visuals(number)
    headed = [(inputs.title, _HEADING), (inputs.protection, _SMALL)]
    visuals.place(_TITLE, _text_box(headed))
    for box, chart in zip(_grid(len(page.charts)), page.charts, strict=True):
        visuals.place(box, _chart(chart.title, _category(model, chart)))
    numbers = [_MEASURES[name] for name in (ESTIMATED, ACTUAL, AT_LEAST, AT_MOST)]
    visuals.place(_NUMBERS, _visual("numbers.json", TEXTS.say("chosen"), Values=numbers))
    visuals.place(_LIST, _list_of_columns(inputs))
    compared = _chart(TEXTS.say("compare"), Field(COMPARE, LABEL))
    visuals.place(_COMPARED if number else _COMPARED_FIRST, compared)
    if not number:
        visuals.place(_WORDS, _text_box([(line, _SMALL) for line in about(model)]))
    return visuals.placed


def about(model: TabularModel) -> list[str]:
    """The words of the first page: how to read the bars, and what of the configuration is left out."""
    inputs, left_out = model.inputs, model.showcase.left_out
    interval, count = TEXTS.say("no_interval"), TEXTS.say("about.reported_count")
    if inputs.has_ranges:
        count = TEXTS.say("about.measured_count")
        interval = TEXTS.say("about.file")
    elif inputs.resolution is not None:
        interval = TEXTS.say("about.resolution", resolution=str(inputs.resolution))
    return [
        *([TEXTS.say("about.left_out"), *left_out] if left_out else [TEXTS.say("about.nothing_left_out")]),
        TEXTS.say("about.estimated"),
        TEXTS.say("about.actual", count=count, length=str(inputs.reporting_length)),
        interval,
        TEXTS.say("about.select"),
        TEXTS.say("about.blank"),
        TEXTS.say("about.twins"),
        TEXTS.say("about.source", prefix=inputs.prefix),
    ]


_MEASURES = {name: Field(RECORDS, name, is_measure=True) for name in (ESTIMATED, ACTUAL, AT_LEAST, AT_MOST)}
_HEADING = {"fontSize": "20pt", "fontWeight": "bold"}
_SMALL = {"fontSize": "9pt"}


def _grid(number: int) -> list[_Box]:
    """A box for each of so many charts: rows of equal boxes, as near to squares as their number allows."""
    if not number:
        return []
    across = math.ceil(math.sqrt(number))
    down = math.ceil(number / across)
    width, height = (_GRID.width + _GAP) // across, (_GRID.height + _GAP) // down
    return [
        _Box(
            _GRID.x + place % across * width,
            _GRID.y + place // across * height,
            width - _GAP,
            height - _GAP,
        )
        for place in range(number)
    ]


def _category(model: TabularModel, chart: ShowcaseChart) -> Field:
    """The column whose values are a chart's bars."""
    if chart.header is not None:
        return Field(RECORDS, model.columns[chart.header])
    return Field(model.groups[chart], NAME)


def _chart(title: str, category: Field) -> Json:
    """Bars of both counts for each value of a column; the interval where somebody points at a bar."""
    return _visual(
        "chart.json",
        title,
        Category=[category],
        Y=[_MEASURES[ESTIMATED], _MEASURES[ACTUAL]],
        Tooltips=[_MEASURES[AT_LEAST], _MEASURES[AT_MOST]],
    )


def _list_of_columns(inputs: ShowcaseInputs) -> Json:
    """The columns to choose from, the first one chosen."""
    shown = Field(COMPARE, COLUMN)
    first = inputs.headers[0].column if inputs.headers else ""
    condition = {
        "In": {
            "Expressions": [shown.expression({"Source": "c"})],
            "Values": [[{"Literal": {"Value": _literal(first)}}]],
        }
    }
    chosen = {
        "Version": 2,
        "From": [{"Name": "c", "Entity": COMPARE, "Type": 0}],
        "Where": [{"Condition": condition}],
    }
    return _visual("slicer.json", TEXTS.say("compare"), {"filter": chosen}, Values=[shown])


def _visual(template: str, title: str, values: Json | None = None, **roles: Sequence[Field]) -> Json:
    """A visual of a template.

    Args:
        template: its file.
        title: what stands above it.
        values: further values of the template.
        roles: what it shows, by the role that each field has in it.
    """
    fields = [each for found in roles.values() for each in found]
    # Only what is grouped by is active: selecting a bar selects by it.
    active = {"active": True}
    projections = {
        role: [{"queryRef": each.reference} | ({} if each.is_measure else active) for each in found]
        for role, found in roles.items()
    }
    body: Json = filled_json(
        json_template(template),
        projections=projections,
        query=_query(fields),
        title=_literal(_on_a_line(title)),
        **(values or {}),
    )
    return body


def _query(fields: Sequence[Field]) -> Json:
    """A semantic query of some fields."""
    aliases = {table: f"t{place}" for place, table in enumerate(dict.fromkeys(each.table for each in fields))}
    return {
        "Version": 2,
        "From": [{"Name": alias, "Entity": table, "Type": 0} for table, alias in aliases.items()],
        "Select": [
            each.expression({"Source": aliases[each.table]})
            | {"Name": each.reference, "NativeReferenceName": each.name}
            for each in fields
        ],
    }


def _text_box(lines: Sequence[tuple[str, Json]]) -> Json:
    """Paragraphs, each with its style."""
    paragraphs = [
        {"textRuns": [{"value": _on_a_line(line), "textStyle": style}]} for line, style in lines if line
    ]
    body: Json = filled_json(json_template("text_box.json"), paragraphs=paragraphs)
    return body


def _literal(text: str) -> str:
    """A text as expressions write it."""
    return "'" + text.replace("'", "''") + "'"


def _on_a_line(text: str) -> str:
    """Without the line breaks and control characters that a name may hold."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _identity(place: str) -> str:
    return hashlib.sha256(place.encode()).hexdigest()[:20]


def _as_text(body: Any) -> str:
    """JSON within JSON, as the layout has it."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
