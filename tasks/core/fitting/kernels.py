"""One pass of the search over the records, compiled; at the end, counting into and raking of small tables.

The energy is half the weighted sum of squared differences between counts and targets. ``gradient`` holds,
for each cell, what one more record in it would add to the energy: w (count - target + 1/2). So a record's
column is best put at the value whose cells sum to least, and a random draw by exp(-sum / temperature) is a
step of Gibbs sampling.

A table lies in ``gradient`` once for each of its columns, turned so that this column comes last. What a
record's other values point to is then one run of numbers, and a sum over all tables is a sum of runs:

    table (a, b), turned for b      value of b:  0   1   2   3
                   value of a = 0               [.   .   .   .]
                   value of a = 1               [x   x   x   x]   <- the run of a record with a = 1

Where each run begins is kept beside the record, and moved on when one of its values changes.

A column of which a record holds several cells (a multi-valued one) takes several slots of the record, each
of which holds an item or is empty. An empty slot is in the cell `NOWHERE`, so far out that the runs that it
points to begin behind the gradient and are left out. A record whose slots are all empty is in the column's
`absent` cell, once: by the slot that was looked at last.

Runs are added eight numbers at a time, as the compiler's own vectors, which LLVM does not find by itself in
loops of 8. The additions and their order are those of plain code, so sums are the same on any machine.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from tasks.core.arrays import Integers
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import mix_word

#: Numbers that are added at once.
LANES = 8
#: Numbers of four bytes that `fetch` brings near.
FETCHED = 16

_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def _adder(vectors: int) -> Any:
    def add_runs(
        typing: Any, runs: Any, begin: Any, number: Any, first: Any, gradient: Any, sums: Any
    ) -> Any:
        """sums[first + i] = the sum of gradient[run + first + i] over the runs from ``begin`` on.

        Args:
            runs: int64, where each run begins in ``gradient``.
            begin: int64, the first of them.
            number: int64, of runs.
            first: int64.
            gradient: float32. Nothing tests that places lie in it.
            sums: float32, written; i = 0 to LANES * vectors - 1.
        """
        integer = types.int64
        return types.void(runs, integer, integer, integer, gradient, sums), write

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        begin, number, first = arguments[1:4]
        runs, gradient, sums = (_data(context, builder, signature, arguments, place) for place in (0, 4, 5))
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zeros) for _ in range(vectors)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(zeros, total)
        with cgutils.for_range(builder, number) as loop:
            run = builder.load(builder.gep(runs, [builder.add(begin, loop.index)]))
            for vector, total in enumerate(totals):
                place = builder.add(builder.add(run, first), ir.Constant(ir.IntType(64), vector * LANES))
                part = builder.load(_lanes(builder, gradient, place), align=4)
                builder.store(builder.fadd(builder.load(total), part), total)
        for vector, total in enumerate(totals):
            place = builder.add(first, ir.Constant(ir.IntType(64), vector * LANES))
            builder.store(builder.load(total), _lanes(builder, sums, place), align=4)
        return context.get_dummy_value()

    return intrinsic(add_runs)


def _data(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _lanes(builder: Any, data: Any, place: Any) -> Any:
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


#: Of one vector of numbers, and of two: two sums at once take hardly longer than one.
add_runs: Any = _adder(1)
add_long_runs: Any = _adder(2)


def _fetch(typing: Any, array: Any, place: Any) -> Any:
    """Have the processor bring some of an array near while it goes on; nothing is read.

    Args:
        array: without gaps.
        place: int64, in the flat array. It may lie outside.
    """
    return types.void(array, types.int64), _write_fetch


def _write_fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = builder.gep(_data(context, builder, signature, arguments, 0), [arguments[1]])
    address = builder.bitcast(place, ir.IntType(8).as_pointer())
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
    # To be read, kept near for long, data and not instructions.
    builder.call(prefetch, [address, *(ir.Constant(flag, value) for value in (0, 3, 1))])
    return context.get_dummy_value()


fetch: Any = intrinsic(_fetch)


#: The most columns of one table.
MOST_TABLE_COLUMNS = 4
#: What a cell that no record may be in adds to the energy.
FORBIDDEN = np.float32(1.0e30)
#: The cell of an empty slot: times any stride, beyond any gradient.
NOWHERE = np.int64(1) << np.int64(36)

_SQUARINGS = 10
#: A record is fetched from memory so many visits before its own.
_AHEAD = 2
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Tables(NamedTuple):
    """All tables of one search, flat: C columns, of which a record has W slots.

    A *use* is a table as one slot of a record sees it, in one choice of slots for the table's other columns.
    The run of a use begins at ``bases`` plus, for each of these other slots, the slot's cell times a stride.

    Attributes:
        sizes: int64 (C,), cells of each column.
        empty: int64 (C,), what a slot that holds nothing holds: the column's `absent` cell, or its size.
        first_slot: int64 (C + 1,), column c has the slots first_slot[c] to first_slot[c + 1] - 1.
        slot_column: int64 (W,).
        first_use: int64 (W + 1,), slot s has the uses first_use[s] to first_use[s + 1] - 1.
        bases: int64 (U,).
        weights: float32 (U,).
        use_slot: int64 (U,).
        first_shift: int64 (W + 1,), slot s moves the runs of the uses that are listed from first_shift[s] on.
        shifted: int64 (S,), these uses.
        strides: int64 (S,), by how much for each cell.
        gradient: float32, see above, and `LANES` zeros.
    """

    sizes: Integers
    empty: Integers
    first_slot: Integers
    slot_column: Integers
    first_use: Integers
    bases: Integers
    weights: npt.NDArray[np.float32]
    use_slot: Integers
    first_shift: Integers
    shifted: Integers
    strides: Integers
    gradient: npt.NDArray[np.float32]


@njit(cache=True, nogil=True)
def _put(slot, cell, cells, starts, first_shift, shifted, strides):  # type: ignore[no-untyped-def]
    """Say that a slot is in a cell; nothing is counted."""
    further = cell - cells[slot]
    if further != 0:
        for at in range(np.uint64(first_shift[slot]), np.uint64(first_shift[slot + 1])):
            starts[np.uint64(shifted[at])] += further * strides[at]
        cells[slot] = cell


@njit(cache=True, nogil=True)
def _find_runs(starts, uses, weights, end, runs):  # type: ignore[no-untyped-def]
    """Collect the runs that there are; returns how many, and the sum of their weights."""
    number = 0
    own = np.float32(0.0)
    for use in range(np.uint64(uses[0]), np.uint64(uses[1])):
        if starts[use] < end:
            runs[np.uint64(number)] = starts[use]
            number += 1
            own += weights[use]
    return number, own


@njit(cache=True, nogil=True)
def _fetch_record(records, row):  # type: ignore[no-untyped-def]
    """Have a record brought near that will be visited soon: records are too many to stay there."""
    slots = records.shape[1]
    for part in range(0, slots, FETCHED):
        fetch(records, row * slots + part)


@njit(cache=True, nogil=True)
def _weight_of_slots(first_use, weights):  # type: ignore[no-untyped-def]
    sums = np.zeros(len(first_use) - 1, np.float32)
    for slot in range(len(sums)):
        for use in range(first_use[slot], first_use[slot + 1]):
            sums[slot] += weights[use]
    return sums


@njit(cache=True, nogil=True)
def _sum_runs(runs, begin, number, size, gradient, sums):  # type: ignore[no-untyped-def]
    """What each value of a column would add to the energy; behind the last value anything.

    Numbers stay in registers until all runs are added.
    """
    for first in range(0, size, 2 * LANES):
        if size - first > LANES:
            add_long_runs(runs, begin, number, first, gradient, sums)
        else:
            add_runs(runs, begin, number, first, gradient, sums)


@njit(cache=True, nogil=True)
def _move(  # type: ignore[no-untyped-def]
    slot, cell, cells, starts, uses, first_shift, shifted, strides, use_slot, weights, end, gradient
):
    """Take the record out of the slot's cell and put it in another, in every copy of every table."""
    old = cells[slot]
    for use in range(np.uint64(uses[0]), np.uint64(uses[1])):
        start, weight = starts[use], weights[use]
        if start + old < end:
            gradient[np.uint64(start + old)] -= weight
        if start + cell < end:
            gradient[np.uint64(start + cell)] += weight
    for at in range(np.uint64(first_shift[slot]), np.uint64(first_shift[slot + 1])):
        moved = np.uint64(shifted[at])
        weight = weights[moved]
        before = starts[moved] + cells[np.uint64(use_slot[moved])]
        further = (cell - old) * strides[at]
        if before < end:
            gradient[np.uint64(before)] -= weight
        if before + further < end:
            gradient[np.uint64(before + further)] += weight
        starts[moved] += further
    cells[slot] = cell


