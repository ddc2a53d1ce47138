"""What `check` says before a draw, against what a draw then has."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.expected import expected_errors, planned_first_length, table_scales
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.dp.workload.parameters import LongerSets, Shares, WorkloadParameters, budget_of, grid_scale
from tasks.core.fitting.least_squares import Residuals
from tasks.core.records.columns import Column, Schema
from tests.oracles.workloads import bits, default_shares, draw, parameters, people

PLAIN = Shares(Fraction(1, 100), Fraction(5, 100), Fraction(94, 100))
RECORDS = 3000


def asked(**options) -> WorkloadParameters:
    return WorkloadParameters(2.0, 1e-6, PLAIN, longer=LongerSets(), **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"allocation": "equal"},
        {"allocation": "size"},
        {"target": 1},
        {"tables": ((0, 1), (0, 2), (1, 2, 3)), "allocation": "equal"},
        {"tables": ((0, 1), (0, 2), (1, 2, 3)), "allocation": "size", "target": 3},
        {"tables": ()},
        {"most_pairs": 3},
    ],
)
def test_the_noise_that_is_told_is_the_noise_of_the_draw(options):
    """Even margins but for `absent`, which nobody is in; shares of noisy margins differ by some percent."""
    told = table_scales(asked(**options), bits(0, 5).schema, [3] * 5, RECORDS)
    drawn = draw(bits(RECORDS, 5), asked(**options))
    assert float(told[()]) == drawn.count_scale
    assert {float(told[(column,)]) for column in range(5)} == {drawn.values[0].scale}
    scales: dict[tuple[int, ...], float] = {}
    for table in drawn.tables:
        scales.setdefault(table.columns, table.scale)  # what was left may buy a second one (W17)
    if "most_pairs" in options:  # which ones are chosen is not known
        assert len([columns for columns in told if len(columns) > 1]) == 3 >= len(scales) > 0
        assert max(scales.values()) < 1.1 * float(told[(0, 1)])  # fewer share more
    elif options != {"tables": ()}:
        found = {columns: float(scale) for columns, scale in told.items() if len(columns) > 1}
        assert found == pytest.approx(scales, rel=0.1)


def test_the_noise_of_pairs_that_are_chosen_pays_for_their_choice():
    """Three of ten pairs, alike: each costs a third of what the choice leaves of the tables' share."""
    parameters = asked(most_pairs=3, allocation="equal", pair_scores=Fraction(1, 4))
    told = table_scales(parameters, bits(0, 5).schema, [3] * 5, RECORDS)
    budget, _ = budget_of(parameters, all_declared=True)
    third = Fraction(2**20 // 3, 2**20)
    assert told[(0, 1)] == grid_scale(1, PLAIN.tables * budget * Fraction(3, 4) * third)


def test_by_default_a_table_is_worth_its_cells_above_the_noise():
    """Even margins, worked out by hand: of 1600 cells with 2 records each, noise of s covers most."""
    columns = tuple(Column(f"c{size}", domain=tuple(map(str, range(size)))) for size in (2, 40, 41))
    sizes = [2, 40, 41]
    budget, _ = budget_of(asked(), all_declared=True)
    charge = float(PLAIN.tables * budget)
    noise = math.sqrt(3 / charge)
    cells = {(0, 1): 80, (0, 2): 82, (1, 2): 1640}
    above = {pair: number * min(1.0, RECORDS / number / noise) for pair, number in cells.items()}
    assert above[0, 1] == 80 and above[1, 2] < 1640
    whole = sum(each ** (2 / 3) for each in above.values())
    told = table_scales(asked(), Schema(columns), sizes, RECORDS)
    left_out = table_scales(asked(most_cells=100), Schema(columns), sizes, RECORDS)
    assert set(told) - set(left_out) == {(1, 2)}, "a table of more cells than are measured costs nothing"
    for pair, each in above.items():
        assert float(told[pair]) == pytest.approx((charge * each ** (2 / 3) / whole) ** -0.5, rel=0.005)


@pytest.mark.parametrize("options", [{}, {"allocation": "equal", "target": 1}])
def test_the_errors_that_are_told_are_those_of_least_squares_on_the_draw(options):
    found = expected_errors(asked(**options), bits(0, 5).schema, [3] * 5, RECORDS)
    drawn = draw(bits(RECORDS, 5), asked(**options))
    residuals = Residuals(domain_of(drawn.cells), noisy_tables(drawn))

    def typical(sets) -> float:
        return math.sqrt(2 / math.pi) * float(np.median([residuals.variance(each) ** 0.5 for each in sets]))

    pairs = [table.columns for table in drawn.tables]
    assert found[1] == pytest.approx(typical([(column,) for column in range(5)]), rel=0.05)
    assert found[2] == pytest.approx(typical(pairs), rel=0.05)
    assert found[3] is None


def test_more_epsilon_buys_less_error_and_a_choice_tells_of_triples():
    errors = []
    for epsilon in (0.5, 2.0, 8.0):
        shares, _ = default_shares(epsilon)
        few = dataclasses.replace(asked(), epsilon=epsilon)
        errors.append(expected_errors(few, bits(0, 5).schema, [3] * 5, RECORDS))
        assert shares.tables > 0
    assert errors[0][1] > errors[1][1] > errors[2][1]
    assert errors[0][2] > errors[1][2] > errors[2][2]
    chosen = parameters(4.0, tables=None)
    three = expected_errors(chosen, bits(0, 5).schema, [3] * 5, RECORDS)[3]
    budget, _ = budget_of(chosen, all_declared=True)
    each = chosen.shares.chosen * budget / chosen.longer.most
    assert three == pytest.approx(math.sqrt(2 / math.pi) / math.sqrt(each), rel=0.01)


def test_the_threshold_that_is_told_is_that_of_the_draw():
    schema = people(0, 1).schema
    told, drawn = planned_first_length(parameters(), schema, 50), draw(people(50, 1), parameters())
    assert (told.threshold, told.scale) == (drawn.threshold, drawn.values[0].scale)
    assert told.open_sensitivity == 3
