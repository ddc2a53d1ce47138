"""Dependences and entropies of the compiled forest are the slow oracles'."""

import numpy as np
import pytest
from hypothesis import given, settings

from tasks.core.syndiffix.dependence import dependence, is_sample_worthwhile, relate_columns
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles import syndiffix_dependence as slow
from tests.oracles.syndiffix_compiled import (
    compiled_forest,
    slow_forest,
    table_of,
    tables,
)
from tests.oracles.syndiffix_settings import GAPLESS


@settings(max_examples=20, deadline=None)
@given(tables(3, 40))
def test_dependences_and_entropies_are_the_oracles(table):
    compiled, forest = compiled_forest(table), slow_forest(table, largest=2)
    measured, low = relate_columns(compiled), compiled.anonymization.low_count_params
    few = low.mean + low.layer_sd
    columns = range(len(table.columns))
    entropies = [slow.entropy(forest.trees[(column,)]) for column in columns]
    assert measured.entropies.tolist() == pytest.approx(entropies, rel=1e-12, abs=1e-12)
    expected = [[1.0 if x == y else slow.dependence(forest, x, y, few) for y in columns] for x in columns]
    assert measured.dependence == pytest.approx(np.array(expected), rel=1e-12, abs=1e-12)
    assert (measured.dependence == measured.dependence.T).all()
    assert ((measured.dependence >= 0) & (measured.dependence <= 1)).all()


@pytest.mark.parametrize(("threshold", "expected"), [(8, 0.5), (9, 0.0), (17, 0.0)])
def test_the_dependence_of_a_value_that_follows_is_the_ports(threshold, expected):
    table = table_of([[float(row % 4) for row in range(32)], [1.5, 0.5] * 16])
    limits = BucketizationParameters(range_low_threshold=threshold)
    forest = compiled_forest(table, GAPLESS, limits)
    assert dependence(forest, 0, 1) == dependence(forest, 1, 0) == expected


def test_columns_of_many_values_do_not_depend_on_each_other_for_being_fine():
    generator = np.random.default_rng(1)
    fine = [np.round(generator.uniform(0, 1000, 2000), 1).tolist() for _ in range(2)]
    coarse = generator.integers(0, 8, 2000)
    leaning = (coarse // 2 + generator.integers(0, 4, 2000)).tolist()
    measured = relate_columns(compiled_forest(table_of([*fine, coarse.astype(float).tolist(), leaning])))
    assert measured.dependence[2, 3] > 1.5 * measured.dependence[0, 1]


def test_each_pair_is_told_as_it_is_done():
    told = []
    forest = compiled_forest(table_of([[0.0, 1.0] * 5] * 3))
    relate_columns(forest, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_sample_is_worthwhile_where_it_saves_more_than_half():
    # d^2 n > 2 (d^2 s + floor(3 n d / 2)): with 4 columns 16 n > 32 s + 12 n.
    assert is_sample_worthwhile(8001, 4, 1000)
    assert not is_sample_worthwhile(8000, 4, 1000)
    assert not is_sample_worthwhile(10**9, 3, 1)
    assert not is_sample_worthwhile(1000, 100, 1000)
    assert is_sample_worthwhile(1000, 100, 484)
    assert not is_sample_worthwhile(1000, 100, 485)
