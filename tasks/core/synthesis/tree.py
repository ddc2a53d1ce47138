"""Growth: many records that may all use the same attributes, drawn together (S4.1, S4.3).

Records are independent of each other, given their own random streams. Those that have chosen the same so far
share a node of a tree, the rows that hold what was chosen.

    root: all rows ──x──▶ rows with x ──y──▶ rows with x and y      where records that have chosen x and y
          │                    └───z──▶ ...                         go on, or are finished one by one
          └──────────y──▶ ...

A node is opened where that costs less than finishing in the node above it all records that have passed so
far. It is kept for the records of later batches where there is room, else made for one batch that is worth
it alone. All of this is decided by rows and records, never by time or threads: the outcome depends on the
seed alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Codes, Flags, Ids, Integers, ShareDone
from tasks.core.pool import Job, run_jobs
from tasks.core.random_kernels import begin_states, stream
from tasks.core.synthesis.record_kernels import (
    CANDIDATES,
    Drafts,
    Drawing,
    Effort,
    Work,
    cut_used_up,
    draw_in_turn,
    finish_seeded,
    finish_unseeded,
    grouped,
    join_seeded,
    join_unseeded,
    split,
    use_up_in_order,
)
from tasks.core.synthesis.rows import (
    BlockIndex,
    FrequentRows,
    block_cells,
    build_block_index,
    count_held,
    row_set,
)


class DrawnRecords(NamedTuple):
    """Records as drawn: how many attributes each has, and the attributes, one record after the other."""

    sizes: Ids
    attribute_ids: Ids


def drafts_of(like: Codes, number: int, base: np.uint64, first: int) -> Drafts:
    """Empty records, of the type and slots of ``like``, with the streams from ``first`` on of a stage."""
    drafts = Drafts(
        np.empty((number, like.shape[1]), like.dtype), np.zeros(number, np.int32), np.empty(number, np.uint64)
    )
    begin_states(drafts.states, base, first)
    return drafts


def drawn_of(drafts: Drafts, number: int | None = None) -> DrawnRecords:
    sizes = drafts.sizes[:number]
    filled = np.arange(drafts.records.shape[1], dtype=np.int32) < sizes[:, None]
    return DrawnRecords(sizes.copy(), drafts.records[:number][filled].astype(np.int32))


def join_drawn(parts: list[DrawnRecords]) -> DrawnRecords:
    nothing = np.empty(0, np.int32)
    return DrawnRecords(
        np.concatenate([nothing, *(part.sizes for part in parts)]),
        np.concatenate([nothing, *(part.attribute_ids for part in parts)]),
    )


def drawing_over(index: BlockIndex, effort: Effort, available: Integers | None = None) -> Drawing:
    """Room for one record over an index.

    ``available``: (attributes,), how often each may still be used: what can be is a candidate. None where
    candidates are those of a seed.
    """
    attributes = len(index.held)
    wanted = np.zeros(attributes, np.bool_)
    candidates = np.empty(attributes, np.int32)
    now = np.zeros(4, np.int64)
    if available is not None:
        wanted[:-1] = (available > 0) & (index.held[:-1] >= effort.resolution)
        now[CANDIDATES] = np.count_nonzero(wanted)
        candidates[: now[CANDIDATES]] = np.flatnonzero(wanted)
    work = Work(
        wanted=wanted,
        candidates=candidates,
        weights=np.zeros(attributes, np.int64),
        met=np.empty(attributes, np.int32),
        dropped=np.empty(attributes, np.int32),
        record=np.empty(index.cells.shape[1], np.int32),
        now=now,
    )
    rows = row_set(index, least=effort.resolution, short=effort.short, rows_a_list=effort.rows_a_list)
    return Drawing(rows, work, effort)


#: Bytes of the nodes right below the root that are kept; below each of them, as many as it takes itself.
_KEPT_BYTES = 1 << 29
_RECORDS_A_CALL = 2048
_WORTH_THREADS = 512


class Cost(NamedTuple):
    """About how many nanoseconds things take; the law of the records is the same for all values.

    Attributes:
        finish_a_row: to finish a record, for each row of its node.
        open_a_row, open_a_cell, open_a_node: to open a node, for each of its rows and of its cells, and
            at all.
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
        held: how many of them hold each attribute, (attributes + 1,).
        passed: how many records have come by and chosen each attribute, (attributes,).
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
    root: Node
    slots_of: Ids
    effort: Effort
    cost: Cost

    def index_of(self, node: Node) -> BlockIndex:
        if node.index is None:
            node.index = build_block_index(
                node.cells, node.held, self.effort.resolution, self.effort.rows_a_bit
            )
        return node.index

    def worth_visiting(self, node: Node, records: Integers) -> list[int]:
        rows = len(node.cells)
        saved = records * self.cost.finish_a_row * (rows - node.held[:-1])
        worth = np.flatnonzero(saved > self.cost.visit_a_node).tolist()
        return [attribute for attribute in worth if attribute in node.children]

    def worth_opening(self, node: Node, records: Integers) -> Flags:
        rows, slots = node.cells.shape
        held = node.held[:-1]
        saved = records * self.cost.finish_a_row * (rows - held)
        opening = held * (self.cost.open_a_row + self.cost.open_a_cell * slots) + self.cost.open_a_node
        worth: Flags = (saved > opening) & (records > 0)
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
        return Node(cells, count_held(cells, absent), node.depth + 1, room, np.zeros(absent, np.int64))


