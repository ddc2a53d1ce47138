"""Rounded counts: the true count lies in the range for certain, whatever was not published."""

import itertools
import random
from collections import Counter

import pytest

from tests.oracles.page_answers import answer, ask, column, difference, payload, published, true_count

pytestmark = pytest.mark.needs_node

NAMES = ("sex", "home", "speaks")
DECLARED = (("f", "m"), None, ("a", "b", "c"))


def made_up(seed):
    """A release of counts of up to two attributes, rounded down to 5, and of each record what it holds."""
    draw = random.Random(seed)
    number, k, longest = draw.randint(0, 120), 5, draw.randint(1, 2)
    records = [
        (
            set(draw.choices([["f"], ["m"], []], [5, 4, 1])[0]),
            set(draw.choices([["flat"], ["house"], ["ship"], ["tent"], []], [8, 5, 2, 1, 1])[0]),
            set(draw.sample("abc", draw.choice([0, 1, 1, 2]))),
        )
        for _ in range(number)
    ]
    counts = Counter()
    for held in records:
        attributes = [(place, text) for place, texts in enumerate(held) for text in texts]
        for length in range(1, longest + 1):
            counts.update(map(frozenset, itertools.combinations(attributes, length)))
    kept = {cell: count // k * k for cell, count in counts.items() if count >= k}
    homes = sorted({text for cell in kept for place, text in cell if place == 1})
    values = [DECLARED[0], homes, DECLARED[2]]
    lengths = []
    for length in range(1, longest + 1):
        rows = {
            tuple(sorted((place, values[place].index(text) + 1) for place, text in cell)): count
            for cell, count in kept.items()
            if len(cell) == length
        }
        found = published(values, rows)
        found["ids"] = found["ids"] or [[]] * length
        lengths.append(found)
    columns = [
        column(NAMES[0], values[0], absent=False),
        column(NAMES[1], values[1], opened=True, absent=False),
        column(NAMES[2], values[2], kind="items", absent=False),
    ]
    least = number // k * k
    about = {"value": least, "low": least, "high": least + k - 1}
    texts = [[held[place] for held in records] for place in range(3)]
    return payload("k_anonymity", columns, about, counts=lengths, resolution=k), texts


def selected(release, draw):
    found = []
    for place in sorted(draw.sample(range(3), draw.randint(1, 3))):
        about = release["columns"][place]
        codes = [0, *range(1, len(about["values"]) + 1 + about["open"])]
        found.append([place, sorted(draw.sample(codes, draw.randint(1, len(codes))))])
    return found


MADE = [made_up(seed) for seed in range(150)]
RELEASES = [release for release, _ in MADE]


def true(place, selection):
    release, texts = MADE[place]
    return true_count(texts, release["columns"], selection)


def test_the_true_count_lies_in_the_range():
    draw = random.Random(1)
    asked = [(place % len(MADE), selected(RELEASES[place % len(MADE)], draw)) for place in range(600)]
    found = ask(RELEASES, [answer(*each) for each in asked])
    outside = [
        (each, one["low"], one["high"], true(*each))
        for each, one in zip(asked, found, strict=True)
        if not one["low"] <= true(*each) <= one["high"]
    ]
    assert outside == []
    assert all(each["certain"] for each in found)


def test_the_true_difference_lies_in_the_range():
    draw = random.Random(2)
    asked = [
        (
            place % len(MADE),
            selected(RELEASES[place % len(MADE)], draw),
            selected(RELEASES[place % len(MADE)], draw),
        )
        for place in range(600)
    ]
    found = ask(RELEASES, [difference(place, one, place, other) for place, one, other in asked])
    for (place, one, other), each in zip(asked, found, strict=True):
        assert each["low"] <= true(place, one) - true(place, other) <= each["high"]
        assert each["real"] is (True if each["low"] > 0 or each["high"] < 0 else None)


def test_a_single_count_and_a_sum_have_the_ranges_of_their_rounding():
    values = [("f", "m"), ("flat", "house"), ("a",)]
    ones = {((0, 1),): 50, ((0, 2),): 45, ((1, 1),): 60}
    pairs = {((0, 1), (1, 1)): 30, ((0, 2), (1, 1)): 25}
    columns = [column(name, of, absent=False) for name, of in zip(NAMES, values, strict=True)]
    about = {"value": 95, "low": 95, "high": 99}
    counts = [published(values, ones), published(values, pairs)]
    release = payload("k_anonymity", columns, about, counts=counts, resolution=5)
    one, two, hidden, shared = ask(
        [release],
        [
            answer(0, [[0, [1]], [1, [1]]]),
            answer(0, [[0, [1, 2]], [1, [1]]]),
            answer(0, [[0, [1]], [1, [2]]]),
            difference(0, [[0, [1]], [1, [1]]], 0, [[0, [1, 2]], [1, [1]]]),
        ],
    )
    assert (one["value"], one["low"], one["high"], one["basis"]) == (30, 30, 34, "count")
    # 95 to 99 people have a sex and 60 to 64 live in flats, of 95 to 99: at least 56 are both.
    assert (two["value"], two["low"], two["high"], two["basis"]) == (56, 56, 63, "sum")
    assert (hidden["value"], hidden["low"], hidden["high"], hidden["basis"]) == (0, 0, 4, "none")
    assert (shared["low"], shared["high"], shared["real"]) == (-29, -25, True)  # the women cancel
