"""The page: well formed, alone, deterministic, and of released figures only."""

import dataclasses
import functools
import re

import numpy as np
import pytest

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.charts.svg import clean
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.inputs import Naming, ReportInputs, UnitName
from tasks.core.navigation.page import symbols
from tasks.core.navigation.report import describe_record_lengths, render_page
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.pages import HOSTILE, Page, check
from tests.oracles.payloads import decoded
from tests.oracles.releases import SCHEMA, as_planned, ledger_facts, noisy_inputs, recounted, release


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
def test_the_lengths_of_records_are_told_once(lengths, sentence):
    offsets = np.cumsum([0, *lengths])
    records = SyntheticRecords(("town",), (), offsets, np.zeros(offsets[-1], np.int32))
    assert describe_record_lengths(records) == sentence


def inputs(**changes) -> ReportInputs:
    given = noisy_inputs(choices=RunChoices(measurement_sha256="ab" * 32))
    compared = fidelity(given.aggregates, recounted(given.synthetic, 3))
    return dataclasses.replace(given, **{"fidelity": compared} | changes)


@functools.cache
def default_page() -> str:
    return render_page(inputs())


def sections(text: str) -> set[str]:
    return set(re.findall(r'<(?:section|details)[^>]* id="([a-z]+)"', text))


def hostile_release(hostile: str) -> tuple[Schema, Aggregates, SyntheticRecords, Naming]:
    """Two columns and their values, and whatever an operator names, of one text."""
    schema = Schema((Column(hostile), Column("b", domain=(hostile, "y"))))
    attributes = (Attribute("b", hostile, 1), Attribute(hostile, hostile, 0))
    ids, counts = (np.array([[0], [1]], np.int32),), (np.array([40, 50], np.int64),)
    aggregates = Aggregates((hostile, "b"), attributes, 90, ids, counts)
    records = SyntheticRecords(
        (hostile, "b"), attributes, np.arange(3, dtype=np.int64), np.array([0, 1], np.int32)
    )
    visuals, unit = {hostile: (f"b:{hostile}",)}, UnitName.of(hostile)
    naming = Naming(hostile, hostile, visuals, {hostile: (hostile,)}, unit, hostile, hostile)
    return schema, aggregates, records, naming


def check_hostile(text: str, hostile: str) -> None:
    page = check(text)
    assert page.tags.count("script") == 4
    assert not {"b", "img"} & set(page.tags)
    assert " ".join(clean(hostile).split()) in page.text
    assert "\u202e" not in page.text and "\x00" not in text
    text.encode("utf-8")


def nothing_published(columns: tuple[Column, ...]) -> ReportInputs:
    """A release of the noisy count alone: no record, one record, or nothing over the threshold."""
    measurement, _, _ = release(600)
    levels = tuple(
        dataclasses.replace(
            level, candidates=0, expected_spurious=0.0, threshold=None, scale=0.0 if k else level.scale,
            combinations=level.combinations[:0], codes=level.codes[:0], counts=level.counts[:0],
            survives=level.survives[:0],
        )
        for k, level in enumerate(measurement.levels)
    )  # fmt: skip
    levels = levels[: max(1, len(columns))]
    empty = dataclasses.replace(
        measurement, schema=Schema(columns), values=tuple(() for _ in columns), levels=levels,
        number_of_records=-7,
    )  # fmt: skip
    empty = as_planned(empty)
    aggregates = Aggregates(
        (), (), 0, tuple(np.zeros((0, k + 1), np.int32) for k in range(3)), (np.zeros(0, np.int64),) * 3
    )
    synthetic = SyntheticRecords((), (), np.zeros(1, np.int64), np.zeros(0, np.int32))
    body = accounted_statement(empty, ledger_facts(), "abc123")
    return ReportInputs(body, empty.schema, aggregates, empty, synthetic, fidelity(aggregates, aggregates))


