"""Tables of few columns, compiled: counting records, and making a table even but for its pairs."""

import numpy as np

from tasks.core.compiling.decorator import njit

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
