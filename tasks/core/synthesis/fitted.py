"""Fitted synthesis: a fitted measurement in, synthetic records out whose counts come close to its tables.

Records are fitted as cells of columns (see `tasks.core.fitting`). Then cells become attributes: values
themselves, `absent` nothing, and `other` one of the column's released values, drawn by their noisy counts, as
what it stands for is not known. All of it reads the measurement alone.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.dp.workload.cells import ColumnCells, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.fit import fit
from tasks.core.fitting.noisy_tables import Domain
from tasks.core.fitting.search import Progress, Records
from tasks.core.fitting.targets import Target
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.records import SyntheticRecords


@dataclass(frozen=True)
class FittedRecords:
    """What fitted synthesis made.

    Attributes:
        records: in published form and order.
        cells: int32 (n, slots), the same records as cells, in the order of the fit, `other` included.
        targets: what their counts were to come to.
    """

    records: SyntheticRecords
    cells: Records
    targets: tuple[Target, ...]


def synthesize(
    measurement: WorkloadMeasurement,
    seed: int,
    *,
    number: int | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> FittedRecords:
    """Records fitted to a measurement; the same arguments give the same records on any machine.

    Args:
        measurement: as drawn.
        seed: any integer; public.
        number: how many records; None: the noisy count, or 0 where that is negative.
        threads: 0 for all cores.
        progress: told the share that is done, 0 to 1.
    """
    wanted = max(0, measurement.number_of_records) if number is None else number
    domain = domain_of(measurement.cells)
    fitted = fit(domain, noisy_tables(measurement), wanted, seed, threads=threads, progress=progress)
    headers, attributes, ids = _attributes(measurement)
    written = _with_others_drawn(measurement, domain, fitted.records, seed)
    table = np.concatenate(
        [
            ids[column][written[:, slot]][:, None]
            for column in range(len(domain.sizes))
            for slot in _slots(domain, column)
        ]
        or [np.empty((wanted, 0), np.int32)],
        axis=1,
    )
    held = table >= 0
    records = ordered(headers, attributes, held.sum(axis=1).astype(np.int32), table[held])
    return FittedRecords(records, fitted.records, fitted.targets)


def _slots(domain: Domain, column: int) -> range:
    first = domain.first_slot(column)
    return range(first, first + domain.slots_of(column))


def _attributes(
    measurement: WorkloadMeasurement,
) -> tuple[tuple[str, ...], tuple[Attribute, ...], list[npt.NDArray[np.int32]]]:
    """Headers and attributes of the wide form; for each column the attribute of each cell, -1 for none."""
    headers: list[str] = []
    found: list[tuple[Attribute, int, int]] = []
    for column, cells in enumerate(measurement.cells):
        about = measurement.schema.columns[column]
        if about.is_multi_valued:
            headers.extend(f"{about.name}_{item}" for item in sorted(cells.values))
        else:
            headers.append(about.name)
        for code, value in enumerate(cells.values):
            attribute = (
                Attribute(f"{about.name}_{value}", "1", column, value)
                if about.is_multi_valued
                else Attribute(about.name, value, column)
            )
            found.append((attribute, column, code))
    found.sort(key=lambda entry: (entry[0].text, entry[1]))
    ids = [np.full(cells.size + 1, -1, np.int32) for cells in measurement.cells]
    for place, (_, column, code) in enumerate(found):
        ids[column][code] = place
    return tuple(headers), tuple(attribute for attribute, _, _ in found), ids


def _with_others_drawn(
    measurement: WorkloadMeasurement, domain: Domain, records: Records, seed: int
) -> Records:
    """The records with a released value in the place of each `other`; empty where no value was released."""
    written = records.copy()
    generator = np.random.Generator(np.random.PCG64([seed % 2**64, 1]))
    for column, cells in enumerate(measurement.cells):
        if cells.other is None:
            continue
        counts = np.maximum(measurement.values[column].counts[: len(cells.values)], 0).astype(np.float64)
        for slot in _slots(domain, column):
            _draw_others(written, cells, counts, (column, slot, domain), generator)
    return written


def _draw_others(
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
    for other in _slots(domain, column):
        if other != slot:
            drawn = np.where(written[rows, other] == drawn, np.int32(empty), drawn)
    written[rows, slot] = drawn
