"""What stands on which page of the explorer: the configured layout goes in, places of columns come out."""

from collections.abc import Mapping, Sequence

from tasks.core.arrays import Json
from tasks.core.navigation.payload.columns import ShownColumn, first_attributes

#: The page of what the configured ones leave out.
OTHER_COLUMNS = "Other columns"


def layout(
    columns: Sequence[ShownColumn],
    visuals: Mapping[str, Sequence[str]],
    pages: Mapping[str, Sequence[str]],
) -> Json:
    """Columns and visuals by page (sds.md 6.2); without configured pages, the visuals first and all columns.

    Args:
        columns: of the page.
        visuals: name to attributes, written ``header:value``.
        pages: page to names of visuals and columns; a visual stands before a column of the same name.
    """
    drawn: dict[str, Json] = {
        column.name: {"name": column.name, "column": place} for place, column in enumerate(columns)
    }
    ids = attribute_texts(columns)
    drawn |= {
        name: {"name": name, "attributes": [ids[text] for text in texts if text in ids]}
        for name, texts in visuals.items()
    }
    chosen = pages or {"": [*visuals, *(column.name for column in columns if column.name not in visuals)]}
    found = [
        {"name": page, "visuals": [drawn[name] for name in names if name in drawn]}
        for page, names in chosen.items()
    ]
    placed = {name for names in chosen.values() for name in names}
    if rest := [drawn[column.name] for column in columns if column.name not in placed]:
        found.append({"name": OTHER_COLUMNS, "visuals": rest})
    return {"pages": found}


def attribute_texts(columns: Sequence[ShownColumn]) -> dict[str, int]:
    """The id of each attribute by its text in a configuration: ``header:value``, of an item also ``A_x:1``.

    >>> attribute_texts([ShownColumn("town", "category", ("Lille", "Lyon"), is_open=True)])
    {'town:Lille': 0, 'town:Lyon': 1}
    """
    found: dict[str, int] = {}
    for column, first in zip(columns, first_attributes(columns).tolist(), strict=False):
        for place, value in enumerate(column.values):
            found.setdefault(f"{column.name}:{value}", first + place)
            if column.kind == "items":
                found.setdefault(f"{column.name}_{value}:1", first + place)
    return found
