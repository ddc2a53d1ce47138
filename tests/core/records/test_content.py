"""The digest of a table's records: the same in any order and any partitions, another for other records."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import content
from tasks.core.records.content import content_digest, hash_records
from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, as_table, in_partitions, rows_of_records
from tests.oracles.raw_tables import raw_tables

KEY = bytes(range(32))


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
    records = coded(*single())
    twice = rows_of_records(records, [0, 0, 1])
    assert hash_records(twice, KEY) != hash_records(rows_of_records(records, [0, 1, 1]), KEY)
    one, other = (hash_records(rows_of_records(records, rows), KEY) for rows in ([0, 0], [1]))
    assert (one + other) % 2**256 == hash_records(twice, KEY)
    assert hash_records(twice, b"another") != hash_records(twice, KEY)


def test_a_table_longer_than_what_is_hashed_at_once_is_hashed_whole(monkeypatch):
    records = rows_of_records(coded(*single()), [0, 1, 1, 0, 1])
    expected = hash_records(records, KEY)
    monkeypatch.setattr(content, "_ROWS_AT_ONCE", 2)
    assert hash_records(records, KEY) == expected


@pytest.mark.parametrize("change", [{"values": (("x", "z"),)}, {"schema": "renamed"}])
def test_the_same_codes_of_other_values_are_other_records(change):
    records = coded(*single())
    if change.get("schema"):
        column = replace(records.schema.columns[0], name="town")
        change = {"schema": replace(records.schema, columns=(column,))}
    assert content_digest(as_table(replace(records, **change)), KEY) != content_digest(as_table(records), KEY)


def single():
    from tests.oracles.raw_tables import schema_of

    return schema_of(False), [[{"x"}], [{"y"}]]
