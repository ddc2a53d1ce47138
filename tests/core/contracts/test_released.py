"""Rule 2: rules on the table are judged after the draw, on released numbers."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.released import judge_released
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.public_schema import Declarations, build_schema
from tests.oracles.contracts import HEADER, contract_of

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
    cells = [
        (names.index(name), value, count) for name, found in counts.items() for value, count in found.items()
    ]
    level = Level(
        sigma=1.0,
        sensitivity=4,
        scale=SCALE,
        threshold=10,
        candidates=None,
        expected_spurious=None,
        combinations=np.array([column for column, _, _ in cells], np.uint32),
        codes=np.ones((len(cells), 1), np.uint32),
        counts=np.array([count for _, _, count in cells], np.int64),
        survives=np.ones(len(cells), np.bool_),
    )
    measurement = Measurement(
        schema=schema,
        parameters=DpParameters(epsilon=1, delta=1e-6, reporting_length=1, accountant=accountant),  # type: ignore[arg-type]
        private=True,
        mu_squared=1.0,
        threshold_delta=1e-7,
        number_of_records=records,
        count_scale=10.0,
        values=tuple(tuple(counts.get(name, {})) for name in names),
        levels=(level,),
    )
    attributes = []
    for column, value, _ in cells:
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


def broken(counts: dict[str, dict[str, int]], records: int = 1000, accountant: str = "gdp") -> set[str]:
    contract = contract_of()
    results = judge_released(contract, *release(contract, counts, records, accountant))
    return {item.rule for item in results if not item.passed}


def test_a_release_that_keeps_the_contract_passes_every_rule() -> None:
    assert broken(WELL) == set()


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"ward": {"north": 300, "south": 250}}, "ward: at most 40 % empty"),
        ({"remark": dict.fromkeys("abcd", 100)}, "remark: at most 3 distinct values"),
        ({"remark": {"jane@x.org": 100}}, "remark: nothing that looks like e-mail addresses"),
        ({"seen": {"soon": 100}}, "seen: every value is of type date"),
    ],
)
def test_a_broken_rule_is_found_in_released_numbers(changed: dict[str, dict[str, int]], rule: str) -> None:
    assert broken(WELL | changed) == {rule}


def test_the_noise_alone_breaks_no_rule() -> None:
    assert broken(WELL, records=0) == set()  # at least 3 records, noise of 10
    # 600 of 1000 are promised; a cell's noise of 2 and the count's of 10 allow 19.5 less.
    assert broken(WELL | {"ward": {"north": 581}}) == set()
    assert broken(WELL | {"ward": {"north": 580}}) == {"ward: at most 40 % empty"}


@pytest.mark.parametrize(
    ("records", "accountant", "fails"), [(-27, "gdp", False), (-28, "gdp", True), (-28, "zcdp", False)]
)
def test_minimum_rows_are_judged_on_the_noisy_count(records: int, accountant: str, fails: bool) -> None:
    assert ("at least 3 records" in broken(WELL, records, accountant)) is fails


def test_a_drafted_list_is_judged_on_released_values() -> None:
    columns = """\
      - name: ward
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [north, south]}}]
        customProperties: [{property: drafted, value: true}]
"""
    contract = contract_of(columns)
    for ward, passed in (({"north": 10, "south": 12}, True), ({"north": 10, "west": 12}, False)):
        schema = build_schema(["person", "ward"], Declarations(), contract, cap_required=True)
        assert schema.columns[0].is_open
        measurement, _ = release(contract_of(), {"ward": ward})
        measurement = dataclasses.replace(measurement, schema=schema)
        attributes = tuple(Attribute("ward", value, 0) for value in ward)
        results = judge_released(contract, measurement, Aggregates((), attributes, 22, (), ()))
        assert {item.rule: item.passed for item in results}[
            "ward: every value is one of those listed"
        ] is passed


def test_judging_released_numbers_imports_nothing_that_reads_a_table() -> None:
    module = Path(__file__).resolve().parents[3] / "tasks" / "core" / "contracts" / "released.py"
    text = module.read_text(encoding="utf-8")
    for reader in ("reading", "batches", "encoding", "duckdb", "profile", "validation"):
        assert f"import {reader}" not in text and f".{reader} import" not in text
