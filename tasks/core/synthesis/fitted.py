"""Fitted synthesis: a fitted measurement in, synthetic records out whose counts come close to its tables.

Records are fitted as cells of columns (see `tasks.core.fitting`). Then cells become attributes: `absent` and
what is left of `other` are not written, and columns that others decide follow from these. Every constraint
holds. All of it reads the measurement alone.

`other` stands for values that were too rare to be released. Where they are so few that the noise of the
released values hides them, records hold released values in their place, and the search picks those that fell
short. Elsewhere their cells stay empty: a released value would be held more often than its noisy count says.

Beside its declared values a column has cells for what is in none of them: no value, a number beyond the
first or the last edge, the declared value for what is outside. Where the noisy count of such a group can't be
told from 0, no record is in it: most tables have nobody there, and noise would put somebody into every one. A
column that the contract says is never empty has no record without a value, whatever its count.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import NormalDist

import numpy as np

from tasks.core.aggregates.wide_form import wide_headers
from tasks.core.arrays import Ids, ShareDone
from tasks.core.dp.workload.cells import ColumnCells, cells_of_all_columns, coding_of_cells, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement, read_workload_measurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.fit import fit, fit_in_shards
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, ImpossibleCells
from tasks.core.fitting.sharded_search import read_shard_cells
from tasks.core.parts.shards import RecordShard, ShardPlace, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.columns import Column
from tasks.core.records.rulebook import Coding, Rulebook
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.records import (
    CELLS,
    SyntheticRecords,
    join_shards,
    number_attributes,
    number_to_draw,
    publish_shards,
)

#: In at most this share of the records may a released value stand for one that was not.
_MOST_REPLACED = 0.05
#: So much may a released value be held too often, in the mean: about half of its count's range.
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Unreleased:
    """What an open column holds beyond its released values; their share is an estimate from noisy counts."""

    column: int
    share: float
    is_replaced: bool


def unreleased_values(
    measurement: WorkloadMeasurement, residuals: Residuals | None = None
) -> list[Unreleased]:
    """How `other` of each column that has it is written, in order; a function of released numbers alone.

    It is replaced where the ranges of the released values' counts have room for it. Of a multi-valued column
    with a cap above 1 it never is: the item is left out.
    """
    if all(cells.other is None for cells in measurement.cells):
        return []
    domain = domain_of(measurement.cells)
    residuals = residuals or Residuals(domain, noisy_tables(measurement))
    records = max(1.0, residuals.total())
    found = []
    for column, cells in enumerate(measurement.cells):
        if cells.other is None:
            continue
        count = max(0.0, float(residuals.marginal((column,))[cells.other]))
        hidden = _STANDARD_ERRORS * len(cells.values) * residuals.variance((column,)) ** 0.5
        is_replaced = bool(cells.values) and count <= min(hidden, _MOST_REPLACED * records)
        is_replaced &= column not in domain.multi_valued
        found.append(Unreleased(column, min(1.0, count / records), is_replaced))
    return found


#: In so many releases of a table that has none of these groups, noise alone leaves one of them.
_LEFT_BY_NOISE = 0.05


def indistinguishable_groups(measurement: WorkloadMeasurement, residuals: Residuals) -> list[ImpossibleCells]:
    """For each column with such a group its cells that no record may be in."""
    columns = measurement.schema.measured.columns
    groups = [
        list(_undeclared_groups(column, cells))
        for column, cells in zip(columns, measurement.cells, strict=True)
    ]
    number = sum(map(len, groups))
    errors = NormalDist().inv_cdf(1 - _LEFT_BY_NOISE / max(1, number))
    found = []
    for place, (column, cells) in enumerate(zip(columns, measurement.cells, strict=True)):
        told = residuals.marginal((place,)) > errors * residuals.variance((place,)) ** 0.5
        empty = np.zeros(cells.size, np.bool_)
        empty[[code for code in groups[place] if not told[code]]] = True
        if column.required and cells.absent is not None:
            empty[cells.absent] = True
        if empty.any() and not empty.all():
            found.append(ImpossibleCells((place,), empty))
    return found


def _undeclared_groups(column: Column, cells: ColumnCells) -> Iterator[int]:
    if cells.absent is not None and not column.required:
        yield cells.absent
    if not column.is_open:
        for text in dict.fromkeys((*column.open_ends, column.other)):
            if text is not None and text in cells.values:
                yield cells.values.index(text)


def repair_impossible(measurement: WorkloadMeasurement, records: Ids) -> Ids:
    if not measurement.schema.constraints:
        return records
    return Rulebook(measurement.schema, coding_of_cells(measurement.cells, measurement.schema)).repaired(
        records
    )


def empty_others(measurement: WorkloadMeasurement, records: Ids) -> Ids:
    """The records with nothing in the place of each `other`, repaired where a constraint forbids that."""
    written, domain = records.copy(), domain_of(measurement.cells)
    for column, cells in enumerate(measurement.cells):
        if cells.other is not None:
            first = domain.first_slot(column)
            own = written[:, first : first + domain.slots_of(column)]
            own[own == cells.other] = domain.empty(column)
    if not measurement.schema.constraints:
        return written
    book = Rulebook(measurement.schema, _coding_without_other(measurement))
    broken = np.flatnonzero(book.broken(written))
    written[broken] = book.repaired(written[broken])
    return written


def add_derived_columns(measurement: WorkloadMeasurement, written: Ids) -> Ids:
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


def _coding_without_other(measurement: WorkloadMeasurement) -> Coding:
    """What cells stand for once no `other` is left."""
    coding, cells = coding_of_cells(measurement.cells, measurement.schema), measurement.cells
    texts = tuple(
        tuple(("",) if code == about.other else meant for code, meant in enumerate(of_column))
        for about, of_column in zip(cells, coding.texts, strict=True)
    )
    return Coding(texts, coding.absent, coding.slots)


@dataclass(frozen=True)
class FittedRecords:
    """Records in published form and order, and as cells of measured columns.

    Attributes:
        cells: int32 (n, slots), in the order of the fit, `other` included where it is written as nothing.
    """

    records: SyntheticRecords
    cells: Ids

    def write(self, folder: Path) -> None:
        self.records.write(folder)
        np.save(folder / CELLS, self.cells)


def draw_fitted(
    measurement: WorkloadMeasurement,
    seed: int,
    *,
    number: int | None = None,
    threads: int = 0,
    progress: ShareDone = lambda share: None,
) -> FittedRecords:
    """Records fitted to a measurement; the same arguments give the same records on any machine.

    ``number``: how many records; None: the noisy count, or 0 where that is negative.
    """
    wanted = number_to_draw(measurement.number_of_records, number)
    tables, domain = noisy_tables(measurement), domain_to_fit(measurement)
    fitted, _ = fit(domain, tables, wanted, seed, threads=threads, progress=progress)
    return publish_fitted(measurement, fitted)


def domain_to_fit(measurement: WorkloadMeasurement, residuals: Residuals | None = None) -> Domain:
    """The cells of the columns that were measured, and those that no record may be in."""
    domain = domain_of(measurement.cells, measurement.schema)
    residuals = residuals or Residuals(domain, noisy_tables(measurement))
    replaced = [
        ImpossibleCells((found.column,), np.arange(cells.size) == cells.other)
        for found in unreleased_values(measurement, residuals)
        if found.is_replaced
        for cells in [measurement.cells[found.column]]
    ]
    untold = indistinguishable_groups(measurement, residuals)
    return replace(domain, impossible=(*domain.impossible, *replaced, *untold))


def publish_fitted(measurement: WorkloadMeasurement, fitted: Ids) -> FittedRecords:
    """Fitted records in published form; all but their order is a matter of each record alone."""
    fitted_cells = repair_impossible(measurement, fitted)
    written = add_derived_columns(measurement, empty_others(measurement, fitted_cells))
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
    records = order_records(headers, attributes, held.sum(axis=1).astype(np.int32), table[held])
    return FittedRecords(records, fitted_cells)


#: The share of the work that is the fit.
_FIT = 0.9


def write_fitted(
    measurement: WorkloadMeasurement,
    seed: int,
    folder: Path,
    place: ShardPlace,
    *,
    number: int | None = None,
    threads: int = 0,
    progress: ShareDone = lambda share: None,
) -> None:
    """Write records fitted to a measurement, and their cells; the same whoever works, in whatever order."""
    shards = record_shards(number_to_draw(measurement.number_of_records, number), place.most, seed)
    if len(shards) == 1:
        draw_fitted(measurement, seed, number=number, threads=threads, progress=progress).write(folder)
        return
    with place.store() as store:
        parts = draw_fitted_shards(
            measurement, shards, store=store, workers=place.workers, threads=threads, progress=progress
        )
        join_shards(parts, folder)


def draw_fitted_shards(
    measurement: WorkloadMeasurement,
    shards: Sequence[RecordShard],
    *,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
) -> list[StoredPart]:
    """Fit shards of records together, and publish each by itself: a record's form is its own matter."""
    fitted, _ = fit_in_shards(
        domain_to_fit(measurement),
        noisy_tables(measurement),
        shards,
        store=store.below("fit"),
        workers=workers,
        threads=threads,
        progress=lambda share: progress(_FIT * share),
    )
    stored = store.put("measurement", measurement.write)
    parts = publish_shards(fitted, partial(_publish_shard, stored), store, workers)
    store.remove(stored.key)
    progress(1.0)
    return parts


def _publish_shard(measurement: StoredPart, fitted: StoredPart) -> Callable[[Path], None]:
    with measurement.folder() as folder:
        return publish_fitted(read_workload_measurement(folder), read_shard_cells(fitted)).write
