"""Values that were not released: a measurement in, out how each open column's `other` is written.

`other` stands for values that were too rare to be released. Where they are so few that the noise of the
released values hides them, records hold released values in their place, and the search picks those that fell
short. Elsewhere their cells stay empty: a released value would be held more often than its noisy count says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, ImpossibleCells

#: In at most this share of the records may a released value stand for one that was not.
_MOST_REPLACED = 0.05
#: So much may a released value be held too often, in the mean: about half of its count's range.
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Unreleased:
    """What an open column holds beyond its released values.

    Attributes:
        column: its place among the measured columns.
        share: of the records that hold such a value, as estimated from noisy counts; 0 to 1.
        is_replaced: whether records hold released values instead; otherwise their cells are empty.
    """

    column: int
    share: float
    is_replaced: bool


def unreleased_values(
    measurement: WorkloadMeasurement, residuals: Residuals | None = None
) -> list[Unreleased]:
    """How `other` of each column that has it is written, in order; a function of released numbers alone.

    It is replaced where the ranges of the released values' counts have room for it. Of a multi-valued column
    with a cap above 1 it never is: the item is left out.

    Args:
        measurement: as drawn.
        residuals: of its tables, where they are known.
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


def without_replaced(
    domain: Domain, measurement: WorkloadMeasurement, unreleased: Sequence[Unreleased]
) -> Domain:
    """The domain in which no record may be in an `other` that is replaced."""
    masks = []
    for found in unreleased:
        if found.is_replaced:
            cells = measurement.cells[found.column]
            masks.append(ImpossibleCells((found.column,), np.arange(cells.size) == cells.other))
    return replace(domain, impossible=(*domain.impossible, *masks))
