"""Propensity, discriminator and prediction where the answer is known, by hand or by counting pairs."""

import numpy as np
import numpy.typing as npt
import pytest

from tasks.core.evaluation.utility import measures as discriminator_module
from tasks.core.evaluation.utility.measures import (
    LEAST_OF_CLASS,
    discriminator,
    learner_threads,
    prediction,
    propensity,
)
from tasks.core.evaluation.utility.table_pair import TablePair, table_pair
from tests.oracles.utility import area_of

Codes = npt.NDArray[np.int64]


@pytest.fixture(autouse=True)
def one_thread():
    """On a busy machine threads that wait for each other take minutes."""
    with learner_threads(1):
        yield


def pair(real: list[Codes], synthetic: list[Codes]) -> TablePair:
    return table_pair([f"c{place}" for place in range(len(real))], real, synthetic)


def split(number: int, share: float) -> Codes:
    """So many rows of 1, the share of 2."""
    return np.repeat([1, 2], [number - round(number * share), round(number * share)])


def test_one_feature_of_two_values_is_told_apart_as_a_hand_computes():
    # Of the rows with 1 a quarter are synthetic, of those with 2 three quarters: each is 1/4 from 1/2.
    both = pair([split(400, 0.25)], [split(400, 0.75)])
    found = propensity(both)
    assert found is not None and found.mean_squared_error == pytest.approx(1 / 16)
    assert found.expected < 0.01 and found.ratio is not None and found.ratio > 6
    assert found.told_by.tolist() == [1.0] and found.rows == (400, 400)
    assert found.scores[0][5] == 0.75 and found.scores[1][15] == 0.75 and found.scores.sum() == 2.0
    area = discriminator(both)
    labels, scores = [0] * 400 + [1] * 400, [*split(400, 0.25).tolist(), *split(400, 0.75).tolist()]
    assert area_of(labels, scores) == 0.75
    # The learners of the folds are not equally sure of the same row, which costs a little.
    assert area is not None and area.auc == pytest.approx(0.75, abs=0.02)


def test_scores_are_taken_from_the_share_of_synthetic_rows():
    # A fifth of the rows is synthetic; none of 300 with 1, half of 200 with 2.
    found = propensity(pair([split(400, 0.25)], [split(100, 1.0)]))
    assert found is not None
    assert found.mean_squared_error == pytest.approx((300 * 0.2**2 + 200 * 0.3**2) / 500)


def test_equal_tables_are_not_told_apart_and_disjoint_ones_always():
    draw = np.random.default_rng(3)
    tables = [[draw.integers(1, 5, 3000) for _ in range(4)] for _ in range(2)]
    same = propensity(pair(*tables))
    assert same is not None and same.ratio == pytest.approx(1.0, abs=0.5)
    area = discriminator(pair(*tables))
    assert area is not None and area.auc == pytest.approx(0.5, abs=0.03)
    apart = pair(tables[0], [codes + 10 for codes in tables[1]])
    found, area = propensity(apart), discriminator(apart)
    assert found is not None and found.mean_squared_error == pytest.approx(0.25)
    assert area is not None and area.auc == 1.0


def test_the_curve_goes_from_corner_to_corner_and_holds_the_area():
    draw = np.random.default_rng(5)
    real, made = draw.normal(0, 8, 900).round().astype(int), draw.normal(6, 8, 700).round().astype(int)
    found = discriminator(pair([real + 100], [made + 100]))
    assert found is not None and found.rows == (900, 700)
    across, up = found.curve
    assert (across[0], up[0], across[-1], up[-1]) == (0, 0, 1, 1)
    assert (np.diff(across) >= 0).all() and (np.diff(up) >= 0).all()
    assert np.trapezoid(up, across) == pytest.approx(found.auc, abs=0.01)


def test_of_more_rows_a_learner_sees_so_many_of_each(monkeypatch):
    monkeypatch.setattr(discriminator_module, "MOST_TOLD_APART", 60)
    found = discriminator(pair([split(500, 0.5)], [split(70, 0.5)]))
    assert found is not None and found.rows == (60, 60)


@pytest.mark.parametrize("sizes", [(0, 0), (0, 500), (49, 500), (500, 49)])
def test_too_few_rows_teach_nothing(sizes):
    real, made = (split(size, 0.5) for size in sizes)
    both = pair([real, real], [made, made])
    assert propensity(both) is None and discriminator(both) is None and prediction(both, 0) is None


def copied(number: int, seed: int, *, noise: float) -> list[Codes]:
    """A target of two values, the second rarer, and a column that is its copy but for noise."""
    draw = np.random.default_rng(seed)
    target = 1 + (draw.random(number) < 0.3)
    wrong = draw.random(number) < noise
    return [target, np.where(wrong, 3 - target, target), draw.integers(1, 4, number)]


def test_what_synthetic_records_teach_is_judged_on_raw_ones():
    real = copied(2000, 1, noise=0.1)
    good, bad = copied(1500, 2, noise=0.1), copied(1500, 3, noise=0.9)
    found = prediction(pair(real, good), 0)
    assert found is not None and (found.classes, found.rows) == (2, (1600, 1500, 400))
    assert found.real.accuracy == pytest.approx(0.9, abs=0.04)
    assert found.synthetic.accuracy == pytest.approx(0.9, abs=0.04)
    ratios = found.ratios()
    assert ratios["auc"] == pytest.approx(1.0, abs=0.03) and ratios["f1"] == pytest.approx(1.0, abs=0.05)
    wrong = prediction(pair(real, bad), 0)  # the copy is the other way round: what was learned is wrong
    assert wrong is not None and wrong.real == found.real
    assert wrong.synthetic.accuracy < 0.2 and wrong.synthetic.auc < 0.2


def test_f1_is_of_the_rarer_of_two_classes():
    real = copied(2000, 1, noise=0.0)
    constant = [np.ones(500, np.int64), real[1][:500], real[2][:500]]
    found = prediction(pair(real, constant), 0)  # only the common class was seen: the rarer is never named
    assert found is not None and found.real.f1 == 1.0 and found.synthetic.f1 == 0.0
    assert found.synthetic.auc == 0.5 and found.synthetic.accuracy == pytest.approx(0.7, abs=0.05)


def test_several_classes_rare_ones_together_and_records_without_the_target_left_out():
    target = np.repeat([0, 1, 2, 3, 4, 5], [200, 300, 200, 100, LEAST_OF_CLASS - 1, LEAST_OF_CLASS - 2])
    other = np.random.default_rng(4).permutation(target)
    both = pair([target, target], [target, other])
    found = prediction(both, 0)
    assert found is not None and found.classes == 4
    assert sum((found.rows[0], found.rows[2])) == found.rows[1] == 617
    assert found.real.accuracy > 0.95 and found.real.auc > 0.95
    assert found.synthetic.auc == pytest.approx(0.5, abs=0.15) and found.synthetic.f1 < 0.5


def test_a_target_of_one_class_or_alone_is_not_predicted():
    ones, some = np.ones(100, np.int64), split(100, 0.5)
    assert prediction(pair([ones, some], [ones, some]), 0) is None
    assert prediction(pair([some], [some]), 0) is None
    nearly = np.repeat([1, 2], [100 - LEAST_OF_CLASS + 1, LEAST_OF_CLASS - 1])
    assert prediction(pair([nearly, some], [nearly, some]), 0) is None
