"""Which open columns a release would lose, and what coarser way of reading them would keep more.

A table that was looked at and the least count of a value that is released go in; columns with proposals come
out. It is for the terminal of whoever has the table, before anything is drafted: nothing of it is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.errors import ParameterError
from tasks.core.queries import connect
from tasks.core.recognition.cells import SeenColumn
from tasks.core.recognition.said import Overrule
from tasks.core.recognition.table import RecognisedTable
from tasks.core.recognition.treatment import Recognised

#: A column is lost where more than this share of its cells hold a value that would not be released.
_MOSTLY = 0.5
#: What may be left of a date, from the finest on.
_COARSER_DATES = {"day": ("month", "year"), "hour": (), "month": ("year",), "": ("month", "year")}


@dataclass(frozen=True)
class LostColumn:
    """An open column of which most would not be released.

    Attributes:
        name: its header.
        is_empty: whether none of its values would likely be released.
        coarser: the finest way of reading it that would keep most of it, as an overrule says it; empty: none.
    """

    name: str
    is_empty: bool
    coarser: str


def lost_columns(table: RecognisedTable, subject: str | None, least: float) -> list[LostColumn]:
    """The columns of the release of which most would be lost.

    Args:
        table: as it was recognised and corrected.
        subject: the column that says whose row it is; of somebody with several rows one counts.
        least: so many records must hold a value, or it will likely not be released.
    """
    cells = {each.name: each for each in table.cells}
    people = number_of_records(table, subject)
    found = []
    for column in table.used(subject):
        if not _is_open(column):
            continue
        share, some = _lost(column, cells[column.name], people, least)
        if share > _MOSTLY:
            found.append(LostColumn(column.name, not some, _coarser(table, column, people, least)))
    return found


def number_of_records(table: RecognisedTable, subject: str | None) -> int:
    """How many records a release of the table would be about: people, or rows."""
    if subject is None:
        return table.rows
    name = table.column(subject).name
    return next(each.distinct for each in table.cells if each.name == name)


def _is_open(column: Recognised) -> bool:
    return column.treatment.bins is None and column.treatment.domain is None


def _lost(column: Recognised, cells: SeenColumn, people: int, least: float) -> tuple[float, bool]:
    """The share of cells whose value would be lost, and whether some value would not."""
    treatment = column.treatment
    with connect() as connection:
        read = cells.read(connection, treatment.reading)
    held = np.asarray(read.held, np.float64)
    if treatment.delimiter is not None:
        held = _of_items(read, treatment.delimiter)
    if not held.sum():
        return 0.0, True
    is_lost = held * people / max(cells.rows, 1) < least
    return float(held[is_lost].sum() / held.sum()), bool((~is_lost).any())


def _of_items(read: SeenColumn, delimiter: str) -> np.ndarray:
    """How many cells hold each item."""
    found: dict[str, float] = {}
    for text, held in zip(read.texts, read.held.tolist(), strict=True):
        for item in {part.strip() for part in text.split(delimiter)} - {""}:
            found[item] = found.get(item, 0.0) + held
    return np.array(list(found.values()), np.float64)


def _coarser(table: RecognisedTable, column: Recognised, people: int, least: float) -> str:
    """The first way of reading the column that would keep most of it."""
    cells = next(each for each in table.cells if each.name == column.name)
    for word in _ways(column, cells):
        name, _, detail = word.partition(":")
        try:
            changed = table.with_overrules([Overrule(column.name, name, detail)]).column(column.name)
        except ParameterError:  # it can't be read so
            continue
        if not _is_open(changed) or _lost(changed, cells, people, least)[0] <= _MOSTLY:
            return word
    return ""


def _ways(column: Recognised, cells: SeenColumn) -> Iterator[str]:
    """Coarser ways of reading a column, the finest first."""
    reading = column.treatment.reading
    if reading.holds_dates:
        yield from _COARSER_DATES.get(reading.cut, ())
    elif column.kind.startswith(("number", "share", "money", "year")):
        yield "bins"
    elif column.kind.startswith(("code", "postcode")):
        longest = reading.cut_length or max(map(len, cells.texts), default=0)
        for length in range(longest - 1, 0, -1):
            yield f"prefix:{length}"
