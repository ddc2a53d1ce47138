"""Audits A3 to A5: the mechanism attacked from outside, with its claim as the bar.

Each also attacks a mechanism with one deliberately wrong part, which must fail. Seeds are fixed; a correct
mechanism would fail with a chance below 1e-2 per audit under fresh ones (99 % Clopper-Pearson bounds). A
passed audit is not a proof. Results are printed (``pytest -s -m slow``).
"""

import itertools
import math

import numpy as np
import pytest

from tasks.core.dp.accounting import gdp_epsilon
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.records.columns import Column, Schema
from tests.oracles import measuring
from tests.oracles.mechanism import (
    Bounded,
    Right,
    UntruncatedDomain,
    WithoutEmptyCells,
    WithoutRoot,
    plan_of,
    released,
)
from tests.oracles.noise_audit import bounds_of_mu, clopper_pearson

pytestmark = pytest.mark.slow


def parameters(length, contribution="schema"):
    return DpParameters(1.0, 1e-5, length, contribution=contribution, thresholds=ReleaseThresholds("fixed"))


def declared(columns, values):
    texts = tuple(f"v{code}" for code in range(1, values + 1))
    return Schema(tuple(Column(f"c{i}", domain=texts) for i in range(columns)))


# ---- A3: the likelihood ratio, the most powerful attack -----------------------------------------------

MU, RUNS_A3 = 2.0, 3000


def likelihood_ratios(lengths):
    """T on D and on D + x: of each, one value a run; T > 0 speaks for D + x."""
    columns, length = 4, 3
    schema, plan = declared(columns, 2), plan_of(MU, length)
    x = tuple(frozenset({1}) for _ in range(columns))
    cells = list(itertools.product((1, 2), repeat=columns))
    rows = [tuple(frozenset({code}) for code in cell) for cell in cells for _ in range(12)]
    values = measuring.all_values([2] * columns)
    samples = []
    for table, seed in ((rows, 1), ([*rows, x], 2)):
        records, stream = measuring.coded(schema, table, values), SeededStream(seed)
        ratios = np.empty(RUNS_A3)
        for run in range(RUNS_A3):
            number, drawn = released(records, parameters(length), plan, stream, lengths)
            ratio = (number - len(rows) - 0.5) / plan.count_sigma**2
            for k, level in enumerate(drawn.levels, start=1):
                assert len(level.counts) == math.comb(columns, k) * 2**k
                mine = (level.codes == 1).all(axis=1)
                exact = len(rows) / 2**k
                ratio += (level.counts[mine] - exact - 0.5).sum() / (level.sigma**2 * math.comb(columns, k))
            ratios[run] = ratio
        samples.append(ratios)
    return samples


@pytest.mark.parametrize(("lengths", "holds"), [(Right, True), (WithoutRoot, False)])
def test_a3_the_best_test_has_no_more_power_than_is_claimed(lengths, holds):
    low, high = bounds_of_mu(*likelihood_ratios(lengths))
    print(f"\nA3 {lengths.__name__}: mu in [{low:.2f}, {high:.2f}], claimed {MU}")
    assert bool(low <= MU) is holds
    if holds:
        assert high > 0.9 * MU  # the attack has power: it is not passed by a weak test


# ---- A4: the most telling event ----------------------------------------------------------------------

RUNS_A4, DELTA_A4 = 6000, 1e-5


def surviving_pairs(lengths):
    """Of D and of D + x, a run a row: whether each pair of x, which D does not hold, survives."""
    schema, plan = declared(3, 3), plan_of(1.0, 2)
    rows = [tuple(frozenset({code}) for code in codes) for codes in [(1, 1, 1), (2, 2, 2), (3, 3, 3)] * 10]
    x = tuple(frozenset({code}) for code in (1, 2, 3))
    values = measuring.all_values([3, 3, 3])
    samples = []
    for table, seed in ((rows, 3), ([*rows, x], 4)):
        records, stream = measuring.coded(schema, table, values), SeededStream(seed)
        seen = np.zeros((RUNS_A4, 3), bool)
        for run in range(RUNS_A4):
            _, drawn = released(records, parameters(2), plan, stream, lengths)
            pairs = drawn.levels[1]
            for place, (a, b) in enumerate(itertools.combinations(range(3), 2)):
                here = (pairs.combinations == place) & (pairs.codes == (a + 1, b + 1)).all(axis=1)
                seen[run, place] = (here & pairs.survives).any()
        samples.append(seen)
    return samples


@pytest.mark.parametrize(("lengths", "holds"), [(Right, True), (WithoutEmptyCells, False)])
def test_a4_no_event_is_more_telling_than_is_claimed(lengths, holds):
    """The event is learnt on one half of the runs and judged on the other."""
    without, with_x = surviving_pairs(lengths)
    half = RUNS_A4 // 2
    likely = with_x[:half].mean(axis=0)
    event = int(np.argmax((likely + 1 / half) / (without[:half].mean(axis=0) + 1 / half)))
    low, _ = clopper_pearson(np.count_nonzero(with_x[half:, event]), half)
    _, high = clopper_pearson(np.count_nonzero(without[half:, event]), half)
    epsilon, claimed = math.log((low - DELTA_A4) / high), gdp_epsilon(1.0, DELTA_A4)
    print(f"\nA4 {lengths.__name__}: epsilon at least {epsilon:.2f}, claimed {claimed:.2f}")
    assert bool(epsilon <= claimed) is holds


# ---- A5: what a newcomer's unseen values give away ---------------------------------------------------

RUNS_A5, DELTA_A5 = 5000, 0.05


def appearances(lengths, width):
    """How many runs show any value of a newcomer who alone holds ``width`` of them, five counted."""
    schema = Schema(tuple(Column(f"c{i}") for i in range(width)))
    rows = [tuple(frozenset({1}) for _ in range(width))] * 20
    newcomer = tuple(frozenset({2}) for _ in range(width))
    values = tuple(("seen", "unseen") for _ in range(width))
    records = measuring.coded(schema, [*rows, newcomer], values)
    plan = plan_of(1.0, 1, DELTA_A5, sigmas=[8.0])
    stream, seen = SeededStream(width), 0
    for _ in range(RUNS_A5):
        _, drawn = released(records, parameters(1, "profile"), plan, stream, lengths)
        seen += any("unseen" in texts for texts in drawn.values)
    return seen


@pytest.mark.parametrize(
    ("lengths", "width", "holds"), [(Bounded, 5, True), (Bounded, 20, True), (UntruncatedDomain, 20, False)]
)
def test_a5_a_newcomers_values_appear_no_more_often_than_delta(lengths, width, holds):
    """sigma = 8: with less noise the wrong part's extra cells of count 0 would hardly ever pass."""
    low, high = clopper_pearson(appearances(lengths, width), RUNS_A5)
    print(f"\nA5 {lengths.__name__}, {width} values: [{low:.3f}, {high:.3f}], claimed {DELTA_A5}")
    assert bool(low <= DELTA_A5) is holds
