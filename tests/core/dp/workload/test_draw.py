import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tasks.core.dp.workload.cells import ColumnCells, domain_of, map_records, sensitivity
from tasks.core.dp.workload.draw import WorkloadDraw
from tasks.core.dp.workload.limits import check_draw
from tasks.core.dp.workload.measurement import read_workload_measurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.dp.workload.parameters import (
    LongerSets,
    Shares,
    WorkloadParameters,
    budget_of,
    default_steps,
    grid_scale,
)
from tasks.core.errors import InternalError, ParameterError
from tasks.core.fitting.fit import fit
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles import fitting as oracle
from tests.oracles.workloads import (
    HOMES,
    TONGUES,
    bits,
    coded_bits,
    cost,
    default_shares,
    draw,
    drawing,
    parameters,
    people,
    refused,
)

F = Fraction


def test_with_next_to_no_noise_the_tables_are_the_counts():
    records = people(2_000, 3)
    drawn = draw(records, parameters(1e4))
    slots = map_records(records, drawn.cells)
    domain = domain_of(drawn.cells)
    assert drawn.number_of_records == 2_000
    for table in drawn.tables:
        exact = oracle.count(slots, domain, table.columns)
        assert np.abs(table.counts - exact).max() <= 1


def test_vector_c_the_largest_contributions_by_brute_force():
    """B holds x, y and unreleased u, C holds p, q, r and unreleased w; caps 2 and 3: Delta is reached."""
    b, c = ("u1", "u2", "x", "y"), ("p", "q", "r", "w1", "w2", "w3")
    cells = (
        ColumnCells(("a1", "a2")),
        ColumnCells(("x", "y"), has_other=True, cap=2),
        ColumnCells(("p", "q", "r"), has_other=True, cap=3),
    )
    schema = Schema(
        (
            Column("A", domain=("a1", "a2")),
            Column("B", delimiter=";", max_items=2),
            Column("C", delimiter=";", max_items=3),
        )
    )
    rows = [
        (a, *items_b, *items_c)
        for a, items_b, items_c in itertools.product(range(3), _choices(5, 2), _choices(7, 3))
    ]
    columns = np.array(rows, np.uint8).T
    records = CodedRecords(schema, tuple(columns), (0, 1, 1, 2, 2, 2), (("a1", "a2"), b, c), len(rows))
    slots, domain = map_records(records, cells), domain_of(cells)
    tables = [(1,), (2,), (0, 1), (0, 2), (1, 2), (1, 1), (2, 2), (0, 1, 2)]
    most = []
    for table in tables:
        counts = [table_counts(domain, table, slots[place : place + 1]).sum() for place in range(len(slots))]
        most.append(max(counts) // (2 if len(set(table)) < len(table) else 1))
    assert most == [2, 3, 2, 3, 6, 1, 3, 6]
    assert most == [sensitivity(cells, table) for table in tables]


def _choices(values, cap):
    """Every choice of up to so many codes, 0 for those that lack."""
    sizes = range(cap + 1)
    chosen = (each for size in sizes for each in itertools.combinations(range(1, values), size))
    return [(*items, *[0] * (cap - len(items))) for items in chosen]


def test_a_measurement_is_read_as_it_was_written(tmp_path):
    drawn = draw(people(800, 3), parameters(4.0))
    drawn.write(tmp_path)
    again = read_workload_measurement(tmp_path)
    assert again.parameters == drawn.parameters
    assert again.cells == drawn.cells
    assert again.scores == drawn.scores
    assert [table.columns for table in again.tables] == [table.columns for table in drawn.tables]
    for one, other in zip([*again.values, *again.tables], [*drawn.values, *drawn.tables], strict=True):
        assert one.counts.tolist() == other.counts.tolist()
    assert json.loads((tmp_path / "measurement.json").read_text())["private"] is False


def test_records_of_another_form_are_refused_before_a_word_is_drawn():
    records = people(10, 1)
    for wrong in (
        replace(records, slots=records.slots[:2]),
        replace(records, values=(("male", "female"), HOMES, TONGUES)),
    ):
        refused(wrong, parameters(), InternalError)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("tables", [0, 1, 45, 1000, 5_000, 40_000])
def test_default_shares_leave_nothing_unsaid(declared, tables):
    steps = default_steps(all_declared=declared, columns=10, tables=tables)
    for step in steps:
        shares = step.shares
        assert shares.count + shares.values + shares.tables + shares.scores + shares.chosen == 1
        assert bool(step.longer.lengths) == bool(shares.chosen) == bool(shares.scores)
    assert steps[0].signal == 0 and len({step.shares.count for step in steps}) == 1
    signals = [step.signal for step in steps]
    assert signals == sorted(set(signals))
    values = [step.shares.values for step in steps]
    assert values == sorted(values, reverse=True)
    plain = [step.shares.values for step in steps if not step.longer.lengths]
    assert plain[-1] == (F(5, 100) if declared else F(50, 100))  # of many records, however many tables


def with_steps(epsilon, columns, **more):
    """The parameters that a release has where nobody says otherwise."""
    first, *others = default_steps(columns=columns, tables=math.comb(columns, 2))
    return WorkloadParameters(epsilon, 1e-6, first.shares, longer=first.longer, steps=tuple(others), **more)


@pytest.mark.parametrize("number", [0, 100, 1_500, 6_000, 30_000, 90_000])
def test_the_noisy_number_of_records_says_what_is_measured(number):
    """Few records: single values are measured well, nothing longer than pairs; many: the other way round.

    Counted again from the measurement alone: which step, every scale by its shares, and the sum of all.
    """
    asked = with_steps(2.0, 6)
    drawn = draw(bits(number, 6, flips=0.05), asked)
    mu_squared, _ = budget_of(asked, all_declared=True)
    assert drawn.parameters == asked
    looked_at = max(0, drawn.number_of_records)
    reached = [step for step in asked.steps if step.signal**2 <= looked_at**2 * mu_squared]
    applied = reached[-1] if reached else asked
    assert F(drawn.values[0].scale) == grid_scale(6, applied.shares.values * mu_squared)
    assert (drawn.scores is not None) == bool(applied.longer.lengths) == (number >= 30_000)
    spent = cost(drawn)
    assert F(95, 100) * mu_squared < spent <= mu_squared


class _Counted(WorkloadDraw):
    """A draw whose noise of the number of records is so many, whatever was drawn."""

    off = 0

    def _noise(self, scale, cells):
        noise = super()._noise(scale, cells)
        return noise if self._spending.spent > 1 / self._count_scale**2 else np.array([self.off])


@pytest.mark.parametrize("number", [0, 3, 200])
@pytest.mark.parametrize("off", [-(10**6), -1, 2 * 10**4, 10**6])
def test_every_step_is_drawn_to_its_end_however_wrong_the_noisy_number_is(number, off):
    """P3w: the noisy number alone says which step applies, so any step may meet any table."""
    asked = with_steps(2.0, 3)
    begun = drawing(people(number, 1), asked, kind=_Counted)
    begun.off = off
    drawn = begun.run()
    assert drawn.number_of_records == number + off
    assert (drawn.scores is not None) == bool(asked.at(drawn.signal).longer.lengths) == (off > 1)
    mu_squared, _ = budget_of(asked, all_declared=False)
    assert F(95, 100) * mu_squared < cost(drawn) <= mu_squared
    assert len(fit(domain_of(drawn.cells), noisy_tables(drawn), number, 5)[0]) == number


def test_a_record_limit_bounds_the_signal():
    """What is looked at tells, not what there is."""
    asked = with_steps(1.0, 3, record_limit=50)
    drawn = draw(people(3_000, 1, tags=True), asked)
    assert drawn.signal == pytest.approx(50 * math.sqrt(drawn.mu_squared))
    charge = asked.at(drawn.signal).shares.values * budget_of(asked, all_declared=False)[0]
    assert F(drawn.values[0].scale) == grid_scale(4, charge)
    assert asked.at(drawn.signal).shares != asked.steps[-1].shares


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda step: replace(step, signal=-1.0), "must ascend"),
        (lambda step: replace(step, signal=10.0**9), "must ascend"),
        (lambda step: replace(step, shares=Shares(F(1, 2), F(1, 4), F(1, 4))), "drawn before a step"),
        (lambda step: replace(step, shares=Shares(F(1, 100), F(0), F(99, 100))), "share of the budget above"),
        (lambda step: replace(step, longer=LongerSets((3,), most=0)), "1 or more"),
    ],
)
def test_a_step_that_could_not_be_drawn_is_refused_before_anything_is(change, words):
    asked = with_steps(1.0, 6)
    wrong = replace(asked, steps=(change(asked.steps[0]), *asked.steps[1:]))
    with pytest.raises(ParameterError, match=words):
        check_draw(wrong, bits(0, 6).schema)


