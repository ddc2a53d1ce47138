"""What a fitted release states of its draw holds for that draw, whatever was asked for."""

import dataclasses

import pytest

from tasks.core.dp.workload.parameters import LongerSets
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.differential_privacy.draws import FittedDraw
from tasks.core.statement.differential_privacy.words import FittedWords
from tasks.core.statement.preparation import preparation_paragraph
from tests.oracles.workloads import bits, draw, parameters, people

BITS = {"tables": None, "longer": LongerSets()}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"most_pairs": 2}, "single values would give if columns were independent"),
        (
            {"longer": LongerSets(lengths=(3,), most=2)},
            "the pairs of records fitted to everything drawn before",
        ),
    ],
)
def test_each_choice_says_what_its_scores_were_measured_against(asked, expected):
    drawn = draw(bits(500, 4), parameters(2.0, **BITS | asked))
    (choice,) = FittedDraw(drawn).parts("row")["choices"]
    assert f"M16 what {expected}" in choice["rule"]


def test_columns_stand_by_name_wherever_a_parameter_names_them():
    records = people(300, 1)
    columns = (dataclasses.replace(records.schema.columns[0], other="male"), *records.schema.columns[1:])
    records = dataclasses.replace(records, schema=Schema(columns))
    asked = parameters(filled=(0,), target=1, longer=LongerSets(lengths=(3,), most=2, holding=1))
    stated = FittedDraw(draw(records, asked)).parts("row")["parameters"]
    assert (stated["filled"], stated["target"], stated["longer"]["holding"]) == (["sex"], "home", "home")


def test_of_a_sample_it_says_which_counts_are_of_whom():
    stated = FittedDraw(draw(people(300, 1, tags=True), parameters(record_limit=100))).parts("row")[
        "sampling"
    ]
    assert "noisy counts are of the sample" in stated["text"]
    assert "Reported counts and ranges are of all" in stated["text"]
    assert "No amplification" in stated["text"]


def test_a_value_for_what_is_outside_and_empty_cells_that_count_as_it_are_told():
    schema = Schema((Column("sex", domain=("f", "m", "x"), other="x"), Column("home", domain=("flat",))))
    assert "But in 'sex' anything that is not declared stands for 'x'" in preparation_paragraph(schema)
    assert (
        "But in 'sex' anything that is not declared, and an empty cell too, stands for 'x'"
        in preparation_paragraph(schema, filled=(0,))
    )
    assert "'home'" not in preparation_paragraph(schema)


def test_the_sets_that_were_measured_are_counted_once_and_a_second_measurement_is_told():
    """Without a choice that is worth it what is left buys every table again; a lone column has no pair."""
    twice = draw(bits(500, 3), parameters(2.0, tables=None, longer=LongerSets(lengths=(3,), most=1)))
    lone = draw(bits(500, 1), parameters(2.0, **BITS))
    for drawn, sets in ((twice, 3), (lone, 1)):
        stated = FittedDraw(drawn).parts("row")
        words = " ".join(FittedWords(stated).noise())
        assert f"Sets of columns that were measured as well: {sets}" in words
        assert ("of them twice" in words) == (len(drawn.tables) > sets)
    assert len(twice.tables) == 6 and [table.columns for table in lone.tables] == [(0,)]
