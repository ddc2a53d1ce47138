"""Trees and their harvests on disk: a folder and a forest's columns go in, what was grown before comes out.

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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.syndiffix.bucket_kernels import Harvest
from tasks.core.syndiffix.forest import Forest, ForestColumn
from tasks.core.syndiffix.node_kernels import Nodes, TreeGrid
from tasks.core.syndiffix.tree import Tree

Arrays = dict[str, np.ndarray[Any, Any]]


class TreeFiles:
    """The trees of all columns of one table, all of one salt and of the same settings."""

    def __init__(self, folder: Path, key: bytes) -> None:
        """Args: folder: made when something is kept. key: secret; names and seals follow from it."""
        self._folder, self._key = folder, key

    def tree(self, columns: Sequence[ForestColumn]) -> tuple[Tree, Flags] | None:
        """The tree of columns in the forest's order, and which rows were pushed down."""
        found = self._read(self._path(columns, "tree"))
        if found is None:
            return None
        grid = TreeGrid(*(found[f"grid.{key}"] for key in TreeGrid._fields))
        nodes = Nodes(*(found[f"nodes.{key}"] for key in Nodes._fields))
        return Tree(grid, nodes, int(found["root"]), found["noisy"], found["places"]), found["outside"]

    def harvest(self, columns: Sequence[ForestColumn]) -> Harvest | None:
        """The harvest of their tree."""
        found = self._read(self._path(columns, "harvest"))
        return None if found is None else Harvest(*(found[key] for key in Harvest._fields))

    def holds(self, columns: Sequence[ForestColumn]) -> bool:
        """Whether there are files of a tree and its harvest; whether they are sound is judged on reading."""
        return all(self._path(columns, what).exists() for what in ("tree", "harvest"))

    def keep(self, forest: Forest, into: Path | None = None) -> None:
        """Write what the forest holds and no file has. Args: into: another folder, for `take`."""
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
            self._appear(self._folder / path.name, partial(shutil.copyfile, path))

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
        self._appear(into / path.name, lambda part: part.write_bytes(content))

    def _appear(self, path: Path, write: Callable[[Path], object]) -> None:
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
