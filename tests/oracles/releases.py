"""A release made up from a table of true counts with independent noise, without any of our mechanism.

For tests of what comes after the measurement: statement and page.
"""

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.dp.accounting import for_noisy_count, plan_release
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.navigation.inputs import Naming, ReportInputs
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.statement.differential_privacy.statement import LedgerFacts, RunChoices, accounted_statement
from tasks.core.synthesis.records import SyntheticRecords

SCHEMA = Schema(
    columns=(
        Column("age", domain=bin_labels((18.0, 30.0, 45.0, 60.0, 75.0)), bins=(18.0, 30.0, 45.0, 60.0, 75.0)),
        Column("region", domain=("north", "east", "south", "west")),
        Column("sector", domain=("farming", "industry", "services", "none")),
        Column("town"),
        Column("languages", delimiter="|", max_items=3),
        Column("health", domain=("good", "fair", "poor")),
    ),
    subject_id="person",
)


def cap_facts(epsilon: float, delta: float, threshold_delta: float, mu_squared: float) -> dict[str, float]:
    return {"epsilon": epsilon, "delta": delta, "threshold_delta": threshold_delta, "mu_squared": mu_squared}


def ledger_facts(**changes) -> LedgerFacts:
    this = {"releases": 1, "mu_squared": 0.0554609352603, "threshold_delta": 1e-7}
    facts = {
        "dataset": "survey",
        "unit": "subject",
        "population": "adults of an invented country",
        "vintage": "2024-05",
        "scope": "one ledger per user of one machine",
        "cap": cap_facts(3.0, 1e-5, 1.2e-6, 0.49),
        "mu_squared_spent": 0.0554609352603,
        "threshold_delta_spent": 1e-7,
        "epsilon_spent": 0.8682000372,
        "this_release": this,
        "remaining_releases": 7,
        "head": "4f" * 32,
    }
    charges = [this | {"releases": changes.pop("releases", 1)}]
    facts |= {"charges": charges} | changes
    return LedgerFacts(**({"cap_in_force": facts["cap"]} | facts))


@functools.cache
def records(number: int, seed: int = 7) -> list[tuple[str | frozenset[str], ...]]:
    """Records of an invented population with dependence, a long tail of towns and item sets."""
    draw = np.random.default_rng(seed)
    ages, regions, sectors, healths = (SCHEMA.columns[i].domain for i in (0, 1, 2, 5))
    tongues = ["Norish", "Estian", "Sudic", "Westish", "Old Norish", "Signed"]
    made = []
    for _ in range(number):
        age = int(draw.choice(6, p=[0.02, 0.2, 0.3, 0.26, 0.16, 0.06]))
        region = int(draw.choice(4, p=[0.4, 0.3, 0.2, 0.1]))
        sector = int(draw.choice(4, p=[[0.1, 0.3, 0.5, 0.1], [0.02, 0.1, 0.3, 0.58]][age >= 4]))
        health = int(draw.choice(3, p=[[0.8, 0.15, 0.05], [0.3, 0.4, 0.3]][age >= 4]))
        town = f"{regions[region].title()}ville {int(draw.zipf(1.7)) % 60:02d}"
        spoken = frozenset(
            {tongues[region]} | {tongues[int(i)] for i in draw.integers(0, 6, int(draw.integers(0, 3)))}
        )
        made.append(
            (
                ages[age],
                regions[region],
                sectors[sector],
                town,
                frozenset(sorted(spoken)[:3]),
                healths[health],
            )
        )
    return made


def attributes_of(record) -> list[tuple[int, str]]:
    held = []
    for column, cell in enumerate(record):
        held += [(column, item) for item in sorted(cell)] if isinstance(cell, frozenset) else [(column, cell)]
    return held


def counted(number: int, length: int) -> Counter:
    """How many of the records hold each combination of that length."""
    return Counter(c for r in records(number) for c in itertools.combinations(attributes_of(r), length))


def as_planned(measurement: Measurement) -> Measurement:
    """The measurement with the charge and the noise multipliers that its own parameters give."""
    parameters, levels = measurement.parameters, measurement.levels
    declared = not any(column.is_open for column in measurement.schema.columns)
    nominal = plan_release(parameters, all_declared=declared, levels=len(levels))
    sigmas = for_noisy_count(nominal, parameters, measurement.number_of_records).sigmas
    return dataclasses.replace(
        measurement,
        mu_squared=nominal.mu_squared,
        threshold_delta=nominal.threshold_delta,
        levels=tuple(dataclasses.replace(level, sigma=s) for level, s in zip(levels, sigmas, strict=True)),
    )


def one_length(
    schema: Schema, counts: Sequence[Sequence[int]], scale: float = 20.0, records: int = 1000, **changes
) -> Measurement:
    """A draw of single values alone. Args: counts: of each column, those of its first values."""
    sizes = list(map(len, counts))
    level = Level(
        sigma=1.0,
        sensitivity=schema.width,
        scale=scale,
        threshold=10,
        candidates=None,
        expected_spurious=None,
        combinations=np.repeat(np.arange(len(sizes)), sizes).astype(np.uint32),
        codes=np.array([code for size in sizes for code in range(1, size + 1)], np.uint32)[:, np.newaxis],
        counts=np.array([count for own in counts for count in own], np.int64),
        survives=np.ones(sum(sizes), np.bool_),
    )
    given = {
        "parameters": DpParameters(epsilon=1.0, delta=1e-6, reporting_length=1, sigma_proportions=(1.0,)),
        "values": tuple(
            column.domain or tuple(f"t{place}" for place in range(size))
            for column, size in zip(schema.columns, sizes, strict=True)
        ),
    } | changes
    return Measurement(
        schema=schema,
        private=True,
        mu_squared=1.0,
        threshold_delta=1e-7,
        number_of_records=records,
        count_scale=10.0,
        levels=(level,),
        **given,
    )


