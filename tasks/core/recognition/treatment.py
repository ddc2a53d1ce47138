"""What a column is taken for, and what will be done with it: what `marginalia init` shows, and writes.

Everything of a `Treatment` is written into the draft, so none of it may be a value of the table that is not
public as a word: see `columns`.
"""

from dataclasses import dataclass, replace

from tasks.core.records.cell_reading import AS_IT_STANDS, CUTS, WHOLE, CellReading
from tasks.core.records.columns import Column, declared_values
from tasks.core.tables.number_format import PLAIN, NumberFormat

#: What a number's cell is called that holds a word.
NOT_A_NUMBER = "not a number"
#: What a value is called that a public list does not have.
OTHER = "other"


@dataclass(frozen=True)
class Treatment:
    """What is done with a column.

    Attributes:
        is_used: whether it is in the release.
        reading: how its cells are read.
        bins: public edges; None: not binned.
        number_format: how its numbers are written.
        domain: a public list; None: the values are read off the data, and each must pass the threshold.
        other: what a cell is called that the bins or the list do not take; None: it is empty.
        delimiter: between items; None: one value a cell.
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
    def words(self) -> str:
        """The same for a person."""
        if not self.is_used:
            return "left out"
        parts = [self._reading_words()]
        if self.number_format != PLAIN:
            parts.append(f"read with {_marks(self.number_format)}")
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
        return "; ".join(filter(None, parts))

    def _reading_words(self) -> str:
        reading, parts = self.reading, []
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
        return "; ".join(parts)

    def column(self, name: str) -> Column:
        """The column of a schema that a run makes of the draft."""
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

    def with_missing(self, words: tuple[str, ...]) -> "Treatment":
        """The same with these words for a missing value."""
        return replace(self, reading=replace(self.reading, missing=words))


@dataclass(frozen=True)
class Recognised:
    """A column, as it was recognised.

    Attributes:
        name: its header.
        kind: what it is taken for, in words.
        reason: why, in words; may hold values of the table, and is for the terminal alone.
        treatment: what will be done with it.
        doubt: what the person should look at; empty: nothing.
        is_said: whether a person said so.
    """

    name: str
    kind: str
    reason: str
    treatment: Treatment
    doubt: str = ""
    is_said: bool = False


def _marks(number_format: NumberFormat) -> str:
    words = {".": "points", ",": "commas", " ": "spaces", "'": "apostrophes"}
    decimal = "a decimal comma" if number_format.decimal == "," else ""
    grouped = f"{words[number_format.thousands]} between thousands" if number_format.thousands else ""
    negative = "(120.00) and 120.00- below zero" if number_format.negative else ""
    return " and ".join(filter(None, (decimal, grouped, negative)))
