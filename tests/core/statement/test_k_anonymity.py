"""The privacy statement under k-anonymity: what each mode promises, what none does, and nothing read off."""

import dataclasses

import pytest

from tasks.core.errors import InternalError
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.k_anonymity import RoundedWords, anonymity_statement
from tests.oracles.anonymous_releases import facts, rounded, rounded_inputs
from tests.oracles.releases import SCHEMA

RAW_MODES = ("row_seeded", "value_seeded", "unseeded")
MODES = (*RAW_MODES, "aggregate_seeded")
HELD = {"synthesis_mode": "aggregate_seeded", "hold_resolution": True}


def stated(number=600, **changes):
    return rounded_inputs(number, **changes).statement


def told(body) -> dict[str, str]:
    """What is said of counts, of records, of limits, and in plain words."""
    parts = {"counts": body["guarantee"]["holds"], "records": body["synthesis"]["holds"]}
    parts |= {"limits": body["not_covered"], "words": RoundedWords(body).sentences()}
    return {part: " ".join(sentences) for part, sentences in parts.items()}


def test_it_says_first_that_it_is_not_differentially_private():
    body = stated()
    assert (body["private"], body["regime"]) == (False, "k_anonymity")
    assert body["format"] == "marginalia-privacy-statement/1"
    assert "not differentially private" in RoundedWords(body).sentences()[0]


def test_every_length_has_its_number_of_combinations_and_every_column_whether_0_is_a_value():
    body = stated()
    counts = enumerate(rounded()[0].counts, start=1)
    assert body["levels"] == [{"length": k, "combinations": len(found)} for k, found in counts]
    zeros = [c.zero_is_value or c.bins is not None for c in SCHEMA.columns]
    assert [each["zero_is_value"] for each in body["columns"]] == zeros


def test_the_number_of_records_is_rounded_with_its_range():
    body = stated(607)
    assert body["count"] == {"value": 600, "least": 600, "most": 609}
    assert "there are 600 to 609" in told(body)["words"]


#: Choices, the part of the statement, what is said there, and what is not.
SAID = [
    ({}, "limits", ["Not differentially private: nothing bounds", "without regard to upper and lower case"],
     ["Rows are counted", "rows of the file were read"]),
    *(({"synthesis_mode": mode}, "limits",
       ["A second release from the raw table", "is not rounded",
        "seed of synthesis: it is kept with the raw records"], []) for mode in RAW_MODES),
    *(({"synthesis_mode": mode}, "records", ["of any length, is held by at least 10 subjects"], [])
      for mode in RAW_MODES),
    *(({"synthesis_mode": mode}, "limits",
       ["Alike in what matters: ", "Knowing others: ", "Comparing releases: ", "Adding up: ",
        "What is missing: "], []) for mode in MODES),
    ({"synthesis_mode": "aggregate_seeded"}, "records",
     ["Every combination of up to 3 attributes in a synthetic record is reported", "more than 3 attributes",
      "or nobody", "nothing of the table that the counts do not"], ["of any length"]),
    ({"synthesis_mode": "aggregate_seeded"}, "limits", ["seed of synthesis: it is public"],
     ["second release"]),
    (HELD, "records", ["of any length, is held by at least 10 subjects"], ["the counts do not"]),
    (HELD, "limits", ["asked of the raw records", "kept with the raw records"], []),
    ({"unit": "row"}, "words", ["A person with 10 rows can be a whole group"], ["subjects"]),
    ({"unit": "row"}, "limits", ["10 rows of one person are enough"], ["upper and lower case"]),
    ({"unit": "row"}, "counts", ["held by at most 9 rows."], []),
    ({"unit": "row", "resolution": 2}, "counts", ["held by at most 1 row."], []),
    ({"resolution": 2}, "counts", ["held by at most 1 subject.", "see Adding up"], ["possibly"]),
    ({"resolution": 10}, "counts", ["see Adding up"], ["possibly"]),
    ({"resolution": 1}, "counts", ["nobody is protected"], []),
    ({"resolution": 1}, "words", ["There are 600 subjects."], []),
    ({"record_limit": 50}, "limits", ["first 50 rows", "no random sample"], []),
    ({"contract_mode": "strict"}, "words", [], ["No data contract", "accepted but unused"]),
    ({"contract_mode": "repair"}, "words", [], ["No data contract"]),
    ({"contract_mode": "none"}, "words", ["No data contract"], []),
    ({"unused_keys": ("cache_max_size",)}, "words",
     ["Configuration key cache_max_size: accepted but unused"], []),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "part", "said", "unsaid"), SAID)
def test_what_is_said_follows_from_the_choices(changes, part, said, unsaid):
    text = told(stated(**changes))[part]
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


@pytest.mark.parametrize("mode", MODES)
def test_only_row_and_value_seeded_promise_the_reported_single_counts_and_only_one_ends_at_a_length(mode):
    body, equal = stated(synthesis_mode=mode), mode in ("row_seeded", "value_seeded")
    assert ("exactly as many synthetic records" in told(body)["records"]) == equal
    assert (body["synthesis"]["single_counts"] == "not promised") != equal
    assert body["synthesis"]["held_length"] == (3 if mode == "aggregate_seeded" else None)


def test_oversampling_is_stated_with_its_ratio():
    body = stated(synthesis_mode="value_seeded", oversampling=(0.1, 10))
    assert body["synthesis"]["oversampling"] == {"ratio": 0.1, "tries": 10}
    assert "at most (1 + 0.1) times" in told(body)["records"]
    assert stated(synthesis_mode="value_seeded")["synthesis"]["oversampling"] is None


def test_the_worst_limits_come_first():
    row = stated(unit="row")
    assert row["not_covered"][0].startswith("Rows are counted, not people: no subject_id was given.")
    assert "A person with 10 rows can be a whole group" in RoundedWords(row).sentences()[1]
    one = stated(resolution=1)
    assert one["not_covered"][0].startswith("No protection at all")
    (warning,) = RoundedWords(one).warnings()
    assert warning.endswith("nobody is protected.")


def test_declarations_that_were_drafted_from_the_table_are_not_protected():
    drafted, plain = stated(drafted_from_table=True), stated()
    assert drafted["drafted_from_table"] and "drafted_from_table" not in plain
    first, *others = drafted["not_covered"]
    assert first.startswith("Declared from the table: ") and others == plain["not_covered"]
    assert "It does not protect the declarations, which may tell of single people" in first
    (public,) = [each for each in plain["not_covered"] if each.startswith("Public by assumption: ")]
    assert "which are left out" in public and "words for missing values" in public and "encoding" in public


def test_every_limit_has_a_name_before_its_colon():
    for unit in ("subject", "row"):
        for sentence in stated(unit=unit, record_limit=50, resolution=1)["not_covered"]:
            assert 0 < sentence.index(": ") < 50 or sentence.startswith("Only the first")


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("none", "No data contract was given"),
        ("strict", "satisfied its data contract"),
        ("repair", "no rule could stop this release"),
    ],
)
def test_what_a_contract_did_is_said(mode, said):
    contract = stated(contract_mode=mode)["contract"]
    assert said in contract["sentence"] and contract["strict"] is (mode == "strict")


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