def test_a_planted_triple_is_chosen_and_kept():
    """Of six columns one is the exclusive or of two, with 5 % flips: no pair shows it, the fit does."""
    number = 20_000
    records = bits(number, 6, seed=11, flips=0.05)
    shares, longer = default_shares(4.0)
    drawn = draw(records, WorkloadParameters(1.0, 1e-6, shares, longer=longer))
    assert (0, 1, 2) in [table.columns for table in drawn.tables]
    made, _ = fit(domain_of(drawn.cells), noisy_tables(drawn), drawn.number_of_records, 2)
    held = table_counts(domain_of(drawn.cells), (0, 1, 2), made)[:2, :2, :2] / len(made)
    domain = domain_of((ColumnCells(("no", "yes"), has_absent=False),) * 6)
    real = oracle.count(np.array(records.slots, np.int32).T - 1, domain, (0, 1, 2))
    assert np.abs(held - real / number).sum() / 2 < 0.02


def test_the_set_that_stands_out_most_is_measured_best():
    """Of the longer sets that are chosen, by their noisy scores; what they cost together stays the same."""
    generator = np.random.default_rng(3)
    cells = generator.integers(0, 2, (6, 20_000))
    cells[2] = cells[0] ^ cells[1]
    weak = generator.random(20_000) < 0.15
    cells[5] = np.where(weak, cells[3] ^ cells[4], cells[5])
    records = coded_bits(cells.T)
    asked = parameters(4.0, tables=None, longer=LongerSets(lengths=(3,), most=10))
    longer = {table.columns: table for table in draw(records, asked).tables if len(table.columns) == 3}
    assert longer[0, 1, 2].scale < 0.8 * longer[3, 4, 5].scale
    spent = sum(1 / F(table.scale) ** 2 for table in longer.values())
    charge = asked.shares.chosen * budget_of(asked, all_declared=True)[0]
    assert F(97, 100) * charge < spent <= charge
