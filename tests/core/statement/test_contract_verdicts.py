"""R2: rules on the table are judged after the draw, on released numbers."""

import dataclasses

import numpy as np
import pytest

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.workload.parameters import LongerSets
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.contract_verdicts import (
    NoisyNumbers,
    RoundedNumbers,
    contract_json,
    passed_json,
)
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tests.oracles.contracts import HEADER, contract_of
from tests.oracles.releases import one_length
from tests.oracles.workloads import draw, parameters

SCALE = 2.0


def release(
    contract: Contract,
    counts: dict[str, dict[str, int]],
    records: int = 1000,
    accountant: str = "gdp",
) -> tuple[Measurement, Aggregates]:
    """A measurement of length 1 and its aggregates; counts by column and value."""
    schema = build_schema(HEADER.split(","), Declarations(), contract, cap_required=True)
    names = [column.name for column in schema.columns]
    own = [counts.get(name, {}) for name in names]
    measurement = one_length(
        schema,
        [list(found.values()) for found in own],
        SCALE,
        records,
        values=tuple(map(tuple, own)),
        parameters=DpParameters(epsilon=1, delta=1e-6, reporting_length=1, accountant=accountant),  # type: ignore[arg-type]
    )
    attributes = []
    for column, value in [(column, value) for column, found in enumerate(own) for value in found]:
        item = value if schema.columns[column].is_multi_valued else None
        header = names[column] if item is None else f"{names[column]}_{item}"
        attributes.append(Attribute(header, value if item is None else "1", column, item))
    attributes.sort(key=lambda attribute: attribute.text)
    aggregates = Aggregates((), tuple(attributes), records, (), ())
    return measurement, aggregates


WELL = {
    "ward": {"north": 400, "south": 390},
    "age": {"<0": -2, "[18,65]": 700},
    "languages": {"da": 500, "en": 300},
    "remark": {"well": 500, "ill": 200},
    "seen": {"2024-01-31": 40},
}


def verdicts(
    counts: dict[str, dict[str, int]], records: int = 1000, accountant: str = "gdp"
) -> dict[str, str]:
    contract = contract_of()
    measurement, aggregates = release(contract, counts, records, accountant)
    rules = contract_json(contract, NoisyNumbers(measurement), aggregates)["rules"]
    return {entry["rule"]: entry["verdict"] for entry in rules}


def broken(counts: dict[str, dict[str, int]], records: int = 1000, accountant: str = "gdp") -> set[str]:
    return {rule for rule, verdict in verdicts(counts, records, accountant).items() if verdict == "failed"}


def test_a_release_that_keeps_the_contract_breaks_no_rule():
    assert broken(WELL) == set()


def test_what_repair_makes_true_is_enforced_and_only_the_rest_is_judged():
    found = verdicts(WELL)
    cells = ("has a subject id", "type integer", "one of those listed", "items a subject", "looks like")
    for rule, verdict in found.items():
        assert (verdict == "enforced") is any(words in rule for words in cells), rule
    assert found["at least 3 records"] == "passed"
    assert found["ward: at most 40 % empty"] == "passed"
    assert found["remark: at most 3 distinct values"] == "passed"
    assert found["seen: every value is of type date"] == "passed"


@pytest.mark.parametrize(
    ("column", "rule"),
    [("seen", "seen: every value is of type date"), ("remark", "remark: at most 3 distinct values")],
)
def test_a_rule_on_values_is_undecided_where_none_was_released(column, rule):
    assert verdicts(WELL | {column: {}})[rule] == "undecided"
    contract = contract_of()
    numbers, aggregates = release(contract, WELL | {column: {}})
    body = contract_json(contract, NoisyNumbers(numbers), aggregates)
    assert "of which no value was released" in str(body["sentence"])


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"ward": {"north": 300, "south": 250}}, "ward: at most 40 % empty"),
        ({"remark": dict.fromkeys("abcd", 100)}, "remark: at most 3 distinct values"),
        ({"seen": {"soon": 100}}, "seen: every value is of type date"),
    ],
)
def test_a_broken_rule_is_found_in_released_numbers(changed, rule):
    assert broken(WELL | changed) == {rule}


def test_the_noise_alone_breaks_no_rule():
    assert broken(WELL, records=0) == set()  # at least 3 records, noise of 10
    # 600 of 1000 are promised; a cell's noise of 2 and the count's of 10 allow 19.5 less.
    assert broken(WELL | {"ward": {"north": 581}}) == set()
    assert broken(WELL | {"ward": {"north": 580}}) == {"ward: at most 40 % empty"}


@pytest.mark.parametrize(
    ("records", "accountant", "fails"), [(-27, "gdp", False), (-28, "gdp", True), (-28, "zcdp", False)]
)
def test_minimum_rows_are_judged_on_the_noisy_count(records, accountant, fails):
    assert ("at least 3 records" in broken(WELL, records, accountant)) is fails


DRAFTED = """\
      - name: ward
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [north, south]}}]
        customProperties: [{property: drafted, value: true}]
"""


def test_a_drafted_list_is_judged_on_released_values():
    contract = contract_of(DRAFTED)
    for ward, passed in (({"north": 10, "south": 12}, True), ({"north": 10, "west": 12}, False)):
        schema = build_schema(["person", "ward"], Declarations(), contract, cap_required=True)
        assert schema.columns[0].is_open
        measurement, _ = release(contract_of(), {"ward": ward})
        measurement = dataclasses.replace(measurement, schema=schema)
        attributes = tuple(Attribute("ward", value, 0) for value in ward)
        aggregates = Aggregates((), attributes, 22, (), ())
        rules = contract_json(contract, NoisyNumbers(measurement), aggregates)["rules"]
        found = {entry["rule"]: entry["verdict"] for entry in rules}[
            "ward: every value is one of those listed"
        ]
        assert found == ("passed" if passed else "failed")


