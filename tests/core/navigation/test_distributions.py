"""Counts of every column's values."""

import numpy as np
import pytest

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.navigation.distributions import (
    SHOWN,
    column_distributions,
    lengths_told,
    single_counts,
    visual,
)
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.releases import SCHEMA, release


def one_column(column: Column, counts: dict[str, int]):
    attributes = tuple(sorted((Attribute(column.name, value, 0) for value in counts), key=lambda a: a.text))
    rows = np.arange(len(attributes), dtype=np.int32)[:, np.newaxis]
    totals = np.array([counts[a.value] for a in attributes], np.int64)
    aggregates = Aggregates((column.name,), attributes, 100, (rows,), (totals,))
    nothing = SyntheticRecords((column.name,), attributes, np.zeros(1, np.int64), np.zeros(0, np.int32))
    [found] = column_distributions(Schema((column,)), aggregates, single_counts(aggregates, nothing))
    return found


def test_hundreds_of_values_show_the_most_frequent_and_count_the_rest():
    found = one_column(Column("town"), {f"t{i:03}": 1000 - i for i in range(300)})
    assert [bar.label for bar in found.bars] == [f"t{i:03}" for i in range(SHOWN)]
    assert found.more == 300 - SHOWN


def test_bins_keep_their_declared_order():
    column = Column("age", domain=("<18", "[18,40]", ">40"), bins=(18.0, 40.0))
    found = one_column(column, {">40": 90, "<18": 5})
    assert [(bar.label, bar.values[0]) for bar in found.bars] == [("<18", 5), ("[18,40]", 0), (">40", 90)]


def test_declared_values_without_a_count_are_shown_as_zero_and_open_ones_not_at_all():
    assert len(one_column(Column("sex", domain=("f", "m", "x")), {"f": 9}).bars) == 3
    assert len(one_column(Column("sex"), {"f": 9}).bars) == 1


def test_synthetic_counts_are_those_of_the_records():
    _, aggregates, synthetic = release(600)
    found = column_distributions(SCHEMA, aggregates, single_counts(aggregates, synthetic))
    drawn = np.bincount(synthetic.attribute_ids, minlength=len(synthetic.attributes))
    for index, attribute in enumerate(synthetic.attributes):
        label = attribute.item or attribute.value
        [bar] = [bar for bar in found[attribute.column].bars if bar.label == label]
        assert bar.values[1] == drawn[index]


def test_a_visual_shows_only_what_is_published_in_the_order_that_was_asked_for():
    _, aggregates, synthetic = release(600)
    counts = single_counts(aggregates, synthetic)
    texts = ["region:north", "region:atlantis", "sector:services"]
    found = visual("two", texts, aggregates, counts)
    assert [bar.label for bar in found.bars] == ["region:north", "sector:services"]


@pytest.mark.parametrize(
    ("lengths", "sentence"),
    [
        ([6, 6, 6], "Each synthetic record has 6 attributes."),
        ([1], "Each synthetic record has 1 attribute."),
        ([3, 6, 6, 6, 9], "At least half of the synthetic records have 6 attributes; the longest has 9."),
        ([1, 1, 1, 1, 0], "At least half of the synthetic records have 1 attribute; none has more."),
        (
            [2, 3, 4, 5, 6],
            "Half of the synthetic records have 3 to 5 attributes; the median is 4, the longest has 6.",
        ),
    ],
)
def test_the_lengths_of_records_are_told_once(lengths: list[int], sentence: str):
    offsets = np.cumsum([0, *lengths])
    records = SyntheticRecords(("town",), (), offsets, np.zeros(offsets[-1], np.int32))
    assert lengths_told(records) == sentence
