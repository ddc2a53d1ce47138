"""Exactly one of several columns, and columns that are empty together: in every record, and not at the price
of how these columns depend on others."""

import itertools

import numpy as np
import pytest

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import Contract, ContractColumn, OneOf
from tasks.core.dp.workload.parameters import LongerSets, WorkloadParameters
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Column, Schema
from tasks.core.records.rulebook import repair_records
from tasks.core.synthesis.fitted import draw_fitted
from tests.core.synthesis.test_constraints import SHARES, texts_of, written
from tests.oracles import constraints as oracle
from tests.oracles.workloads import declared_records, draw

NUMBER = 3_000
DOMAINS = {
    "walks": ("0", "1"),
    "cycles": ("1",),
    "drives": ("1", "2"),
    "zone": ("a", "b", "c"),
    "result": ("low", "mid", "high"),
    "lab": ("x", "y"),
}
SCHEMA = Schema(tuple(Column(name, domain=domain) for name, domain in DOMAINS.items()))


def contract(**constraints):
    columns = tuple(ContractColumn(name=name) for name in DOMAINS)
    return Contract(
        id="c", name="c", version="1", status="active", table="t", subject_id=None,
        columns=columns, **constraints,
    )  # fmt: skip


TIED = contract(
    exactly_one=(OneOf(columns=("walks", "cycles", "drives")),), empty_together=(("result", "lab"),)
)


def coded(cells):
    return declared_records(SCHEMA, [cells[name] for name in DOMAINS])


@pytest.fixture(scope="module")
def fitted():
    """A table in which the zone decides much of both groups, and records of it."""
    drawn = np.random.default_rng(5)
    zone = drawn.integers(0, 3, NUMBER)
    way = np.where(drawn.random(NUMBER) < 0.8, zone, drawn.integers(0, 3, NUMBER))
    tested = drawn.random(NUMBER) < np.array([0.1, 0.5, 0.9])[way]
    cells = {
        "walks": (way == 0) + 1,
        "cycles": way == 1,
        "drives": np.where(way == 2, 1, 2),
        "zone": zone + 1,
        "result": np.where(tested, drawn.integers(1, 4, NUMBER), 0),
        "lab": np.where(tested, drawn.integers(1, 3, NUMBER), 0),
    }
    schema = with_constraints(SCHEMA, TIED)
    raw = repair_records(coded(cells), schema)
    parameters = WorkloadParameters(2.0, 1e-6, SHARES, longer=LongerSets(lengths=(3,), most=1))
    return texts_of(coded(cells)), written(draw_fitted(draw(raw, parameters), 1).records, schema)


def test_a_table_that_holds_them_is_counted_as_it_is(fitted):
    assert all(oracle.broken(TIED, record) == [] for record in fitted[0])


def test_every_synthetic_record_holds_them(fitted):
    assert [record for record in fitted[1] if oracle.broken(TIED, record)] == []


def test_which_column_it_is_goes_with_the_others_as_in_the_table(fitted):
    """At this noise pairs differ by about .02. Of columns that stay as they began zone and way differ by .4,
    way and test by .25."""
    for group in (("walks", "zone"), ("cycles", "result"), ("drives", "lab"), ("zone", "lab")):
        raw, made = (pairs(records, group) for records in fitted)
        assert sum(abs(raw.get(cell, 0) - made.get(cell, 0)) for cell in raw | made) / 2 < 0.08, group


def pairs(records, names):
    shares = {}
    for record in records:
        cell = tuple(next(iter(record[name]), "") for name in names)
        shares[cell] = shares.get(cell, 0) + 1 / len(records)
    return shares


def test_any_record_is_repaired_alone_to_hold_them():
    every = list(itertools.product(*(range(len(domain) + 1) for domain in DOMAINS.values())))
    cells = dict(zip(DOMAINS, zip(*every, strict=True), strict=True))
    before = texts_of(coded(cells))
    after = texts_of(repair_records(coded(cells), with_constraints(SCHEMA, TIED)))
    assert all(oracle.broken(TIED, record) == [] for record in after)
    kept = [one for one in before if not oracle.broken(TIED, one)]
    assert kept == [new for old, new in zip(before, after, strict=True) if not oracle.broken(TIED, old)]


def test_none_is_filled_by_the_last_and_two_leave_the_first():
    cells = dict.fromkeys(DOMAINS, (0, 0)) | {"walks": (1, 2), "drives": (2, 1)}
    none, two = texts_of(repair_records(coded(cells), with_constraints(SCHEMA, TIED)))
    assert (none["walks"], none["cycles"], none["drives"]) == ({"0"}, set(), {"1"})
    assert (two["walks"], two["cycles"], two["drives"]) == ({"1"}, set(), {"2"})


def test_a_choice_among_open_columns_is_refused():
    schema = Schema((*SCHEMA.columns[:2], Column("drives"), *SCHEMA.columns[3:]))
    with pytest.raises(ParameterError, match="exactlyOne needs the values of 'drives'"):
        with_constraints(schema, TIED)


def test_a_value_that_a_column_lacks_is_refused():
    with pytest.raises(ParameterError, match="'walks' does not have the value 'yes'"):
        with_constraints(SCHEMA, contract(exactly_one=(OneOf(columns=("walks", "zone"), value="yes"),)))


def test_a_group_with_one_used_column_ties_nothing():
    with_one = Schema(tuple(column for column in SCHEMA.columns if column.name != "lab"))
    assert with_constraints(with_one, contract(empty_together=(("result", "lab"),))).constraints == ()
