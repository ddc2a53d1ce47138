"""One pass of the search over the records, compiled.

The energy is half the weighted sum of squared differences between counts and targets. ``gradient`` holds,
for each
cell, what one more record in it would add to the energy: w (count - target + 1/2). So a record's column is
    best put at the value whose cells sum to least, and a random draw by exp(-sum / temperature) is a step
    of Gibbs sampling.

A table lies in ``gradient`` once for each of its columns, turned so that this column comes last. What a
record's other
values point to is then one run of numbers, and a sum over all tables is a sum of runs:

    table (a, b), turned for b      value of b:  0   1   2   3
                   value of a = 0               [.   .   .   .]
                   value of a = 1               [x   x   x   x]   <- the run of a record with a = 1

A column of which a record holds several cells (a multi-valued one) takes several slots of the record, each
of which holds an item or is empty. A record whose slots are all empty is in the column's `absent` cell,
once.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.compiling import njit

#: The most columns of one table.
MOST_COLUMNS = 4
#: What a cell that no record may be in adds to the energy.
FORBIDDEN = np.float32(1.0e30)

_SQUARINGS = 10
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Tables(NamedTuple):
    """All tables of one search, flat: C columns, of which a record has W slots.

    A *use* is a table as one of its columns sees it. Columns that a table does not have are written as
    column C, of which every record is in cell 0. The value v of a use's column and the values x, y, z of
    the table's other columns meet in the cell ``copy[0] + v copy[1] + x copy[2] + y copy[3] + z copy[4]``
    of each ``copy`` of the table.

    Attributes:
        sizes: int64 (C,), cells of each column.
        empty: int64 (C,), what a slot that holds nothing holds: the column's `absent` cell, or its size.
        first_slot: int64 (C + 1,), column c has the slots first_slot[c] to first_slot[c + 1] - 1.
        slot_column: int64 (W,).
        first_use: int64 (C + 1,), column c has the uses first_use[c] to first_use[c + 1] - 1. A table of a
            column with
            itself is one use.
        others: int64 (U, MOST_COLUMNS - 1), the other columns of each use.
        copies: int64 (U, MOST_COLUMNS, MOST_COLUMNS + 1), see above. The first copy is turned for the use's
            column:
            ``copy[1]`` is 1. Behind the last, ``copy[0]`` is -1.
        weights: float32 (U,).
        gradient: float32, see above.
    """

    sizes: npt.NDArray[np.int64]
    empty: npt.NDArray[np.int64]
    first_slot: npt.NDArray[np.int64]
    slot_column: npt.NDArray[np.int64]
    first_use: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]
    copies: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    gradient: npt.NDArray[np.float32]


@njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """The output function of SplitMix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@njit(cache=True, nogil=True)
def _hold(record, slots, left_out, empty, absent, cells):  # type: ignore[no-untyped-def]
    """Write the cells that a record is in by the slots of one column, one left out; returns how many.

    ``absent``: whether a record that holds nothing is in the cell ``empty``.
    """
    number = 0
    for slot in range(slots[0], slots[1]):
        if slot != left_out and record[slot] != empty:
            cells[number] = record[slot]
            number += 1
    if number == 0 and absent:
        cells[0] = empty
        number = 1
    return number


@njit(cache=True, nogil=True)
def _sum_runs(  # type: ignore[no-untyped-def]
    uses, size, others, copies, weights, gradient, cells, numbers, sums
):
    """What each value of a column would add to the energy; returns the sum of the weights that a value meets.

    Unsigned places need no test for negative ones, so that the innermost loop becomes vectors.
    """
    own = np.float32(0.0)
    for value in range(size):
        sums[value] = np.float32(0.0)
    for use in range(uses[0], uses[1]):
        x, y, z = others[use, 0], others[use, 1], others[use, 2]
        for at_x in range(numbers[x]):
            from_x = copies[use, 0, 0] + cells[x, at_x] * copies[use, 0, 2]
            for at_y in range(numbers[y]):
                from_y = from_x + cells[y, at_y] * copies[use, 0, 3]
                for at_z in range(numbers[z]):
                    start = np.uint64(from_y + cells[z, at_z] * copies[use, 0, 4])
                    for value in range(np.uint64(size)):
                        sums[value] += gradient[start + value]
                    own += weights[use]
    return own


@njit(cache=True, nogil=True)
def _count(  # type: ignore[no-untyped-def]
    uses, value, sign, others, copies, weights, gradient, cells, numbers
):
    """Count the record into (or out of, sign -1) the cells that ``value`` in a column puts it in."""
    for use in range(uses[0], uses[1]):
        change = sign * weights[use]
        x, y, z = others[use, 0], others[use, 1], others[use, 2]
        for copy in range(MOST_COLUMNS):
            if copies[use, copy, 0] < 0:
                break
            from_value = copies[use, copy, 0] + value * copies[use, copy, 1]
            for at_x in range(numbers[x]):
                from_x = from_value + cells[x, at_x] * copies[use, copy, 2]
                for at_y in range(numbers[y]):
                    from_y = from_x + cells[y, at_y] * copies[use, copy, 3]
                    for at_z in range(numbers[z]):
                        gradient[from_y + cells[z, at_z] * copies[use, copy, 4]] += change


