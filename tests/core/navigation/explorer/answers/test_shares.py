"""Shares of two groups: the true difference lies within the range, as often as it says.

Each test asks one question of each of many simulated releases. A test fails by chance with a probability of
at most 1e-4 if true differences are missed in 5 of 100 draws.
"""

import random

import pytest

from tests.core.navigation.explorer.answers import test_rounded
from tests.core.navigation.explorer.answers.simulated import (
    AGE,
    HOME,
    SEX,
    WORK,
    by_lengths,
    codes_of,
    fitted,
    rarely,
    vintages,
)
from tests.core.navigation.explorer.answers.test_estimates import RELEASES, selected
from tests.oracles.page_answers import (
    ask,
    least_squares,
    shares,
    true_count,
    weights_of,
)

pytestmark = pytest.mark.needs_node

Z = 1.959963984540054


def without(selection, place):
    return [[column, codes] for column, codes in selection if column != place]


def is_missed(found, true):
    return not found["low"] - 1e-9 <= true <= found["high"] + 1e-9


def true_share(texts, columns, selection, base):
    return true_count(texts, columns, selection) / true_count(texts, columns, base)


@pytest.fixture(scope="module")
def simulated():
    return fitted(200)


# ---- which groups are compared: (group, base), (group, base) -----------------------------------------------


def of_two_bases(columns, draw):
    """Women among renters, and among owners."""
    of, by = draw.choice([(SEX, AGE), (SEX, WORK), (SEX, HOME), (AGE, HOME), (AGE, SEX)])
    codes = codes_of(columns[of], draw, several=draw.random() < 0.5)
    one, other = draw.sample(range(1, len(columns[by]["values"]) + 1), 2)
    groups = [sorted([[of, codes], [by, [code]]]) for code in (one, other)]
    return [(group, without(group, of)) for group in groups]


def of_one_base(columns, draw):
    """Women among renters, and men among renters."""
    of, by = draw.choice([(SEX, AGE), (SEX, HOME), (AGE, HOME), (AGE, SEX)])
    base = [[by, codes_of(columns[by], draw, several=draw.random() < 0.5)]]
    one, other = draw.sample(range(1, len(columns[of]["values"]) + 1), 2)
    return [(sorted([[of, [code]], *base]), base) for code in (one, other)]


def of_everybody(columns, draw):
    return [
        ([[place, codes_of(columns[place], draw, several=True)]], [])
        for place in draw.sample([SEX, AGE, HOME], 2)
    ]


def of_what_no_table_holds(columns, draw):
    """Of age and work together nothing was drawn."""
    codes = codes_of(columns[WORK], draw, several=False)
    one, other = draw.sample([1, 2, 3], 2)
    return [([[AGE, [code]], [WORK, codes]], [[AGE, [code]]]) for code in (one, other)]


def asked_of(simulated, choose):
    """A question of each release, without those of which a base holds nobody."""
    found = []
    for place in range(len(simulated.releases)):
        (one, base), (other, other_base) = simulated.of(place, choose)
        if simulated.true(place, base) and simulated.true(place, other_base):
            found.append((place, one, base, place, other, other_base))
    return found


def differences(simulated, asked):
    truth = []
    for place, one, base, to, other, other_base in asked:
        first = simulated.true(place, one) / simulated.true(place, base)
        truth.append(first - simulated.true(to, other) / simulated.true(to, other_base))
    return truth


@pytest.mark.parametrize("choose", [of_two_bases, of_one_base, of_everybody, of_what_no_table_holds])
def test_ranges_of_differences_hold_the_true_one(simulated, choose):
    asked = asked_of(simulated, choose)
    found = ask(simulated.releases, [shares(*each) for each in asked])
    missed = sum(map(is_missed, found, differences(simulated, asked)))
    assert rarely(missed, len(found))
    reasons = {each["reason"]["key"].removeprefix("shares.reason.") for each in found}
    kinds = {of_two_bases: "two_bases", of_what_no_table_holds: "bounds"}
    assert reasons == {kinds.get(choose, "one_base")}


def test_ranges_of_single_shares_hold_the_true_ones_and_are_not_wider_than_they_must(simulated):
    asked = asked_of(simulated, of_two_bases)
    found = ask(simulated.releases, [shares(*each) for each in asked])
    missed = sum(
        is_missed(each["shares"][0], simulated.true(place, one) / simulated.true(place, base))
        for each, (place, one, base, *_) in zip(found, asked, strict=True)
    )
    assert missed > 0 and rarely(missed, len(found))


def test_a_difference_of_two_vintages_holds_the_true_one(simulated):
    asked = []
    for place, one, base, *_ in asked_of(simulated, of_two_bases)[::2]:
        columns = simulated.releases[place + 1]["columns"] if place + 1 < len(simulated.releases) else None
        if columns == simulated.releases[place]["columns"] and simulated.true(place + 1, base):
            asked.append((place, one, base, place + 1, one, base))
    found = ask(simulated.releases, [shares(*each) for each in asked])
    assert len(found) > 40
    missed = sum(map(is_missed, found, differences(simulated, asked)))
    assert rarely(missed, len(found))


