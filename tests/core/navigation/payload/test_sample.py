"""Of very many records a page holds an evenly spread sample; of up to the cap all of them, as ever."""

import dataclasses

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.navigation.inputs import Naming, TablePage
from tasks.core.navigation.owner_page import OwnerNames, payload_of_true_table, payload_of_truth
from tasks.core.navigation.payload import block as sample
from tasks.core.navigation.payload.release import payload_of_counts
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.statement.syndiffix import syndiffix_statement
from tasks.core.synthesis.records import open_synthetic_records
from tests.core.navigation.payload.test_release import expected_counts, expected_records, of_lengths
from tests.core.navigation.test_table_page import FACTS
from tests.oracles.anonymous_releases import rounded
from tests.oracles.payloads import read_back
from tests.oracles.releases import SCHEMA

#: So many records of 600 are in a sample. It does not divide them.
CAP = 250
OWNER = OwnerNames("visits", Naming(prefix="my"), "row")


@pytest.fixture
def cap(monkeypatch):
    """Sets how many records a page may hold."""
    return lambda most: monkeypatch.setattr(sample, "MOST_RECORDS", most)


@given(number=st.integers(1, 400), most=st.integers(1, 400))
def test_a_sample_is_the_floors_of_equal_steps(number, most):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sample, "MOST_RECORDS", most)
        places = sample.sampled_places(number)
    if number <= most:
        assert places is None
    else:
        assert places.tolist() == [i * number // most for i in range(most)]


def test_a_page_holds_at_most_a_million_records():
    assert sample.sampled_places(1_000_000) is None
    places = sample.sampled_places(1_000_000_000)
    assert places is not None and len(places) == 1_000_000
    assert (places[0], places[1], places[-1]) == (0, 1000, 999_999_000)


def test_the_codes_of_a_sample_are_those_of_the_chosen_places(cap):
    inputs, whole = of_lengths()
    cap(CAP)
    found = read_back(payload_of_counts(inputs))
    every = expected_records(inputs.synthetic, len(SCHEMA.columns))
    assert found.records() == [every[i * 600 // CAP] for i in range(CAP)]
    assert (found.meta["records"], found.meta["records_in_page"]) == (600, CAP)
    # All else is of the whole release, so that no range depends on the sample.
    assert found.meta["number"] == whole.meta["number"]
    for name, each in whole.arrays.items():
        assert not name.startswith("counts/") or found.arrays[name] == each
    one, other = ([column["values"] for column in each.meta["columns"]] for each in (found, whole))
    assert one == other


@pytest.mark.parametrize("most", [CAP, 600])
def test_stored_records_give_the_page_of_those_in_memory(most, cap, tmp_path, monkeypatch):
    inputs, _ = of_lengths()
    inputs.synthetic.write(tmp_path)
    # They are read in several parts.
    monkeypatch.setattr("tasks.core.synthesis.records._MOST_AT_ONCE", 70)
    cap(most)
    stored = open_synthetic_records(tmp_path)
    assert len(list(stored.parts())) == 9
    assert payload_of_counts(dataclasses.replace(inputs, synthetic=stored)) == payload_of_counts(inputs)


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