@njit(cache=True, nogil=True)
def _least(sums, size, old):  # type: ignore[no-untyped-def]
    """The value with the least sum; a tie keeps the old one."""
    best = old
    for value in range(size):
        if sums[value] < sums[best]:
            best = value
    return best


@njit(cache=True, nogil=True)
def _drawn(sums, size, inverse_temperature, uniform):  # type: ignore[no-untyped-def]
    """A value with probability proportional to exp(-sum / temperature).

    exp(y) is computed as (1 + y / 1024)^1024: ten products, which the compiler does for many values at once.
    """
    least = sums[0]
    for value in range(size):
        least = min(least, sums[value])
    for value in range(size):
        share = np.float32(1.0) + (least - sums[value]) * inverse_temperature * np.float32(1.0 / 1024)
        share = max(share, np.float32(0.0))
        for _ in range(_SQUARINGS):
            share = share * share
        sums[value] = share
    total = np.float32(0.0)
    for value in range(size):
        total += sums[value]
    left = uniform * total
    last = 0
    for value in range(size):
        if sums[value] > 0:
            last = value
            left -= sums[value]
            if left < 0:
                break
    return last


@njit(cache=True, nogil=True)
def visit_records(tables, records, places, inverse_temperature, seed):  # type: ignore[no-untyped-def]
    """Move some records once each, slot by slot, in an order of its own for each record.

    Args:
        tables: see `Tables`; ``gradient`` follows the records.
        records: int32 (n, W), changed in place. Slots of one column hold different items.
        places: int64, which records, in which order.
        inverse_temperature: float32; infinite for the best value always.
        seed: uint64, of this pass. A record's random numbers follow from it and its place alone.
    """
    # Arrays in names of their own: a field of a tuple that is passed on is counted at each call.
    sizes, empties, first_slot = tables.sizes, tables.empty, tables.first_slot
    slot_column, first_use, others = tables.slot_column, tables.first_use, tables.others
    copies, weights, gradient = tables.copies, tables.weights, tables.gradient
    number_of_slots, number_of_columns = len(slot_column), len(sizes)
    widest = np.int64(1)
    for column in range(number_of_columns):
        widest = max(widest, first_slot[column + 1] - first_slot[column])
    cells = np.zeros((number_of_columns + 1, widest), np.int64)
    numbers = np.ones(number_of_columns + 1, np.int64)
    order = np.arange(number_of_slots)
    sums = np.empty(sizes.max() + 1, np.float32)
    cold = np.isinf(inverse_temperature)
    for row in places:
        record = records[row]
        for column in range(number_of_columns):
            slots = (first_slot[column], first_slot[column + 1])
            empty = empties[column]
            numbers[column] = _hold(record, slots, -1, empty, empty < sizes[column], cells[column])
        state = _mixed(seed ^ (np.uint64(row) * np.uint64(0xD1342543DE82EF95)))
        for last in range(number_of_slots - 1, -1, -1):
            state += _GOLDEN
            drawn = _mixed(state)
            at = np.int64(((drawn >> np.uint64(32)) * np.uint64(last + 1)) >> np.uint64(32))
            slot = order[at]
            order[at] = order[last]
            order[last] = slot
            column = slot_column[slot]
            size, empty = sizes[column], empties[column]
            slots = (first_slot[column], first_slot[column + 1])
            uses = (first_use[column], first_use[column + 1])
            old = np.int64(record[slot])
            # The cells of the column's other slots: what this slot holds joins them.
            rest = _hold(record, slots, slot, empty, False, cells[column])
            numbers[column] = rest
            choices = size if rest == 0 else max(size, empty + 1)
            # With other items beside it an empty slot is in no cell, nor is one of a column without `absent`.
            counted_when_empty = rest == 0 and empty < size
            own = _sum_runs(uses, size, others, copies, weights, gradient, cells, numbers, sums)
            for held in range(rest):
                sums[cells[column, held]] = FORBIDDEN
            if not counted_when_empty:
                sums[empty] = np.float32(0.0) if rest > 0 else FORBIDDEN
            if old != empty or counted_when_empty:
                sums[old] -= own
            if cold:
                new = _least(sums, choices, old)
            else:
                uniform = np.float32((drawn & np.uint64(0xFFFFFF)) * 2.0**-24)
                new = _drawn(sums, choices, inverse_temperature, uniform)
            if new != old:
                if old != empty or counted_when_empty:
                    change = np.float32(-1.0)
                    _count(uses, old, change, others, copies, weights, gradient, cells, numbers)
                if new != empty or counted_when_empty:
                    change = np.float32(1.0)
                    _count(uses, new, change, others, copies, weights, gradient, cells, numbers)
                record[slot] = new
            numbers[column] = _hold(record, slots, -1, empty, empty < size, cells[column])
