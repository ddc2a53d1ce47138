"""What the page's program reads is what is released: nothing lost, nothing changed, nothing more."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.navigation.inputs import Naming, ReportInputs, UnitName
from tasks.core.navigation.payload.release import payload_of_counts
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.k_anonymity import anonymity_statement
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.anonymous_releases import facts, rounded
from tests.oracles.pages import HOSTILE
from tests.oracles.payloads import UNMEASURED, Decoded, read_back
from tests.oracles.releases import SCHEMA, noisy_inputs

NAMING = Naming("A survey", "survey", unit=UnitName.of("patient"), citation="line", bibtex="@misc{a}")


def held(attribute: Attribute) -> tuple[int, str]:
    return attribute.column, attribute.value if attribute.item is None else attribute.item


def of_lengths(naming: Naming = NAMING) -> tuple[ReportInputs, Decoded]:
    inputs = noisy_inputs(naming=naming)
    return inputs, read_back(payload_of_counts(inputs))


def of_rounded(
    schema: Schema, aggregates: Aggregates, synthetic: SyntheticRecords | None, resolution: int = 1
) -> Decoded:
    body = anonymity_statement(
        facts(schema=schema, reporting_length=aggregates.reporting_length, resolution=resolution),
        aggregates,
        "abc",
    )
    return read_back(
        payload_of_counts(ReportInputs(body, schema, aggregates, None, synthetic, naming=NAMING))
    )


def expected_records(synthetic: SyntheticRecords, columns: int) -> list[list[set[str]]]:
    found: list[list[set[str]]] = []
    for first, last in zip(synthetic.offsets[:-1], synthetic.offsets[1:], strict=True):
        record: list[set[str]] = [set() for _ in range(columns)]
        for number in synthetic.attribute_ids[first:last]:
            column, value = held(synthetic.attributes[number])
            record[column].add(value)
        found.append(record)
    return found


def expected_counts(aggregates: Aggregates) -> dict[frozenset[tuple[int, str]], int]:
    return {
        frozenset(held(aggregates.attributes[each]) for each in row): count
        for rows, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
    }


def test_records_counts_and_the_range_of_the_number_of_records_come_back():
    inputs, found = of_lengths()
    assert found.records() == expected_records(inputs.synthetic, len(SCHEMA.columns))
    assert found.counts() == expected_counts(inputs.aggregates)
    assert found.meta["records"] == inputs.synthetic.number_of_records
    assert found.meta["protection"] == "lengths"
    assert all(name.startswith(("column/", "counts/")) for name in found.arrays)
    half = inputs.statement["noisy_count"]["half_width_95"]
    number = found.meta["number"]
    assert number["high"] - number["low"] == 2 * half
    assert number["value"] == inputs.aggregates.number_of_records


def test_names_words_and_the_citation_are_the_operators():
    meta = of_lengths()[1].meta
    assert (meta["title"], meta["prefix"], meta["vintage"]) == ("A survey", "survey", "2024-05")
    assert meta["unit"] == {"one": "patient", "many": "patients"}
    assert meta["citation"] == {"text": "line", "bibtex": "@misc{a}"}
    assert of_lengths(Naming())[1].meta["unit"] == {"one": "person", "many": "people"}


def test_rounded_counts_have_a_resolution_and_no_ranges():
    aggregates, synthetic = rounded()
    found = of_rounded(SCHEMA, aggregates, synthetic, 10)
    assert found.meta["protection"] == "k_anonymity" and found.meta["resolution"] == 10
    assert found.counts() == expected_counts(aggregates)
    assert not [name for name in found.arrays if name.endswith(("low", "high", "noisy"))]
    assert found.meta["number"]["high"] == found.meta["number"]["low"] + 9
    assert not {"noise", "sampled_share"} & set(found.meta)


def test_nothing_is_in_it_that_is_not_released():
    """Each number is one of the release's own, by its place; each text one of the schema's or released."""
    inputs, found = of_lengths()
    released = {held(a) for a in inputs.aggregates.attributes}
    declared = {(place, v) for place, c in enumerate(SCHEMA.columns) for v in c.domain or ()}
    assert set(found.attributes()) == released | declared
    noisy = {n for level in inputs.measurement.levels for n in level.counts.tolist()}  # type: ignore[union-attr]
    for length in range(1, 4):
        assert set(found.arrays[f"counts/{length}/noisy"]) <= noisy | {UNMEASURED}


@st.composite
def small_releases(draw: st.DrawFn) -> tuple[Schema, Aggregates, SyntheticRecords]:
    """Columns of any names and values, some of several items; records that hold any of them; some counts."""
    texts = st.one_of(st.text(min_size=1, max_size=3), st.sampled_from(HOSTILE))
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    several = [draw(st.booleans()) for _ in names]
    columns = tuple(
        Column(name, delimiter=";" if many else None, max_items=3 if many else 1)
        for name, many in zip(names, several, strict=True)
    )
    attributes = [
        Attribute(f"{name}_{value}", "1", place, value) if many else Attribute(name, value, place)
        for place, (name, many) in enumerate(zip(names, several, strict=True))
        for value in draw(st.lists(texts, max_size=4, unique=True))
    ]
    attributes = draw(st.permutations(attributes))
    number = draw(st.integers(0, 6))
    ids: list[int] = []
    offsets = [0]
    for _ in range(number):
        chosen = draw(st.lists(st.integers(0, len(attributes) - 1), unique=True)) if attributes else []
        taken = Counter(attributes[each].column for each in chosen)
        ids += sorted(
            each for each in chosen if several[attributes[each].column] or taken[attributes[each].column] == 1
        )
        offsets.append(len(ids))
    headers = tuple(dict.fromkeys(attribute.header for attribute in attributes))
    synthetic = SyntheticRecords(
        headers, tuple(attributes), np.array(offsets, np.int64), np.array(ids, np.int32)
    )
    pairs = [(i, j) for i in range(len(attributes)) for j in range(i + 1, len(attributes))]
    kept = sorted(draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else []
    combinations = (
        np.arange(len(attributes), dtype=np.int32)[:, np.newaxis],
        np.array(kept, np.int32).reshape(-1, 2),
    )
    counts = tuple(np.array([draw(st.integers(1, 2**31)) for _ in rows], np.int64) for rows in combinations)
    return Schema(columns), Aggregates(headers, tuple(attributes), number, combinations, counts), synthetic


@settings(max_examples=60)
@given(small_releases())
def test_any_release_comes_back(made):
    schema, aggregates, synthetic = made
    found = of_rounded(schema, aggregates, synthetic)
    assert found.records() == expected_records(synthetic, len(schema.columns))
    assert found.counts() == expected_counts(aggregates)
    assert [column["name"] for column in found.meta["columns"]] == [c.name for c in schema.columns]


@pytest.mark.parametrize("values", [255, 256, 65_536])
def test_codes_are_as_narrow_as_the_values_allow(values):
    attributes = tuple(Attribute("town", f"t{number:05}", 0) for number in range(values))
    nothing = Aggregates(("town",), (), 0, (np.zeros((0, 1), np.int32),), (np.zeros(0, np.int64),))
    last = SyntheticRecords(
        ("town",), attributes, np.array([0, 1], np.int64), np.array([values - 1], np.int32)
    )
    found = of_rounded(Schema((Column("town"),)), nothing, last)
    assert found.meta["columns"][0]["type"] == {255: "u8", 256: "u16", 65_536: "u32"}[values]
    assert found.arrays["column/0/0"] == [values]
