"""The privacy statement under k-anonymity: what each mode promises, what none does, and nothing read off."""

import dataclasses
import json

import numpy as np
import pytest

from tasks.core.errors import InternalError
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.k_anonymity import RoundedWords, anonymity_statement
from tests.oracles.anonymous_releases import facts, rounded
from tests.oracles.releases import SCHEMA, attributes_of, records

RAW_MODES = ("row_seeded", "value_seeded", "unseeded")


def stated(**changes):
    aggregates, _ = rounded(resolution=changes.get("resolution", 10))
    return anonymity_statement(facts(**changes), aggregates, "abc")


def records_told(**changes) -> str:
    return " ".join(stated(**changes)["synthesis"]["holds"])


def not_covered(**changes) -> str:
    return " ".join(stated(**changes)["not_covered"])


def test_it_says_first_that_it_is_not_differentially_private():
    body = stated()
    assert body["private"] is False
    assert body["regime"] == "k_anonymity"
    assert body["format"] == "marginalia-privacy-statement/1"
    assert "not differentially private" in RoundedWords(body).sentences()[0]
    assert "Not differentially private: nothing bounds" in not_covered()


def test_every_length_has_its_number_of_reported_combinations():
    aggregates, _ = rounded()
    told = stated()["levels"]
    assert told == [
        {"length": k, "combinations": len(counts)} for k, counts in enumerate(aggregates.counts, start=1)
    ]


def test_the_number_of_records_is_rounded_with_its_range():
    assert anonymity_statement(facts(), rounded(607)[0], "abc")["count"] == {
        "value": 600,
        "least": 600,
        "most": 609,
    }
    assert "there are 600 to 609" in " ".join(
        RoundedWords(anonymity_statement(facts(), rounded(607)[0], "abc")).sentences()
    )


@pytest.mark.parametrize("mode", RAW_MODES)
def test_modes_that_read_raw_records_hold_every_length_and_are_a_second_release(mode):
    assert "of any length, is held by at least 10 subjects" in records_told(synthesis_mode=mode)
    assert "A second release from the raw table" in not_covered(synthesis_mode=mode)
    assert "is not rounded" in not_covered(synthesis_mode=mode)
    assert "seed of synthesis: it is kept with the raw records" in not_covered(synthesis_mode=mode)
    assert stated(synthesis_mode=mode)["synthesis"]["held_length"] is None


@pytest.mark.parametrize(
    ("mode", "equal"),
    [("row_seeded", True), ("value_seeded", True), ("unseeded", False), ("aggregate_seeded", False)],
)
def test_only_row_and_value_seeded_promise_the_reported_single_counts(mode, equal):
    assert ("exactly as many synthetic records" in records_told(synthesis_mode=mode)) == equal
    assert (stated(synthesis_mode=mode)["synthesis"]["single_counts"] == "not promised") != equal


def test_aggregate_seeded_promises_nothing_beyond_the_reporting_length():
    told = records_told(synthesis_mode="aggregate_seeded")
    assert "of any length" not in told
    assert "Every combination of up to 3 attributes in a synthetic record is reported" in told
    assert "more than 3 attributes" in told
    assert "or nobody" in told
    assert "nothing of the table that the counts do not" in told
    assert stated(synthesis_mode="aggregate_seeded")["synthesis"]["held_length"] == 3
    assert "second release" not in not_covered(synthesis_mode="aggregate_seeded")
    assert "seed of synthesis: it is public" in not_covered(synthesis_mode="aggregate_seeded")


def test_aggregate_seeded_that_holds_the_resolution_reads_the_raw_records_and_says_so():
    held = {"synthesis_mode": "aggregate_seeded", "hold_resolution": True}
    assert "of any length, is held by at least 10 subjects" in records_told(**held)
    assert "asked of the raw records" in not_covered(**held)
    assert "kept with the raw records" in not_covered(**held)
    assert "the counts do not" not in records_told(**held)


def test_oversampling_is_stated_with_its_ratio():
    body = stated(synthesis_mode="value_seeded", oversampling=(0.1, 10))
    assert body["synthesis"]["oversampling"] == {"ratio": 0.1, "tries": 10}
    assert "at most (1 + 0.1) times" in " ".join(body["synthesis"]["holds"])
    assert stated(synthesis_mode="value_seeded")["synthesis"]["oversampling"] is None


def test_rows_instead_of_subjects_are_said_first_and_loudly():
    body = stated(unit="row")
    assert body["not_covered"][0].startswith("Rows are counted, not people: no subject_id was given.")
    assert "10 rows of one person are enough" in body["not_covered"][0]
    assert "A person with 10 rows can be a whole group" in RoundedWords(body).sentences()[1]
    assert "subjects" not in " ".join(RoundedWords(body).sentences())
    assert "Rows are counted" not in " ".join(stated()["not_covered"])


def test_one_record_is_told_in_the_singular():
    for unit, one in (("row", "1 row."), ("subject", "1 subject.")):
        assert f"held by at most {one}" in " ".join(stated(unit=unit, resolution=2)["guarantee"]["holds"])
    assert "held by at most 9 rows." in " ".join(stated(unit="row")["guarantee"]["holds"])


def test_what_is_not_reported_is_not_said_to_be_possibly_nobody():
    for resolution in (2, 10):
        said = " ".join(stated(resolution=resolution)["guarantee"]["holds"])
        assert "possibly" not in said and "see Adding up" in said


