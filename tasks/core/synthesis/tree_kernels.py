"""Records that share what they chose: their next attribute and the rows that go with it (sds.md 4.1).

The rows that hold what was chosen are one block for all of them, counted once.
"""

import numpy as np

from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import state_below
from tasks.core.synthesis.record_kernels import Drafts


@njit(cache=True, nogil=True)
def join_seeded(weights: Integers, seeds: Codes, drafts: Drafts, numbers: Ids, joined: Ids) -> None:
    """Let one attribute of its seed, drawn by weight, join each numbered record.

    ``joined``, aligned with the numbers, becomes that attribute, or -1 where none has a weight.
    """
    for place in range(len(numbers)):
        record, total = numbers[place], 0
        for attribute in seeds[record]:
            total += weights[attribute]
        joined[place] = -1
        if total == 0:
            continue
        rest = state_below(drafts.states, record, total)
        for attribute in seeds[record]:
            rest -= weights[attribute]
            if rest < 0:
                joined[place] = attribute
                break
        drafts.records[record, drafts.sizes[record]] = joined[place]
        drafts.sizes[record] += 1


@njit(cache=True, nogil=True)
def join_unseeded(weights: Integers, depth: int, drafts: Drafts, numbers: Ids, joined: Ids) -> None:
    """Let one of all attributes, drawn by weight, join each numbered record; as `join_seeded`.

    A record of more than ``depth`` attributes has its next one already.
    """
    cumulative = np.cumsum(weights)
    for place in range(len(numbers)):
        record = numbers[place]
        size = drafts.sizes[record]
        joined[place] = -1
        if size > depth:
            joined[place] = drafts.records[record, depth]
        elif cumulative[-1] > 0:
            drawn = state_below(drafts.states, record, cumulative[-1])
            joined[place] = np.searchsorted(cumulative, drawn, side="right")
            drafts.records[record, size] = joined[place]
            drafts.sizes[record] = size + 1


@njit(cache=True, nogil=True)
def grouped(numbers: Ids, joined: Ids, starts: Integers) -> Ids:
    """The numbers by what joined, leaving out those that nothing did; fills where each attribute's begin."""
    starts[:] = 0
    for attribute in joined:
        if attribute >= 0:
            starts[attribute + 1] += 1
    for attribute in range(1, len(starts)):
        starts[attribute] += starts[attribute - 1]
    place_of, order = starts.copy(), np.empty(starts[-1], np.int32)
    for place in range(len(numbers)):
        if joined[place] >= 0:
            order[place_of[joined[place]]] = numbers[place]
            place_of[joined[place]] += 1
    return order


@njit(cache=True, nogil=True)
def split(cells: Codes, first_slot: int, end_slot: int, place_of: Integers, into: Codes) -> None:
    """Copy each row to every block that one of its slots says.

    Args:
        cells: the block.
        first_slot: the first slot to look at.
        end_slot: the first after those to look at.
        place_of: int64 (attributes + 1,): where in ``into`` the attribute's next row goes; -1: nowhere.
        into: rows of all blocks, one block after the other.
    """
    for row in range(cells.shape[0]):
        for slot in range(first_slot, end_slot):
            attribute = cells[row, slot]
            place = place_of[attribute]
            if place >= 0:
                for other in range(cells.shape[1]):
                    into[place, other] = cells[row, other]
                place_of[attribute] = place + 1
