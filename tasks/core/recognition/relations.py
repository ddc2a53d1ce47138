"""What holds between columns of a table: which follow from others, are empty together, or are one choice.

Cells go in; relations come out. Which columns are empty together and which are one choice is drafted: it
names no value. What names values is written only where a person says that it holds for everybody (W22). A few
rows that differ don't count, or a single person would decide.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.recognition.cells import FEW, SeenColumn, count_strays
from tasks.core.recognition.treatment import Recognised, Treatment
from tasks.core.records.cells import code_texts
from tasks.core.records.columns import Column

#: Of a table of fewer rows a few are too many to leave out of account.
_LEAST_ROWS = 10 * FEW
#: A value that decides must stand in so many rows on average; so many columns are compared with each other.
_LEAST_REPEATED, _MOST_DIFFERENT, _MOST_FOLLOWING = 3, 5000, 120
#: A column that nearly always holds the same value follows from everything.
_NEARLY_CONSTANT = 0.98
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
class Relation:
    """What holds between columns.

    Attributes:
        declared: what a contract says of it: properties of the table, and an entry of each.
        column: the one that hangs on the source; empty: it names no value, and needs nobody to declare it.
        values: those of the source that decide; none: all do.
    """

    words: str
    declared: tuple[tuple[str, object], ...]
    column: str = ""
    source: str = ""
    values: tuple[str, ...] = ()

    @property
    def is_dependency(self) -> bool:
        return bool(self.column) and not self.values


def columns_that_follow(columns: Sequence[SeenColumn]) -> dict[str, tuple[str, bool]]:
    """For each column that follows from one before or behind it, the first that it follows from.

    And whether that one follows from it as well: they say the same.
    """
    compared = [
        cells
        for cells in columns
        if 2 <= cells.usual <= min(_MOST_DIFFERENT, cells.rows / _LEAST_REPEATED)
        and cells.rows >= _LEAST_ROWS
    ][:_MOST_FOLLOWING]
    varied = [cells for cells in compared if cells.held.max() < _NEARLY_CONSTANT * cells.filled]
    found: dict[str, tuple[str, bool]] = {}
    for place, decided in enumerate(varied):
        for other, source in enumerate(varied):
            is_double = found.get(source.name, ("", False))[1]
            if other == place or is_double or source.usual < decided.usual:
                continue
            if not _nearly_determines(source, decided):
                continue
            is_same = _nearly_determines(decided, source)
            if is_same and other > place:
                continue  # of two that say the same, the first stays
            found[decided.name] = (source.name, is_same)
            break
    return found


def _nearly_determines(source: SeenColumn, decided: SeenColumn) -> bool:
    """Whether a column's value decides the other's in all rows but a few, and most rows have both."""
    both = (source.codes >= 0) & (decided.codes >= 0)
    if both.sum() < 0.5 * source.rows:
        return False
    return count_strays(source.codes[both], decided.codes[both]) < FEW


def relations_between(columns: Iterable[SeenColumn], used: Iterable[Recognised]) -> list[Relation]:
    """What holds between the columns of a release that have one value a cell."""
    treatments = {each.name: each.treatment for each in used if each.treatment.delimiter is None}
    cells = [
        _map_to_released(each, treatments[each.name].column(each.name))
        for each in columns
        if each.name in treatments and each.rows >= _LEAST_ROWS
    ]
    choices = list(_choices({each.name: each for each in cells}, treatments))
    dependencies = list(_dependencies(cells))
    known = {frozenset((each.column, each.source)) for each in dependencies}
    known |= {frozenset((one, other)) for names, _ in choices for one in names for other in names}
    return [
        *_empty_together(cells),
        *(
            Relation(
                f"{', '.join(names)}: exactly one is {value!r}; declared",
                (("exactlyOne", {"columns": list(names), "value": value}),),
            )
            for names, value in choices
        ),
        *dependencies,
        *_keep_one_direction(_implications(cells, known)),
    ]


def _map_to_released(cells: SeenColumn, column: Column) -> SeenColumn:
    def released(texts: list[str]) -> list[str]:
        coded = code_texts(texts, column)
        return [("", *coded.values)[code] for code in coded.codes]

    return cells.mapped(released)


def _most_strays(rows: int) -> int:
    return min(FEW - 1, rows // 100)


def _empty_together(columns: Sequence[SeenColumn]) -> Iterator[Relation]:
    """Groups of columns, each empty in some rows and filled in others, that are so in the same ones."""
    groups: list[list[SeenColumn]] = []
    for cells in columns:
        if min(cells.filled, cells.rows - cells.filled) < cells.margin:
            continue
        is_empty = cells.codes < 0
        for group in groups:
            if ((group[0].codes < 0) != is_empty).sum() <= _most_strays(cells.rows):
                group.append(cells)
                break
        else:
            groups.append([cells])
    for names in ([cells.name for cells in group] for group in groups if len(group) > 1):
        yield Relation(f"{', '.join(names)}: all empty or all filled; declared", (("emptyTogether", names),))


def _choices(
    cells: dict[str, SeenColumn], treatments: dict[str, Treatment]
) -> Iterator[tuple[tuple[str, ...], str]]:
    domains = {name: treatments[name].domain or () for name in cells}
    pairs = {name: domain for name, domain in domains.items() if len(domain) == 2}
    for value in dict.fromkeys(text for domain in pairs.values() for text in domain):
        holding = {
            name: np.append(cells[name].among([value]), False)[cells[name].codes]
            for name, domain in pairs.items()
            if value in domain
        }
        while found := next(_columns_that_cover(holding), None):
            yield found, value
            holding = {name: holds for name, holds in holding.items() if name not in found}


def _columns_that_cover(holding: dict[str, Flags]) -> Iterator[tuple[str, ...]]:
    """Columns that no row holds two of, and each row one: neighbours first, then any in the file's order."""
    names = list(holding)
    for ends_at_overlap in (True, False):
        for first in range(len(names)):
            group, covered = [names[first]], holding[names[first]].copy()
            strays = _most_strays(len(covered))
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


