"""Groups that nobody declared stay empty where noise alone may have made them, else they are kept."""

import numpy as np
import pytest

from tasks.core.dp.workload.parameters import WorkloadParameters, default_steps
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.synthesis.fitted import draw_fitted
from tests.oracles.workloads import declared_records, draw

EDGES = (0.0, 18.0, 65.0)
AGES = bin_labels(EDGES)
GRADES = ("1", "2", "3", "elsewhere")
#: 8 columns with 20 such groups, of which nobody is in any.
COLUMNS = (
    *(Column(f"age{place}", domain=AGES, bins=EDGES) for place in range(4)),
    *(Column(f"grade{place}", domain=GRADES, other="elsewhere") for place in range(4)),
)
NUMBER = 700


def everybody_declared(seed, number=NUMBER):
    """Codes of `COLUMNS`: every age from 0 to 65, every grade a number, all of it dependent on one thing."""
    generator = np.random.default_rng(seed)
    able = generator.random(number)
    ages = [2 + (able + 0.4 * generator.random(number) > 0.7) for _ in range(4)]
    grades = [1 + np.minimum(2, (3 * able * generator.random(number)).astype(int)) for _ in range(4)]
    return [*ages, *grades]


def drawn_from(records, seed, epsilon=1.0):
    columns = len(records.schema.columns)
    all_declared = not any(column.is_open for column in records.schema.columns)
    steps = default_steps(all_declared=all_declared, columns=columns, tables=columns * (columns - 1) // 2)
    asked = WorkloadParameters(epsilon, 1e-6, steps[0].shares, longer=steps[0].longer, steps=steps[1:])
    return draw(records, asked, seed)


def made_from(records, seed, epsilon=1.0):
    """The cells of records that are fitted to a draw."""
    return draw_fitted(drawn_from(records, seed, epsilon), seed).cells


def test_where_nobody_is_in_a_group_hardly_a_draw_puts_somebody_there():
    """One in 20 draws may; of 12, five or more come by chance once in 4,000. It was 12 of 12."""
    draws, told = 12, 0
    for seed in range(draws):
        cells = made_from(declared_records(Schema(COLUMNS), everybody_declared(seed)), seed)
        outside = [np.isin(cells[:, place], (0, 3, 4)).any() for place in range(4)]
        outside += [(cells[:, place] >= 3).any() for place in range(4, 8)]
        told += any(outside)
    assert told < 5


@pytest.mark.parametrize(("place", "outside"), [(0, 0), (0, 1), (0, 4), (4, 0), (4, 4)])
def test_a_group_that_can_be_told_keeps_its_share(place, outside):
    """A quarter of the records stands more than five standard errors above 0 here."""
    codes = everybody_declared(1)
    codes[place][: NUMBER // 4] = outside
    cells = made_from(declared_records(Schema(COLUMNS), codes), 1, epsilon=2.0)
    code = len(COLUMNS[place].domain) if outside == 0 else outside - 1
    assert (cells[:, place] == code).mean() == pytest.approx(1 / 4, abs=0.1)


@pytest.mark.parametrize("empty", [0, NUMBER // 3, NUMBER])
def test_no_record_is_empty_in_a_required_column_whatever_the_table_holds(empty):
    columns = tuple(Column(c.name, c.domain, c.bins, other=c.other, required=True) for c in COLUMNS)
    codes = everybody_declared(2)
    for column in codes:
        column[:empty] = 0
    cells = made_from(declared_records(Schema(columns), codes), 2, epsilon=4.0)
    for place, column in enumerate(columns):
        assert (cells[:, place] < len(column.domain)).all()
    if empty < NUMBER:  # the others keep their proportions
        held = np.bincount(codes[0][empty:], minlength=6)[1:5] / (NUMBER - empty)
        assert np.bincount(cells[:, 0], minlength=5)[:4] / len(cells) == pytest.approx(held, abs=0.15)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("required", [False, True])
def test_a_table_of_nobody_or_of_one_person_is_made(number, required):
    columns = (*COLUMNS[:2], Column("only", domain=("x",), other="x", required=required))
    codes = [column[:number] for column in everybody_declared(3)[:2]] + [np.zeros(number, int)]
    cells = made_from(declared_records(Schema(columns), codes), 3)
    assert cells.shape[1] == 3


def test_an_open_column_s_absence_is_judged_alike_and_other_is_not():
    columns = (Column("town"), Column("sex", domain=("f", "m")))
    generator = np.random.default_rng(4)
    town, sex = generator.integers(1, 4, 2000), generator.integers(1, 3, 2000)
    records = CodedRecords(
        Schema(columns),
        (town.astype(np.uint8), sex.astype(np.uint8)),
        (0, 1),
        (("a", "b", "c"), ("f", "m")),
        2000,
    )
    measured = drawn_from(records, 4)
    cells = draw_fitted(measured, 4).cells
    assert measured.cells[0].values == ("a", "b", "c")
    assert (cells[:, 0] < 3).all() and (cells[:, 1] < 2).all()
