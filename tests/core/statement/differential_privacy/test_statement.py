"""What the privacy statement says; its figures are worked out again in `test_statement_recomputed`."""

import dataclasses

import numpy as np
import pytest

from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.errors import InternalError
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.differential_privacy.statement import (
    RunChoices,
    accounted_statement,
)
from tests.oracles.releases import as_planned, ledger_facts, noisy_inputs


def level(length=1, **changes):
    """A length of a draw of which nothing was published."""
    facts = {"sigma": 5.0, "sensitivity": 1, "scale": 5.0, "threshold": 9, "candidates": None}
    nothing = {"combinations": np.zeros(0, np.uint32), "codes": np.ones((0, length), np.uint32)}
    nothing |= {"counts": np.zeros(0, np.int64), "survives": np.ones(0, np.bool_)}
    return Level(**facts | {"expected_spurious": None} | nothing | changes)


def drawn(*levels, **parameters) -> Measurement:
    """A draw of one length, or more where they are given; its claim is wide enough for any scale."""
    levels = levels or (level(),)
    return as_planned(
        Measurement(
            schema=Schema((Column("a"), Column("b"))),
            parameters=DpParameters(90.0, 1e-6, len(levels), **parameters),
            private=True,
            mu_squared=0.0,
            threshold_delta=0.0,
            number_of_records=10,
            count_scale=1.0,
            values=((), ()),
            levels=levels,
        )
    )


def stated(measurement=None, choices=RunChoices(), **account):
    return accounted_statement(measurement or drawn(), ledger_facts(**account), "abc", choices)


def test_rule_9_noise_that_does_not_cover_its_charge_is_refused():
    with pytest.raises(InternalError, match="cover"):
        stated(dataclasses.replace(drawn(), mu_squared=1.0))


def test_rule_3_suppression_is_stated_only_where_a_release_may_know_it():
    given = noisy_inputs()
    first, second = given.statement["levels"][:2]
    assert first["candidates"] is None
    assert first["suppressed"]["value"] is None
    assert first["open"]["suppressed"] is None
    assert first["declared"]["domain_size"] == 6 + 4 + 4 + 3
    level = given.measurement.levels[1]
    assert second["suppressed"]["value"] == level.candidates - len(level.counts)


def test_rule_2_a_strict_contract_is_named_with_its_sentence():
    strict = stated(choices=RunChoices(strict_contract="ab" * 32))
    assert strict["contract"]["sentence"] == (
        "That this release exists shows the raw table satisfied its contract; this is not protected, and the "
        "guarantee holds between tables that both satisfy it."
    )
    assert strict["contract"]["sha256"] == "ab" * 32
    assert "the budget does not pay for them" in strict["contract"]["text"]
    assert not stated()["contract"]["strict"]


def test_declarations_that_were_drafted_from_the_table_are_not_covered():
    drafted, plain = stated(choices=RunChoices(drafted_from_table=True)), stated()
    assert drafted["drafted_from_table"] is True
    said = drafted["not_covered"][0]
    assert "drafted by looking at the table itself (drafted_from_table)" in said
    assert "It does not cover the declarations, which may tell of single people" in said
    assert "sets the key to false" in said
    assert "drafted_from_table" not in plain and said not in plain["not_covered"]
    for key in plain.keys() - {"not_covered", "questions"}:
        assert drafted[key] == plain[key]


def test_all_that_is_declared_is_named_as_public_by_assumption():
    (said,) = [each for each in stated()["not_covered"] if "is taken to be public" in each]
    read = ("marks of decimals and thousands", "formats of dates", "what cells are cut to")
    for words in ("which are left out", "values, bins and caps", "encoding", "missing", "taken off", *read):
        assert words in said


@pytest.mark.parametrize(
    ("asked", "place", "words"),
    [
        ({"accountant": "zcdp"}, ("noisy_count", "law"), "rounded Laplace"),
        ({"record_limit": 1000}, ("sampling", "rule"), "PRF(key, subject) < p 2^64"),
        ({"record_limit": 1000}, ("sampling", "expected_size"), "1000"),
        ({"delta_factor": 2.0}, ("guarantee", "delta_given", "delta_max"), "1e-06"),
        ({}, ("guarantee", "computational"), "computational"),
        ({}, ("levels", 0, "error_bar", "excluded"), "excludes truncation bias"),
        ({}, ("ledger", "scope"), "one ledger per user"),
        ({}, ("not_covered",), "charged to another ledger"),
        ({}, ("not_covered",), "other datasets"),
        ({}, ("public_side_channels",), "exit code 3"),
        ({}, ("unused_keys", 0, "key"), "percentile_percentage"),
        ({}, ("unused_keys", 0, "why"), "unused"),
    ],
)
def test_the_rules_of_a_release_are_stated_in_their_place(asked, place, words):
    """R3, R14, R16, R17, R22, and keys without effect."""
    choices = RunChoices(unused_keys=("percentile_percentage",))
    found = stated(drawn(**asked), choices, scope="one ledger per user")
    for key in place:
        found = found[key]
    assert words in str(found)


def test_rows_without_a_subject_id_get_the_guarantee_for_several_rows():
    assert stated()["group_privacy"] is None
    body = stated(unit="row")
    assert [entry["rows"] for entry in body["group_privacy"]] == [2, 3, 5, 10]
    assert "one parsed row" in body["guarantee"]["neighbours"]
    assert "several rows" in body["not_covered"][0]


def test_a_test_engines_draw_has_no_guarantee():
    assert stated(dataclasses.replace(drawn(), private=False))["guarantee"] is None


@pytest.mark.parametrize("kind", ["fixed", "adaptive", "spurious"])
def test_the_rule_of_longer_thresholds_is_written_out(kind):
    longer = level(2, threshold=4, candidates=10, expected_spurious=1.0)
    found = stated(drawn(level(), longer, thresholds=ReleaseThresholds(kind, default=0.25)))["levels"][1]
    assert "0.25" in found["threshold_rule"]
