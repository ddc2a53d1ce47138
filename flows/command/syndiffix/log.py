"""What ``marginalia syndiffix`` tells of its work when asked: a log, or all of it as JSON; both sensitive.

In: a finished run. Out: lines on standard error; a file that only its owner can read.
"""

import io
import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from tasks.core.arrays import ColumnNumbers
from tasks.core.syndiffix.clusters import Clusters, write_clusters
from tasks.core.syndiffix.dependence import entropies
from tasks.core.syndiffix.forest import Forest, Tree, single_valued
from tasks.core.syndiffix.synthesizer import Synthesizer
from tasks.core.syndiffix.tree_kernels import NO_NODE, STUB
from tasks.core.tables.writing import place
from tasks.progress import say

WARNING = (
    "SENSITIVE: the figures in this log come from the data and are only partly protected. Do not share it."
)
DEBUG_WARNING = "SENSITIVE: the output of --debug holds the table itself and true counts. Do not share it."


@dataclass(frozen=True)
class Run:
    """What a command has done.

    Attributes:
        synthesizer: whose strategy are the clusters that were used.
        result: the synthetic table.
        table: the one that was read.
        seconds: that it took.
    """

    synthesizer: Synthesizer
    result: pa.Table
    table: pa.Table
    seconds: float

    @property
    def clusters(self) -> Clusters:
        """The clusters that were used."""
        return self.synthesizer.clusters()


def log(run: Run) -> None:
    """Say how columns depend on each other, what they hold, how they were clustered and what it took."""
    synthesizer = run.synthesizer
    relations = synthesizer.relations
    if relations is None:
        say("Dependence: not measured, because these clusters did not need it.")
    else:
        say("Dependence:")
        for line in _matrix_lines(relations.dependence):
            say(line)
    say("Columns:")
    width = max(len(column.name) for column in synthesizer.columns)
    for number, (column, entropy) in enumerate(
        zip(synthesizer.columns, entropies(synthesizer.forest), strict=True)
    ):
        say(f"{number:>4}  {column.name:<{width}}  {column.kind:<9}  entropy {entropy:.4f}")
    say(f"Clusters: {write_clusters(run.clusters)}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    say(f"Elapsed: {run.seconds * 1000:.0f} ms; memory: {memory} MB")


def _matrix_lines(matrix: "np.ndarray[Any, np.dtype[np.float64]]") -> Iterator[str]:
    """The matrix with two decimals, and the totals of rows and columns."""
    numbers = "".join(f"{number:>7}" for number in range(len(matrix)))
    yield f"{'':>7}{numbers}{'total':>8}"
    for number, row in enumerate(matrix):
        yield f"{number:>7}" + "".join(f"{value:7.2f}" for value in row) + f"{row.sum():8.2f}"
    totals = "".join(f"{value:7.2f}" for value in matrix.sum(axis=0))
    yield f"{'total':>7}{totals}{matrix.sum():8.2f}"


def write_debug(run: Run, path: Path) -> None:
    """Write columns, parameters, trees, buckets and rows as JSON to a file of mode 0600.

    The salt is not in it.

    Raises:
        ParameterError: it can't be written there.
    """
    place(path.expanduser(), lambda stream: _write_members(run, stream), is_private=True)


def _write_members(run: Run, stream: BinaryIO) -> None:
    """An object, member by member: all trees at once would be many times the table."""
    forest, file = run.synthesizer.forest, io.TextIOWrapper(stream, encoding="utf-8")
    for number, (name, value) in enumerate(_described(run).items()):
        file.write(f"{',' if number else '{'}\n{json.dumps(name)}: {_json(value)}")
    for name, members in (("trees", _trees(forest)), ("buckets", _buckets(forest))):
        file.write(f",\n{json.dumps(name)}: [")
        for number, member in enumerate(members):
            file.write(f"{',' if number else ''}\n{_json(member)}")
        file.write("]")
    file.write("}\n")
    file.detach()  # written out, and left open


def _described(run: Run) -> dict[str, object]:
    synthesizer = run.synthesizer
    parameters = synthesizer.parameters
    anonymization = asdict(parameters.anonymization)
    del anonymization["salt"]
    return {
        "columns": [column.name for column in synthesizer.columns],
        "null_mappings": synthesizer.forest.null_values,
        "anonymization": anonymization,
        "bucketization": asdict(parameters.bucketization),
        "clustering": {type(parameters.clustering).__name__: asdict(parameters.clustering)},
        "value_safe_columns": sorted(parameters.value_safe_columns),
        "clusters": json.loads(write_clusters(run.clusters)),
        "elapsed_seconds": run.seconds,
        "original_columns": run.table.column_names,
        "original_rows": _rows(run.table),
        "synthetic_columns": run.result.column_names,
        "synthetic_rows": _rows(run.result),
    }


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _trees(forest: Forest) -> Iterator[dict[str, object]]:
    for combination, tree in sorted(forest.grown.items(), key=lambda each: (len(each[0]), each[0])):
        yield {"combination": combination, "root": tree.root, "nodes": list(_nodes(tree))}


def _nodes(tree: Tree) -> Iterator[dict[str, object]]:
    """The nodes from the root down: their snapped ranges, and their children or else their rows' numbers."""
    nodes, single = tree.nodes, single_valued(tree.nodes)
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        size = np.ldexp(tree.grid.size, -int(nodes.depth[node]))
        first, children = int(nodes.first_child[node]), int(nodes.children[node])
        below = list(range(first, first + children)) if first != NO_NODE else []
        start, rows = int(nodes.start[node]), int(nodes.rows[node])
        held = {"children": below} if below else {"rows": nodes.order[start : start + rows].tolist()}
        yield {
            "id": node,
            "ranges": np.stack([nodes.lower[node], nodes.lower[node] + size], axis=1).tolist(),
            "single": single[node].tolist(),
            "stub": bool(nodes.flags[node] & STUB),
            "noisy_rows": int(tree.noisy[node]),
            **held,
        }
        waiting.extend(reversed(below))


def _buckets(forest: Forest) -> Iterator[dict[str, object]]:
    combinations: list[ColumnNumbers] = sorted(forest.grown, key=lambda each: (len(each), each))
    for combination in combinations:
        found = forest.buckets(combination)
        ranges = np.stack([found.lower, found.upper], axis=2)
        yield {"combination": combination, "ranges": ranges.tolist(), "counts": found.counts.tolist()}


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
