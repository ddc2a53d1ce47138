"""How values that were too rare to be released are written, on tables whose truth the test knows."""

from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.workload.cells import domain_of
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.dp.workload.parameters import Shares, WorkloadParameters
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.fitting.least_squares import Residuals
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.fitted import draw_fitted, unreleased_values
from tests.oracles.workloads import draw

NUMBER = 4_000
SHARES = Shares(Fraction(1, 100), Fraction(29, 100), Fraction(70, 100))
SCHEMA = Schema(
    (Column("town"), Column("side", domain=("east", "west")), Column("skill", delimiter=";", max_items=2))
)
#: Below the threshold at any epsilon that is tried.
RARELY = 3


def _measured(rare_towns, seed=1, epsilon=2.0):
    """Everybody lives in one of a few towns, or in one of many that `RARELY` people live in."""
    generator = np.random.default_rng(seed)
    alone = rare_towns * RARELY
    towns = np.concatenate([np.arange(alone) // RARELY, rare_towns + np.arange(NUMBER - alone) % 10])
    names = tuple(f"t{place:04}" for place in range(rare_towns + 10))
    skills = np.concatenate([np.arange(600) // RARELY, 200 + np.arange(NUMBER - 600) % 3])
    columns = (towns + 1, generator.integers(1, 3, NUMBER), skills + 1, np.zeros(NUMBER))
    records = CodedRecords(
        SCHEMA,
        tuple(column.astype(np.uint16) for column in columns),
        (0, 1, 2, 2),
        (names, ("east", "west"), tuple(f"s{place:03}" for place in range(203))),
        NUMBER,
    )
    parameters = WorkloadParameters(epsilon, 1e-6, SHARES, tables=((0, 1), (0, 2), (1, 2)))
    return draw(records, parameters, seed)


def _towns(made):
    attributes = made.records.attributes
    return sum(attributes[place].column == 0 for place in made.records.attribute_ids) / len(made.cells)


@pytest.mark.parametrize("seed", range(3))
def test_few_are_replaced_and_the_released_counts_stay_in_their_ranges(seed):
    measured = _measured(20, seed)
    town = unreleased_values(measured)[0]
    assert (town.column, town.is_replaced) == (0, True)
    assert town.share == pytest.approx(60 / NUMBER, abs=0.02)
    made = draw_fitted(measured, seed)
    assert not np.any(made.cells[:, 0] == measured.cells[0].other)
    assert _towns(made) > 0.99
    counts = np.bincount(made.cells[:, 0], minlength=measured.cells[0].size)[: len(measured.cells[0].values)]
    residuals = Residuals(domain_of(measured.cells), noisy_tables(measured))
    off = np.abs(counts - residuals.marginal((0,))[: len(counts)])
    assert np.mean(off) < 2 * residuals.variance((0,)) ** 0.5


@pytest.mark.parametrize("seed", range(3))
def test_many_leave_their_cells_empty_and_no_released_count_grows(seed):
    measured = _measured(400, seed)
    town = unreleased_values(measured)[0]
    assert not town.is_replaced
    assert town.share == pytest.approx(1200 / NUMBER, abs=0.03)
    made = draw_fitted(measured, seed)
    assert _towns(made) == pytest.approx(1 - 1200 / NUMBER, abs=0.03)


def test_the_rule_is_the_room_that_ranges_leave_and_a_twentieth_of_the_records():
    """Recomputed from the least squares estimate for tables on both sides of each limit."""
    seen = set()
    for rare_towns in range(0, 160, 10):
        for epsilon in (0.7, 4.0):
            measured = _measured(rare_towns, rare_towns, epsilon)
            residuals = Residuals(domain_of(measured.cells), noisy_tables(measured))
            count = residuals.marginal((0,))[measured.cells[0].other]
            room = 2 * len(measured.cells[0].values) * residuals.variance((0,)) ** 0.5
            few = count <= 0.05 * residuals.total()
            assert unreleased_values(measured)[0].is_replaced == (few and count <= room)
            seen.add((bool(few), bool(count <= room)))
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


def test_declared_columns_have_none_and_items_of_several_are_never_replaced():
    found = {each.column: each for each in unreleased_values(_measured(0))}
    assert set(found) == {0, 2}
    assert not found[2].is_replaced


def test_nothing_can_stand_for_others_where_no_value_was_released():
    measured = _measured(0, epsilon=0.02)
    assert not measured.cells[0].values
    assert not unreleased_values(measured)[0].is_replaced
    assert _towns(draw_fitted(measured, 1)) == 0


def test_the_evaluation_says_what_became_of_them():
    for rare_towns, written_as in ((20, "released values"), (400, "nothing")):
        measured = _measured(rare_towns)
        told = evaluate_fit(measured, draw_fitted(measured, 1).cells, 1)["unreleased"]
        assert [column["column"] for column in told] == ["town", "skill"]
        assert [column["written_as"] for column in told] == [written_as, "nothing"]
