"""Combinations are put in order by words that hold their counts, or by finding an order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.aggregates.wide_form import sort_combinations

COUNTS = [st.integers(0, 9), st.integers(0, 1 << 62), st.integers(-9, 9)]


@given(data=st.data(), length=st.integers(1, 4), bound=st.sampled_from([1, 3, 300, 1 << 16, 1 << 31]))
@pytest.mark.parametrize("counts", COUNTS, ids=["small", "large", "of both signs"])
def test_rows_are_in_order_with_their_own_counts(counts, data, length, bound):
    row = st.tuples(*[st.integers(0, bound - 1)] * length)
    rows = data.draw(st.dictionaries(row, counts, max_size=20))
    parts = np.array_split(np.array(list(rows), np.int32).reshape(-1, length), 3)
    of_parts = np.array_split(np.array(list(rows.values()), np.int64), 3)
    ids, own = sort_combinations(zip(parts, of_parts, strict=True), length, bound)
    assert (ids.dtype, own.dtype) == (np.int32, np.int64)
    assert dict(zip(map(tuple, ids.tolist()), own.tolist(), strict=True)) == rows
    assert ids.tolist() == sorted(map(list, rows))
