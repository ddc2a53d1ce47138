"""What a draw is expected to tell, before it is made.

Nobody's record is looked at: margins are taken to be even, and the number of records is a guess that somebody
gives. What comes out is the noise alone; what a model adds to it can't be known beforehand.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import median

import numpy as np

from tasks.core.arrays import ColumnNumbers
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import float_up
from tasks.core.dp.measurement import LengthOne
from tasks.core.dp.workload.cells import most_tuples_in_cells
from tasks.core.dp.workload.limits import chooses_pairs, each_named, most_items_of
from tasks.core.dp.workload.parameters import WorkloadParameters, budget_of, grid_scale, shares_of_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, NoisyTable
from tasks.core.records.columns import Schema

_HALF_NORMAL = math.sqrt(2 / math.pi)


def expected_errors(
    parameters: WorkloadParameters, schema: Schema, sizes: Sequence[int], records: int
) -> dict[int, float | None]:
    """The mean absolute error of one count by the noise alone, in records, of a typical set of columns.

    By the number of columns, 1 to 3; None where no such set is measured.

    Args:
        sizes: cells of each column, `other` and `absent` among them; a guess for open ones.
        records: about how many there are, above 0.
    """
    parameters = planned(parameters, schema, records)
    found: dict[int, list[float]] = {1: [], 2: [], 3: []}
    for columns, error in set_errors(parameters, schema, sizes, records).items():
        if len(columns) in found:
            found[len(columns)].append(error)
    errors = {length: median(every) if every else None for length, every in found.items()}
    if errors[3] is None and parameters.longer.lengths:
        budget, _ = budget_of(parameters, all_declared=schema.all_declared)
        charge = parameters.shares.chosen * budget / parameters.longer.most
        errors[3] = _HALF_NORMAL * float(grid_scale(1, charge))
    return errors


def set_errors(
    parameters: WorkloadParameters, schema: Schema, sizes: Sequence[int], records: int
) -> dict[ColumnNumbers, float]:
    """The mean absolute error of one count by the noise alone, in records, by set of columns.

    The arguments are those of `expected_errors`. Each column is there, each pair of which something is
    measured, and each set that the workload names.
    """
    parameters = planned(parameters, schema, records)
    scales = table_scales(parameters, schema, sizes, records)
    domain = Domain(tuple(sizes), tuple(column.max_items for column in schema.columns))
    noise = [
        NoisyTable(columns, np.zeros(domain.shape(columns)), float(scale) ** 2)
        for columns, scale in scales.items()
        if len(set(columns)) == len(columns)
    ]
    residuals = Residuals(domain, noise)
    singles = [(column,) for column in range(len(sizes))]
    pairs = [pair for columns in scales for pair in itertools.combinations(columns, 2)]
    return {
        columns: _HALF_NORMAL * math.sqrt(residuals.variance(columns))
        for columns in dict.fromkeys([*singles, *pairs, *scales])
        if 1 <= len(set(columns)) == len(columns) and residuals.holds(columns)
    }


def planned(parameters: WorkloadParameters, schema: Schema, records: int) -> WorkloadParameters:
    """The parameters that apply to about so many records."""
    budget, _ = budget_of(parameters, all_declared=schema.all_declared)
    return parameters.at(parameters.signal(records, float_up(budget)))


def table_scales(
    parameters: WorkloadParameters, schema: Schema, sizes: Sequence[int], records: int
) -> dict[ColumnNumbers, Fraction]:
    """The noise of the number of records (no columns), of each column, and of each table of the workload."""
    budget, _ = budget_of(parameters, all_declared=schema.all_declared)
    shares = parameters.shares
    first = grid_scale(max(1, schema.width), shares.values * budget)
    scales: dict[ColumnNumbers, Fraction] = {(): grid_scale(1, shares.count * budget)}
    scales |= {(column,): first for column in range(len(schema.columns))}
    small: Iterable[ColumnNumbers] = (
        columns
        for columns in each_named(parameters, schema)
        if math.prod(sizes[column] for column in columns) <= parameters.most_cells
    )
    charge = shares.tables * budget
    if chooses_pairs(parameters, schema):  # which ones is not known before; any so many cost as much
        charge *= 1 - parameters.pair_scores
        small = itertools.islice(small, parameters.most_pairs)
    tables = list(small)
    margins, items = [np.full(size, float(records) / size) for size in sizes], most_items_of(schema)
    parts = shares_of_tables(parameters, tables, margins, charge, float(records))
    for columns, share in zip(tables, parts, strict=True):
        scales[columns] = grid_scale(most_tuples_in_cells(items, columns), charge * share)
    return scales


def planned_first_length(parameters: WorkloadParameters, schema: Schema, records: int) -> LengthOne:
    """How single values of about so many records will be drawn."""
    parameters = planned(parameters, schema, records)
    budget, threshold_delta = budget_of(parameters, all_declared=schema.all_declared)
    width = max(1, schema.width)
    scale = grid_scale(width, parameters.shares.values * budget)
    opened = min(width, schema.open_items)
    threshold = thresholds.first_threshold(scale, opened, threshold_delta) if opened else None
    return LengthOne(threshold, float(scale), width, opened)
