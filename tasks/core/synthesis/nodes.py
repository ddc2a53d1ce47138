"""Nodes of a tree of rows: what was chosen so far in, the rows that hold it and their index out.

A node is opened where that costs less than finishing in the node above it all records that have passed so
far. It is kept for the records of later batches where there is room, else made for one batch that is worth
it alone. All of this is decided by rows and records, never by time or threads.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.present_row_kernels import Effort
from tasks.core.synthesis.rows import FrequentRows, block_cells, held_by, indexed
from tasks.core.synthesis.tree_kernels import split

#: Bytes of the nodes right below the root that are kept; below each of them, as many as it takes itself.
_KEPT_BYTES = 1 << 29


class Cost(NamedTuple):
    """About how many nanoseconds things take; the law of the records is the same for all values.

    Attributes:
        finish_a_row: to finish a record, for each row of its node.
        open_a_row, open_a_cell, open_a_node: to open a node, for each of its rows and of its cells, and
            at all.
        visit_a_node: to go on in a node that is open already.
    """

    finish_a_row: float = 0.2
    open_a_row: float = 20.0
    open_a_cell: float = 4.0
    open_a_node: float = 200_000.0
    visit_a_node: float = 1_000_000.0


@dataclass
class NodeBudget:
    """How many bytes of nodes may still be kept below some node."""

    left: int


@dataclass
class Node:
    """The rows that hold what was chosen.

    Attributes:
        cells: the rows.
        held: how many of them hold each attribute, (attributes + 1,).
        depth: how many attributes were chosen.
        room: for nodes that are kept below this one.
        passed: how many records have come by and chosen each attribute, (attributes,).
        children: nodes that are kept, by the attribute that is chosen.
        index: of the rows, once it was needed.
    """

    cells: Codes
    held: Integers
    depth: int
    room: NodeBudget
    passed: Integers
    children: dict[int, "Node"] = field(default_factory=dict)
    index: BlockIndex | None = None


@dataclass(frozen=True)
class TableTree:
    """The whole table as a tree, and how records are drawn from it.

    Attributes:
        root: all rows, with their index.
        slots_of: as in `FrequentRows`.
        effort: how records are finished.
        cost: when a node is opened.
    """

    root: Node
    slots_of: Ids
    effort: Effort
    cost: Cost

    @property
    def index(self) -> BlockIndex:
        """Of all rows."""
        return self.index_of(self.root)

    def index_of(self, node: Node) -> BlockIndex:
        """The index of a node's rows, made when it is first needed."""
        if node.index is None:
            node.index = indexed(node.cells, node.held, self.effort.resolution, self.effort.rows_a_bit)
        return node.index

    def worth_visiting(self, node: Node, records: Integers) -> list[int]:
        """The kept nodes below in which so many records are finished for less than in this one."""
        rows = len(node.cells)
        saved = records * self.cost.finish_a_row * (rows - node.held[:-1])
        worth = np.flatnonzero(saved > self.cost.visit_a_node).tolist()
        return [attribute for attribute in worth if attribute in node.children]

    def worth_opening(self, node: Node, records: Integers) -> npt.NDArray[np.bool_]:
        """For which attributes a node costs less than finishing so many records in the one above."""
        rows, slots = node.cells.shape
        held = node.held[:-1]
        saved = records * self.cost.finish_a_row * (rows - held)
        opening = held * (self.cost.open_a_row + self.cost.open_a_cell * slots) + self.cost.open_a_node
        worth: npt.NDArray[np.bool_] = (saved > opening) & (records > 0)
        return worth

    def to_keep(self, node: Node, records: Integers) -> list[int]:
        """Attributes whose nodes become worth keeping with so many more records; takes up the room."""
        node.passed += records
        kept = []
        worth = self.worth_opening(node, node.passed) & (records > 0)
        for attribute in np.flatnonzero(worth)[np.argsort(-records[worth], kind="stable")].tolist():
            size = self._bytes(node, attribute)
            if attribute not in node.children and size <= node.room.left:
                node.room.left -= size
                kept.append(attribute)
        return kept

    def _bytes(self, node: Node, attribute: int) -> int:
        """At most how many bytes a node takes with its index."""
        common = int(np.count_nonzero(node.held >= self.effort.resolution))
        cells = node.cells.shape[1] * (node.cells.itemsize + 4)
        return int(node.held[attribute] * (cells + common // 8 + 1))

    def groups(self, node: Node, attributes: list[int]) -> list[list[int]]:
        """Attributes of the same slots whose nodes have no more rows together than this one."""
        groups: list[list[int]] = []
        slots, room = (-1, -1), 0
        for attribute in sorted(attributes):
            first, end = self.slots_of[attribute].tolist()
            room -= int(node.held[attribute])
            if (first, end) != slots or room < 0:
                groups.append([])
                slots, room = (first, end), len(node.cells) - int(node.held[attribute])
            groups[-1].append(attribute)
        return groups

    def opened(self, node: Node, attributes: list[int]) -> list[Node]:
        """The nodes of attributes of the same slots."""
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(node.held[attributes])])
        place_of = np.full(len(node.held), -1, np.int64)
        place_of[attributes] = starts[:-1]
        into = np.empty((int(starts[-1]), node.cells.shape[1]), node.cells.dtype)
        first_slot, end_slot = self.slots_of[attributes[0]].tolist()
        split(node.cells, first_slot, end_slot, place_of, into)
        return [
            self._below(node, into[start:end], self._bytes(node, attribute))
            for start, end, attribute in zip(starts, starts[1:], attributes, strict=False)
        ]

    def _below(self, node: Node, cells: Codes, size: int) -> Node:
        absent = len(node.held) - 1
        room = NodeBudget(size) if node.depth == 0 else node.room
        return Node(cells, held_by(cells, absent), node.depth + 1, room, np.zeros(absent, np.int64))


def table_of(rows: FrequentRows, effort: Effort | None = None, cost: Cost = Cost()) -> TableTree:
    """Rows ready to be drawn from."""
    cells, absent = block_cells(rows), len(rows.attributes)
    root = Node(cells, held_by(cells, absent), 0, NodeBudget(_KEPT_BYTES), np.zeros(absent, np.int64))
    return TableTree(root, rows.slots_of, effort or Effort(rows.resolution), cost)
