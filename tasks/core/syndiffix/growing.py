"""Trees that workers grow, and trees on disk.

A worker gets the values of the columns of its part, and whose the rows are: a tree follows from its own
columns alone, so whoever grows it grows the same. The forest then finds the trees as files:

<folder>/<name>.tree.npz      the arrays of a tree; of a one-column tree also which rows were pushed down
<folder>/<name>.harvest.npz   the arrays of its harvest

As sensitive as the table. Each begins with a seal, a keyed hash of its name and content: a file that is
damaged, or is another's, is as good as none, and the tree is grown again, the same.
"""

import hashlib
import hmac
import io
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.arrays import ColumnNumbers, Flags, ShareDone
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.syndiffix.bucket_kernels import Harvest
from tasks.core.syndiffix.dependence import KnownPairs, dependences
from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tasks.core.syndiffix.tree_kernels import Nodes, Tree, TreeGrid

Arrays = dict[str, np.ndarray[Any, Any]]


class TreeFiles:
    """The trees of all columns of one table, all of one salt and of the same settings.

    They are found by header, in order, and by whether values are public: a tree of public values is not
    suppressed.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        """``folder`` is made when something is kept; names and seals follow from ``key``, a secret."""
        self._folder, self._key = folder, key

    def tree(self, columns: Sequence[ForestColumn]) -> tuple[Tree, Flags] | None:
        """A tree, and which rows were pushed down, (n,)."""
        found = self._read(self._path(columns, "tree"))
        if found is None:
            return None
        grid = TreeGrid(*(found[f"grid.{key}"] for key in TreeGrid._fields))
        nodes = Nodes(*(found[f"nodes.{key}"] for key in Nodes._fields))
        return Tree(grid, nodes, int(found["root"]), found["noisy"], found["places"]), found["outside"]

    def harvest(self, columns: Sequence[ForestColumn]) -> Harvest | None:
        found = self._read(self._path(columns, "harvest"))
        return None if found is None else Harvest(*(found[key] for key in Harvest._fields))

    def holds(self, columns: Sequence[ForestColumn]) -> bool:
        """Whether there are files of a tree and its harvest; whether they are sound is judged on reading."""
        return all(self._path(columns, what).exists() for what in ("tree", "harvest"))

    def keep(self, forest: Forest, into: Path | None = None) -> None:
        """Write what the forest holds and no file has; ``into`` another folder, for `take`."""
        into = into or self._folder
        into.mkdir(parents=True, exist_ok=True)
        for combination, tree in forest.grown.items():
            arrays = {
                **{f"grid.{key}": value for key, value in tree.grid._asdict().items()},
                **{f"nodes.{key}": value for key, value in tree.nodes._asdict().items()},
                "root": np.array(tree.root),
                "noisy": tree.noisy,
                "places": tree.places,
                "outside": forest.outside(combination),
            }
            self._write(self._path(forest.columns_of(combination), "tree"), arrays, into)
        for combination, harvest in forest.harvested.items():
            self._write(self._path(forest.columns_of(combination), "harvest"), harvest._asdict(), into)

    def take(self, folder: Path) -> None:
        """Have the files, too, that somebody with the same key kept in another folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.npz"):
            self._write_whole(self._folder / path.name, partial(shutil.copyfile, path))

    def _path(self, columns: Sequence[ForestColumn], what: str) -> Path:
        marked = [f"{column.value_safe:d}{len(column.name)}:{column.name}" for column in columns]
        return self._folder / f"{self._keyed_hash(' '.join(marked))[:40]}.{what}.npz"

    def _read(self, path: Path) -> Arrays | None:
        try:
            content = memoryview(path.read_bytes())
        except OSError:
            return None
        length = len(self._seal(path, b""))
        body = content[length:]
        if content[:length] != self._seal(path, body):
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    def _write(self, path: Path, arrays: Mapping[str, Any], into: Path) -> None:
        if path.exists():
            return
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        content = self._seal(path, stream.getbuffer()) + stream.getbuffer()
        self._write_whole(into / path.name, lambda part: part.write_bytes(content))

    def _write_whole(self, path: Path, write: Callable[[Path], object]) -> None:
        if path.exists():
            return
        part = path.with_name(f".{secrets.token_hex(4)}.part")
        # Another run, of newer settings, may have taken the folder away meanwhile.
        with suppress(FileNotFoundError):
            write(part)
            part.replace(path)

    def _keyed_hash(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def _seal(self, path: Path, body: bytes | memoryview) -> bytes:
        return self._keyed_hash(f"{path.name} {hashlib.sha256(body).hexdigest()}").encode("ascii")


#: All pairs are measured in squares of blocks: of so many columns at most, and of as many blocks at least.
_WIDEST_BLOCK, _LEAST_BLOCKS = 4, 6
_ARRAY = "array.npy"
#: What is asked of a forest for the sake of some sets of its columns.
_Ask = Callable[[Forest, Sequence[ColumnNumbers]], list[float]]


@dataclass(frozen=True)
class GrowingPlace:
    """Who grows trees, where what goes to workers and comes back lies, and the files of known trees."""

    workers: Workers
    store: PartStore
    files: TreeFiles


def grow_sets(
    forest: Forest, sets: Sequence[ColumnNumbers], place: GrowingPlace, report: ShareDone = lambda share: None
) -> None:
    """Have the buckets of sets of columns grown, a part a set.

    There are as many parts whatever was grown before: their number tells nothing of what sets share.

    ``sets``: of the forest's columns, ascending each.
    ``report``: told the share of the sets that is done.
    """
    missing = [each for each in sets if not place.files.holds(forest.columns_of(each))]
    # A set grows all that it holds.
    largest = {each for each in missing if not any(set(each) < set(other) for other in missing)}
    parts: list[tuple[ColumnNumbers, ...]] = []
    for each in sets:
        parts.append((each,) if each in largest else ())
        largest.discard(each)
    for done, _ in enumerate(_grow_parts(forest, _harvest_sets, parts, place), start=1):
        report(done / len(parts))


def measure_pairs(
    forest: Forest, known: KnownPairs, place: GrowingPlace, report: ShareDone = lambda share: None
) -> KnownPairs:
    """The dependence of all pairs of a forest's columns, ``known`` ones among them; their trees are grown."""
    names = [column.name for column in forest.columns]
    parts = [
        tuple(pair for pair in square if (names[pair[0]], names[pair[1]]) not in known)
        for square in _squares_of_pairs(len(names))
    ]
    found = dict(known)
    for done, (pairs, values) in enumerate(
        zip(parts, _grow_parts(forest, dependences, parts, place), strict=False), start=1
    ):
        found |= {
            (names[one], names[other]): value for (one, other), value in zip(pairs, values, strict=True)
        }
        report(done / len(parts))
    return found


def _squares_of_pairs(columns: int) -> list[tuple[tuple[int, int], ...]]:
    """All pairs of so many columns, those together that share columns.

    >>> _squares_of_pairs(7)[:3]
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
    """What a forest of some of a table's columns is grown from, on any machine."""

    place: PartStore
    files: TreeFiles = field(repr=False)
    rows: StoredPart
    columns: Mapping[int, tuple[str, bool, StoredPart]] = field(repr=False)
    anonymization: AnonymizationParameters = field(repr=False)
    bucketization: BucketizationParameters

    @classmethod
    def of(cls, forest: Forest, wanted: Sequence[int], place: GrowingPlace) -> "_Seeds":
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

    def plant(self, numbers: Sequence[int]) -> Forest:
        """The forest of some of them; it takes the trees that this machine sees."""
        columns = []
        for name, value_safe, values in (self.columns[number] for number in numbers):
            columns.append(ForestColumn(name, _load(values), value_safe))
        return Forest(columns, _load(self.rows), self.anonymization, self.bucketization, known=self.files)

    def store_grown(self, forest: Forest) -> StoredPart:
        """What was grown, under a name of its own: another machine may do the same part at the same time."""
        return self.place.put(f"grown-{secrets.token_hex(8)}", partial(self.files.keep, forest))


def _save(array: np.ndarray, folder: Path) -> None:
    np.save(folder / _ARRAY, array)


def _load(part: StoredPart) -> np.ndarray:
    with part.folder() as folder:
        array: np.ndarray = np.load(folder / _ARRAY, allow_pickle=False)
        return array


def _grow_parts(
    forest: Forest, ask: _Ask, parts: Sequence[tuple[ColumnNumbers, ...]], place: GrowingPlace
) -> Iterator[list[float]]:
    wanted = sorted({column for part in parts for each in part for column in each})
    if not wanted:
        return
    seeds = _Seeds.of(forest, wanted, place)
    for grown, values in place.workers.each("grow trees", partial(_grow_on_worker, seeds, ask), parts):
        if grown is not None:
            with grown.folder() as folder:
                place.files.take(folder)
            place.store.remove(grown.key)
        yield values


def _grow_on_worker(
    seeds: _Seeds, ask: _Ask, sets: Sequence[ColumnNumbers]
) -> tuple[StoredPart | None, list[float]]:
    if not sets:
        return None, []
    numbers = sorted({column for each in sets for column in each})
    forest = seeds.plant(numbers)
    values = ask(forest, [tuple(numbers.index(column) for column in each) for each in sets])
    return seeds.store_grown(forest), values


def _harvest_sets(forest: Forest, sets: Sequence[ColumnNumbers]) -> list[float]:
    for each in sets:
        forest.buckets(each)
    return []
