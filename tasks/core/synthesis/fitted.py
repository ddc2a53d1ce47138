"""Fitted synthesis: a fitted measurement in, synthetic records out whose counts come close to its tables.

Records are fitted as cells of columns (see `tasks.core.fitting`); where `other` is few, none is left in it
(see `unreleased`). Then cells become attributes: values are written, `absent` and what is left of `other`
are not, and columns that others decide follow from these. Every constraint holds. All of it reads the
measurement alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from tasks.core.aggregates.wide_form import wide_headers
from tasks.core.arrays import Ids, ShareDone
from tasks.core.dp.workload.cells import cells_of_all_columns, coding_of_cells, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.fit import Fit, fit
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.fitting.targets import Target
from tasks.core.records.rulebook import Coding, Rulebook
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.records import SyntheticRecords, number_attributes
from tasks.core.synthesis.unreleased import unreleased_values, without_replaced
from tasks.core.synthesis.untold_groups import untold_groups


def obeying(measurement: WorkloadMeasurement, records: Ids) -> Ids:
    """Fitted records, those that the search left in an impossible cell repaired."""
    if not measurement.schema.constraints:
        return records
    return Rulebook(measurement.schema, coding_of_cells(measurement.cells, measurement.schema)).repaired(
        records
    )


def without_others(measurement: WorkloadMeasurement, records: Ids) -> Ids:
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


def with_derived_columns(measurement: WorkloadMeasurement, written: Ids) -> Ids:
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


@dataclass(frozen=True)
class FittedRecords:
    """What fitted synthesis made.

    Attributes:
        records: in published form and order.
        cells: int32 (n, slots), the same records as cells of measured columns, in the order of the fit,
            `other` included where it is written as nothing.
        targets: what their counts were to come to.
    """

    records: SyntheticRecords
    cells: Ids
    targets: tuple[Target, ...]


def draw_fitted(
    measurement: WorkloadMeasurement,
    seed: int,
    *,
    number: int | None = None,
    threads: int = 0,
    progress: ShareDone | None = None,
) -> FittedRecords:
    """Records fitted to a measurement; the same arguments give the same records on any machine.

    Args:
        measurement: as drawn.
        seed: any integer; public.
        number: how many records; None: the noisy count, or 0 where that is negative.
        threads: 0 for all cores.
        progress: told the share that is done, 0 to 1.
    """
    wanted = wanted_number(measurement, number)
    tables, domain = noisy_tables(measurement), domain_to_fit(measurement)
    fitted = fit(domain, tables, wanted, seed, threads=threads, progress=progress)
    return published(measurement, fitted)


def wanted_number(measurement: WorkloadMeasurement, number: int | None) -> int:
    """How many records are made: as many as asked for, or the noisy count; none where that is negative."""
    return max(0, measurement.number_of_records if number is None else number)


def domain_to_fit(measurement: WorkloadMeasurement, residuals: Residuals | None = None) -> Domain:
    """The cells of the columns that were measured, and those that no record may be in.

    Args:
        measurement: as drawn.
        residuals: of its tables, where they are known.
    """
    domain = domain_of(measurement.cells, measurement.schema)
    residuals = residuals or Residuals(domain, noisy_tables(measurement))
    domain = without_replaced(domain, measurement, unreleased_values(measurement, residuals))
    untold = untold_groups(measurement, domain, residuals)
    return replace(domain, impossible=(*domain.impossible, *untold))


def published(measurement: WorkloadMeasurement, fitted: Fit) -> FittedRecords:
    """Fitted records in published form; all but their order is a matter of each record alone."""
    fitted_cells = obeying(measurement, fitted.records)
    written = with_derived_columns(measurement, without_others(measurement, fitted_cells))
    cells = cells_of_all_columns(measurement.schema, measurement.cells)
    values = [dict(enumerate(about.values)) for about in cells]
    attributes, ids = number_attributes(
        measurement.schema.columns, values, [about.size + 1 for about in cells]
    )
    headers = wide_headers(measurement.schema, attributes)
    slot_columns = [column for column, about in enumerate(cells) for _ in range(about.cap)]
    table = np.concatenate(
        [ids[column][written[:, slot]][:, None] for slot, column in enumerate(slot_columns)]
        or [np.empty((len(written), 0), np.int32)],
        axis=1,
    )
    held = table >= 0
    records = ordered(headers, attributes, held.sum(axis=1).astype(np.int32), table[held])
    return FittedRecords(records, fitted_cells, fitted.targets)
