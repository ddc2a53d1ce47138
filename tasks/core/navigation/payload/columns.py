"""A page's columns: schema, released values and layout go in; values, codes and places of charts come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.evaluation.comparison import slots_of_records
from tasks.core.hints import list_some
from tasks.core.navigation.inputs import Naming
from tasks.core.navigation.payload.block import Buffers, sampled_places, type_name
from tasks.core.records.columns import Column
from tasks.core.synthesis.records import AnySynthetic
from tasks.core.tables.column_names import matching_name


@dataclass(frozen=True)
class ShownColumn:
    """One column of the page.

    Attributes:
        kind: ``category``, ``bins``, ``number``, ``date`` or ``items``.
        values: texts; code v of a record stands for ``values[v - 1]``.
        is_open: whether its values were read off the table.
        has_other: whether noisy tables have a cell for values that were not released.
        has_absent: whether they have one for no value.
        is_listed: whether ``values`` has an order that means something; otherwise the page sorts by count.
        is_decided: whether other columns decide it, so that nothing was drawn of it.
        source: the released file that its codes are of, where that is another one; empty for none.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    is_open: bool
    has_other: bool = False
    has_absent: bool = False
    is_listed: bool = True
    slots: int = 1
    is_decided: bool = False
    source: str = ""

    def to_json(self) -> Json:
        body: Json = {
            "name": self.name,
            "kind": self.kind,
            "values": list(self.values),
            "slots": self.slots,
            "type": type_name(np.min_scalar_type(len(self.values))),
            "open": self.is_open,
            "other": self.has_other,
            "absent": self.has_absent,
            "order": "listed" if self.is_listed else "count",
        }
        body |= {"decided": True} if self.is_decided else {}
        return body | ({"table": self.source} if self.source else {})


def first_attributes(columns: Sequence[ShownColumn]) -> Ids:
    """For each column the attribute id of its first value, and one more for the end; int32."""
    sizes = [0, *(len(column.values) for column in columns)]
    return np.cumsum(sizes).astype(np.int32)


def value_of_attribute(attribute: Attribute) -> str:
    return attribute.value if attribute.item is None else attribute.item


def value_codes(columns: Sequence[ShownColumn], attributes: Sequence[Attribute]) -> tuple[Integers, Integers]:
    """Of each attribute the column, and the code of its value from 1 on."""
    codes = [{value: code for code, value in enumerate(column.values, start=1)} for column in columns]
    return (
        np.array([each.column for each in attributes], np.int64),
        np.array([codes[each.column][value_of_attribute(each)] for each in attributes], np.int64),
    )


def released_values(
    columns: Sequence[Column], known: Sequence[Sequence[str]], *attributes: Sequence[Attribute]
) -> list[tuple[str, ...]]:
    """Of each column the values that its release names: those that are declared or were drawn, then others.

    Args:
        known: of each column the values whose order is fixed; others follow in the order of their text.
        attributes: of all that is released.
    """
    found: list[Mapping[str, None]] = [dict.fromkeys(values) for values in known]
    more: list[set[str]] = [set() for _ in columns]
    for attribute in (each for part in attributes for each in part):
        if value_of_attribute(attribute) not in found[attribute.column]:
            more[attribute.column].add(value_of_attribute(attribute))
    return [(*values, *sorted(others)) for values, others in zip(found, more, strict=True)]


def kind_of_column(column: Column, values: Sequence[str]) -> str:
    if column.is_multi_valued:
        return "items"
    if column.bins is not None:
        return "bins"
    if column.value_format is not None:
        return "date"
    return "number" if values and all(map(_is_number, values)) else "category"


def order_by_meaning(column: Column, values: Sequence[str]) -> list[int] | None:
    """The places of values as their meaning orders them; None where they have no order but their counts'.

    >>> order_by_meaning(Column("rooms"), ["1", "10", "2"])
    [0, 2, 1]
    """
    kind = kind_of_column(column, values)
    if not column.is_open:
        return list(range(len(values)))
    if kind == "number":
        return sorted(range(len(values)), key=lambda place: float(values[place]))
    if kind == "date":
        return sorted(range(len(values)), key=lambda place: _moment(column, values[place]))
    return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.lstrip("-").replace(".", "", 1).isdigit() and not text.startswith(".")


def _moment(column: Column, text: str) -> tuple[bool, datetime, str]:
    """Texts that are no moment stand last."""
    try:
        return False, datetime.strptime(text, column.value_format or ""), text
    except ValueError:
        return True, datetime.min, text


