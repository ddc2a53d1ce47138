"""Releases by lengths: sums of published noisy counts, and what stayed below the threshold."""

import copy
import math

import pytest

from tests.core.navigation.explorer.answers.simulated import by_lengths, misses, rarely
from tests.oracles.page_answers import answer, ask

pytestmark = pytest.mark.needs_node


def chosen(columns, draw, places, most):
    found = []
    for place in places:
        every = range(1, len(columns[place]["values"]) + 1)
        found.append([place, sorted(draw.sample(every, min(len(every), draw.randint(1, most))))])
    return found


def one_count(columns, draw):
    return chosen(columns, draw, draw.choice([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]), 1)


def one_sum(columns, draw):
    return chosen(columns, draw, draw.choice([(1,), (2,), (0, 1), (0, 2), (1, 2)]), 9)


def another_sum(columns, draw):
    return one_sum(columns, draw)


def small_towns(columns, draw):
    """Where most was not published."""
    last = len(columns[2]["values"])
    return [[1, [draw.randint(1, 4)]], [2, list(range(max(1, last - 5), last + 1))]]


def longer(columns, draw):
    return chosen(columns, draw, (0, 1, 2), 4)


def with_missing(columns, draw):
    place = draw.randint(0, 1)
    return [[place, [0, *chosen(columns, draw, (place,), 1)[0][1]][: draw.randint(1, 2)]]]


@pytest.fixture(scope="module")
def simulated():
    return by_lengths(150)


@pytest.mark.parametrize("choose", [one_count, one_sum, small_towns, longer, with_missing])
def test_ranges_hold_the_true_count(simulated, choose):
    found, missed = misses(simulated, choose)
    assert rarely(missed, len(found))


def test_what_stays_below_a_high_threshold_is_allowed_for():
    simulated = by_lengths(60, threshold=30.0)
    found, missed = misses(simulated, small_towns)
    hidden = sum(
        simulated.true(place, simulated.of(place, small_towns)) > 3 + each["numbers"]["noisy"]
        for place, each in enumerate(found)
    )
    assert hidden > 30
    assert rarely(missed, len(found))


def test_ranges_of_differences_hold_the_true_difference(simulated):
    found, missed = misses(simulated, one_sum, another_sum)
    assert rarely(missed, len(found))


def test_the_noise_of_a_sum_is_the_root_of_their_number_times_that_of_one(simulated):
    release = simulated.releases[0]
    one, three = ask([release], [answer(0, [[1, [1]]]), answer(0, [[1, [1, 2, 3]]])])
    assert three["sd"] == pytest.approx(one["sd"] * math.sqrt(3))
    assert (one["basis"], three["basis"], three["parts"]) == ("count", "sum", 3)


def test_where_contributions_are_bounded_nothing_is_said_of_the_upper_end(simulated):
    release = copy.deepcopy(simulated.releases[0])
    for noise in release["meta"]["noise"]:
        noise["truncated"] = True
    (found,) = ask([release], [answer(0, [[1, [1, 2]]])])
    assert found["high"] == release["meta"]["number"]["high"]
