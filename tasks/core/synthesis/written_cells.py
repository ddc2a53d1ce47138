"""From fitted cells to what is written: no `other` is left, and every constraint holds.

Cells of the measured columns go in, cells that are values or absent come out. `other` stands for released
values that nobody knows more of, so one of them is drawn by its noisy count, among those that break no
constraint with the rest of the record.
"""

import numpy as np
import numpy.typing as npt

from tasks.core.dp.workload.cells import ColumnCells, cells_of_all_columns, coding_of_cells, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.fitting.search import Records
from tasks.core.records.rulebook import Coding, Rulebook

#: How often an `other` is drawn again where what was drawn breaks a constraint.
_MOST_DRAWS = 16


def obeying(measurement: WorkloadMeasurement, records: Records) -> Records:
    """Fitted records, those that the search left in an impossible cell repaired."""
    if not measurement.schema.constraints:
        return records
    return Rulebook(measurement.schema, coding_of_cells(measurement.cells)).repaired(records)


def with_others_drawn(measurement: WorkloadMeasurement, records: Records, seed: int) -> Records:
    """The records with a released value in the place of each `other`; empty where no value was released."""
    generator = np.random.Generator(np.random.PCG64([seed % 2**64, 1]))
    written = _drawn(measurement, records, generator)
    if not measurement.schema.constraints:
        return written
    book = Rulebook(measurement.schema, _settled(measurement.cells))
    rows = np.arange(len(written))
    for _ in range(_MOST_DRAWS):
        rows = rows[book.broken(written[rows])]
        if not len(rows):
            return written
        written[rows] = _drawn(measurement, records[rows], generator)
    return book.repaired(written)


def with_derived_columns(measurement: WorkloadMeasurement, written: Records) -> Records:
    """Written cells with a slot more for each column that another one decides (W22)."""
    cells = cells_of_all_columns(measurement.schema, measurement.cells)
    slots = [*np.cumsum([0, *(about.cap for about in cells[:-1])])]
    for derivation in measurement.schema.derivations:
        of_other, own = cells[derivation.decided_by], cells[derivation.column]
        codes = {value: code for code, value in enumerate(own.values)}
        # Behind the values of the other column are `other`, which is drawn by now, and absence.
        texts = [*of_other.values, *[""] * (of_other.size + 1 - len(of_other.values))]
        table = [codes.get(derivation.text(text), own.size - 1) for text in texts]
        column = np.array(table, np.int32)[written[:, slots[derivation.decided_by]]]
        written = np.concatenate([written, column[:, None]], axis=1)
    return written


def _settled(cells: tuple[ColumnCells, ...]) -> Coding:
    """What cells stand for once no `other` is left."""
    coding = coding_of_cells(cells)
    texts = tuple(
        tuple(("",) if code == about.other else meant for code, meant in enumerate(of_column))
        for about, of_column in zip(cells, coding.texts, strict=True)
    )
    return Coding(texts, coding.absent, coding.slots)


def _drawn(measurement: WorkloadMeasurement, records: Records, generator: np.random.Generator) -> Records:
    """A copy of the records in which each `other` is a released value."""
    written, domain = records.copy(), domain_of(measurement.cells)
    for column, cells in enumerate(measurement.cells):
        if cells.other is None:
            continue
        counts = np.maximum(measurement.values[column].counts[: len(cells.values)], 0).astype(np.float64)
        first = domain.first_slot(column)
        for slot in range(first, first + domain.slots_of(column)):
            _draw_slot(written, cells, counts, (column, slot, domain), generator)
    return written


def _draw_slot(
    written: Records,
    cells: ColumnCells,
    counts: npt.NDArray[np.float64],
    place: tuple[int, int, Domain],
    generator: np.random.Generator,
) -> None:
    """Replace `other` in one slot. An item that the record holds already leaves the slot empty."""
    column, slot, domain = place
    rows = np.flatnonzero(written[:, slot] == cells.other)
    empty = domain.empty(column)
    if not counts.any():
        written[rows, slot] = empty
        return
    drawn = generator.choice(len(counts), len(rows), p=counts / counts.sum()).astype(np.int32)
    first = domain.first_slot(column)
    for other in range(first, first + domain.slots_of(column)):
        if other != slot:
            drawn = np.where(written[rows, other] == drawn, np.int32(empty), drawn)
    written[rows, slot] = drawn
