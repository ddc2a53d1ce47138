"""A column of which nothing, or little, could be counted shows in the released numbers, and is told."""

import dataclasses

import numpy as np
import pytest

from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.statement.column_totals import attention_sentences, column_totals
from tasks.core.statement.differential_privacy.statement import accounted_statement
from tasks.core.statement.differential_privacy.words import LengthsWords
from tests.oracles.releases import ledger_facts, one_length, release

EDGES = (0.0, 100.0, 1000.0)
SCHEMA = Schema(
    (
        Column("income", domain=bin_labels(EDGES), bins=EDGES),
        Column("sex", domain=("f", "m")),
        Column("town"),
    ),
    "person",
)
SCALE = 20.0


def drawn(income: list[int], sex: list[int], town: list[int], **changes: object) -> Measurement:
    """A measurement of 1,000 records with these noisy counts at length 1."""
    return one_length(SCHEMA, [income, sex, town], SCALE, **changes)


def test_totals_add_up_what_was_measured_with_the_error_bar_of_the_sum():
    income, sex, town = column_totals(drawn([30, -20, 5, 0], [480, 510], [300, 250]))
    assert (income.total, sex.total, town.total) == (15, 990, 550)
    assert (income.half_width, sex.half_width) == (79, 56)  # 1.96 * 20 * sqrt(4), of 2
    assert income.is_nothing and not (sex.is_nothing or sex.is_low or town.is_nothing or town.is_low)


def test_a_column_of_noise_alone_and_one_of_few_records_are_told_with_what_to_do():
    told = attention_sentences(drawn([30, -20, 5, 0], [180, 210], [300, 150]))
    nothing, empty, rare = told
    assert nothing.startswith("The counts of 'income' add up to 15, which can't be told from nothing")
    assert "± 79 in 95 of 100" in nothing
    assert empty.startswith("Mostly empty, by their counts: 'income', 'sex'.") and "decimal" in empty
    assert rare.startswith("Less than half of the records hold a value that could be published of: 'town'.")
    assert "too many different values for the noise: give numbers bins" in rare


def test_no_declared_column_and_no_column_of_0_and_1_is_said_to_have_too_many_values():
    """All of a declared column's values are counted, and what a 0 that means absence leaves is one."""
    told = attention_sentences(
        drawn([60, 20, 5, 20], [480, 510], [90], values=(bin_labels(EDGES), ("f", "m"), ("1",)))
    )
    assert not any("too many different values" in sentence for sentence in told)
    assert told[0].startswith("Mostly empty, by their counts: 'income', 'town'.")
    assert told[1].startswith("A 0 counts as empty in 'town'")


def test_a_wall_of_columns_is_one_sentence_with_an_example():
    names = [f"c{place:02}" for place in range(30)]
    schema = Schema(tuple(Column(name, domain=("v",)) for name in names))
    nothing, empty = attention_sentences(one_length(schema, [[7]] * 30, SCALE))
    assert nothing.startswith("The counts of 30 columns can't be told from nothing: 'c00', 'c01'")
    assert "Those of 'c00' add up to 7, and noise" in nothing and "'c29'" in nothing
    assert empty.count("'c29'") == 1


def test_nothing_is_told_where_there_is_nothing_to_tell():
    assert attention_sentences(drawn([300, 300, 200, 100], [480, 510], [300, 250])) == []
    assert attention_sentences(drawn([300, 300, 200, 100], [480, 510], [])) == [], "that is told elsewhere"
    assert column_totals(dataclasses.replace(drawn([1, 1, 1, 1], [1, 1], []), levels=())) == []


def test_a_sensitivity_below_the_width_lowers_what_is_expected():
    measurement = drawn([100, 50, 50, 20], [250, 210], [300])
    empty, rare = attention_sentences(measurement)
    assert "'income', 'sex'" in empty and "'town'" in rare
    level = dataclasses.replace(measurement.levels[0], sensitivity=1)  # of 3 values one is counted
    assert attention_sentences(dataclasses.replace(measurement, levels=(level,))) == []


@pytest.mark.parametrize("cells", [1, 4, 30])
def test_a_column_that_holds_nothing_is_told_in_95_of_100_draws_or_more(cells):
    """Of 2,000 draws 97.5 % are expected, as one side is told; below 96 % comes by chance once in 100,000."""
    schema = Schema((Column("a", domain=tuple(f"v{i}" for i in range(cells))),))
    noise = np.rint(np.random.default_rng(5).normal(0, SCALE, (2000, cells))).astype(np.int64)
    told = sum(column_totals(one_length(schema, [counts], SCALE))[0].is_nothing for counts in noise.tolist())
    assert told / 2000 >= 0.96


def test_the_statement_has_totals_and_sentences():
    measurement = release()[0]
    body = accounted_statement(measurement, ledger_facts(), "abc")
    totals = {each.name: each for each in column_totals(measurement)}
    for column in body["columns"]:  # type: ignore[attr-defined]
        found = totals[column["name"]]
        noisy = {"value": found.total, "survivors": found.values, "half_width_95": found.half_width}
        assert column["noisy_total"] == noisy
    low = dataclasses.replace(measurement, number_of_records=10**6)
    stated = accounted_statement(low, ledger_facts(), "abc")
    assert stated["columns_to_look_at"] == attention_sentences(low) != []
    assert set(attention_sentences(low)) <= set(LengthsWords(stated).sentences())


def test_of_a_sample_no_column_is_low_for_what_was_not_looked_at():
    sampled = DpParameters(
        epsilon=1.0, delta=1e-6, reporting_length=1, sigma_proportions=(1.0,), record_limit=400
    )
    everywhere = drawn([300, 90, 0, 0], [210, 190], [200, 190], parameters=sampled)
    assert attention_sentences(everywhere) == []
