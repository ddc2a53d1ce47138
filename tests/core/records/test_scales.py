"""Values on a scale: numbers as they are declared to be written, bins, dates and times."""

import numpy as np
import pytest

from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import ValueOrdering
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.rulebook import Rulebook, coding_of_values, ends_of_text, ends_of_values
from tasks.core.tables.number_format import NumberFormat
from tests.oracles.constraints import contract_of_dates

INF = float("inf")


@pytest.mark.parametrize(
    ("text", "column", "scale", "found"),
    [
        ("1.234,5", Column("x", number_format=NumberFormat(",", ".")), "number", 1234.5),
        ("-3e2", Column("x"), "number", -300.0),
        ("1970-01-02", Column("x"), "moment", 86400.0),
        ("02.01.1970", Column("x", value_format="%d.%m.%Y"), "moment", 86400.0),
        ("1970-01-01 00<colon>00<colon>05", Column("x"), "moment", 5.0),
        ("1970-01-01T01<colon>00<colon>00+01<colon>00", Column("x"), "moment", 0.0),
        ("00<colon>01<colon>02", Column("x"), "time", 62.0),
        ("02h03", Column("x", value_format="%Hh%M"), "time", 7380.0),
        ("more", Column("x"), "number", None),
        ("31.02.2020", Column("x", value_format="%d.%m.%Y"), "moment", None),
        ("nan", Column("x"), "number", None),
    ],
)
def test_a_text_stands_where_its_column_says(text, column, scale, found):
    assert ends_of_text(text, column, scale) == (None if found is None else ((found, 0), (found, 0)))


@pytest.mark.parametrize(
    ("text", "first", "next_one"),
    [
        ("1970-02", 31 * 86400, 59 * 86400),
        ("1970", 0, 365 * 86400),
        ("1970-12", 334 * 86400, 365 * 86400),
        ("1970-13", None, None),
        ("0000", None, None),
        ("9999-12", 253399622400, INF),
        ("9999", 253370764800, INF),
    ],
)
def test_a_month_or_a_year_stands_for_all_its_moments(text, first, next_one):
    expected = None if first is None else ((first, 0), (next_one, -1))
    assert ends_of_text(text, Column("x"), "moment") == expected


def ordered(columns, values, *, strict):
    """The rules on two columns of dates, which both have these values."""
    orderings = (ValueOrdering(columns=("came", "went"), strict=strict),)
    schema = with_constraints(Schema(columns), contract_of_dates("came", "went", orderings=orderings))
    return Rulebook(schema, coding_of_values((values, values), (0, 1)))


def test_w22_declared_months_are_held_in_order():
    """Months once stood in no order, so that records broke an ordering which the statement said they hold."""
    months = ("2025-01", "2025-02", "2025-03")
    columns = (Column("came", domain=months), Column("went", domain=months))
    book = ordered(columns, months, strict=False)
    slots = np.array([(one, other) for one in range(4) for other in range(4)], np.int32)
    broken = {(int(one), int(other)) for one, other in slots[book.broken(slots)]}
    assert broken == {(2, 1), (3, 1), (3, 2)}


def test_bins_end_as_binning_ends_them_and_other_has_no_place():
    column = Column(
        "x", domain=(*bin_labels((0.0, 1.0, 2.0)), "unknown"), bins=(0.0, 1.0, 2.0), other="unknown"
    )
    assert ends_of_values(column, "number") == {
        "<0": ((-INF, 0), (0.0, -1)),
        "[0,1)": ((0.0, 0), (1.0, -1)),
        "[1,2]": ((1.0, 0), (2.0, 0)),
        ">2": ((2.0, 1), (INF, 0)),
    }


@pytest.mark.parametrize("strict", [False, True])
def test_w22_dates_of_open_columns_are_held_in_order_text_by_text(strict):
    """Values that nobody declared stand in order, too; what is no date stands in none."""
    texts = ("2020-01-01", "2020-01-02", "2020-01-03", "soon")
    book = ordered((Column("came"), Column("went")), texts, strict=strict)
    slots = np.array([(one, other) for one in range(5) for other in range(5)], np.int32)
    wrong = [
        0 < one < 4 and 0 < other < 4 and (one >= other if strict else one > other) for one, other in slots
    ]
    assert book.broken(slots).tolist() == wrong
    repaired = book.repaired(slots)
    assert (repaired[~np.array(wrong)] == slots[~np.array(wrong)]).all()
    assert (repaired[wrong] == slots[wrong] * (1, 0)).all()
