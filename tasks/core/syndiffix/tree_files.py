"""Trees and their harvests on disk: a folder and a forest's columns go in, what was grown before comes out.

<folder>/<name>.tree.npz      the arrays of a tree; of a one-column tree also which rows were pushed down
<folder>/<name>.harvest.npz   the arrays of its harvest

As sensitive as the table. Each begins with a seal, a keyed hash of its name and content: a file that is
damaged, or is another's, is as good as none, and the tree is grown again, the same.
"""

import hashlib
import io
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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

    def __init__(self, folder: Path, keyed_hash: Callable[[str], str]) -> None:
        """Args: folder: made when something is kept. keyed_hash: of a text, in ASCII, always as long."""
        self._folder, self._keyed_hash = folder, keyed_hash

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

    def keep(self, forest: Forest) -> None:
        """Write what the forest holds and no file has."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for combination, tree in forest.grown.items():
            arrays = {
                **{f"grid.{key}": value for key, value in tree.grid._asdict().items()},
                **{f"nodes.{key}": value for key, value in tree.nodes._asdict().items()},
                "root": np.array(tree.root),
                "noisy": tree.noisy,
                "places": tree.places,
                "outside": forest.outside(combination),
            }
            self._write(self._path(forest.columns_of(combination), "tree"), arrays)
        for combination, harvest in forest.harvested.items():
            self._write(self._path(forest.columns_of(combination), "harvest"), harvest._asdict())

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

    def _write(self, path: Path, arrays: Mapping[str, Any]) -> None:
        if path.exists():
            return
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        part = path.with_name(f".{secrets.token_hex(4)}.part")
        # Another run, of newer settings, may have taken the folder away meanwhile.
        with suppress(FileNotFoundError):
            part.write_bytes(self._seal(path, stream.getbuffer()) + stream.getbuffer())
            part.replace(path)

    def _seal(self, path: Path, body: bytes | memoryview) -> bytes:
        return self._keyed_hash(f"{path.name} {hashlib.sha256(body).hexdigest()}").encode("ascii")
