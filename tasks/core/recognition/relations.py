"""What holds between columns of a table: cells as the release reads them go in, relations come out.

Which columns are empty together and which are one choice is drafted: it names no value. What names values
is written only where a person says that it holds for everybody (W22). A few rows that differ don't count, or
a single person would decide.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from tasks.core.arrays import Flags
from tasks.core.queries import connect
from tasks.core.recognition.cells import FEW, SeenColumn
from tasks.core.recognition.functions import functions_of_others
from tasks.core.recognition.table import RecognisedTable
from tasks.core.recognition.treatment import Recognised, Treatment
from tasks.core.records.cells import code_texts

#: Of a table of fewer rows a few are too many to leave out of account.
_LEAST_ROWS = 10 * FEW
#: A choice among two is one column and its opposite.
_FEWEST_OF_A_CHOICE = 3
#: Columns and rows that are compared for what a value implies, and values of a column that may imply it.
_MOST_COLUMNS, _MOST_ROWS, _MOST_VALUES = 60, 50_000, 20
#: Elsewhere a column that a value decides must hold the same in fewer rows than this share.
_VARIES = 0.9
#: What chance would show more often than this is no relation: up to 70,000 pairs are looked at.
_BY_CHANCE = 1e-7
#: A dependency with more values is no longer written out; of so many pairs none is counted.
_MOST_PAIRS, _MOST_CELLS = 500, 5_000_000


@dataclass(frozen=True)
class OneOfSeveral:
    """Columns of which exactly one holds a value."""

    columns: tuple[str, ...]
    value: str


@dataclass(frozen=True)
class ObservedDependency:
    """A column that follows from another, and which of its values from which."""

    column: str
    source: str
    values: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The same for a person."""
        return f"{self.column} follows from {self.source}"

    def declared(self) -> Iterator[tuple[str, dict[str, object]]]:
        """What a contract says of it: a property of the table, and an entry of that."""
        yield "functionalDependencies", {"from": self.source, "to": self.column, "values": dict(self.values)}


@dataclass(frozen=True)
class Implication:
    """Where a column holds some values another one always holds the same, or nothing.

    Attributes:
        text: what it holds; empty: nothing.
        is_filled: whether it is empty nowhere.
    """

    column: str
    source: str
    values: tuple[str, ...]
    text: str
    is_filled: bool

    @property
    def words(self) -> str:
        """The same for a person."""
        values = " or ".join(map(repr, self.values))
        return f"{self.column} is {repr(self.text) if self.text else 'empty'} where {self.source} is {values}"

    def declared(self) -> Iterator[tuple[str, dict[str, object]]]:
        """What a contract says of it: a property of the table, and an entry of that."""
        source: dict[str, object] = {self.source: list(self.values)}
        yield "structuralZeros", source | {self.column: {"not": [self.text] if self.text else []}}
        if self.text and not self.is_filled:
            yield "structuralZeros", source | {self.column: [""]}


@dataclass(frozen=True)
class Relations:
    """What holds.

    Attributes:
        empty_together: groups of columns.
        choices: columns of which exactly one holds a value.
        stated: what names values, so that only a person can declare it.
    """

    empty_together: tuple[tuple[str, ...], ...] = ()
    choices: tuple[OneOfSeveral, ...] = ()
    stated: tuple[ObservedDependency | Implication, ...] = ()


def relations_of(table: RecognisedTable, subject: str | None) -> Relations:
    """What holds between the columns of a release, each with one value a cell."""
    used = {column.name: column for column in table.used(subject) if column.treatment.delimiter is None}
    with connect() as connection:
        cells = [
            _as_released(each, used[each.name].treatment, connection)
            for each in table.cells
            if each.name in used
        ]
    if table.rows < _LEAST_ROWS:
        return Relations()
    together, choices = tuple(_empty_groups(cells)), tuple(_choices(cells, used))
    dependencies = [*_dependencies(cells)]
    known = {frozenset((each.column, each.source)) for each in dependencies}
    known |= {frozenset((one, other)) for each in choices for one in each.columns for other in each.columns}
    return Relations(together, choices, (*dependencies, *_in_one_direction(_implications(cells, known))))


def _as_released(
    cells: SeenColumn, treatment: Treatment, connection: duckdb.DuckDBPyConnection
) -> SeenColumn:
    """The same rows with the values, or bins, that a release counts."""
    column = treatment.column(cells.name)

    def released(texts: list[str]) -> list[str]:
        coded = code_texts(texts, column, connection)
        return [("", *coded.values)[code] for code in coded.codes]

    return cells.mapped(released)


