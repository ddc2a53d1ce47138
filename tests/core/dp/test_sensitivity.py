"""Audit A1: one record more changes the exact part of the measurement by no more than the noise covers.

With the coins pinned, of any table D and record x: every count of D + x is that of D or one more, at most
Delta_k of them are more, new candidates of length 1 have a count of 1, and candidates of longer lengths are
the same for the same survivors (T3, steps ii and iii). Each test of a wrong part shows that the
audit catches it.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.tags import records_below, tag_bound
from tasks.core.dp.tallies import ValueCounts
from tests.oracles import measuring
from tests.oracles.mechanism import (
    UntruncatedValues,
    add,
    dense_cells,
    lattice_of,
    sparse_cells,
    tuple_counts,
    value_counts,
)
from tests.oracles.partitions import rows_of_records

AUDIT = settings(
    max_examples=500,
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate],
)


@st.composite
def neighbours(draw):
    """A table, the same with one record more somewhere in it, and the numbers of values."""
    schema, sizes = draw(measuring.schemas(3))
    one = measuring.rows_of(schema, sizes)
    rows = draw(st.lists(one, max_size=6))
    more = [*rows]
    more.insert(draw(st.integers(0, len(rows))), draw(one))
    values = measuring.all_values(sizes)
    return measuring.coded(schema, rows, values), measuring.coded(schema, more, values), sizes


def by_position(records):
    """Wrong: coins that belong to a row's place."""
    return dataclasses.replace(records, tags=np.arange(records.number_of_records, dtype=np.uint64))


def by_partition(records, partition_of):
    """Coins of tags that number identical records within each partition."""
    rows = list(zip(*(codes.tolist() for codes in records.slots), strict=True)) or [()] * len(records.tags)
    partitions = [partition_of(place, row) for place, row in enumerate(rows)]
    tags = np.zeros(len(rows), np.uint64)
    for partition in set(partitions):
        mine = [place for place, own in enumerate(partitions) if own == partition]
        tags[mine] = measuring.tags_of([rows[place] for place in mine])
    return dataclasses.replace(records, tags=tags)


def by_place(records):
    """Wrong: who is in a partition depends on how many rows stand before."""
    return by_partition(records, lambda place, row: place // 2)


def by_content(records):
    """Identical records are in one partition, whoever else is in the table."""
    return by_partition(records, lambda place, row: hash(row) % 2)


def assert_close(fewer, more, limit):
    changes = {cell: count - fewer.get(cell, 0) for cell, count in more.items()}
    assert set(fewer) <= set(more)
    assert set(changes.values()) <= {0, 1}
    assert sum(changes.values()) <= limit
    assert all(changes[cell] == 1 for cell in set(more) - set(fewer))


def length_1(records, limit, counting):
    counted, (_, bound) = value_counts(records, counting)
    bound(limit)
    return {
        (index, code): int(counted.counts_of_column(index)[code])
        for index, column in enumerate(records.schema.columns)
        for code in counted.candidates(index, column).tolist()
    }


def audit_length_1(changed=lambda records: records, counting=ValueCounts):
    @AUDIT
    @given(neighbours(), st.integers(1, 4))
    def audit(pair, limit):
        fewer, more = (length_1(changed(records), limit, counting) for records in pair[:2])
        assert_close(fewer, more, limit)

    audit()


def audit_longer_lengths(changed=lambda records: records):
    @AUDIT
    @given(neighbours(), st.integers(1, 4), st.sampled_from([SizeRule(), SizeRule(0, 0, 0)]), st.data())
    def audit(pair, limit, rule, data):
        *tables, sizes = pair
        schema = tables[0].schema
        lattice, survivors = lattice_of(schema, sizes)
        for length in range(2, min(schema.width, 4) + 1):
            both = [tuple_counts(changed(records), lattice, length, limit, rule) for records in tables]
            fewer, more = ({**dense_cells(counts), **sparse_cells(counts)} for counts in both)
            assert set(fewer) == set(more)
            assert_close(fewer, more, limit)
            wanted = measuring.candidates(schema, sizes, survivors, length)
            survivors = data.draw(st.sets(st.sampled_from(sorted(wanted)))) if wanted else set()
            add(lattice, schema, length, survivors)

    audit()


def audit_record_limit(sampled):
    @AUDIT
    @given(neighbours(), st.integers(0, 5), st.integers(1, 12))
    def audit(pair, limit, noisy_count):
        fewer, more = (
            length_1(sampled(records, limit, noisy_count), 99, ValueCounts) for records in pair[:2]
        )
        assert_close(fewer, more, pair[0].schema.width)

    audit()


def first_of(records, order, limit):
    """So many records, the first by an order."""
    return rows_of_records(records, np.argsort(order[: records.number_of_records])[:limit])


def test_a1_length_1():
    audit_length_1()


def test_a1_longer_lengths():
    audit_longer_lengths()


def test_a1_rule_14_record_limit():
    audit_record_limit(lambda records, limit, count: records_below(records, tag_bound(limit, count)))


def test_a1_tags_may_be_numbered_in_partitions_that_identical_records_share():
    audit_length_1(by_content)


@pytest.mark.parametrize(
    ("audit", "wrong"),
    [
        (audit_length_1, {"changed": by_position}),
        (audit_longer_lengths, {"changed": by_position}),
        # One row more moves others to the next partition, where they get other numbers, and so other coins.
        (audit_length_1, {"changed": by_place}),
        (audit_longer_lengths, {"changed": by_place}),
        (audit_length_1, {"counting": UntruncatedValues}),  # G3: candidates of before the truncation
        # G8, the first N records, and R14's N smallest hashes: at distance two.
        (audit_record_limit, {"sampled": lambda records, limit, _: first_of(records, range(10**6), limit)}),
        (audit_record_limit, {"sampled": lambda records, limit, _: first_of(records, records.tags, limit)}),
    ],
)
def test_a1_catches_what_is_wrong(audit, wrong):
    with pytest.raises(AssertionError):
        audit(**wrong)
