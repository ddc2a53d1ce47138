"""Of very many records a page holds an evenly spread sample; of up to the cap all of them, as ever."""

import dataclasses
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.navigation.inputs import Naming, TablePage
from tasks.core.navigation.owner_page import OwnerNames, payload_of_true_table, payload_of_truth
from tasks.core.navigation.payload import block as sample
from tasks.core.navigation.payload.release import Payload, payload_of_counts
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.statement.syndiffix import syndiffix_statement
from tasks.core.synthesis.records import AnySynthetic, SyntheticRecords, open_synthetic_records
from tests.core.navigation.payload.test_release import expected_counts, expected_records, of_lengths
from tests.core.navigation.payload.test_synthetic_table import FACTS
from tests.oracles.anonymous_releases import rounded
from tests.oracles.payloads import Decoded, read_payload
from tests.oracles.releases import SCHEMA

#: So many records of 600 are in a sample. It does not divide them.
CAP = 250
OWNER = OwnerNames("visits", Naming(prefix="my"), "row")


@pytest.fixture
def cap(monkeypatch):
    """Sets how many records a page may hold."""
    return lambda most: monkeypatch.setattr(sample, "MOST_RECORDS", most)


def read_back(payload: Payload) -> Decoded:
    return read_payload(json.loads(json.dumps(payload.meta)), payload.data)


def of_counts(synthetic: AnySynthetic | None = None) -> Payload:
    inputs, _ = of_lengths()
    return payload_of_counts(
        inputs if synthetic is None else dataclasses.replace(inputs, synthetic=synthetic)
    )


def synthetic_records() -> SyntheticRecords:
    found = of_lengths()[0].synthetic
    assert isinstance(found, SyntheticRecords)
    return found


@given(number=st.integers(1, 400), most=st.integers(1, 400))
def test_a_sample_is_the_floors_of_equal_steps(number, most):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sample, "MOST_RECORDS", most)
        places = sample.sampled_places(number)
    if number <= most:
        assert places is None
    else:
        assert places is not None
        assert places.tolist() == [i * number // most for i in range(most)]
        assert len(set(places.tolist())) == most


def test_a_page_holds_at_most_a_million_records():
    assert sample.sampled_places(1_000_000) is None
    places = sample.sampled_places(1_000_000_000)
    assert places is not None and len(places) == 1_000_000
    assert (places[0], places[1], places[-1]) == (0, 1000, 999_999_000)


def test_the_codes_of_a_sample_are_those_of_the_chosen_places(cap):
    synthetic, whole = synthetic_records(), read_back(of_counts())
    cap(CAP)
    found = read_back(of_counts())
    every = expected_records(synthetic, len(SCHEMA.columns))
    assert found.records() == [every[i * 600 // CAP] for i in range(CAP)]
    assert (found.meta["records"], found.meta["records_in_page"]) == (600, CAP)
    # All else is of the whole release, so that no range depends on the sample.
    assert found.counts() == whole.counts() and found.meta["number"] == whole.meta["number"]
    assert {name: each for name, each in found.arrays.items() if name.startswith("counts/")} == {
        name: each for name, each in whole.arrays.items() if name.startswith("counts/")
    }
    assert [each["values"] for each in found.meta["columns"]] == [
        each["values"] for each in whole.meta["columns"]
    ]


@pytest.mark.parametrize("most", [CAP, 600])
def test_stored_records_give_the_page_of_those_in_memory(most, cap, tmp_path, monkeypatch):
    synthetic = synthetic_records()
    synthetic.write(tmp_path)
    # They are read in several parts.
    monkeypatch.setattr("tasks.core.synthesis.records._MOST_AT_ONCE", 70)
    cap(most)
    stored = open_synthetic_records(tmp_path)
    assert len(list(stored.parts())) == 9
    assert of_counts(stored) == of_counts(synthetic)


def test_the_page_of_the_datas_owner_holds_the_same_sample(cap):
    aggregates, synthetic = rounded()
    cap(CAP)
    found = read_back(payload_of_truth(OWNER, SCHEMA, aggregates, synthetic))
    every = expected_records(synthetic, len(SCHEMA.columns))
    assert found.records() == [every[i * 600 // CAP] for i in range(CAP)]
    assert (found.meta["records"], found.meta["records_in_page"]) == (600, CAP)
    assert found.counts() == expected_counts(aggregates)


def test_a_synthetic_table_is_sampled_and_its_counts_are_not(cap):
    table = pa.table({"town": [f"town {place % 7}" for place in range(100)], "old": [True, False] * 50})
    cap(30)
    places = [i * 100 // 30 for i in range(30)]
    chosen = [[{f"town {place % 7}"}, {"false" if place % 2 else "true"}] for place in places]
    page = TablePage(
        syndiffix_statement(FACTS, "abc"),
        table,
        lambda file, names: table.select(list(names)),
        tables={"one": ["town"]},
    )
    found = read_back(payload_of_table(page))
    assert found.records() == chosen and found.meta["records"] == 100
    assert sum(found.arrays["tables/0"]) == 100
    owners = read_back(payload_of_true_table(OWNER, table, table, {}))
    assert owners.records() == chosen and owners.meta["records"] == 100
    assert owners.counts()[frozenset([(0, "town 0")])] == 15
