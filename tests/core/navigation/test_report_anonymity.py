"""The page under k-anonymity: what it says, what it leaves out, and nothing that is not reported."""

import dataclasses
import functools
import re

import numpy as np
import pytest

from tasks.core.charts.theme import DARK
from tasks.core.errors import InternalError
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.report import describe_record_lengths, render_page
from tasks.core.records.columns import Schema
from tasks.core.statement.k_anonymity import RoundedWords, anonymity_statement
from tests.core.navigation.test_report import check_hostile, hostile_release, sections
from tests.oracles.anonymous_releases import facts, rounded, rounded_inputs
from tests.oracles.pages import HOSTILE, Page, check
from tests.oracles.releases import SCHEMA, recounted, release

CONTRACT = {
    "contract": "visits",
    "version": "1.0.0",
    "mode": "repair",
    "sentence": "Cells that broke a rule were repaired.",
    "rules": [
        {"rule": "age: every value is of type integer", "verdict": "enforced"},
        {"rule": "at least 3 records", "verdict": "undecided"},
    ],
}


def inputs(number=600, **changes) -> ReportInputs:
    given = rounded_inputs(number, **changes)
    return dataclasses.replace(given, fidelity=fidelity(given.aggregates, recounted(given.synthetic, 3)))


@functools.cache
def default_page() -> str:
    return render_page(inputs())


def test_the_page_is_well_formed_alone_and_the_same_each_time():
    page = check(default_page())
    assert default_page() == render_page(inputs())
    assert sections(default_page()) <= set(page.anchors)
    assert "Not differentially private: k-anonymity with k = 10." in page.text
    assert "k-anonymous release, k = 10, not differentially private" in page.text
    assert describe_record_lengths(inputs().synthetic) in page.text


def test_nothing_of_differential_privacy_is_on_it():
    text = Page(default_page()).text
    words = ("noisy", "Noisy", "epsilon", "ε", "threshold", "Ledger", "budget")
    assert not [word for word in words if word in text]


def test_the_statement_and_all_its_limits_stand_on_it():
    given = inputs()
    text = Page(render_page(given)).text
    for sentence in given.statement["guarantee"]["holds"] + given.statement["synthesis"]["holds"]:
        assert sentence in text
    for sentence in given.statement["not_covered"]:
        assert sentence.split(": ", 1)[1][1:] in text


def test_the_verdicts_of_a_contract_are_on_the_page_and_only_of_one_that_was_given():
    page = Page(render_page(dataclasses.replace(inputs(contract_mode="repair"), contract=CONTRACT)))
    assert "visits, version 1.0.0. Cells that broke a rule were repaired." in page.text
    assert "age: every value is of type integer" in page.text and "enforced" in page.text
    without = Page(default_page()).text
    assert "Data contract" not in without
    assert without.count("contract") == 1 and "No data contract was given" in without


def test_columns_are_named_in_which_a_zero_is_read_as_empty():
    given = inputs()
    telling = [c.name for c in SCHEMA.columns if c.is_open]
    columns = tuple(dataclasses.replace(c, zero_is_value=c.name != telling[0]) for c in SCHEMA.columns)
    some = Page(render_page(dataclasses.replace(given, schema=Schema(columns, "person")))).text
    assert f"In {telling[0]} , a 0 is read as an empty cell" in some.replace(",", " ,")
    kept = tuple(dataclasses.replace(c, zero_is_value=True) for c in SCHEMA.columns)
    assert (
        "read as an empty cell"
        not in Page(render_page(dataclasses.replace(given, schema=Schema(kept, "person")))).text
    )


@pytest.mark.parametrize(
    ("mode", "told"), [("row_seeded", True), ("value_seeded", True), ("unseeded", False)]
)
def test_it_is_explained_why_there_are_more_and_shorter_records_than_people(mode, told):
    given = inputs(synthesis_mode=mode)
    one = given.synthetic
    twice = dataclasses.replace(
        one,
        offsets=np.concatenate([one.offsets, one.offsets[-1] + one.offsets[1:]]),
        attribute_ids=np.concatenate([one.attribute_ids, one.attribute_ids]),
    )
    more = "There are more synthetic records than people, and they are shorter."
    assert (more in Page(render_page(dataclasses.replace(given, synthetic=twice))).text) is told
    assert more not in Page(render_page(given)).text


def test_that_the_number_of_records_is_rounded_too_is_said_before_the_promise():
    text = Page(default_page()).text
    said = "All counts, the number of people included, are rounded down to multiples of 10"
    assert text.index(said) < text.index("The promise")


def test_every_colour_of_its_charts_has_one_for_dark_pages():
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{3,6})"', default_page()))
    assert colours and colours <= set(DARK)


def test_rows_are_warned_of_before_anything_else():
    text = Page(render_page(inputs(unit="row"))).text
    assert text.index("A person with 10 rows can be a whole group") < text.index("The promise")
    assert "subjects" not in text


def hostile_page(hostile: str) -> str:
    schema, aggregates, synthetic, naming = hostile_release(hostile)
    schema = dataclasses.replace(schema, subject_id=hostile)
    given = facts(
        dataset=hostile,
        vintage=hostile,
        schema=schema,
        reporting_length=1,
        unused_keys=(hostile,),
        unit="row",
    )
    page_inputs = ReportInputs(
        anonymity_statement(given, aggregates, hostile), schema, aggregates, None, synthetic,
        fidelity(aggregates, aggregates), naming,
        {**CONTRACT, "rules": [{"rule": hostile, "verdict": "passed"}]},
    )  # fmt: skip
    return render_page(page_inputs)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_values_titles_and_columns_are_shown_as_text(hostile):
    check_hostile(hostile_page(hostile), hostile)


def test_nothing_reported_is_a_page_too():
    aggregates, _ = rounded()
    nothing = dataclasses.replace(
        aggregates,
        headers=tuple(c.name for c in SCHEMA.columns if not c.is_multi_valued),
        attributes=(),
        number_of_records=0,
        combinations=tuple(np.zeros((0, k), np.int32) for k in (1, 2, 3)),
        counts=(np.zeros(0, np.int64),) * 3,
    )
    body = anonymity_statement(facts(), nothing, "x")
    assert "No combination is reported." in RoundedWords(body).sentences()
    page = check(render_page(ReportInputs(body, SCHEMA, nothing)))
    assert "No combination is reported, because no combination is held by at least 10 people." in page.text


def test_a_measurement_and_a_regime_must_agree():
    measurement, aggregates, _ = release(600)
    body = inputs().statement
    with pytest.raises(InternalError, match="none under k-anonymity"):
        render_page(ReportInputs(body, SCHEMA, aggregates, measurement))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"synthesis_mode": "unseeded"}, "synthetic records drawn from the raw table."),
        ({"synthesis_mode": "aggregate_seeded"}, "synthetic records drawn from those counts alone."),
        (
            {"synthesis_mode": "aggregate_seeded", "hold_resolution": True},
            "drawn from those counts and held to the raw table.",
        ),
    ],
)
def test_what_the_records_are_made_from_is_said_at_the_top(changes, words):
    assert words in Page(render_page(inputs(**changes))).text