def test_declarations_that_were_drafted_from_the_table_are_not_protected():
    drafted, plain = stated(drafted_from_table=True), stated()
    assert drafted["not_covered"][0].startswith("Declared from the table: ") and drafted["drafted_from_table"]
    assert (
        "It does not protect the declarations, which may tell of single people" in drafted["not_covered"][0]
    )
    assert drafted["not_covered"][1:] == plain["not_covered"] and "drafted_from_table" not in plain
    (public,) = [each for each in plain["not_covered"] if each.startswith("Public by assumption: ")]
    assert "which are left out" in public and "words for missing values" in public and "encoding" in public


def test_a_resolution_of_one_is_said_to_protect_nobody():
    body = stated(resolution=1)
    assert "nobody is protected" in " ".join(body["guarantee"]["holds"])
    assert body["not_covered"][0].startswith("No protection at all")
    assert "There are 600 subjects." in RoundedWords(body).sentences()
    (warning,) = RoundedWords(body).warnings()
    assert warning.endswith("nobody is protected.")


@pytest.mark.parametrize(
    "words",
    ["Alike in what matters", "Knowing others", "Comparing releases", "Adding up", "What is missing"],
)
@pytest.mark.parametrize("mode", (*RAW_MODES, "aggregate_seeded"))
def test_the_known_attacks_are_named_in_every_mode(words, mode):
    assert f"{words}: " in not_covered(synthesis_mode=mode)


def test_every_limit_has_a_name_before_its_colon():
    for unit in ("subject", "row"):
        for sentence in stated(unit=unit, record_limit=50, resolution=1)["not_covered"]:
            assert 0 < sentence.index(": ") < 50 or sentence.startswith("Only the first")


def test_a_record_limit_is_said_to_be_no_sample():
    assert "first 50 rows" in not_covered(record_limit=50)
    assert "no random sample" in not_covered(record_limit=50)
    assert "rows of the file were read" not in not_covered()


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("none", "No data contract was given"),
        ("strict", "satisfied its data contract"),
        ("repair", "no rule could stop this release"),
    ],
)
def test_only_a_contract_that_was_given_is_spoken_of(mode, said):
    body = stated(contract_mode=mode)
    assert said in body["contract"]["sentence"] and body["contract"]["strict"] is (mode == "strict")
    assert ("No data contract" in " ".join(RoundedWords(body).sentences())) is (mode == "none")


def test_what_of_a_table_is_counted_is_said_as_far_as_it_applies():
    def prepared(*columns, **changes):
        return stated(schema=Schema(columns, "id"), **changes)["guarantee"]["holds"][0]

    plain = Column("a", zero_is_value=True)
    assert "trimmed" in prepared(plain)
    cases = {
        "a 0 is no value": Column("a"),
        "stands for its bin": Column("a", bins=(0.0, 1.0), zero_is_value=True),
        "not among those declared": Column("a", domain=("x", "y"), zero_is_value=True),
        "no more than its cap": Column("a", delimiter=";", max_items=2, zero_is_value=True),
    }
    for words, column in cases.items():
        assert words in prepared(plain, column)
        assert words not in prepared(plain)
    assert "broke the data contract" in prepared(plain, contract_mode="repair")
    assert "broke the data contract" not in prepared(plain, contract_mode="strict")


def test_how_ids_are_compared_is_said():
    assert "without regard to upper and lower case" in not_covered()
    assert "without regard to upper and lower case" not in not_covered(unit="row")


def test_it_says_of_every_column_whether_0_is_a_value():
    assert [each["zero_is_value"] for each in stated()["columns"]] == [
        c.zero_is_value or c.bins is not None for c in SCHEMA.columns
    ]


def test_unused_keys_are_named():
    body = stated(unused_keys=("cache_max_size",))
    assert "Configuration key cache_max_size: accepted but unused" in " ".join(RoundedWords(body).sentences())
    assert "Unused settings" not in dict(RoundedWords(stated()).topics())


def test_nothing_of_a_suppressed_value_is_in_it():
    aggregates, _ = rounded()
    held = {a for record in records(600) for a in attributes_of(record)}
    reported = {(a.column, a.item or a.value) for a in aggregates.attributes}
    rare = {value for column, value in held - reported if value not in (SCHEMA.columns[column].domain or ())}
    text = json.dumps(stated())
    assert len(rare) > 10
    assert [value for value in rare if value in text] == []


@pytest.mark.parametrize("spoil", ["below", "between", "records"])
def test_counts_that_are_not_rounded_are_refused(spoil):
    aggregates, _ = rounded()
    counts = [each.copy() for each in aggregates.counts]
    counts[1][0] = {"below": 0, "between": 13, "records": counts[1][0]}[spoil]
    number = aggregates.number_of_records + (3 if spoil == "records" else 0)
    bad = dataclasses.replace(aggregates, counts=tuple(counts), number_of_records=number)
    with pytest.raises(InternalError, match="multiple of the resolution") as raised:
        anonymity_statement(facts(), bad, "abc")
    assert "13" not in str(raised.value)


def test_nothing_reported_is_a_statement_too():
    aggregates, _ = rounded()
    nothing = dataclasses.replace(
        aggregates,
        attributes=(),
        number_of_records=0,
        combinations=tuple(np.zeros((0, k), np.int32) for k in (1, 2, 3)),
        counts=(np.zeros(0, np.int64),) * 3,
    )
    assert (
        "No combination is reported."
        in RoundedWords(anonymity_statement(facts(), nothing, "abc")).sentences()
    )
