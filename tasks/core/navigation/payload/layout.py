"""What stands on which page of the explorer: the configured layout goes in, places of columns come out."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from tasks.core.arrays import Json
from tasks.core.listing import some_of
from tasks.core.navigation.naming import Naming
from tasks.core.navigation.payload.columns import ShownColumn, first_attributes
from tasks.core.tables.column_names import matching_name

Given = TypeVar("Given")

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


def columns_told(columns: Sequence[ShownColumn], naming: Naming) -> list[Json]:
    """Columns as the page's program reads them, and what they and their values mean, where that is given."""
    return [column.to_json() | _meaning(column, naming) for column in columns]


def _meaning(column: ShownColumn, naming: Naming) -> Json:
    name = matching_name(column.name)
    named = _by_name(naming.value_names).get(name)
    about, marks = (_by_name(given).get(name) for given in (naming.descriptions, naming.marks))
    found: Json = {"names": [named.get(value, "") for value in column.values]} if named else {}
    found |= {"age": True} if name in map(matching_name, naming.ages) else {}
    found |= {"marks": marks} if marks else {}
    return found | ({"about": about} if about else {})


def _by_name(given: Mapping[str, Given]) -> dict[str, Given]:
    return {matching_name(name): value for name, value in given.items()}


def _visual(name: str, texts: Sequence[str], columns: Sequence[ShownColumn]) -> Json:
    """A chart of chosen attributes, with the texts of those that the release does not name."""
    ids = configured_attributes(columns)
    found = [(text, _attribute(text, ids)) for text in texts]
    body: Json = {"name": name, "attributes": [place for _, place in found if place is not None]}
    missing = [text for text, place in found if place is None]
    return body | ({"unreleased": missing} if missing else {})


def unreleased_told(found: Json) -> list[str]:
    """What whoever configured the layout should know of it. Args: found: the layout.

    It goes into logs, and the list may have been made from the table, so no value is named.
    """
    visuals = (each["name"] for page in found["pages"] for each in page["visuals"] if "unreleased" in each)
    named = list(dict.fromkeys(visuals))  # a chart may stand on several pages
    if not named:
        return []
    names, says = ("names", "the chart says") if len(named) == 1 else ("name", "each chart says")
    return [f"report_visuals: {some_of(named)} {names} values that the release does not hold: {says} which."]


def _attribute(text: str, ids: Mapping[tuple[str, str], int]) -> int | None:
    """The id of ``header:value``; either part may hold a colon."""
    splits = [(text[:place], text[place + 1 :]) for place, sign in enumerate(text) if sign == ":"]
    found = (ids.get((matching_name(header), value)) for header, value in splits)
    return next((place for place in found if place is not None), None)


def configured_attributes(columns: Sequence[ShownColumn]) -> dict[tuple[str, str], int]:
    """The id of each attribute by header and value as a configuration has them; an item also as A_x, 1.

    >>> configured_attributes([ShownColumn("Town", "category", ("Lille", "Lyon"), is_open=True)])
    {('town', 'Lille'): 0, ('town', 'Lyon'): 1}
    """
    found: dict[tuple[str, str], int] = {}
    for column, first in zip(columns, first_attributes(columns).tolist(), strict=False):
        for place, value in enumerate(column.values, start=first):
            found.setdefault((matching_name(column.name), value), place)
            if column.kind == "items":
                found.setdefault((matching_name(f"{column.name}_{value}"), "1"), place)
    return found
