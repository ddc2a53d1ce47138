"""What a column is taken for, and what will be done with it: what `marginalia init` shows, and writes.

Everything of a `Treatment` is written into the draft, so none of it may be a value of the table that is not
public as a word: see `columns`. As of everything in a draft, a few cells decide nothing of it.
"""

from dataclasses import dataclass, replace
from typing import Any

from tasks.core.recognition.cells import FEW, SeenColumn
from tasks.core.recognition.edges import PERCENTS, TENTHS
from tasks.core.records.cell_reading import AS_IT_STANDS, CUTS, WHOLE, CellReading
from tasks.core.records.cells import code_texts, numbers_of_texts
from tasks.core.records.columns import Column, declared_values
from tasks.core.tables.number_format import PLAIN, NumberFormat

#: What a number's cell is called that holds a word, and a value that a public list does not have.
NOT_A_NUMBER, OTHER = "not a number", "other"
_MARKS = {".": "points", ",": "commas", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class Treatment:
    """What is done with a column.

    Attributes:
        domain: a public list; None: the values are read off the data, and each must pass the threshold.
        other: what a cell is called that the bins or the list do not take; None: it is empty.
        cap: the most items of one person.
        minimum, maximum: what hardly a number lies below or above; None: nothing is promised.
        is_required: whether hardly a cell is empty.
    """

    is_used: bool = True
    reading: CellReading = AS_IT_STANDS
    bins: tuple[float, ...] | None = None
    number_format: NumberFormat = PLAIN
    domain: tuple[str, ...] | None = None
    other: str | None = None
    delimiter: str | None = None
    cap: int = 8
    minimum: float | None = None
    maximum: float | None = None
    is_required: bool = False

    @property
    def is_open(self) -> bool:
        return self.bins is None and self.domain is None

    @property
    def words(self) -> str:
        if not self.is_used:
            return "left out"
        parts = _reading_words(self.reading)
        if self.number_format != PLAIN:
            decimal, thousands = self.number_format.decimal, self.number_format.thousands
            marks = ["a decimal comma"] if decimal == "," else []
            marks += [f"{_MARKS[thousands]} between thousands"] if thousands else []
            marks += ["(120.00) and 120.00- below zero"] if self.number_format.negative else []
            parts.append(f"read with {' and '.join(marks)}")
        if self.bins is not None:
            parts.append(f"binned at {', '.join(format(edge, '.15g') for edge in self.bins)}")
        elif self.domain is not None:
            parts.append(f"all {len(self.domain)} values of the public list are counted")
        elif self.delimiter is not None:
            parts.append(f"split at {self.delimiter!r} into items, at most {self.cap} a person")
        else:
            parts.append("its values as they stand, an open list: rare ones are not released")
        if self.other == NOT_A_NUMBER:
            parts.append(f"words become {NOT_A_NUMBER!r}")
        if self.is_required:
            parts.append("never empty")
        return "; ".join(parts)

    def column(self, name: str) -> Column:
        return Column(
            name,
            declared_values(self.domain, self.bins, self.minimum, self.maximum, self.other),
            self.bins,
            self.delimiter,
            max_items=self.cap if self.delimiter else 1,
            zero_is_value=True,
            other=self.other,
            number_format=self.number_format,
            reading=self.reading,
            minimum=self.minimum,
            maximum=self.maximum,
        )

    def with_reading(self, **said: Any) -> "Treatment":
        return replace(self, reading=replace(self.reading, **said))


@dataclass(frozen=True)
class Recognised:
    """A column, as it was recognised.

    Attributes:
        reason: may hold values of the table, and is for the terminal alone.
        doubt: what the person should look at; empty: nothing.
        is_said: whether a person said so.
    """

    name: str
    kind: str
    reason: str
    treatment: Treatment
    doubt: str = ""
    is_said: bool = False


def with_promises(found: Recognised, cells: SeenColumn) -> Recognised:
    """The column with what a contract may promise: no empty cell, nothing below 0 or above all of a share.

    Cells are read as a run reads them.
    """
    treatment = found.treatment
    if not treatment.is_used or treatment.delimiter is not None or not cells.distinct:
        return found
    few = max(1, min(FEW, cells.rows // 20))  # of a small table one cell in twenty
    if treatment.bins is not None:
        read = cells.read(treatment.reading)
        numbers = numbers_of_texts(read.texts, treatment.number_format)
        first, last = treatment.bins[0], treatment.bins[-1]
        is_least = first == 0 and read.held[numbers < first].sum() < few
        is_most = treatment.bins in (TENTHS, PERCENTS) and read.held[numbers > last].sum() < few
        treatment = replace(treatment, minimum=0 if is_least else None, maximum=last if is_most else None)
    has_value = code_texts(cells.texts, treatment.column(cells.name)).codes > 0
    empty = cells.rows - int(cells.held[has_value].sum())
    return replace(found, treatment=replace(treatment, is_required=empty < few))


def _reading_words(reading: CellReading) -> list[str]:
    parts = []
    if reading.missing:
        parts.append(f"{', '.join(reading.missing)} count as empty")
    if reading.strip:
        parts.append(f"without {reading.strip} around it")
    if reading.cut_length:
        parts.append(f"cut to its first {reading.cut_length} characters")
    elif reading.cut in CUTS:
        parts.append(f"cut to the {reading.cut}")
    elif reading.cut == WHOLE:
        parts.append("without zeros behind the decimal mark")
    elif reading.cut:
        parts.append(f"turned into the {reading.cut.replace('age on', 'age in years on')}")
    return parts
