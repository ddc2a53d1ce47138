"""A set of a block's rows, beside Python's sets: whole, a bitset, a list, and all ways between them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.synthesis.rows import (
    BITS,
    HELD,
    KIND,
    LIST,
    begin_with_all,
    bits_of,
    build_block_index,
    count_held,
    count_with,
    narrow,
    present_rows,
    row_at,
    row_set,
)

ATTRIBUTES, ROWS = 5, 200


def _index(seed, rows_a_bit):
    """Attributes of very different frequency in three slots; the last one stands in every row."""
    random = np.random.default_rng(seed)
    cells = random.choice(ATTRIBUTES, (ROWS, 3), p=[0.05, 0.1, 0.15, 0.2, 0.5]).astype(np.uint16)
    for slot in (1, 2):  # no attribute twice in a row
        cells[(cells[:, :slot] == cells[:, slot, None]).any(axis=1), slot] = ATTRIBUTES
    cells = np.column_stack([cells, np.full(ROWS, ATTRIBUTES - 1, np.uint16)])
    cells[:, :3][cells[:, :3] == ATTRIBUTES - 1] = ATTRIBUTES
    return build_block_index(np.ascontiguousarray(cells), count_held(cells, ATTRIBUTES), 1, rows_a_bit)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 10),
    st.sampled_from([1, 8, 1000]),
    st.sampled_from([0, 10, ROWS]),
    st.sampled_from([1, 5, ROWS]),
    st.sampled_from([0, 1, 20]),
    st.permutations(range(ATTRIBUTES)),
)
def test_a_set_is_narrowed_as_sets_are(seed, rows_a_bit, short, rows_a_list, least, order):
    index = _index(seed, rows_a_bit)
    rows = row_set(index, least=least, short=short, rows_a_list=rows_a_list)
    holding = [set(np.flatnonzero((index.cells == a).any(axis=1)).tolist()) for a in range(ATTRIBUTES)]
    begin_with_all(rows)
    present = set(range(ROWS))
    for attribute in order:
        before, kept = rows.now.copy(), present & holding[attribute]
        assert narrow(rows, attribute) == (len(kept) >= least)
        if len(kept) < least:
            assert rows.now.tolist() == before.tolist()
        else:
            after = rows.now.copy()
            rows.now[:] = before
            assert present_rows(rows).tolist() == sorted(present)  # one can go back one step
            rows.now[:], present = after, kept
        assert present_rows(rows).tolist() == sorted(present)
        assert rows.now[HELD] == len(present)
        for other in range(ATTRIBUTES):
            both = len(present & holding[other])
            assert count_with(rows, other, ROWS + 1) == both
            assert (count_with(rows, other, 7) >= 7) == (both >= 7)


@pytest.mark.parametrize("attribute", range(3))
def test_a_row_is_found_by_its_place_in_a_bitset(attribute):
    rows = row_set(_index(1, 1000), least=0)
    begin_with_all(rows)
    narrow(rows, attribute)
    assert rows.now[KIND] == BITS
    found = [row_at(bits_of(rows), place) for place in range(rows.now[HELD])]
    assert found == present_rows(rows).tolist()


def test_few_rows_become_a_list():
    rows = row_set(_index(1, 1000), least=0, short=ROWS)
    begin_with_all(rows)
    narrow(rows, 0)
    narrow(rows, 1)
    assert rows.now[KIND] == LIST