def table_of(rows: FrequentRows, effort: Effort | None = None, cost: Cost = Cost()) -> TableTree:
    cells, absent = block_cells(rows), len(rows.attributes)
    root = Node(cells, count_held(cells, absent), 0, NodeBudget(_KEPT_BYTES), np.zeros(absent, np.int64))
    return TableTree(root, rows.slots_of, effort or Effort(rows.resolution), cost)


class GrowingBatch:
    def __init__(self, table: TableTree, drafts: Drafts, available: Integers | None = None) -> None:
        """``available``: (attributes,), what records without seeds may use; None: row i for record i."""
        self._table, self._drafts, self._available = table, drafts, available
        self._finished: list[int] = []  # one sum would lose what two threads add at once

    def run(self, numbers: Ids, threads: int, report: ShareDone) -> None:
        if len(numbers) == 0:
            return
        self._table.index_of(self._table.root)
        jobs = list(self._jobs(self._table.root, numbers))
        threads = threads if len(numbers) >= _WORTH_THREADS else 1
        run_jobs(jobs, threads, lambda: report(sum(self._finished) / len(numbers)))

    def _jobs(self, node: Node, numbers: Ids) -> Iterator[Job]:
        """What is to be done for records that have come to a node, once they have their next attribute."""
        table, starts = self._table, np.empty(len(node.held) + 1, np.int64)
        order = grouped(numbers, self._join(node, numbers), starts)
        records = np.diff(starts)[:-1]
        self._finished.append(len(numbers) - len(order))

        def of(attribute: int) -> Ids:
            return order[starts[attribute] : starts[attribute + 1]]

        there = table.worth_visiting(node, records)
        kept = table.to_keep(node, records)
        alone = table.worth_opening(node, records)
        alone[[*node.children, *kept]] = False
        passing = np.flatnonzero(alone).tolist()
        for attribute in there:
            yield partial(self._jobs, node.children[attribute], of(attribute))
        for keep, attributes in ((True, kept), (False, passing)):
            groups = table.groups(node, attributes)
            for group in sorted(groups, key=lambda each: -int(records[each].sum())):
                yield partial(self._opened, node, group, [of(attribute) for attribute in group], keep)
        alone[there + kept + passing] = True
        left = order[np.repeat(~alone, records)]
        for first in range(0, len(left), _RECORDS_A_CALL):
            yield partial(self._finish, node, left[first : first + _RECORDS_A_CALL])

    def _join(self, node: Node, numbers: Ids) -> Ids:
        """Give records at a node their next attribute, if they have none yet; -1 for finished ones."""
        weights = np.where(node.held >= self._table.effort.resolution, node.held, 0)
        # All rows of the node hold what its records have chosen on the way.
        weights[self._drafts.records[numbers[0], : node.depth]] = 0
        joined = np.empty(len(numbers), np.int32)
        if self._available is None:
            seeds = self._table.root.cells
            join_seeded(weights, seeds, self._drafts, numbers, joined)
        else:
            weights[:-1][self._available <= 0] = 0
            join_unseeded(weights, node.depth, self._drafts, numbers, joined)
        return joined

    def _opened(self, node: Node, attributes: list[int], numbers: list[Ids], keep: bool) -> list[Job]:
        """Open nodes of attributes of the same slots; what is then to be done below them."""
        opened = self._table.opened(node, attributes)
        if keep:
            node.children.update(zip(attributes, opened, strict=True))
        return [partial(self._jobs, child, own) for child, own in zip(opened, numbers, strict=True)]

    def _finish(self, node: Node, numbers: Ids) -> tuple[Job, ...]:
        drawing = drawing_over(self._table.index_of(node), self._table.effort, self._available)
        if self._available is None:
            finish_seeded(drawing, self._table.root.cells, self._drafts, numbers)
        else:
            finish_unseeded(drawing, self._drafts, numbers)
        self._finished.append(len(numbers))
        return ()