@functools.cache
def release(
    number: int = 4000, epsilon: float = 1.0, length: int = 3
) -> tuple[Measurement, Aggregates, SyntheticRecords]:
    """A measurement, the aggregates that go with it, and synthetic records (a fresh sample of the law)."""
    draw = np.random.default_rng(11)
    parameters = DpParameters(epsilon, 1e-6, length, sigma_proportions=(1.0,) * length)
    planned = plan_release(parameters, all_declared=False, levels=length)
    width, sigma = SCHEMA.width, planned.sigmas[0]
    levels, kept = [], []
    alive: set = set()
    for k in range(1, length + 1):
        true, delta = counted(number, k), math.comb(width, k)
        scale = math.ceil(64 * sigma * math.sqrt(delta)) / 64
        tau = math.ceil(1.5 + 5.6 * scale) if k == 1 else math.ceil(scale * 2.2 + 0.5)
        noisy = {c: n + round(draw.normal(0, scale)) for c, n in sorted(true.items())}
        open_ = {3, 4}
        survivors = {
            c: n for c, n in noisy.items()
            if (k == 1 and c[0][0] not in open_)
            or (n >= tau and all(k == 1 or part in alive for part in itertools.combinations(c, k - 1)))
        }  # fmt: skip
        alive = set(survivors)
        kept.append(survivors)
        levels.append(
            (sigma, delta, scale, tau, len(noisy) * 2 if k > 1 else None, 3.2 * k if k > 1 else None)
        )
    values = tuple(
        column.domain or tuple(sorted({c[0][1] for c in kept[0] if c[0][0] == i}))
        for i, column in enumerate(SCHEMA.columns)
    )
    measured = tuple(
        _level(facts, survivors, values, k)
        for k, (facts, survivors) in enumerate(zip(levels, kept, strict=True), 1)
    )
    measurement = Measurement(
        schema=SCHEMA,
        parameters=parameters,
        private=True,
        mu_squared=planned.mu_squared,
        threshold_delta=planned.threshold_delta,
        number_of_records=number + 13,
        count_scale=math.ceil(64 * (planned.count_sigma or 0)) / 64,
        values=values,
        levels=measured,
    )
    return measurement, *published(kept, number, number + 13)


def noisy_inputs(
    number: int = 600, naming: Naming = Naming(), choices: RunChoices = RunChoices(), **account
) -> ReportInputs:
    """What the page of such a release is made of."""
    measurement, aggregates, synthetic = release(number)
    body = accounted_statement(measurement, ledger_facts(**account), "abc1234", choices)
    return ReportInputs(body, SCHEMA, aggregates, measurement, synthetic, naming=naming)


def _level(facts, survivors, values, k) -> Level:
    place = {c: i for i, c in enumerate(SCHEMA.combinations(k))}
    rows = sorted(
        (
            place[tuple(column for column, _ in c)],
            *[values[column].index(value) + 1 for column, value in c],
            n,
        )
        for c, n in survivors.items()
    )
    table = np.array(rows, dtype=np.int64).reshape(-1, k + 2)
    return Level(
        *facts,
        combinations=table[:, 0].astype(np.uint32),
        codes=table[:, 1:-1].astype(np.uint32),
        counts=table[:, -1],
        survives=np.ones(len(table), dtype=np.bool_),
    )


def _attribute(column: int, value: str) -> Attribute:
    name = SCHEMA.columns[column].name
    if SCHEMA.columns[column].is_multi_valued:
        return Attribute(f"{name}_{value}", "1", column, value)
    return Attribute(name, value, column)


def published(kept, number: int, reported: int) -> tuple[Aggregates, SyntheticRecords]:
    """The counts that are kept, by length, as aggregates; and a fresh sample cut to their attributes.

    Args: reported: the number of records that is told.
    """
    attributes = tuple(sorted((_attribute(*c[0]) for c in kept[0]), key=lambda a: a.text))
    ids = {(a.column, a.item or a.value): i for i, a in enumerate(attributes)}
    headers = tuple(dict.fromkeys(a.header for a in sorted(attributes, key=lambda a: (a.column, a.header))))
    combinations, counts = [], []
    for k, survivors in enumerate(kept, start=1):
        rows = sorted(
            (*sorted(ids[a] for a in c), max(n, 1)) for c, n in survivors.items() if all(a in ids for a in c)
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, k + 1)
        combinations.append(table[:, :k].astype(np.int32))
        counts.append(table[:, k])
    aggregates = Aggregates(headers, attributes, reported, tuple(combinations), tuple(counts))
    drawn = [sorted(ids[a] for a in attributes_of(r) if a in ids) for r in records(number, seed=8)]
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in drawn])]).astype(np.int64)
    flat = np.array([i for r in drawn for i in r], dtype=np.int32)
    return aggregates, SyntheticRecords(headers, attributes, offsets, flat)


def recounted(synthetic: SyntheticRecords, length: int) -> Aggregates:
    """Counts of the synthetic records, the slow way."""
    rows = [
        synthetic.attribute_ids[a:b].tolist()
        for a, b in itertools.pairwise(synthetic.offsets.tolist())
    ]  # fmt: skip
    combinations, counts = [], []
    for k in range(1, length + 1):
        found = sorted(Counter(c for r in rows for c in itertools.combinations(r, k)).items())
        combinations.append(np.array([c for c, _ in found], dtype=np.int32).reshape(-1, k))
        counts.append(np.array([n for _, n in found], dtype=np.int64))
    return Aggregates(
        synthetic.headers,
        synthetic.attributes,
        synthetic.number_of_records,
        tuple(combinations),
        tuple(counts),
    )
