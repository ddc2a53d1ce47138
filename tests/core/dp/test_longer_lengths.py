"""Candidates, counts, sensitivities and drops of lengths 2 and beyond against the slow oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.candidates import Lattice, SizeRule, Survivors
from tasks.core.dp.kernels import CANDIDATE, COUNT
from tasks.core.dp.longer_lengths import TupleCounts
from tests.oracles import measuring

NEVER = SizeRule(0, 0, 0)
ALWAYS = SizeRule()


def lattice_of(schema, sizes):
    lattice = Lattice(np.array(sizes, np.int64))
    first = {((column,), (code,)) for column, size in enumerate(sizes) for code in range(1, size + 1)}
    add(lattice, schema, 1, first)
    return lattice, first


def add(lattice, schema, length, survivors):
    combinations = schema.combinations(length)
    place = {combination: index for index, combination in enumerate(combinations)}
    rows = sorted((place[columns], codes) for columns, codes in survivors)
    starts = np.searchsorted([row[0] for row in rows], np.arange(len(combinations) + 1))
    codes = np.array([row[1] for row in rows], np.uint32).reshape(-1, length)
    lattice.levels.append(Survivors(combinations, starts.astype(np.int64), codes))


def dense_cells(counts):
    cubes, found = counts.dense.cubes, {}
    for place in np.flatnonzero(counts.dense.cells >= CANDIDATE):
        cube = int(np.searchsorted(cubes.offsets, place, side="right")) - 1
        key, codes = int(place - cubes.offsets[cube]), []
        for size in cubes.sizes[cube][::-1].tolist():
            codes.append(key % size)
            key //= size
        cell = (tuple(cubes.columns[cube].tolist()), tuple(codes[::-1]))
        found[cell] = int(counts.dense.cells[place] & COUNT)
    return found


def sparse_cells(counts):
    """Held candidates with their counts, and the others with 0, as `_empty_cells` enumerates them."""
    found = {}
    for table in counts.sparse.values():
        empty = table._empty_cells(np.arange(table.candidates - len(table.keys)))
        for keys, values in ((table.keys, table.counts), (empty, np.zeros(len(empty), int))):
            for key, count in zip(keys.tolist(), values.tolist(), strict=True):
                prefix = tuple(table.prefixes[key // table.size].tolist())
                cell = (table.combination, (*prefix, key % table.size))
                assert cell not in found
                found[cell] = count
    return found


@settings(max_examples=150, deadline=None)
@given(measuring.tables(), st.data(), st.sampled_from([ALWAYS, NEVER, SizeRule(6, 40, 20)]))
def test_candidates_counts_sensitivities_and_drops_are_those_of_the_oracle(records, data, rule):
    schema, sizes = records.schema, [len(values) for values in records.values]
    codes = np.array(records.slots, np.uint8).reshape(len(records.slots), records.number_of_records)
    lattice, survivors = lattice_of(schema, sizes)
    for length in range(2, schema.width + 1):
        counts = TupleCounts.of(schema, schema.combinations(length), lattice, rule)
        wanted = measuring.candidates(schema, sizes, survivors, length)
        assert counts.candidates == len(wanted)
        sensitivity = counts.count(codes, True, lambda share: None)
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
        counts.drop(codes, records.tags, sensitivity, limit)
        if rule is ALWAYS:
            dropped = measuring.counts_of(records, length, wanted, limit)
            assert dense_cells(counts) == {cell: dropped.get(cell, 0) for cell in wanted}
        else:
            total = sum(int(table.counts.sum()) for table in counts.sparse.values())
            assert total == sum(min(limit, each) for each in held)

        survivors = data.draw(st.sets(st.sampled_from(sorted(wanted)))) if wanted else set()
        add(lattice, schema, length, survivors)