#: Tables of fewer rows are drawn from in turn, so many records at a time.
_FEW_ROWS = 1 << 16
_RECORDS_IN_TURN = 256
#: The more records are drawn together, the more of them share the nodes that they pass.
_RECORDS_A_BATCH = 1 << 17
#: Towards the end one attribute after the other is used up, and records behind that are drawn anew: batches
#: become smaller, of about so many times fewer records than are to come, but no smaller than this.
_BATCHES_TO_COME, _FEWEST_A_BATCH = 8, 1 << 13


class Consolidation:
    """Records that use exactly what is still to be used (S4.1, S4.3).

    The law is the sequential one: a record is drawn from the attributes that are available when it begins,
    and uses up one of each that it holds. Which are available matters, not how many times, and a record holds
    no attribute twice; so until an attribute is used up, records are independent and of one law, and are
    drawn as a batch. Counted down in order, some record of it uses up an attribute x. Those behind it were
    drawn as if x were available. Each step of such a record is a draw from weights of which that of x should
    have been 0: if it did not give x, it is a draw by the right law already, by which x is just rejected;
    where it first gave x, the record is cut, and goes on from there without x. What it would have held behind
    x is not looked at.
    """

    def __init__(self, table: TableTree, available: Integers, seed: int) -> None:
        """``available``: (attributes,), above 0 only where as many rows as the resolution hold one."""
        self._table = table
        self._base = stream("consolidation", seed)[0]
        self._left, self._total = available.astype(np.int64), int(available.sum())
        self._streams = 0
        self._parts: list[DrawnRecords] = []

    def run(self, threads: int, report: ShareDone, records_a_batch: int | None = None) -> DrawnRecords:
        """Draw until nothing is available any more.

        With ``records_a_batch`` 0 one record after the other; None for what is faster. The law is the same.
        """
        if records_a_batch is None:
            records_a_batch = _RECORDS_A_BATCH if len(self._table.root.cells) >= _FEW_ROWS else 0
        while self._left.any():
            drawn = self._batch(records_a_batch, threads) if records_a_batch else self._in_turn()
            self._parts.append(drawn)
            report(1.0 - int(self._left.sum()) / self._total)
        return join_drawn(self._parts)

    def _batch(self, size: int, threads: int) -> DrawnRecords:
        uses, slots = int(self._left.sum()), self._table.root.cells.shape[1]
        # No more are left than there are uses.
        size = min(size, uses, max(_FEWEST_A_BATCH, uses // (_BATCHES_TO_COME * slots)))
        drafts = drafts_of(self._table.root.cells, size, self._base, self._next(size))
        numbers, taken = np.arange(size, dtype=np.int32), 0
        while taken < size and self._left.any():
            GrowingBatch(self._table, drafts, self._left).run(numbers, threads, lambda share: None)
            taken = use_up_in_order(drafts, taken, self._left)
            numbers = cut_used_up(drafts, taken, self._left)
        return drawn_of(drafts, taken)

    def _in_turn(self) -> DrawnRecords:
        size = _RECORDS_IN_TURN
        drafts = drafts_of(self._table.root.cells, size, self._base, self._next(size))
        index = self._table.index_of(self._table.root)
        drawing = drawing_over(index, self._table.effort, self._left)
        return drawn_of(drafts, draw_in_turn(drawing, drafts, self._left))

    def _next(self, size: int) -> int:
        """The first of so many streams that were never used."""
        first = self._streams
        self._streams += size
        return first