@njit(cache=True, nogil=True)
def _least(sums, size, old):  # type: ignore[no-untyped-def]
    """The value with the least sum; a tie keeps the old one."""
    best = old
    for value in range(size):
        if sums[value] < sums[best]:
            best = value
    return best


@njit(cache=True, nogil=True)
def _drawn(sums, size, inverse_temperature, uniform, old):  # type: ignore[no-untyped-def]
    """A value with probability proportional to exp(-sum / temperature).

    exp(y) is computed as (1 + y / 1024)^1024: ten products, which the compiler does for many values at once.
    """
    least = sums[0]
    for value in range(size):
        least = min(least, sums[value])
    for value in range(np.uint64(size)):
        share = np.float32(1.0) + (least - sums[value]) * inverse_temperature * np.float32(1.0 / 1024)
        share = max(share, np.float32(0.0))
        for _ in range(_SQUARINGS):
            share = share * share
        sums[value] = share
    total = np.float32(0.0)
    for value in range(np.uint64(size)):
        total += sums[value]
        sums[value] = total
    wanted = uniform * total
    for value in range(size):
        if sums[value] > wanted:
            return value
    return old  # rounding made the product the total


@njit(cache=True, nogil=True)
def _load(  # type: ignore[no-untyped-def]
    record, sizes, empties, first_slot, cells, starts, first_shift, shifted, strides
):
    for column in range(len(sizes)):
        empty, held = empties[column], 0
        first, end = first_slot[column], first_slot[column + 1]
        for slot in range(first, end):
            cell = np.int64(record[slot])
            if cell == empty and (end - first > 1 or empty == sizes[column]):
                cell = NOWHERE
            held += cell != NOWHERE
            _put(slot, cell, cells, starts, first_shift, shifted, strides)
        if held == 0 and empty < sizes[column]:
            _put(first, empty, cells, starts, first_shift, shifted, strides)


