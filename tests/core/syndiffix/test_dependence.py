import csv

import numpy as np
import pytest
from hypothesis import given, settings

from tasks.core.syndiffix.dependence import dependence, is_sample_worthwhile, relate_columns
from tasks.core.syndiffix.settings import BucketizationParameters
from tests.oracles import syndiffix_dependence as slow
from tests.oracles.syndiffix import GAPLESS, NOISELESS
from tests.oracles.syndiffix_compiled import compiled_forest, slow_forest, table_of, tables
from tests.oracles.syndiffix_forest import build_forest


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


TAXI = ["pickup_longitude", "pickup_latitude", "fare_amount", "rate_code", "passenger_count"]


@pytest.mark.slow
@pytest.mark.needs_shared
def test_the_oracles_dependences_and_entropies_of_the_taxi_table_are_the_ports(shared_data):
    with (shared_data / "taxi-1000.csv").open() as file:
        records = list(csv.DictReader(file))
    columns = []
    for name in TAXI:  # in the port's unit: 0 to 0.9999
        values = [float(record[name]) for record in records]
        scale = 0.9999 / (max(values) - min(values))
        columns.append([value * scale - min(values) * scale for value in values])
    forest = build_forest(columns, TAXI, NOISELESS, semantics="port", largest=2)
    entropies = [slow.entropy(forest.trees[(column,)]) for column in range(5)]
    assert entropies == pytest.approx([9.214, 9.207, 5.160, 0.118, 1.350], abs=0.0005)
    found = [slow.dependence(forest, x, y) for x in range(5) for y in range(x + 1, 5)]
    expected = [0.20, 0.15, 0.02, 0.05, 0.18, 0.02, 0.06, 0.04, 0.07, 0.01]
    assert found == pytest.approx(expected, abs=0.00501)


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
