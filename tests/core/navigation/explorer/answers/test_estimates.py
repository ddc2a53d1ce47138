"""Least squares of all noisy tables in closed form, against plain least squares over the joint table."""

import itertools
import math
import random

import pytest

from tests.oracles.page_answers import answer, ask, column, difference, least_squares, payload, weights_of

pytestmark = pytest.mark.needs_node


def made_up(seed):
    """Three columns and some tables of them, with made up counts."""
    draw = random.Random(seed)
    sizes = [draw.randint(1, 3) for _ in range(3)]
    columns = [
        column(name, map(str, range(size)), absent=draw.random() < 0.7)
        for name, size in zip("abc", sizes, strict=True)
    ]
    shape = [len(c["values"]) + c["absent"] for c in columns]
    every = [places for size in (1, 2, 3) for places in itertools.combinations(range(3), size)]
    tables = []
    for places in draw.choices(every, k=draw.randint(2, 6)):
        size = [shape[place] for place in places]
        number = 1
        for each in size:
            number *= each
        cells = [draw.randint(-20, 300) for _ in range(number)]
        tables.append({"columns": list(places), "shape": size, "scale": draw.uniform(1, 12), "cells": cells})
    number = {"value": 500, "low": 490, "high": 510, "sd": draw.uniform(1, 6)}
    return payload("fitted", columns, number, tables=tables)


def selected(release, seed):
    """A selection that one of the tables tells."""
    draw = random.Random(seed)
    table = draw.choice(release["tables"])
    places = draw.sample(table["columns"], draw.randint(1, len(table["columns"])))
    found = []
    for place in sorted(places):
        about = release["columns"][place]
        codes = [*range(1, len(about["values"]) + 1), *([0] if about["absent"] else [])]
        found.append([place, sorted(draw.sample(codes, draw.randint(1, len(codes))))])
    return found


RELEASES = [made_up(seed) for seed in range(60)]


def test_estimate_and_noise_are_those_of_least_squares_over_all_cells():
    asked = [selected(release, place) for place, release in enumerate(RELEASES)]
    found = ask(RELEASES, [answer(place, selection) for place, selection in enumerate(asked)])
    for release, selection, each in zip(RELEASES, asked, found, strict=True):
        estimate, sd = least_squares(release, weights_of(release, selection))
        if each["basis"] == "number":  # everything is chosen
            continue
        assert each["sd"] == pytest.approx(sd, abs=1e-6)
        assert each["numbers"]["estimate"] == max(0, round(estimate)) or abs(estimate % 1 - 0.5) < 1e-6
        assert each["low"] == max(0, math.floor(estimate - 1.959963984540054 * sd + 1e-9))


def test_the_noise_of_a_difference_leaves_out_what_both_share():
    asked = [
        (selected(release, place), selected(release, -1 - place)) for place, release in enumerate(RELEASES)
    ]
    found = ask(RELEASES, [difference(place, one, place, other) for place, (one, other) in enumerate(asked)])
    for release, (one, other), each in zip(RELEASES, asked, found, strict=True):
        first, second = weights_of(release, one), weights_of(release, other)
        estimate, sd = least_squares(release, lambda cell, a=first, b=second: a(cell) - b(cell))
        assert each["sd"] == pytest.approx(sd, abs=1e-6)
        assert each["low"] <= estimate <= each["high"]
        assert each["high"] - each["low"] <= 2 * 1.959963984540054 * sd + 2.001


def test_counts_of_two_releases_have_independent_noise():
    asked = [selected(release, place) for place, release in enumerate(RELEASES[:-1])]
    others = [selected(release, place) for place, release in enumerate(RELEASES[1:])]
    pairs = [difference(place, one, place + 1, others[place]) for place, one in enumerate(asked)]
    for place, each in enumerate(ask(RELEASES, pairs)):
        sides = [(RELEASES[place], asked[place]), (RELEASES[place + 1], others[place])]
        first, second = (least_squares(release, weights_of(release, chosen)) for release, chosen in sides)
        assert each["sd"] == pytest.approx((first[1] ** 2 + second[1] ** 2) ** 0.5, abs=1e-6)
        assert each["low"] - 1 <= first[0] - second[0] <= each["high"] + 1


def test_a_selection_that_no_table_holds_is_only_bounded():
    columns = [column(name, ["x", "y"]) for name in "abc"]
    tables = [
        {"columns": list(places), "shape": [3, 3], "scale": 1.0, "cells": [100, 20, 0, 30, 50, 0, 0, 0, 0]}
        for places in ((0, 1), (1, 2))
    ]
    release = payload("fitted", columns, {"value": 200, "low": 190, "high": 210, "sd": 5.0}, tables=tables)
    (found,) = ask([release], [answer(0, [[0, [1]], [1, [1]], [2, [1]]])])
    assert found["basis"] == "none" and found["sd"] is None and found["numbers"]["estimate"] is None
    # At most the smaller of 100 and 100, at least 100 + 100 less some 125 people with b = x.
    assert 60 < found["low"] < 80 and 100 < found["high"] < 107