@njit(cache=True, nogil=True)
def _leave_to(  # type: ignore[no-untyped-def]
    slot, record, slots, empty, absent, cells, starts, first_shift, shifted, strides
):
    """Have the slot's column count as `absent`, if it does, by this slot; returns how many others are filled.

        three slots, empty = 7    looked at    in cells                   returned
        2 7 7                     second       2 NOWHERE NOWHERE          1
        7 7 7                     second       NOWHERE 7 NOWHERE          0: absent, counted once, here

    ``absent``: whether the column has such a cell.
    """
    filled = 0
    for other in range(slots[0], slots[1]):
        if other != slot:
            if record[other] != empty:
                filled += 1
            else:
                _put(other, NOWHERE, cells, starts, first_shift, shifted, strides)
    if filled == 0 and absent and record[slot] == empty:
        _put(slot, empty, cells, starts, first_shift, shifted, strides)
    return filled


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
    slot_column, first_use, use_slot = tables.slot_column, tables.first_use, tables.use_slot
    first_shift, shifted, strides = tables.first_shift, tables.shifted, tables.strides
    weights, gradient = tables.weights, tables.gradient
    number_of_slots = len(slot_column)
    end = len(gradient) - LANES
    cells = np.zeros(number_of_slots, np.int64)
    starts = tables.bases.copy()
    runs = np.empty(np.diff(first_use).max(), np.int64)
    order = np.arange(number_of_slots)
    sums = np.empty(sizes.max() + LANES, np.float32)
    weight_of_slot = _weight_of_slots(first_use, weights)
    ordinary = number_of_slots == len(sizes)
    cold = np.isinf(inverse_temperature)
    for visit in range(len(places)):
        row = places[visit]
        _fetch_record(records, places[min(visit + _AHEAD, len(places) - 1)])
        record = records[row]
        _load(record, sizes, empties, first_slot, cells, starts, first_shift, shifted, strides)
        state = mix_word(seed ^ (np.uint64(row) * np.uint64(0xD1342543DE82EF95)))
        for last in range(number_of_slots - 1, -1, -1):
            # Fisher and Yates: one of the slots not yet visited, which changes places with the last of them.
            state += _GOLDEN
            drawn = mix_word(state)
            at = np.int64(((drawn >> np.uint64(32)) * np.uint64(last + 1)) >> np.uint64(32))
            slot = order[at]
            order[at] = order[last]
            order[last] = slot
            column = slot_column[slot]
            size, empty = sizes[column], empties[column]
            slots = (first_slot[column], first_slot[column + 1])
            uses = (first_use[slot], first_use[slot + 1])
            filled = 0
            if slots[1] - slots[0] > 1:
                filled = _leave_to(
                    slot, record, slots, empty, empty < size, cells, starts, first_shift, shifted, strides
                )
            # With other items beside it an empty slot is in no cell, nor is one of a column without `absent`.
            counted_when_empty = filled == 0 and empty < size
            choices = size if filled == 0 else max(size, empty + 1)
            if ordinary:
                own = weight_of_slot[slot]
                _sum_runs(starts, uses[0], uses[1] - uses[0], size, gradient, sums)
            else:
                number, own = _find_runs(starts, uses, weights, end, runs)
                _sum_runs(runs, 0, number, size, gradient, sums)
            if filled > 0:
                for other in range(slots[0], slots[1]):
                    if other != slot and record[other] != empty:
                        sums[record[other]] = FORBIDDEN
            if not counted_when_empty:
                sums[empty] = np.float32(0.0) if filled > 0 else FORBIDDEN
            old = np.int64(record[slot])
            if cells[slot] != NOWHERE:
                sums[old] -= own
            if cold:
                new = _least(sums, choices, old)
            else:
                uniform = np.float32((drawn & np.uint64(0xFFFFFF)) * 2.0**-24)
                new = _drawn(sums, choices, inverse_temperature, uniform, old)
            if new != old:
                cell = new if new != empty or counted_when_empty else NOWHERE
                _move(
                    slot,
                    cell,
                    cells,
                    starts,
                    uses,
                    first_shift,
                    shifted,
                    strides,
                    use_slot,
                    weights,
                    end,
                    gradient,
                )
                record[slot] = new


