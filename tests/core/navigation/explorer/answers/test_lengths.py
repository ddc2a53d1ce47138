"""Releases by lengths: sums of published noisy counts, and what stayed below the threshold."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.release import draw_lengths
from tasks.core.dp.thresholds import error_bar
from tasks.core.navigation.payload.counts import ranges_of_lengths
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.table import RecordTable
from tests.oracles.page_answers import (
    UNMEASURED,
    answer,
    ask,
    column,
    difference,
    is_within,
    most_misses,
    payload,
    published,
    stream,
    texts_of,
    true_count,
)

pytestmark = pytest.mark.needs_node

FALSE_ALARM = 1e-4
SEXES, AGES = ("female", "male"), ("child", "young", "middle", "old")
TOWNS = tuple(f"town {number}" for number in range(12))
SCHEMA = Schema((Column("sex", domain=SEXES), Column("age", domain=AGES), Column("town")))


def people(number, seed):
    """Towns get ever smaller, so that some pairs are near the threshold and some below."""
    draw = np.random.default_rng(seed)
    sizes = 0.7 ** np.arange(len(TOWNS) + 1)
    slots = (
        draw.integers(0, 3, number),
        draw.integers(0, 5, number),
        draw.choice(len(sizes), number, p=sizes / sizes.sum()),
    )
    return CodedRecords(
        SCHEMA, tuple(each.astype(np.uint8) for each in slots), (0, 1, 2), (SEXES, AGES, TOWNS), number
    )


def lengths_payload(drawn):
    """What the page reads of a draw by lengths."""
    counted = normalised_counts(drawn)
    values = [sorted({a.value for a in counted.attributes if a.column == place}) for place in range(3)]
    values = [SEXES, AGES, values[2]]
    columns = [
        column(about.name, of, opened=about.is_open, absent=False)
        for about, of in zip(SCHEMA.columns, values, strict=True)
    ]
    cells = [(a.column, values[a.column].index(a.value) + 1) for a in counted.attributes]
    lengths = []
    for ids, counts, ranges in zip(
        counted.combinations, counted.counts, ranges_of_lengths(drawn, counted), strict=True
    ):
        keys = [tuple(sorted(cells[each] for each in row)) for row in ids.tolist()]
        noisy = [max(each, UNMEASURED) for each in ranges["noisy"].tolist()]
        lengths.append(
            published(
                values,
                dict(zip(keys, counts.tolist(), strict=True)),
                noisy=dict(zip(keys, noisy, strict=True)),
                low=dict(zip(keys, ranges["low"].tolist(), strict=True)),
                high=dict(zip(keys, ranges["high"].tolist(), strict=True)),
            )
        )
    noise = [
        {
            "sd": math.sqrt(level.scale**2 + 1 / 12),
            "half_width_95": error_bar(Fraction(level.scale), 0.95),
            "threshold": level.threshold,
            "truncated": False,
        }
        for level in drawn.levels
    ]
    half = error_bar(Fraction(drawn.count_scale), 0.95)
    value = drawn.number_of_records
    number = {"value": value, "low": value - half, "high": value + half, "sd": drawn.count_scale}
    return payload("lengths", columns, number, counts=lengths, noise=noise)


class Simulated:
    """Releases, with the records that they were made of."""

    def __init__(self, number, first=0, thresholds=ReleaseThresholds("spurious", default=0.1)):
        self.texts, self.releases = [], []
        asked = DpParameters(4.0, 1e-6, 2, thresholds=thresholds)
        for seed in range(first, first + number):
            records = people(900, seed)
            drawn = draw_lengths(
                RecordTable.in_memory(records), asked, stream(seed), before_first_word=lambda: None
            )
            self.texts.append(texts_of(records))
            self.releases.append(lengths_payload(drawn))

    def true(self, place, selection):
        return true_count(self.texts[place], self.releases[place]["columns"], selection)


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


def asked_of(simulated, choose):
    return [
        choose(release["columns"], random.Random(f"{choose.__name__} {place}"))
        for place, release in enumerate(simulated.releases)
    ]


@pytest.fixture(scope="module")
def simulated():
    return Simulated(150)


@pytest.mark.parametrize("choose", [one_count, one_sum, small_towns, longer, with_missing])
def test_ranges_hold_the_true_count(simulated, choose):
    asked = asked_of(simulated, choose)
    found = ask(simulated.releases, [answer(place, each) for place, each in enumerate(asked)])
    missed = sum(not is_within(each, simulated.true(place, asked[place])) for place, each in enumerate(found))
    assert missed <= most_misses(len(found), 0.05, FALSE_ALARM)


def test_what_stays_below_a_high_threshold_is_allowed_for():
    simulated = Simulated(60, thresholds=ReleaseThresholds("fixed", default=30.0))
    asked = asked_of(simulated, small_towns)
    found = ask(simulated.releases, [answer(place, each) for place, each in enumerate(asked)])
    hidden = sum(
        simulated.true(place, asked[place]) > 3 + each["numbers"]["noisy"] for place, each in enumerate(found)
    )
    assert hidden > 30
    missed = sum(not is_within(each, simulated.true(place, asked[place])) for place, each in enumerate(found))
    assert missed <= most_misses(len(found), 0.05, FALSE_ALARM)


def test_ranges_of_differences_hold_the_true_difference(simulated):
    one, other = asked_of(simulated, one_sum), asked_of(simulated, another_sum)
    pairs = list(zip(one, other, strict=True))
    found = ask(simulated.releases, [difference(place, a, place, b) for place, (a, b) in enumerate(pairs)])
    true = [simulated.true(place, a) - simulated.true(place, b) for place, (a, b) in enumerate(pairs)]
    missed = sum(not is_within(each, count) for each, count in zip(found, true, strict=True))
    assert missed <= most_misses(len(found), 0.05, FALSE_ALARM)


def test_the_noise_of_a_sum_is_the_root_of_their_number_times_that_of_one(simulated):
    release = simulated.releases[0]
    one, three = ask([release], [answer(0, [[1, [1]]]), answer(0, [[1, [1, 2, 3]]])])
    assert three["sd"] == pytest.approx(one["sd"] * math.sqrt(3))
    assert (one["basis"], three["basis"], three["parts"]) == ("count", "sum", 3)


def test_where_contributions_are_bounded_nothing_is_said_of_the_upper_end():
    release = Simulated(1).releases[0]
    for noise in release["meta"]["noise"]:
        noise["truncated"] = True
    (found,) = ask([release], [answer(0, [[1, [1, 2]]])])
    assert found["high"] == release["meta"]["number"]["high"]
