"""What a draft's own rule, `noPersonalIdentifiers`, would empty of the columns that the draft keeps.

A table that was recognised goes in, what looks like identifiers comes out. Codes of customs, books and
regions look like numbers of people, but few of them stand in many rows: there the rule isn't drafted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.queries import connect
from tasks.core.recognition.cells import SeenColumn
from tasks.core.recognition.table import RecognisedTable
from tasks.core.recognition.treatment import Recognised
from tasks.core.records.dropped import TEXT_KINDS

#: A value that so many cells hold is nobody's own; where most of what looks so is, it is a code.
_NOBODY_S, _MOSTLY = 10, 0.5


@dataclass(frozen=True)
class Lookalike:
    """Cells of a column that look like identifiers of one kind.

    Attributes:
        column: its header.
        kind: of `TEXT_KINDS`.
        cells: how many; sensitive.
        is_code: whether they are codes, so that the rule isn't drafted for them.
    """

    column: str
    kind: str
    cells: int
    is_code: bool


def lookalike_words(found: Sequence[Lookalike]) -> Iterator[str]:
    """A sentence on each column, for the terminal of whoever has the table."""
    for is_code, column in dict.fromkeys((each.is_code, each.column) for each in found):
        of_column = [each for each in found if (each.is_code, each.column) == (is_code, column)]
        rule = f"the rule noPersonalIdentifiers ({', '.join(each.kind for each in of_column)})"
        looks = " or ".join(TEXT_KINDS[each.kind][0] for each in of_column)
        if is_code:
            yield (
                f"LOOK: {column!r} holds codes that look like {looks}, each in many rows. They are kept, and "
                f"{rule} is not drafted for this column. If they are people's, leave it out: --column "
                f"{column!r}=skip."
            )
        else:
            cells = max(each.cells for each in of_column)
            yield f"ATTENTION: {rule} empties what looks like {looks} in {column!r}: {cells:,} of its cells."


def lookalikes(table: RecognisedTable, subject: str | None) -> list[Lookalike]:
    """What looks like an identifier in the open columns of the release, as a run reads their cells."""
    of_name = {cells.name: cells for cells in table.cells}
    found = []
    with connect() as connection:
        for column in table.used(subject):
            if is_searched(column):
                read = of_name[column.name].read(connection, column.treatment.reading)
                found += _of_column(read, column.treatment.delimiter)
    return found


def is_searched(column: Recognised) -> bool:
    """Whether the rule is tried on a column: its values are neither listed nor binned."""
    return column.treatment.bins is None and column.treatment.domain is None


def _of_column(cells: SeenColumn, delimiter: str | None) -> list[Lookalike]:
    found = []
    for kind, (_, patterns) in TEXT_KINDS.items():
        looks = _looks(cells, patterns, delimiter)
        if not looks.any():
            continue
        often = cells.share(looks & (cells.held >= _NOBODY_S)) > _MOSTLY * cells.share(looks)
        number = int(cells.held[looks].sum())
        found.append(Lookalike(cells.name, kind, number, is_code=often and not cells.is_few(looks)))
    return found


def _looks(cells: SeenColumn, patterns: tuple[str, ...], delimiter: str | None) -> Flags:
    """Which texts, or items of them, look so."""
    search = re.compile("|".join(patterns)).search
    items = [text.split(delimiter) if delimiter else [text] for text in cells.texts]
    return np.array([any(search(item.strip()) for item in each) for each in items], np.bool_)
