"""What a draw can come to at worst, by public facts alone, so that nothing has to stop it half-way (W5, W19).

A draw that fails in the middle is lost and stays charged, and so does the next one.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from tasks.core.arrays import ColumnNumbers
from tasks.core.dp.sampling.noise import LARGEST_SCALE
from tasks.core.dp.workload.cells import most_tuples_in_cells
from tasks.core.dp.workload.choice import most_sets
from tasks.core.dp.workload.parameters import (
    MOST_TABLES,
    LongerSets,
    WorkloadParameters,
    budget_of,
    grid_scale,
    least_share,
)
from tasks.core.errors import ParameterError
from tasks.core.fitting.kernels import MOST_TABLE_COLUMNS
from tasks.core.records.columns import Column, Schema

#: What the draw and the fit hold for a measured cell: counts, noise, estimates, targets, gradients.
_BYTES_OF_A_CELL = 120


def check_draw(parameters: WorkloadParameters, schema: Schema) -> None:
    """Refuse what could not be drawn to its end.

    Raises:
        ParameterError: every problem found; by public facts alone.
    """
    steps, width = parameters.every(), len(schema.columns)
    problems = [problem for step in steps for problem in _problems_of_shares(step, schema)]
    problems += [*_problems_of_steps(parameters), *_problems_of_sets(parameters, schema)]
    problems += [problem for step in steps for problem in _problems_of_longer(step.longer, width)]
    problems += _problems_of_columns(parameters, schema)
    problems = problems or list(_problems_of_scales(parameters, schema))
    if problems:
        raise ParameterError(list(dict.fromkeys(problems)))


def worst_case_cells(parameters: WorkloadParameters, schema: Schema) -> int:
    """The most cells that a draw can hold at once, whatever the table."""
    sizes = [worst_size(column, parameters.max_values) for column in schema.columns]
    tables = (math.prod(sizes[column] for column in columns) for columns in each_named(parameters, schema))
    kept = [min(cells, parameters.most_cells) for cells in tables]
    measured = 2 * min(sum(kept), parameters.most_cells_together)  # perhaps twice (W17)
    longer = max(_worst_longer(step.longer, sizes) for step in parameters.every())
    return 2 * sum(sizes) + measured + 3 * longer + 4 * max(kept, default=0)


def _worst_longer(longer: LongerSets, sizes: list[int]) -> int:
    """The most cells of all longer sets that are chosen."""
    if not longer.lengths:
        return 0
    largest = math.prod(sorted(sizes)[-max(longer.lengths) :])
    return min(longer.most, most_sets(len(sizes), longer)) * min(longer.most_cells, largest)


def worst_case_bytes(parameters: WorkloadParameters, schema: Schema) -> int:
    """About the memory that these cells take, in the draw and in a fit to it; the records come on top."""
    return _BYTES_OF_A_CELL * worst_case_cells(parameters, schema)


def worst_size(column: Column, max_values: int) -> int:
    """The most cells of a column: an open one's values are known by the draw alone."""
    return max_values + 2 if column.domain is None else len(column.domain) + 1


def each_named(parameters: WorkloadParameters, schema: Schema) -> Iterator[ColumnNumbers]:
    """The sets of columns that the workload names, or all pairs, in canonical order."""
    if parameters.tables is not None:
        yield from parameters.tables
        return
    held = [place for place, column in enumerate(schema.columns) if column.max_items > 0]
    for at, column in enumerate(held):
        if schema.columns[column].max_items > 1:
            yield column, column
        yield from ((column, other) for other in held[at + 1 :])


def most_items_of(schema: Schema) -> list[int]:
    return [column.max_items for column in schema.columns]


def number_of_named(parameters: WorkloadParameters, schema: Schema) -> int:
    return schema.number_of_pairs if parameters.tables is None else len(parameters.tables)


def _problems_of_shares(parameters: WorkloadParameters, schema: Schema) -> Iterator[str]:
    shares = parameters.shares
    if min(shares.count, shares.values) <= 0:
        yield "The number of records and the values of columns each need a share of the budget above 0."
    if shares.tables <= 0 and number_of_named(parameters, schema):
        yield "The tables of the workload need a share of the budget above 0."
    if parameters.longer.lengths and min(shares.scores, shares.chosen) <= 0:
        yield "A choice of longer sets needs a share of the budget for scores and one for what is chosen."
    if not 0 < parameters.pair_scores < 1:
        yield "The part of the tables' share that a choice of pairs takes must be above 0 and below 1."
    if not 0 < parameters.threshold_delta_share < 1:
        yield "The share of delta that thresholds take must be above 0 and below 1."
    if not (0 < parameters.target_factor < math.inf):
        yield "The factor of the target's tables must be a number above 0."


def _problems_of_steps(parameters: WorkloadParameters) -> Iterator[str]:
    signals = [step.signal for step in parameters.steps]
    if signals != sorted(set(signals)) or min(signals, default=0.0) < 0:
        yield "The signals of steps must ascend from 0 or above, each once."
    if any(step.shares.count != parameters.shares.count for step in parameters.steps):
        yield "The number of records is drawn before a step is known, so all must give it the same share."


