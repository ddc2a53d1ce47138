"""Which columns may say whose row it is: by name, by repetition, and by what never differs within it.

Cells go in; candidates come out, the likeliest first. Only a person knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.recognition.cells import FEW, SeenColumn
from tasks.core.recognition.functions import determines, nearly_determines
from tasks.core.recognition.header_words import meanings
from tasks.core.recognition.subject_names import NONE, OF_SOMETHING, SOME_ID, WHOSE, likeness

#: The least share of rows that an id differs in, by how much its name says.
_LEAST_DIFFERENT = {WHOSE: 0.005, SOME_ID: 0.05, OF_SOMETHING: 0.2, NONE: 0.05}
_FEWEST, _FILLED = 5, 0.95
#: Texts that only programs write: long hexadecimal or mixed ids.
_MADE = r"[0-9A-Fa-f]{8,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{20,}|[A-Z]{1,4}[-_]?[0-9]{3,}"
#: How likely a candidate must be to be proposed.
_PROPOSED = 2.0


@dataclass(frozen=True)
class Candidate:
    """A column that may say whose row it is.

    Attributes:
        name: its header.
        likely: the higher, the likelier.
        reason: why, in words.
        several: whether somebody has several rows.
        differ: columns that differ between rows of the same value.
    """

    name: str
    likely: float
    reason: str
    several: bool
    differ: tuple[str, ...] = ()

    @property
    def is_proposed(self) -> bool:
        """Whether it is likely enough to be taken unless somebody says otherwise."""
        return self.likely >= _PROPOSED


def candidates(columns: Sequence[SeenColumn]) -> list[Candidate]:
    """All columns that may be the person's id, the likeliest first."""
    rows = max((cells.rows for cells in columns), default=0)
    found = [each for cells in columns if (each := _candidate(cells, rows)) is not None]
    ranked = sorted(found, key=lambda each: -each[1].likely)
    return [_judged(cells, candidate, columns) for cells, candidate in ranked]


def _candidate(cells: SeenColumn, rows: int) -> tuple[SeenColumn, Candidate] | None:
    likely = likeness(cells.name)
    if cells.distinct < min(_FEWEST, rows) or cells.filled < _FILLED * rows:
        return None
    if cells.distinct < max(2, _LEAST_DIFFERENT[likely] * rows):
        return None
    several = cells.distinct < cells.filled
    is_made = cells.share(cells.matching(_MADE)) > _FILLED
    # A number or a date that differs from row to row is no id unless its name or its form says so.
    if likely == NONE and not (is_made and cells.filled - cells.distinct >= FEW):
        return None
    if likely == OF_SOMETHING and meanings(cells.name) & {"postcode", "code", "money", "date"}:
        return None
    mean = cells.filled / cells.distinct
    words = {
        WHOSE: "its name says whose row it is",
        SOME_ID: "its name says id",
        OF_SOMETHING: "its name says an id of something",
        NONE: "its cells look like ids that a program made",
    }[likely]
    repeated = f"{cells.distinct:,} different in {cells.filled:,} rows, {mean:.1f} rows each"
    often = cells.filled - cells.distinct >= FEW
    worth = likely + 0.5 * often + 0.5 * is_made
    if likely == NONE:
        worth = 1.5 + min(mean - 1, 1)
    return cells, Candidate(cells.name, worth, f"{words}; {repeated}", several)


def _judged(cells: SeenColumn, candidate: Candidate, columns: Sequence[SeenColumn]) -> Candidate:
    """The same with what differs within it: birth and sex never differ within a person."""
    if not candidate.several:
        return candidate
    others = [each for each in columns if each.name != cells.name and each.filled]
    differ = tuple(each.name for each in others if not determines(cells, each))
    fixed = [each.name for each in others if each.usual > 1 and nearly_determines(cells, each)]
    reason = candidate.reason
    if fixed:
        reason += f"; {', '.join(fixed[:3])} hardly ever differ{'s' if len(fixed) == 1 else ''} within it"
    return Candidate(candidate.name, candidate.likely + 0.5 * bool(fixed), reason, True, differ)