def _dependencies(columns: Sequence[SeenColumn]) -> Iterator[Relation]:
    cells = {each.name: each for each in columns}
    for name, (source_name, is_same) in columns_that_follow(columns).items():
        source, decided = cells[source_name], cells[name]
        if is_same or source.usual > _MOST_PAIRS or source.distinct * decided.distinct > _MOST_CELLS:
            continue
        table = _count_pairs(source, decided)[:-1]
        if (table[:, :-1].sum(axis=1) - table[:, :-1].max(axis=1)).sum() > _most_strays(source.rows):
            continue
        common = {
            source.texts[place]: decided.texts[row[:-1].argmax()] if row[:-1].max() > row[-1] else ""
            for place, row in enumerate(table)
            if row.sum() >= FEW
        }
        if common:
            declared = {"from": source.name, "to": decided.name, "values": common}
            words = f"{decided.name} follows from {source.name}"
            yield Relation(words, (("functionalDependencies", declared),), decided.name, source.name)


def _implications(columns: Sequence[SeenColumn], known: set[frozenset[str]]) -> Iterator[Relation]:
    compared = [cells for cells in columns if cells.usual > 1][:_MOST_COLUMNS]
    for source in compared:
        for decided in compared if source.usual <= _MOST_VALUES else ():
            if source is not decided and frozenset((source.name, decided.name)) not in known:
                yield from _find_implications_between(source, decided)


def _keep_one_direction(found: Iterable[Relation]) -> list[Relation]:
    kept: dict[frozenset[str], list[Relation]] = {}
    for each in found:
        of_pair = kept.setdefault(frozenset((each.column, each.source)), [])
        if not of_pair or of_pair[0].column == each.column:
            of_pair.append(each)
        elif len(each.values) < min(len(one.values) for one in of_pair):
            of_pair[:] = [each]
    return [each for of_pair in kept.values() for each in of_pair]


def _find_implications_between(source: SeenColumn, decided: SeenColumn) -> Iterator[Relation]:
    table = _count_pairs(source, decided)
    places: dict[int, list[int]] = {}
    for place, row in enumerate(table[:-1]):
        if row.sum() >= source.margin:
            most = int(row.argmax())
            if row.sum() - row[most] <= _most_strays(int(row.sum())):
                places.setdefault(most, []).append(place)
    for most, deciding in places.items():
        elsewhere = np.delete(table, deciding, axis=0)
        share = elsewhere[:, most].sum() / elsewhere.sum() if elsewhere.any() else 1.0
        if share < _VARIES and share ** int(table[deciding].sum()) <= _BY_CHANCE:
            values = tuple(source.texts[place] for place in deciding)
            text = "" if most == decided.distinct else decided.texts[most]
            where: dict[str, object] = {source.name: list(values)}
            declared = [("structuralZeros", where | {decided.name: {"not": [text] if text else []}})]
            if text and decided.filled < decided.rows:
                declared.append(("structuralZeros", where | {decided.name: [""]}))
            said = " or ".join(map(repr, values))
            words = f"{decided.name} is {repr(text) if text else 'empty'} where {source.name} is {said}"
            yield Relation(words, tuple(declared), decided.name, source.name, values)


def _count_pairs(source: SeenColumn, decided: SeenColumn) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """How many rows hold each pair of texts; the last row and the last column are of empty cells."""
    width = decided.distinct + 1
    rows = np.where(source.codes < 0, source.distinct, source.codes)[:_MOST_ROWS]
    columns = np.where(decided.codes < 0, decided.distinct, decided.codes)[:_MOST_ROWS]
    counts = np.bincount(rows * width + columns, minlength=(source.distinct + 1) * width)
    return counts.reshape(-1, width)
