"""Published examples of candidates and sensitivities, visited and not."""

import numpy as np
import pytest

from tasks.core.dp.candidates import SizeRule
from tasks.core.dp.tallies import SurvivingCodes, TupleCounts
from tests.oracles import measuring
from tests.oracles.mechanism import add, lattice_of

RULES = [SizeRule(), SizeRule(0, 0, 0)]


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