def test_a_drafted_list_of_a_column_without_a_released_value_is_undecided():
    contract = contract_of(DRAFTED)
    schema = build_schema(["person", "ward"], Declarations(), contract, cap_required=False)
    aggregates = Aggregates((), (), 20, (), ())
    rules = contract_json(contract, RoundedNumbers(schema, aggregates, 10), aggregates)["rules"]
    assert {entry["rule"]: entry["verdict"] for entry in rules} == {
        "every record has a subject id": "enforced",
        "at least 3 records": "passed",
        "ward: every value is one of those listed": "undecided",
        "ward: nothing that looks like e-mail addresses": "enforced",
        "ward: nothing that looks like telephone numbers": "enforced",
        "ward: nothing that looks like identity numbers": "enforced",
    }


def rounded_verdicts(records: int, wards: dict[str, int], k: int = 10) -> dict[str, str]:
    """A k-anonymous release of wards alone."""
    contract = contract_of()
    schema = build_schema(HEADER.split(","), Declarations(), contract, cap_required=False)
    place = [column.name for column in schema.columns].index("ward")
    attributes = tuple(Attribute("ward", value, place) for value in wards)
    ids = np.arange(len(wards), dtype=np.int32).reshape(-1, 1)
    counts = np.array(list(wards.values()), np.int64)
    aggregates = Aggregates(("ward",), attributes, records, (ids,), (counts,))
    rules = contract_json(contract, RoundedNumbers(schema, aggregates, k), aggregates)["rules"]
    return {entry["rule"]: entry["verdict"] for entry in rules}


@pytest.mark.parametrize(
    ("records", "k", "verdict"), [(10, 10, "passed"), (0, 10, "undecided"), (0, 3, "failed")]
)
def test_rounded_minimum_rows_are_decided_where_the_range_is(records, k, verdict):
    assert rounded_verdicts(records, {}, k)["at least 3 records"] == verdict


def test_rounded_shares_of_empties_are_passed_or_undecided():
    rule = "ward: at most 40 % empty"
    # At most 1009 records, of which 60 % are 605.4.
    assert rounded_verdicts(1000, {"north": 310, "south": 300})[rule] == "passed"
    assert rounded_verdicts(1000, {"north": 300, "south": 300})[rule] == "undecided"
    assert rounded_verdicts(1000, {})[rule] == "undecided"


def test_the_document_names_the_contract_and_says_what_its_verdicts_are_of():
    contract = contract_of()
    measurement, aggregates = release(contract, WELL)
    strict = passed_json(contract, measurement.schema)
    repaired = contract_json(contract, NoisyNumbers(measurement), aggregates)
    assert "one broken rule would have stopped the run" in strict["sentence"]
    assert "is enforced" in repaired["sentence"]
    assert {rule["verdict"] for rule in strict["rules"]} == {"passed"}
    assert (strict["mode"], repaired["mode"]) == ("strict", "repair")
    for body in (strict, repaired):
        check_released_json(body, RELEASED_KEYS["manifest"])
        assert body["contract"] == contract.name


@pytest.mark.parametrize(
    ("limit", "least", "verdict"), [(None, 580, "failed"), (100, 37, "passed"), (100, 36, "failed")]
)
def test_a_limit_on_records_is_not_taken_for_empty_cells(limit, least, verdict):
    """Of 1,000 records 100 are looked at: 60 with a ward are promised, and chance may leave 37."""
    measured, _ = release(contract_of(), WELL | {"ward": {"north": least}})
    sampled = dataclasses.replace(measured.parameters, record_limit=limit)
    numbers = NoisyNumbers(dataclasses.replace(measured, parameters=sampled))
    ward = [column.name for column in numbers.schema.columns].index("ward")
    assert numbers.few_empties(ward, 0.4) == verdict


HOMES = ("flat", *(f"rare {place:03}" for place in range(100)))
PEOPLE = Schema((Column("sex", domain=("f", "m", "x"), other="x"), Column("home")))


def fitted(empty: float, filled: tuple[int, ...] = (), limit: int | None = None) -> NoisyNumbers:
    """A fitted draw of 4,000 people, of whom a share has no sex; every second home is like no other."""
    generator = np.random.default_rng(1)
    sex = np.where(generator.random(4000) < empty, 0, generator.integers(1, 3, 4000))
    home = np.where(generator.random(4000) < 0.5, 1, generator.integers(2, 102, 4000))
    records = CodedRecords(
        PEOPLE,
        (sex.astype(np.uint8), home.astype(np.uint8)),
        (0, 1),
        (("f", "m", "x"), HOMES),
        4000,
        generator.integers(0, 2**64, 4000, np.uint64),
    )
    asked = parameters(4.0, tables=((0, 1),), filled=filled, record_limit=limit, longer=LongerSets())
    return NoisyNumbers(draw(records, asked))


@pytest.mark.parametrize("limit", [None, 500])
def test_empty_cells_of_a_fitted_release_are_those_that_were_counted_as_such(limit):
    assert fitted(0.0, limit=limit).few_empties(0, 0.0) == "passed"
    assert fitted(0.0, limit=limit).few_empties(1, 0.0) == "passed"  # what is not released is not empty
    assert fitted(0.3, limit=limit).few_empties(0, 0.35) == "passed"
    assert fitted(0.3, limit=limit).few_empties(0, 0.1) == "failed"


def test_where_an_empty_cell_counts_as_a_value_no_cell_is_empty():
    assert fitted(0.3, filled=(0,)).few_empties(0, 0.0) == "enforced"