def put_records(block: Buffers, columns: Sequence[ShownColumn], synthetic: AnySynthetic) -> list[ShownColumn]:
    """Add the records by column as ``column/<column>/<slot>``: 0 is missing, v the value ``values[v - 1]``.

    Items of a record stand in ascending order of their codes; of very many records a sample is held. Returned
    are the columns, with as many slots as the fullest record fills, at least one.
    """
    places = sampled_places(synthetic.number_of_records)
    records = synthetic if places is None else synthetic.at(places)
    of_column, code = value_codes(columns, records.attributes)
    most = np.ones(len(columns), np.int64)
    slots = iter(slots_of_records(records, of_column, code, most))
    held = [replace(column, slots=number) for column, number in zip(columns, most.tolist(), strict=True)]
    for place, column in enumerate(held):
        for slot in range(column.slots):
            codes = next(slots).astype(np.min_scalar_type(len(column.values)))
            block.put(f"column/{place}/{slot}", codes)
    return held


Value = TypeVar("Value")

#: The page of what the configured ones leave out.
OTHER_COLUMNS = "Other columns"


def layout(columns: Sequence[ShownColumn], naming: Naming) -> Json:
    """Columns and visuals by page (S6.2); without configured pages, the visuals first and all columns.

    Names of columns match as the configuration's others do. A visual stands before a column of the same name.
    What is not configured on any page has one of its own, so that it can still be chosen from.
    """
    drawn: dict[str, Json] = {
        matching_name(column.name): {"name": column.name, "column": place}
        for place, column in enumerate(columns)
    }
    every = list(drawn.values())
    visuals = {name: _visual(name, texts, columns) for name, texts in naming.visuals.items()}
    chosen = [
        (page, [visuals.get(name) or drawn.get(matching_name(name)) for name in names])
        for page, names in naming.pages.items()
    ]
    found = [{"name": page, "visuals": [each for each in shown if each]} for page, shown in chosen]
    if not found:
        return {"pages": [{"name": "", "visuals": [*visuals.values(), *every]}]}
    placed = [each for page in found for each in page["visuals"]]
    if rest := [each for each in every if each not in placed]:
        found.append({"name": OTHER_COLUMNS, "visuals": rest})
    return {"pages": found}


def describe_columns(columns: Sequence[ShownColumn], naming: Naming) -> list[Json]:
    """Columns as the page's program reads them, and what they and their values mean, where that is given."""
    return [column.to_json() | _meaning(column, naming) for column in columns]


def _meaning(column: ShownColumn, naming: Naming) -> Json:
    name = matching_name(column.name)
    named = _of_column(naming.value_names, name)
    about, marks = _of_column(naming.descriptions, name), _of_column(naming.marks, name)
    meaning: Json = {"names": [named.get(value, "") for value in column.values]} if named else {}
    meaning |= {"age": True} if name in map(matching_name, naming.ages) else {}
    meaning |= {"marks": marks} if marks else {}
    return meaning | ({"about": about} if about else {})


def _of_column(by_column: Mapping[str, Value], name: str) -> Value | None:
    return next((value for column, value in by_column.items() if matching_name(column) == name), None)


def _visual(name: str, texts: Sequence[str], columns: Sequence[ShownColumn]) -> Json:
    """A chart of chosen attributes, with the texts of those that the release does not name."""
    ids = _configured_attributes(columns)
    found = [(text, _attribute(text, ids)) for text in texts]
    body: Json = {"name": name, "attributes": [place for _, place in found if place is not None]}
    missing = [text for text, place in found if place is None]
    return body | ({"unreleased": missing} if missing else {})


def describe_unreleased_values(found: Json) -> list[str]:
    """What whoever configured the layout should know of it. Args: found: the layout.

    It goes into logs, and the list may have been made from the table, so no value is named.
    """
    visuals = (each["name"] for page in found["pages"] for each in page["visuals"] if "unreleased" in each)
    named = list(dict.fromkeys(visuals))  # a chart may stand on several pages
    if not named:
        return []
    names, says = ("names", "the chart says") if len(named) == 1 else ("name", "each chart says")
    return [
        f"report_visuals: {list_some(named)} {names} values that the release does not hold: {says} which."
    ]


def _attribute(text: str, ids: Mapping[tuple[str, str], int]) -> int | None:
    """The id of ``header:value``; either part may hold a colon."""
    splits = [(text[:place], text[place + 1 :]) for place, sign in enumerate(text) if sign == ":"]
    found = (ids.get((matching_name(header), value)) for header, value in splits)
    return next((place for place in found if place is not None), None)


def _configured_attributes(columns: Sequence[ShownColumn]) -> dict[tuple[str, str], int]:
    """The id of each attribute by header and value as a configuration has them; an item also as A_x, 1.

    >>> _configured_attributes([ShownColumn("Town", "category", ("Lille", "Lyon"), is_open=True)])
    {('town', 'Lille'): 0, ('town', 'Lyon'): 1}
    """
    found: dict[tuple[str, str], int] = {}
    for column, first in zip(columns, first_attributes(columns).tolist(), strict=False):
        for place, value in enumerate(column.values, start=first):
            found.setdefault((matching_name(column.name), value), place)
            if column.kind == "items":
                found.setdefault((matching_name(f"{column.name}_{value}"), "1"), place)
    return found