def _strays(rows: int) -> int:
    """So many rows may differ from what else holds in all."""
    return min(FEW - 1, rows // 100)


def _empty_groups(columns: Sequence[SeenColumn]) -> Iterator[tuple[str, ...]]:
    """Groups of columns, each empty in some rows and filled in others, that are so in the same ones."""
    groups: list[list[SeenColumn]] = []
    for cells in columns:
        if min(cells.filled, cells.rows - cells.filled) < cells.margin:
            continue
        is_empty = cells.codes < 0
        for group in groups:
            if ((group[0].codes < 0) != is_empty).sum() <= _strays(cells.rows):
                group.append(cells)
                break
        else:
            groups.append([cells])
    return (tuple(cells.name for cells in group) for group in groups if len(group) > 1)


def _choices(columns: Sequence[SeenColumn], used: dict[str, Recognised]) -> Iterator[OneOfSeveral]:
    left = [cells for cells in columns if len(used[cells.name].treatment.domain or ()) == 2]
    for value in dict.fromkeys(text for cells in left for text in used[cells.name].treatment.domain or ()):
        holding = {
            cells.name: np.append(cells.among([value]), False)[cells.codes]
            for cells in left
            if value in (used[cells.name].treatment.domain or ())
        }
        while found := next(_covering(holding), None):
            yield OneOfSeveral(found, value)
            holding = {name: holds for name, holds in holding.items() if name not in found}


def _covering(holding: dict[str, Flags]) -> Iterator[tuple[str, ...]]:
    """Columns that no row holds two of, and each row one: neighbours first, then any in the file's order."""
    names = list(holding)
    for ends_at_overlap in (True, False):
        for first in range(len(names)):
            group, covered = [names[first]], holding[names[first]].copy()
            strays = _strays(len(covered))
            for name in names[first + 1 :]:
                if (covered & holding[name]).sum() > strays:
                    if ends_at_overlap:
                        break
                    continue
                group.append(name)
                covered |= holding[name]
                if (~covered).sum() <= strays:
                    if len(group) >= _FEWEST_OF_A_CHOICE:
                        yield tuple(group)
                    break


def _dependencies(columns: Sequence[SeenColumn]) -> Iterator[ObservedDependency]:
    cells = {each.name: each for each in columns}
    for follows in functions_of_others(columns):
        source, decided = cells[follows.source], cells[follows.column]
        if follows.is_same or source.usual > _MOST_PAIRS or source.distinct * decided.distinct > _MOST_CELLS:
            continue
        table = _table(source, decided)[:-1]
        if (table[:, :-1].sum(axis=1) - table[:, :-1].max(axis=1)).sum() > _strays(source.rows):
            continue
        common = [
            (source.texts[place], decided.texts[row[:-1].argmax()] if row[:-1].max() > row[-1] else "")
            for place, row in enumerate(table)
            if row.sum() >= FEW
        ]
        if common:
            yield ObservedDependency(follows.column, follows.source, tuple(common))


def _implications(columns: Sequence[SeenColumn], known: set[frozenset[str]]) -> Iterator[Implication]:
    compared = [cells for cells in columns if cells.usual > 1][:_MOST_COLUMNS]
    sources = [cells for cells in compared if cells.usual <= _MOST_VALUES]
    for source in sources:
        for decided in compared:
            if source is decided or frozenset((source.name, decided.name)) in known:
                continue
            yield from _implied(source, decided)


def _in_one_direction(found: Iterable[Implication]) -> list[Implication]:
    """Of two that say the same of a pair of columns, the one that names fewer values."""
    kept: dict[frozenset[str], list[Implication]] = {}
    for each in found:
        pair = frozenset((each.column, each.source))
        other = kept.get(pair, [])
        if not other or other[0].column == each.column:
            kept.setdefault(pair, []).append(each)
        elif len(each.values) < min(len(one.values) for one in other):
            kept[pair] = [each]
    return [each for of_pair in kept.values() for each in of_pair]


def _implied(source: SeenColumn, decided: SeenColumn) -> Iterator[Implication]:
    table = _table(source, decided)
    places: dict[int, list[int]] = {}
    for place, row in enumerate(table[:-1]):
        if row.sum() >= source.margin:
            most = int(row.argmax())
            if row.sum() - row[most] <= _strays(int(row.sum())):
                places.setdefault(most, []).append(place)
    for most, deciding in places.items():
        elsewhere = np.delete(table, deciding, axis=0)
        share = elsewhere[:, most].sum() / elsewhere.sum() if elsewhere.any() else 1.0
        if share < _VARIES and share ** int(table[deciding].sum()) <= _BY_CHANCE:
            values = tuple(source.texts[place] for place in deciding)
            text = "" if most == decided.distinct else decided.texts[most]
            yield Implication(decided.name, source.name, values, text, decided.filled == decided.rows)


def _table(source: SeenColumn, decided: SeenColumn) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """How many rows hold each pair of texts; the last row and the last column are of empty cells."""
    width = decided.distinct + 1
    rows = np.where(source.codes < 0, source.distinct, source.codes)[:_MOST_ROWS]
    columns = np.where(decided.codes < 0, decided.distinct, decided.codes)[:_MOST_ROWS]
    counts = np.bincount(rows * width + columns, minlength=(source.distinct + 1) * width)
    return counts.reshape(-1, width)
