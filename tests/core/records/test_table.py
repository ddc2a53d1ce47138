"""A table in partitions: its facts, the records at some of its places, and the digest of its content."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import content
from tasks.core.records.content import content_digest, hash_records
from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, as_table, in_partitions, rows_of_records
from tests.oracles.raw_tables import raw_tables, schema_of, single_valued

TABLE = coded(*single_valued("x,1 y,2 .,3 y,. x,5 z,6 z,7"))
TAGGED = replace(TABLE, tags=np.arange(7, dtype=np.uint64))


@pytest.mark.parametrize("records", [TABLE, TAGGED], ids=["plain", "tagged"])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_records_at_places_are_those_of_the_whole_table(records, number, tmp_path):
    parts = in_partitions(records, tmp_path, number, FarAway())
    assert parts.facts == records.facts
    for places in ([], [0], [6], [1, 2, 5], range(7)):
        found = parts.at(np.array(places, np.int64))
        expected = rows_of_records(records, np.array(places, np.int64))
        assert found.facts == expected.facts
        for one, other in zip(found.slots, expected.slots, strict=True):
            assert (one.tolist(), one.dtype) == (other.tolist(), other.dtype)
        if records.tags is not None:
            assert found.tags.tolist() == expected.tags.tolist()


# --- the digest of its records


KEY = bytes(range(32))
SINGLE = schema_of(False), [[{"x"}], [{"y"}]]


@given(table=raw_tables(), seed=st.integers(0, 99), number=st.sampled_from([1, 2, 5]), tagged=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_table_has_one_digest_in_any_order_and_in_partitions(tmp_path_factory, table, seed, number, tagged):
    records = coded(*table)
    if tagged:
        records = replace(
            records, tags=np.arange(records.number_of_records, dtype=np.uint64) << np.uint64(40)
        )
    expected = content_digest(as_table(records), KEY)
    order = np.random.default_rng(seed).permutation(records.number_of_records)
    turned = rows_of_records(records, order)
    assert content_digest(as_table(turned), KEY) == expected
    parts = in_partitions(turned, tmp_path_factory.mktemp("parts"), number, FarAway())
    assert content_digest(as_table(parts), KEY) == expected


@given(table=raw_tables(most_rows=6), other=raw_tables(most_rows=6))
@settings(max_examples=60, deadline=None)
def test_digests_are_equal_where_the_records_are(table, other):
    """Under one schema and dictionary: as a multiset, so that how often a record occurs counts."""

    def told(records):
        rows = np.stack([np.zeros(records.number_of_records, np.int64), *records.slots], axis=1)
        return records.facts, sorted(map(tuple, rows.tolist()))

    one, two = coded(*table), coded(*other)
    assert (content_digest(as_table(one), KEY) == content_digest(as_table(two), KEY)) == (
        told(one) == told(two)
    )


def test_each_record_counts_as_often_as_it_occurs_and_under_its_key():
    records = coded(*SINGLE)
    twice = rows_of_records(records, [0, 0, 1])
    assert hash_records(twice, KEY) != hash_records(rows_of_records(records, [0, 1, 1]), KEY)
    one, other = (hash_records(rows_of_records(records, rows), KEY) for rows in ([0, 0], [1]))
    assert (one + other) % 2**256 == hash_records(twice, KEY)
    assert hash_records(twice, b"another") != hash_records(twice, KEY)


def test_a_table_longer_than_what_is_hashed_at_once_is_hashed_whole(monkeypatch):
    records = rows_of_records(coded(*SINGLE), [0, 1, 1, 0, 1])
    expected = hash_records(records, KEY)
    monkeypatch.setattr(content, "_ROWS_AT_ONCE", 2)
    assert hash_records(records, KEY) == expected


@pytest.mark.parametrize("change", [{"values": (("x", "z"),)}, {"schema": "renamed"}])
def test_the_same_codes_of_other_values_are_other_records(change):
    records = coded(*SINGLE)
    if change.get("schema"):
        column = replace(records.schema.columns[0], name="town")
        change = {"schema": replace(records.schema, columns=(column,))}
    assert content_digest(as_table(replace(records, **change)), KEY) != content_digest(as_table(records), KEY)