def _problems_of_sets(parameters: WorkloadParameters, schema: Schema) -> Iterator[str]:
    tables, width = parameters.tables or (), len(schema.columns)
    for columns in tables[: MOST_TABLES + 1]:
        several = len(set(columns)) < len(columns)
        inside = all(0 <= column < width for column in columns)
        if not inside or list(columns) != sorted(columns) or not 1 <= len(columns) <= MOST_TABLE_COLUMNS:
            yield f"A set of the workload must name 1 to {MOST_TABLE_COLUMNS} of the table's columns."
        elif several and (len(columns) > 2 or schema.columns[columns[0]].max_items < 2):
            yield "Only a column with several items can stand twice in a set, and then the set is just that."
    if len(set(tables)) < len(tables):
        yield "The workload must name each set of columns once."
    if (most := _most_measured(parameters, schema)) > MOST_TABLES:
        yield f"A workload can hold up to {MOST_TABLES} sets of columns; this one has {most}."
    if parameters.target is not None and not 0 <= parameters.target < width:
        yield "The target must be one of the table's columns."
    limit = 1 if parameters.record_limit is None else parameters.record_limit
    cells = min(parameters.max_values, parameters.most_cells, parameters.most_cells_together)
    if min(cells, parameters.most_pairs, limit) < 1:
        yield "Limits of values, cells, pairs and records must be 1 or more."


def _problems_of_longer(longer: LongerSets, width: int) -> Iterator[str]:
    if longer.holding is not None and not 0 <= longer.holding < width:
        yield "Longer sets can hold one of the table's columns only."
    if any(not 3 <= length <= MOST_TABLE_COLUMNS for length in longer.lengths):
        yield f"Longer sets have 3 to {MOST_TABLE_COLUMNS} columns."
    if list(longer.lengths) != sorted(set(longer.lengths)):
        yield "The lengths of longer sets must ascend, each once."
    if min(longer.most, longer.most_cells, longer.most_candidates) < 1:
        yield "Limits of longer sets must be 1 or more."
    if longer.most > MOST_TABLES:
        yield f"Up to {MOST_TABLES} longer sets can be chosen; this asks for {longer.most}."


def _problems_of_columns(parameters: WorkloadParameters, schema: Schema) -> Iterator[str]:
    if any(column.max_items < 1 for column in schema.columns):
        yield "Every multi-valued column needs a cap under differential privacy."
    for place in parameters.filled:
        column = schema.columns[place] if 0 <= place < len(schema.columns) else None
        if column is None or column.is_multi_valued or column.other not in (column.domain or ()):
            yield "Only a column of one declared value, with a value for what is outside, can be filled."


def _problems_of_scales(parameters: WorkloadParameters, schema: Schema) -> Iterator[str]:
    if max(max(worst_scales(each, schema)) for each in parameters.every()) > LARGEST_SCALE:
        yield (
            f"The noise could have a standard deviation above {LARGEST_SCALE} records, which is more than "
            "can be drawn or used: raise epsilon, or name fewer sets of columns."
        )


def worst_scales(parameters: WorkloadParameters, schema: Schema) -> list[Fraction]:
    """The largest noise scale that each stage can come to, on the grid of 1/64; steps are not looked at."""
    budget, _ = budget_of(parameters, all_declared=schema.all_declared)
    shares, longer = parameters.shares, parameters.longer
    found = [grid_scale(1, shares.count * budget), grid_scale(max(1, schema.width), shares.values * budget)]
    if number_of_named(parameters, schema):
        _, largest = _worst_onces(parameters, schema)
        charge = shares.tables * budget
        if chooses_pairs(parameters, schema):
            found.append(pair_score_scale(parameters, schema))
            charge *= 1 - parameters.pair_scores
            found.append(grid_scale(largest, charge / parameters.most_pairs))
        found.append(grid_scale(largest, charge * least_share(_most_measured(parameters, schema))))
    if longer.lengths and (sets := most_sets(len(schema.columns), longer)):
        caps = sorted(most_items_of(schema), reverse=True)
        once = math.prod(caps[: max(longer.lengths)])
        found.append(grid_scale(sets * once**2, shares.scores * budget))
        found.append(grid_scale(once, shares.chosen * budget * least_share(min(longer.most, sets))))
    return found


def chooses_pairs(parameters: WorkloadParameters, schema: Schema) -> bool:
    """Whether there are more pairs than are measured, so that some are chosen (W14); a public fact."""
    return parameters.tables is None and schema.number_of_pairs > parameters.most_pairs


def pair_score_scale(parameters: WorkloadParameters, schema: Schema) -> Fraction:
    """The noise scale of the scores that choose among pairs, at its largest; steps are not looked at."""
    budget, _ = budget_of(parameters, all_declared=schema.all_declared)
    squares, _ = _worst_onces(parameters, schema)
    return grid_scale(squares, parameters.pair_scores * parameters.shares.tables * budget)


def _most_measured(parameters: WorkloadParameters, schema: Schema) -> int:
    tables = number_of_named(parameters, schema)
    return min(tables, parameters.most_pairs) if parameters.tables is None else tables


def _worst_onces(parameters: WorkloadParameters, schema: Schema) -> tuple[int, int]:
    """The sum of Delta_T^2 over the tables of the workload, and the largest Delta_T, by the caps alone.

    Fewer released values only make them smaller.
    """
    caps = most_items_of(schema)
    if parameters.tables is not None:
        onces = [most_tuples_in_cells(caps, columns) for columns in parameters.tables]
        return sum(once**2 for once in onces), max(onces)
    # Of all pairs by sums over columns: (sum w^2)^2 holds each pair of different columns twice.
    squares = [cap**2 for cap in caps]
    twice = [math.comb(cap, 2) for cap in caps if cap > 1]
    different = (sum(squares) ** 2 - sum(square**2 for square in squares)) // 2
    return different + sum(once**2 for once in twice), max([1, math.prod(sorted(caps)[-2:]), *twice])