_ROWS_AT_ONCE = 4096


@njit(cache=True, nogil=True)
def count_record_cells(columns, slots, strides, counts):  # type: ignore[no-untyped-def]
    """Count every record in its cell.

    Args:
        columns: int32 (W, n), the slots of the records.
        slots: int64 (k,), which of them.
        strides: int64 (k,), by how much the cell of each slot moves in ``counts``.
        counts: int64 (cells,), added to.

    Raises:
        IndexError: a record is in no cell of the table.
    """
    places, cells = np.empty(_ROWS_AT_ONCE, np.int64), np.uint64(len(counts))
    for first in range(0, columns.shape[1], _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, columns.shape[1] - first)
        places[:] = 0
        for axis in range(len(slots)):
            codes, stride = columns[slots[axis]], strides[axis]
            for row in range(np.uint64(rows)):
                places[row] += codes[np.uint64(first) + row] * stride
        for row in range(np.uint64(rows)):
            place = np.uint64(places[row])  # a negative one is a large one
            if place >= cells:
                raise IndexError("A record is in a cell that its table does not have.")
            counts[place] += 1


@njit(cache=True, nogil=True)
def rake_to_pairs(  # type: ignore[no-untyped-def]
    table, shape, pairs, begins, strides, rounds, most_off
):
    """Scale a table to each of its pairs' counts in turn, until all are close.

    Args:
        table: float64 (cells,), of four axes, none negative; changed in place.
        shape: int64 (4,).
        pairs: float64, the wanted counts of all pairs, one behind the other.
        begins: int64 (P + 1,), where each pair's counts begin.
        strides: int64 (P, 4), by how much each axis moves in a pair's counts; 0 where it has it not.
        rounds: at most.
        most_off: it is close enough when no pair's counts are together farther off than this.
    """
    most, number = np.diff(begins).max(), len(strides)
    ratios, held = np.ones(most), np.zeros(most)
    farthest = np.inf
    # Each step scales by what the step before has summed, and sums for the next one; the first only sums.
    for step in range(rounds * number + 1):
        before, pair = strides[(step - 1) % number], strides[step % number]
        held[:] = 0.0
        at = np.uint64(0)
        for a in range(shape[0]):
            for b in range(shape[1]):
                for c in range(shape[2]):
                    ratio = np.uint64(a * before[0] + b * before[1] + c * before[2])
                    place = np.uint64(a * pair[0] + b * pair[1] + c * pair[2])
                    for _ in range(shape[3]):
                        table[at] *= ratios[ratio]
                        held[place] += table[at]
                        at += np.uint64(1)
                        ratio += np.uint64(before[3])
                        place += np.uint64(pair[3])
        if step % number == 0:
            if farthest <= most_off:
                return
            farthest = 0.0
        begin, off = begins[step % number], 0.0
        for cell in range(begins[step % number + 1] - begin):
            wanted = pairs[begin + cell]
            off += abs(wanted - held[cell])
            ratios[cell] = wanted / (held[cell] if held[cell] > 0 else 1.0)
        farthest = max(farthest, off)