def test_the_page_is_well_formed_alone_and_the_same_each_time():
    page = check(render_page(inputs(naming=Naming("A survey"))))
    assert page.text.count("A survey") >= 2
    assert not {"link", "img"} & set(page.tags)
    text = default_page()
    assert text == render_page(inputs())
    assert sections(text) <= set(Page(text).anchors)
    assert "private release does not know how many values" in Page(text).text
    assert "stands for a particular person" in Page(text).text


def test_the_statement_stands_on_the_page_in_words_and_in_symbols():
    given = inputs()
    page = Page(render_page(given))
    for heading in ("The promise", "The noise", "The account", "Not covered"):
        assert heading in page.text
    for level in given.statement["levels"]:
        assert f"{level['scale']:.9f}".rstrip("0").rstrip(".") in page.text
    assert given.statement["ledger"]["head"] in page.text
    assert "ab" * 32 in page.text
    assert "abc1234" in page.text


def test_p1_true_counts_are_not_an_input_of_the_page():
    """Two tables with the same measurement give the same page: there is no way in for anything else."""
    assert {field.name for field in dataclasses.fields(ReportInputs)} == {
        "statement", "schema", "aggregates", "measurement", "synthetic", "fidelity", "naming", "contract",
        "fit", "ranges",
    }  # fmt: skip


def hostile_page(hostile: str) -> str:
    schema, aggregates, synthetic, naming = hostile_release(hostile)
    measurement, _, _ = release(600)
    level = dataclasses.replace(
        measurement.levels[0],
        combinations=np.array([0, 1], np.uint32),
        codes=np.ones((2, 1), np.uint32),
        counts=np.array([50, 40], np.int64),
        survives=np.ones(2, bool),
    )
    drawn = dataclasses.replace(
        measurement, schema=schema, values=((hostile,), (hostile, "y")), levels=(level,)
    )
    drawn = as_planned(drawn)
    facts = ledger_facts(dataset=hostile, population=hostile, vintage=hostile, scope=hostile, unit="row")
    given = ReportInputs(
        accounted_statement(drawn, facts, hostile), schema, aggregates, drawn, synthetic,
        fidelity(aggregates, aggregates), naming,
    )  # fmt: skip
    return render_page(given)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_values_titles_and_columns_are_shown_as_text(hostile):
    text = hostile_page(hostile)
    check_hostile(text, hostile)
    assert decoded(text).meta["columns"][0]["values"] == [hostile]
    assert decoded(text).meta["citation"] == {"text": hostile, "bibtex": hostile}


@pytest.mark.parametrize("columns", [SCHEMA.columns, (Column("a"),), ()], ids=["all", "one", "none"])
def test_an_empty_release_is_a_page_too(columns):
    page = check(render_page(nothing_published(columns)))
    assert decoded(render_page(nothing_published(columns))).meta["number"]["value"] == 0
    assert "about 0 people in" in page.text
    assert "\u22127" in page.text


def test_a_release_without_synthetic_records_says_so():
    page = check(render_page(inputs(synthetic=None, fidelity=None)))
    assert "No synthetic records were made in this run." in page.text


def test_a_row_as_unit_is_said_throughout():
    page = check(render_page(noisy_inputs(unit="row")))
    assert "Several rows of one person" in page.text
    assert "Rows (noisy)" in page.text


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (
            "delta = delta_threshold + (1 - delta_threshold) * delta_noise",
            "δ = δ<sub>t</sub> + (1 − δ<sub>t</sub>)·δ<sub>g</sub>",
        ),
        ("sum Delta_k / s_k^2 <= mu^2", "Σ Δ<sub>k</sub> / <i>s</i><sub>k</sub><sup>2</sup> ≤ μ<sup>2</sup>"),
        ("z = Phi^-1(x)", "<i>z</i> = Φ<sup>−1</sup>(x)"),
        ("floor(2^20 q) within B^2", "floor(2<sup>20</sup> q) within B<sup>2</sup>"),
        ("the sum of the table's cells", "the sum of the table&#39;s cells"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_formulas_are_set_in_symbols(formula, shown):
    assert str(symbols(formula)) == shown
