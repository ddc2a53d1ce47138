"""Cells of a table that were not counted, and why: what only the operator may know.

Columns, reasons and numbers go in, a table for ``sensitive/`` comes out. An empty cell is not in it, nor a
``0`` that means absence: nothing was lost with them.

The patterns of what identifies a person mean the same in RE2 (DuckDB) and in Python, each found anywhere in a
normalised cell. They are meant to catch what got into a column by mistake. A column of codes that happen to
look so is named in the contract with a declared domain, and then isn't searched.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tasks.core.arrays import Integers
from tasks.core.tables.writing import read_rows, write_rows

#: Why a cell, or an item of one, is not counted; a code is a place in here.
REASONS = (
    "",
    "the rule noPersonalIdentifiers",
    "the rule forbiddenPattern",
    "not a number",
    "outside the domain",
    "not a date or time",
)
IDENTIFIER, FORBIDDEN_PATTERN, NOT_A_NUMBER, OUTSIDE, NOT_A_DATE = range(1, 6)
BEYOND_THE_CAP = "beyond the cap"
ANOTHER_VALUE = "another value of the same subject stands"
BROKE_A_CONSTRAINT = "broke a constraint with another column"
NO_SUBJECT = "a row without a subject id"
#: When a reason is told of: rows first, then column by column, then what constraints changed.
ORDER = {
    NO_SUBJECT: (0, 0),
    **{reason: (1, place) for place, reason in enumerate((*REASONS, BEYOND_THE_CAP, ANOTHER_VALUE))},
    BROKE_A_CONSTRAINT: (2, 0),
}
#: Of types that SynDiffix reads, by letter.
NOT_OF_TYPE = {"b": "not a boolean", "i": "not a number", "r": "not a number", "t": "not a date or time"}


@dataclass(frozen=True)
class DroppedCells:
    """Cells of one column that were not counted for one reason. Sensitive: the number is of the raw table."""

    column: str
    reason: str
    number: int


#: Told of dropped cells, column by column.
ReportDropped = Callable[[DroppedCells], None]


def dropped_by_reason(column: str, numbers: Integers) -> list[DroppedCells]:
    """Of one column. Args: numbers: for each of `REASONS` how many cells or items."""
    return [
        DroppedCells(column, reason, int(number))
        for reason, number in zip(REASONS, numbers, strict=True)
        if reason and number
    ]


def write_dropped(found: Iterable[DroppedCells], path: Path) -> None:
    """Write the table: column, reason, cells; a header alone where nothing was dropped."""
    rows = [(each.column, each.reason, each.number) for each in found]
    write_rows(path, [("column", "reason", "cells"), *rows])


def is_any_lost(path: Path) -> bool:
    """Whether a table of `write_dropped` tells of more than that one row of each subject stands."""
    return any(reason != ANOTHER_VALUE for _, reason, _ in read_rows(path)[1:])


EMAIL = (r"[^\s@]+@[^\s@]+\.[^\s@.]+",)

TELEPHONE = (
    r"^\+(?:[ ()/.-]*[0-9]){7,15}$",
    r"^\(?0(?:[ ()/-]*[0-9]){8,13}$",
    r"^0[1-9](?:\.[0-9]{2}){4}$",
    r"^\(?[2-9][0-9]{2}\)?[ .-]+[0-9]{3}[ .-][0-9]{4}$",
)

IDENTITY_NUMBER = (
    r"^[0-9]{9,}$",
    r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    r"^[0-9]{4}(?:[ -][0-9]{4}){2,3}$",
    r"^[0-9]{8}-?[A-Za-z]$",
    r"^[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]$",
    r"^[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]$",
)

#: The standard's spelling of each kind -> its patterns and its name in a sentence.
TEXT_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "email": ("e-mail addresses", EMAIL),
    "telephone": ("telephone numbers", TELEPHONE),
    "identityNumber": ("identity numbers", IDENTITY_NUMBER),
}
#: Of the contract's rule noPersonalIdentifiers, of whatever kinds.
IDENTIFIER_PATTERNS = frozenset(EMAIL + TELEPHONE + IDENTITY_NUMBER)
