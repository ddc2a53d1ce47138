"""True answers lie within the ranges of 95 of 100 draws: noise drawn by the project, questions at random.

Each test asks one question of each of many simulated releases, so hits and misses are independent. A test
fails by chance with a probability of at most 1e-4 if true answers are missed in 5 of 100 draws.
"""

import random

import pytest

from tests.core.navigation.explorer.answers.simulated import (
    AGE,
    HOME,
    MEASURED,
    SEX,
    TONGUE,
    WORK,
    codes_of,
    fitted,
    misses,
    rarely,
    vintages,
)
from tests.oracles.page_answers import ask, difference, is_within

pytestmark = pytest.mark.needs_node


def one_count(columns, draw):
    return [[place, codes_of(columns[place], draw, several=False)] for place in draw.choice(MEASURED)]


def one_sum(columns, draw):
    return [[place, codes_of(columns[place], draw, several=True)] for place in draw.choice(MEASURED)]


def another_sum(columns, draw):
    return one_sum(columns, draw)


def one_item(columns, draw):
    """Of a multi-valued column one item, two, none, any; alone or of a sex."""
    codes = draw.choice([[1], [2], [3], [0], [0, 2], [1, 2], [1, 3], [1, 2, 3]])
    chosen = [[TONGUE, codes]]
    is_alone = len([code for code in codes if code]) == 2 or draw.random() < 0.4
    return chosen if is_alone else [[SEX, codes_of(columns[SEX], draw, several=True)], *chosen]


def unmeasured(columns, draw):
    """Columns that no noisy table holds together."""
    places = draw.choice([(AGE, WORK), (SEX, AGE, WORK), (SEX, AGE, HOME), (WORK, HOME), (AGE, TONGUE)])
    return [
        [place, codes_of(columns[place], draw, several=place != TONGUE and draw.random() < 0.7)]
        for place in places
    ]


@pytest.fixture(scope="module")
def simulated():
    return fitted(200)


@pytest.mark.parametrize("choose", [one_count, one_sum, one_item])
def test_ranges_of_counts_and_of_sums_hold_the_true_count(simulated, choose):
    found, missed = misses(simulated, choose)
    assert all(each["sd"] is not None for each in found)
    assert rarely(missed, len(found))


def test_ranges_of_differences_hold_the_true_difference(simulated):
    found, missed = misses(simulated, one_sum, another_sum)
    assert all(each["real"] is not None for each in found)
    assert rarely(missed, len(found))


def test_where_nothing_was_drawn_the_bounds_hold_the_true_count(simulated):
    found, missed = misses(simulated, unmeasured)
    assert all(each["sd"] is None and each["value"] is None for each in found)
    assert rarely(missed, len(found))


def test_of_a_sample_ranges_hold_its_chance_too():
    """Of 700 people about 400 are looked at."""
    for choose in (one_count, one_sum):
        found, missed = misses(fitted(60, limit=400), choose)
        assert rarely(missed, len(found))


def test_a_difference_of_two_vintages_holds_the_true_one(simulated):
    pairs = range(0, len(simulated.releases), 2)
    asked = [(place, simulated.of(place, one_sum), simulated.of(place + 1, another_sum)) for place in pairs]
    found = ask(simulated.releases, [difference(p, one, p + 1, other) for p, one, other in asked])
    true = [simulated.true(p, one) - simulated.true(p + 1, other) for p, one, other in asked]
    missed = sum(not is_within(each, count) for each, count in zip(found, true, strict=True))
    assert rarely(missed, len(found))


def test_without_a_difference_few_are_called_real():
    """The same people in two vintages, and the same question."""
    releases = vintages()
    asked = [one_sum(releases[place]["columns"], random.Random(place)) for place in range(0, 200, 2)]
    same = [
        (2 * place, chosen)
        for place, chosen in enumerate(asked)
        if releases[2 * place]["columns"] == releases[2 * place + 1]["columns"]
    ]
    found = ask(releases, [difference(place, chosen, place + 1, chosen) for place, chosen in same])
    assert rarely(sum(each["real"] for each in found), len(found))


@pytest.mark.slow
def test_ranges_hold_over_thousands_of_releases():
    missed, asked = dict.fromkeys((one_count, one_sum, one_item, unmeasured), 0), 0
    for first in range(1000, 4000, 500):
        simulated = fitted.__wrapped__(500, first=first)
        asked += 500
        for choose in missed:
            missed[choose] += misses(simulated, choose)[1]
    print({choose.__name__: number for choose, number in missed.items()}, "missed of", asked)
    assert rarely(max(missed.values()), asked)
