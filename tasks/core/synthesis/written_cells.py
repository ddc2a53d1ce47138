"""From fitted cells to what is written: no `other` is left, and every constraint holds.

Cells of the measured columns go in, cells that are values or absent come out. Where a record is in `other`,
nothing is written; see `unreleased`.
"""

import numpy as np

from tasks.core.dp.workload.cells import cells_of_all_columns, coding_of_cells, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.fitting.search import Records
from tasks.core.records.rulebook import Coding, Rulebook


def obeying(measurement: WorkloadMeasurement, records: Records) -> Records:
    """Fitted records, those that the search left in an impossible cell repaired."""
    if not measurement.schema.constraints:
        return records
    return Rulebook(measurement.schema, coding_of_cells(measurement.cells, measurement.schema)).repaired(
        records
    )


def without_others(measurement: WorkloadMeasurement, records: Records) -> Records:
    """The records with nothing in the place of each `other`, repaired where a constraint forbids that."""
    written, domain = records.copy(), domain_of(measurement.cells)
    for column, cells in enumerate(measurement.cells):
        if cells.other is not None:
            first = domain.first_slot(column)
            own = written[:, first : first + domain.slots_of(column)]
            own[own == cells.other] = domain.empty(column)
    if not measurement.schema.constraints:
        return written
    book = Rulebook(measurement.schema, _settled(measurement))
    broken = np.flatnonzero(book.broken(written))
    written[broken] = book.repaired(written[broken])
    return written


def with_derived_columns(measurement: WorkloadMeasurement, written: Records) -> Records:
    """Written cells with a slot more for each column that another one decides (W22)."""
    cells = cells_of_all_columns(measurement.schema, measurement.cells)
    slots = [*np.cumsum([0, *(about.cap for about in cells[:-1])])]
    for derivation in measurement.schema.derivations:
        of_other, own = cells[derivation.decided_by], cells[derivation.column]
        codes = {value: code for code, value in enumerate(own.values)}
        # Behind the values of the other column are `other`, which is gone by now, and absence.
        texts = [*of_other.values, *[""] * (of_other.size + 1 - len(of_other.values))]
        table = [codes.get(derivation.text(text), own.size - 1) for text in texts]
        column = np.array(table, np.int32)[written[:, slots[derivation.decided_by]]]
        written = np.concatenate([written, column[:, None]], axis=1)
    return written


def _settled(measurement: WorkloadMeasurement) -> Coding:
    """What cells stand for once no `other` is left."""
    coding, cells = coding_of_cells(measurement.cells, measurement.schema), measurement.cells
    texts = tuple(
        tuple(("",) if code == about.other else meant for code, meant in enumerate(of_column))
        for about, of_column in zip(cells, coding.texts, strict=True)
    )
    return Coding(texts, coding.absent, coding.slots)
