"""Releases made of known records, fitted and by lengths, and questions at random: how often answers miss."""

import math
import random
from fractions import Fraction
from functools import cache

import numpy as np

from tasks.core.dp.normalization import normalised_counts
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.release import draw_lengths
from tasks.core.dp.thresholds import error_bar
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.parameters import LongerSets, Shares, WorkloadParameters
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
    fitted_payload,
    is_within,
    most_misses,
    payload,
    published,
    stream,
    texts_of,
    true_count,
)

FALSE_ALARM = 1e-4
DOMAINS = {"sex": ("female", "male"), "age": ("young", "middle", "old"), "work": ("yes", "no", "never")}
HOMES = ("barge", "flat", "house", "tent")
TONGUES = ("arabic", "basque", "czech")
SCHEMA = Schema(
    (
        *(Column(name, domain=values) for name, values in DOMAINS.items()),
        Column("home"),
        Column("tongue", domain=TONGUES, delimiter=";", max_items=2),
    )
)
SEX, AGE, WORK, HOME, TONGUE = range(5)
#: Of work with anything but sex nothing is drawn.
TABLES = ((SEX, AGE), (SEX, WORK), (SEX, HOME), (AGE, HOME), (SEX, TONGUE), (TONGUE, TONGUE))
MEASURED = ((SEX,), (AGE,), (WORK,), (HOME,), (SEX, AGE), (SEX, WORK), (SEX, HOME), (AGE, HOME))


def people(number, seed):
    """Records with dependence, and tags for a sample; few live in tents, near the threshold."""
    draw = np.random.default_rng(seed)
    sex = draw.integers(0, 3, number)
    age = np.where(sex == 1, draw.integers(1, 4, number), draw.integers(0, 4, number))
    work = np.where(age == 3, 3, draw.integers(0, 4, number))
    home = draw.choice(5, number, p=[0.05, 0.12, 0.5, 0.27, 0.06])
    tongues = np.sort(draw.integers(0, 4, (number, 2)), axis=1)[:, ::-1]
    tongues[tongues[:, 0] == tongues[:, 1], 1] = 0
    slots = tuple(each.astype(np.uint8) for each in (sex, age, work, home, tongues[:, 0], tongues[:, 1]))
    values = (*DOMAINS.values(), HOMES, TONGUES)
    tags = draw.integers(0, 2**64, number, np.uint64)
    return CodedRecords(SCHEMA, slots, (0, 1, 2, 3, 4, 4), values, number, tags)


def drawn(records, seed, limit=None):
    shares = Shares(Fraction(2, 100), Fraction(28, 100), Fraction(70, 100))
    asked = WorkloadParameters(
        2.0 if limit is None else 4.0, 1e-6, shares, longer=LongerSets(), tables=TABLES, record_limit=limit
    )
    return draw_workload(RecordTable.in_memory(records), asked, stream(seed), before_first_word=lambda: None)


SEXES, AGES = ("female", "male"), ("child", "young", "middle", "old")
TOWNS = tuple(f"town {number}" for number in range(12))
TOWN_SCHEMA = Schema((Column("sex", domain=SEXES), Column("age", domain=AGES), Column("town")))


def townspeople(number, seed):
    """Towns get ever smaller, so that some pairs are near the threshold and some below."""
    draw = np.random.default_rng(seed)
    sizes = 0.7 ** np.arange(len(TOWNS) + 1)
    slots = (
        draw.integers(0, 3, number),
        draw.integers(0, 5, number),
        draw.choice(len(sizes), number, p=sizes / sizes.sum()),
    )
    return CodedRecords(
        TOWN_SCHEMA, tuple(each.astype(np.uint8) for each in slots), (0, 1, 2), (SEXES, AGES, TOWNS), number
    )


def lengths_payload(drawn):
    """What the page reads of a draw by lengths."""
    counted = normalised_counts(drawn)
    values = [sorted({a.value for a in counted.attributes if a.column == place}) for place in range(3)]
    values = [SEXES, AGES, values[2]]
    columns = [
        column(about.name, of, opened=about.is_open, absent=False)
        for about, of in zip(TOWN_SCHEMA.columns, values, strict=True)
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
    """Releases, with the records that they were made of: pairs of records and what the page reads."""

    def __init__(self, made):
        pairs = list(made)
        self.texts = [texts_of(records) for records, _ in pairs]
        self.releases = [release for _, release in pairs]

    def true(self, place, selection):
        return true_count(self.texts[place], self.releases[place]["columns"], selection)

    def of(self, place, choose):
        """A question that is a function of the release's columns and a random stream of its own."""
        return choose(self.releases[place]["columns"], random.Random(f"{choose.__name__} {place}"))

    def first(self, number):
        part = Simulated(())
        part.texts, part.releases = self.texts[:number], self.releases[:number]
        return part


@cache
def fitted(number, first=0, limit=None):
    made = ((seed, people(700, seed)) for seed in range(first, first + number))
    return Simulated((records, fitted_payload(drawn(records, seed, limit))) for seed, records in made)


@cache
def vintages():
    """The same people, drawn two hundred times."""
    records = people(700, 1)
    return [fitted_payload(drawn(records, seed)) for seed in range(200)]


@cache
def by_lengths(number, threshold=None):
    thresholds = ReleaseThresholds("fixed", default=threshold)
    if threshold is None:
        thresholds = ReleaseThresholds("spurious", default=0.1)
    asked = DpParameters(4.0, 1e-6, 2, thresholds=thresholds)
    made = ((seed, townspeople(900, seed)) for seed in range(number))
    return Simulated(
        (
            records,
            lengths_payload(
                draw_lengths(
                    RecordTable.in_memory(records), asked, stream(seed), before_first_word=lambda: None
                )
            ),
        )
        for seed, records in made
    )


def codes_of(column, draw, *, several):
    """Codes of a column: one value, or several with missing and what was not released among them."""
    every = list(range(1, len(column["values"]) + 1))
    if not several:
        return [draw.choice(every)]
    every += [0] * column["absent"] + [len(column["values"]) + 1] * column["other"]
    return sorted(draw.sample(every, draw.randint(1, len(every) - 1)))


def misses(simulated, choose, other=None):
    """The answers, and how many true ones lie outside; differences where there is another question."""
    places = range(len(simulated.releases))
    asked = [simulated.of(place, choose) for place in places]
    true = [simulated.true(place, each) for place, each in enumerate(asked)]
    questions = [answer(place, each) for place, each in enumerate(asked)]
    if other is not None:
        others = [simulated.of(place, other) for place in places]
        questions = [
            difference(p, one, p, two) for p, (one, two) in enumerate(zip(asked, others, strict=True))
        ]
        true = [
            count - simulated.true(place, each)
            for place, (count, each) in enumerate(zip(true, others, strict=True))
        ]
    found = ask(simulated.releases, questions)
    return found, sum(not is_within(each, count) for each, count in zip(found, true, strict=True))


def rarely(missed, number):
    """Whether so many may be missed where 5 in 100 are."""
    return missed <= most_misses(number, 0.05, FALSE_ALARM)
