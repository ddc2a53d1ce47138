"""Trees that workers grow: a forest goes in, and what will be asked of it; it then finds the trees as files.

A worker gets the values of the columns of its part, and whose the rows are: a tree follows from its own
columns alone. Whoever grows a tree grows the same.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, combinations_with_replacement
from pathlib import Path

import numpy as np

from tasks.core.arrays import ColumnNumbers, ShareDone
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.syndiffix.dependence import KnownPairs, dependences
from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tasks.core.syndiffix.tree_files import TreeFiles

#: All pairs are measured in squares of blocks: of so many columns at most, and of as many blocks at least.
_WIDEST_BLOCK, _LEAST_BLOCKS = 4, 6
_ARRAY = "array.npy"
#: What is asked of a forest for the sake of some sets of its columns.
_Ask = Callable[[Forest, Sequence[ColumnNumbers]], list[float]]


@dataclass(frozen=True)
class GrowingPlace:
    """Who grows trees, and where these lie.

    Attributes:
        workers: grow them.
        store: what goes to workers lies here, and what comes back; nothing is needed afterwards.
        files: the forest's known trees; they get what was grown.
    """

    workers: Workers
    store: PartStore
    files: TreeFiles


def grow_sets(
    forest: Forest, sets: Sequence[ColumnNumbers], place: GrowingPlace, report: ShareDone = lambda share: None
) -> None:
    """Have the buckets of sets of columns grown, a part a set.

    There are as many parts whatever was grown before: their number tells nothing of what sets share.

    Args:
        forest: of all columns.
        sets: of its columns, ascending each.
        place: see there.
        report: told the share of the sets that is done.
    """
    missing = [each for each in sets if not place.files.holds(forest.columns_of(each))]
    # A set grows all that it holds.
    largest = {each for each in missing if not any(set(each) < set(other) for other in missing)}
    parts: list[tuple[ColumnNumbers, ...]] = []
    for each in sets:
        parts.append((each,) if each in largest else ())
        largest.discard(each)
    for done, _ in enumerate(_each(forest, _harvested, parts, place), start=1):
        report(done / len(parts))


def measure_pairs(
    forest: Forest, known: KnownPairs, place: GrowingPlace, report: ShareDone = lambda share: None
) -> KnownPairs:
    """Have the dependence of all pairs of a forest's columns measured, and their trees grown.

    Args:
        forest: of all columns.
        known: see `relate_columns`.
        place: see there.
        report: told the share of the parts that is done.

    Returns:
        What is known, and the rest.
    """
    names = [column.name for column in forest.columns]
    parts = [
        tuple(pair for pair in square if (names[pair[0]], names[pair[1]]) not in known)
        for square in _squares(len(names))
    ]
    found = dict(known)
    for done, (pairs, values) in enumerate(
        zip(parts, _each(forest, _measured, parts, place), strict=False), start=1
    ):
        found |= {
            (names[one], names[other]): value for (one, other), value in zip(pairs, values, strict=True)
        }
        report(done / len(parts))
    return found


def _squares(columns: int) -> list[tuple[tuple[int, int], ...]]:
    """All pairs of so many columns, those together that share columns.

    >>> _squares(7)[:3]
    [((0, 1),), ((0, 2), (0, 3), (1, 2), (1, 3)), ((0, 4), (0, 5), (1, 4), (1, 5))]
    """
    width = min(_WIDEST_BLOCK, -(-columns // _LEAST_BLOCKS))
    blocks = [range(start, min(start + width, columns)) for start in range(0, columns, width)]
    squares = [
        tuple(combinations(one, 2))
        if one is other
        else tuple((first, second) for first in one for second in other)
        for one, other in combinations_with_replacement(blocks, 2)
    ]
    return [square for square in squares if square]


@dataclass(frozen=True)
class _Seeds:
    """What a forest of some of a table's columns is planted from, on any machine."""

    place: PartStore
    files: TreeFiles = field(repr=False)
    rows: StoredPart
    columns: Mapping[int, tuple[str, bool, StoredPart]] = field(repr=False)
    anonymization: AnonymizationParameters = field(repr=False)
    bucketization: BucketizationParameters

    @classmethod
    def of(cls, forest: Forest, wanted: Sequence[int], place: GrowingPlace) -> "_Seeds":
        """Lay out the values of the columns that are wanted, and whose the rows are."""
        columns = {}
        for number in wanted:
            column = forest.columns[number]
            values = place.store.put(f"column-{number}", partial(_save, column.values))
            columns[number] = column.name, column.value_safe, values
        return cls(
            place.store,
            place.files,
            place.store.put("rows", partial(_save, forest.entity_hashes)),
            columns,
            forest.anonymization,
            forest.bucketization,
        )

    def planted(self, numbers: Sequence[int]) -> Forest:
        """The forest of some of them, in their order; it takes the trees that this machine sees."""
        columns = []
        for name, value_safe, values in (self.columns[number] for number in numbers):
            columns.append(ForestColumn(name, _load(values), value_safe))
        return Forest(columns, _load(self.rows), self.anonymization, self.bucketization, known=self.files)

    def kept(self, forest: Forest) -> StoredPart:
        """What was grown, under a name of its own: another machine may do the same part at the same time."""
        return self.place.put(f"grown-{secrets.token_hex(8)}", partial(self.files.keep, forest))


def _save(array: np.ndarray, folder: Path) -> None:
    np.save(folder / _ARRAY, array)


def _load(part: StoredPart) -> np.ndarray:
    with part.folder() as folder:
        array: np.ndarray = np.load(folder / _ARRAY, allow_pickle=False)
        return array


def _each(
    forest: Forest, ask: _Ask, parts: Sequence[tuple[ColumnNumbers, ...]], place: GrowingPlace
) -> Iterator[list[float]]:
    """What is asked of each part's sets; nothing where no part has any, and nobody is put to work."""
    wanted = sorted({column for part in parts for each in part for column in each})
    if not wanted:
        return
    seeds = _Seeds.of(forest, wanted, place)
    for grown, values in place.workers.each("grow trees", partial(_grow, seeds, ask), parts):
        if grown is not None:
            with grown.folder() as folder:
                place.files.take(folder)
            place.store.remove(grown.key)
        yield values


def _grow(seeds: _Seeds, ask: _Ask, sets: Sequence[ColumnNumbers]) -> tuple[StoredPart | None, list[float]]:
    """On a worker: what is asked of sets of columns, and the trees that were grown for it."""
    if not sets:
        return None, []
    numbers = sorted({column for each in sets for column in each})
    forest = seeds.planted(numbers)
    values = ask(forest, [tuple(numbers.index(column) for column in each) for each in sets])
    return seeds.kept(forest), values


def _harvested(forest: Forest, sets: Sequence[ColumnNumbers]) -> list[float]:
    for each in sets:
        forest.buckets(each)
    return []


def _measured(forest: Forest, pairs: Sequence[ColumnNumbers]) -> list[float]:
    return dependences(forest, [(one, other) for one, other in pairs])
