"""How the page numbers values: a schema and what is released go in, columns with their values come out.

An *attribute id* of the page is a value's place among the values of all columns, one column after the other:

    sex   0 female  1 male     town   2 Lille  3 Lyon

Nothing tells the page this numbering but the lists of values themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids, Json
from tasks.core.navigation.payload.block import narrowest, type_name
from tasks.core.records.columns import Column


@dataclass(frozen=True)
class ShownColumn:
    """One column of the page.

    Attributes:
        name: the header.
        kind: ``category``, ``bins``, ``number``, ``date`` or ``items``.
        values: texts; code v of a record stands for ``values[v - 1]``.
        is_open: whether its values were read off the table.
        has_other: whether noisy tables have a cell for values that were not released.
        has_absent: whether they have one for no value.
        is_listed: whether ``values`` has an order that means something; otherwise the page sorts by count.
        slots: how many codes a record has here.
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
        """As the page's program reads it."""
        body: Json = {
            "name": self.name,
            "kind": self.kind,
            "values": list(self.values),
            "slots": self.slots,
            "type": type_name(narrowest(len(self.values))),
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


def held_value(attribute: Attribute) -> str:
    """The value of an attribute, or the item."""
    return attribute.value if attribute.item is None else attribute.item


def value_codes(columns: Sequence[ShownColumn], attributes: Sequence[Attribute]) -> tuple[Ids, Ids]:
    """Of each attribute the column, and the code of its value from 1 on; both int32."""
    codes = [{value: code for code, value in enumerate(column.values, start=1)} for column in columns]
    return (
        np.array([each.column for each in attributes], np.int32),
        np.array([codes[each.column][held_value(each)] for each in attributes], np.int32),
    )


def released_values(
    columns: Sequence[Column], known: Sequence[Sequence[str]], *attributes: Sequence[Attribute]
) -> list[tuple[str, ...]]:
    """Of each column the values that its release names: those that are declared or were drawn, then others.

    Args:
        columns: of the schema.
        known: of each column the values whose order is fixed.
        attributes: of all that is released; values that are not known yet follow in the order of their text.
    """
    found: list[Mapping[str, None]] = [dict.fromkeys(values) for values in known]
    more: list[set[str]] = [set() for _ in columns]
    for attribute in (each for part in attributes for each in part):
        if held_value(attribute) not in found[attribute.column]:
            more[attribute.column].add(held_value(attribute))
    return [(*values, *sorted(others)) for values, others in zip(found, more, strict=True)]


def kind_of_column(column: Column, values: Sequence[str]) -> str:
    """What the page calls a column's kind."""
    if column.is_multi_valued:
        return "items"
    if column.bins is not None:
        return "bins"
    if column.value_format is not None:
        return "date"
    return "number" if values and all(map(_is_number, values)) else "category"


def in_meant_order(column: Column, values: Sequence[str]) -> list[int] | None:
    """The places of values as their meaning orders them; None where they have no order but their counts'.

    >>> in_meant_order(Column("rooms"), ["1", "10", "2"])
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