def test_of_a_sample_ranges_hold_its_chance_too():
    simulated = fitted(60, limit=400)
    asked = asked_of(simulated, of_two_bases)
    found = ask(simulated.releases, [shares(*each) for each in asked])
    missed = sum(map(is_missed, found, differences(simulated, asked)))
    assert rarely(missed, len(found))


def test_without_a_difference_few_are_called_real():
    """The same people, drawn twice."""
    releases, draw = vintages()[:100], random.Random(5)
    asked = []
    for place in range(0, 100, 2):
        if releases[place]["columns"] == releases[place + 1]["columns"]:
            (one, base), _ = of_two_bases(releases[place]["columns"], draw)
            asked.append(shares(place, one, base, place + 1, one, base))
    found = ask(releases, asked)
    assert rarely(sum(bool(each["real"]) for each in found), len(found))


def test_a_share_that_lies_at_an_end_is_as_far_from_the_counts_as_chance_allows():
    """Fieller, by least squares over the joint table: x - r y is 1.96 deviations from 0 at both ends."""
    draw, seen = random.Random(3), 0
    asked = [selected(release, place) for place, release in enumerate(RELEASES)]
    bases = [without(each, draw.choice(each)[0]) for each in asked]
    found = ask(
        RELEASES, [shares(p, a, b, p, a, b) for p, (a, b) in enumerate(zip(asked, bases, strict=True))]
    )
    for release, selection, base, each in zip(RELEASES, asked, bases, found, strict=True):
        for end in ("low", "high"):
            r = each["shares"][0][end]
            if not 0 < r < 1:
                continue
            count, whole = weights_of(release, selection), weights_of(release, base)
            x, deviation = least_squares(release, lambda cell, c=count, w=whole, r=r: c(cell) - r * w(cell))
            assert abs(x) == pytest.approx(Z * deviation, rel=1e-4, abs=1e-4)
            seen += 1
    assert seen > 30


# ---- other protections -------------------------------------------------------------------------------------


def test_by_lengths_the_range_goes_from_the_least_to_the_most():
    simulated = by_lengths(150).first(60)
    asked, truth = [], []
    for place, release in enumerate(simulated.releases):
        draw = random.Random(place)
        sex, (one, other) = draw.randint(1, 2), draw.sample(range(1, 5), 2)
        groups = [([[0, [sex]], [1, [age]]], [[1, [age]]]) for age in (one, other)]
        asked.append(shares(place, *groups[0], place, *groups[1]))
        texts = simulated.texts[place]
        first, second = (true_share(texts, release["columns"], *each) for each in groups)
        truth.append(first - second)
    found = ask(simulated.releases, asked)
    assert {each["reason"]["key"] for each in found} == {"shares.reason.bounds"}
    assert rarely(sum(map(is_missed, found, truth)), len(found))
    assert all(each["high"] - each["low"] < 1.2 for each in found)


def test_under_k_anonymity_the_range_is_certain():
    asked, releases, truth = [], [], []
    for seed in range(120):
        release, texts = test_rounded.made_up(seed)
        groups = [([[0, [1]], [2, [code]]], [[2, [code]]]) for code in (1, 2)]
        if all(true_count(texts, release["columns"], base) for _, base in groups):
            asked.append(shares(len(releases), *groups[0], len(releases), *groups[1]))
            releases.append(release)
            first, second = (true_share(texts, release["columns"], *each) for each in groups)
            truth.append(first - second)
    found = ask(releases, asked)
    assert len(found) > 80 and all(each["certain"] for each in found)
    assert not any(map(is_missed, found, truth))
    assert any(each["high"] - each["low"] < 0.7 for each in found)


def test_syndiffix_states_no_error_of_a_share():
    release = RELEASES[0] | {
        "meta": RELEASES[0]["meta"] | {"protection": "syndiffix", "number": None},
        "tables": [],
    }
    [found] = ask([release], [shares(0, [[0, [1]]], [], 0, [[0, [2]]], [])])
    assert found["low"] is None and found["real"] is None and found["shares"][0]["low"] is None


def test_bases_are_the_groups_without_what_both_share_or_everybody():
    def bases(one, other):
        [found] = ask(RELEASES[:1], [shares(0, one, [], 0, other, [])])
        return found["bases"]

    assert bases([[0, [1]], [1, [1]]], [[0, [1]], [1, [0]]]) == [[0], [1], [0, 1]]
    assert bases([[0, [1]]], [[0, [0]]]) == [[0]]
    assert bases([[0, [1]]], [[1, [1]]]) == [[0, 1]]
    assert bases([[0, [1]], [1, [1]]], [[0, [1]], [1, [1]]])[0] == [1]
