"""A table in partitions: its facts, and the records at some of its places."""

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.marginals import coded
from tests.oracles.partitions import FarAway, in_partitions, rows_of_records
from tests.oracles.raw_tables import single_valued

TABLE = coded(*single_valued("x,1 y,2 .,3 y,. x,5 z,6 z,7"))
TAGGED = replace(TABLE, tags=np.arange(7, dtype=np.uint64))


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("records", [TABLE, TAGGED])
@pytest.mark.parametrize("places", [[], [0], [6], [1, 2, 5], list(range(7))])
def test_records_at_places_are_those_of_the_whole_table(records, number, places, tmp_path):
    parts = in_partitions(records, tmp_path, number, FarAway())
    assert parts.facts == records.facts
    found = parts.at(np.array(places, np.int64))
    expected = rows_of_records(records, np.array(places, np.int64))
    assert found.facts == expected.facts
    for one, other in zip(found.slots, expected.slots, strict=True):
        assert one.tolist() == other.tolist()
        assert one.dtype == other.dtype
    if records.tags is not None:
        assert found.tags.tolist() == expected.tags.tolist()
