import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.tallies import SurvivingCodes, TupleCounts
from tasks.core.records.columns import Column, Schema
from tests.oracles import measuring
from tests.oracles.mechanism import add, dense_cells, lattice_of, sparse_cells

NEVER = SizeRule(0, 0, 0)
ALWAYS = SizeRule()


@settings(max_examples=150, deadline=None)
@given(measuring.tables(), st.data(), st.sampled_from([ALWAYS, NEVER, SizeRule(6, 40, 20)]))
def test_candidates_counts_sensitivities_and_drops_are_those_of_the_oracle(records, data, rule):
    schema, sizes = records.schema, [len(values) for values in records.values]
    codes = np.array(records.slots, np.uint8).reshape(len(records.slots), records.number_of_records)
    seen = SurvivingCodes(codes, records.tags)
    lattice, survivors = lattice_of(schema, sizes)
    for length in range(2, schema.width + 1):
        counts = TupleCounts.blank(schema, schema.combinations(length), lattice, rule)
        wanted = measuring.candidates(schema, sizes, survivors, length)
        assert counts.candidates == len(wanted)
        sensitivity = counts.count(seen, True, lambda share: None)
        held = [
            len(measuring.kept_tuples(records, row, length, wanted, None))
            for row in range(records.number_of_records)
        ]
        assert sensitivity.tolist() == held
        exact = measuring.counts_of(records, length, wanted)
        every = {**dense_cells(counts), **sparse_cells(counts)}
        assert every == {cell: exact.get(cell, 0) for cell in wanted}

        if rule is not ALWAYS and counts.dense.found.any():
            return  # the oracle's coins know one order: all dense or all sparse in the order of slots
        limit = data.draw(st.integers(1, 4))
        counts.drop(seen, sensitivity, limit)
        if rule is ALWAYS:
            dropped = measuring.counts_of(records, length, wanted, limit)
            assert dense_cells(counts) == {cell: dropped.get(cell, 0) for cell in wanted}
        else:
            total = sum(int(table.counts.sum()) for table in counts.sparse.values())
            assert total == sum(min(limit, each) for each in held)

        survivors = data.draw(st.sets(st.sampled_from(sorted(wanted)))) if wanted else set()
        add(lattice, schema, length, survivors)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.8])
def test_candidates_of_a_lattice_with_holes_are_those_of_the_oracle(density):
    """Many prefixes with an empty list beside one that is not: triples of three columns and of one."""
    schema = Schema((Column("a"), Column("b"), Column("c"), Column("m", delimiter=";", max_items=3)))
    sizes = [5, 6, 5, 6]
    records = measuring.coded(schema, [], measuring.all_values(sizes))
    rng = np.random.default_rng(3)
    for _ in range(15):
        lattice, survivors = lattice_of(schema, sizes)
        pairs = sorted(measuring.candidates(schema, sizes, survivors, 2))
        survivors = {pair for pair in pairs if rng.random() < density}
        add(lattice, schema, 2, survivors)
        for rule in (ALWAYS, NEVER):
            counts = TupleCounts.blank(schema, schema.combinations(3), lattice, rule)
            counts.count(SurvivingCodes(np.array(records.slots, np.uint8)), False, lambda share: None)
            wanted = measuring.candidates(schema, sizes, survivors, 3)
            assert set({**dense_cells(counts), **sparse_cells(counts)}) == wanted
            assert counts.candidates == len(wanted)


RULES = [ALWAYS, NEVER]


def counted(records, lattice, length, rule):
    codes = np.array(records.slots, np.uint8)
    counts = TupleCounts.blank(records.schema, records.schema.combinations(length), lattice, rule)
    return counts, counts.count(SurvivingCodes(codes), True, lambda share: None)


def named(records, text):
    """a1b1 of columns A, B as a tuple of the oracle."""
    cells = [text[i : i + 2] for i in range(0, len(text), 2)]
    columns = tuple("ABCD".index(cell[0].upper()) for cell in cells)
    codes = (records.values[c].index(cell) + 1 for c, cell in zip(columns, cells, strict=True))
    return columns, tuple(codes)


@pytest.mark.parametrize("rule", RULES)
def test_t3_twelve_pairs_and_eight_triples_are_candidates(rule):
    """S10.3: sensitivities of pairs [3, 3, 1]; the documents' list of 8 pairs forgets those of a2."""
    records = measuring.table("ABC", [("a1", "b1", "c1"), ("a1", "b2", "c1"), ("a2", "", "c2")])
    lattice, survivors = lattice_of(records.schema, [2, 2, 2])
    pairs, sensitivity = counted(records, lattice, 2, rule)
    assert (len(survivors), pairs.candidates) == (6, 12)
    assert sensitivity.tolist() == [3, 3, 1]
    add(lattice, records.schema, 2, measuring.candidates(records.schema, [2, 2, 2], survivors, 2))
    assert counted(records, lattice, 3, rule)[0].candidates == 8


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("removed", "triples"), [((), 20), (("a1b1", "a2d1"), 14)])
def test_t7_candidates_follow_the_survivors(rule, removed, triples):
    """S10.7: 7 singles, 18 pairs, 20 triples; without a1b1 and a2d1, 14 triples."""
    records = measuring.table("ABCD", [("a1", "b1", "c1", "d1"), ("a2", "b2", "c1", "d2")])
    sizes = [2, 2, 1, 2]
    lattice, survivors = lattice_of(records.schema, sizes)
    assert counted(records, lattice, 2, rule)[0].candidates == 18
    pairs = measuring.candidates(records.schema, sizes, survivors, 2)
    add(lattice, records.schema, 2, pairs - {named(records, text) for text in removed})
    assert counted(records, lattice, 3, rule)[0].candidates == triples


def test_rule_15_cubes_are_visited_by_public_sizes_smallest_first():
    cells = np.array([10.0, 400.0, 20.0, 90.0, 10.0])
    open_columns = np.zeros(5, bool)
    assert SizeRule(300, 1000, 0).visited(cells, open_columns).tolist() == [True, False, True, True, True]
    assert SizeRule(300, 45, 0).visited(cells, open_columns).tolist() == [True, False, True, False, True]
    declared = np.array([False, False, True, True, True])
    assert SizeRule(300, 1000, 30).visited(cells, declared).tolist() == [True, False, True, False, True]
