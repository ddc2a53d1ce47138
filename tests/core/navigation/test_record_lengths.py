"""How long the synthetic records are, in words."""

import numpy as np
import pytest

from tasks.core.navigation.report import lengths_told
from tasks.core.synthesis.records import SyntheticRecords


@pytest.mark.parametrize(
    ("lengths", "sentence"),
    [
        ([6, 6, 6], "Each synthetic record has 6 attributes."),
        ([1], "Each synthetic record has 1 attribute."),
        ([3, 6, 6, 6, 9], "At least half of the synthetic records have 6 attributes; the longest has 9."),
        ([1, 1, 1, 1, 0], "At least half of the synthetic records have 1 attribute; none has more."),
        (
            [2, 3, 4, 5, 6],
            "Half of the synthetic records have 3 to 5 attributes; the median is 4, the longest has 6.",
        ),
    ],
)
def test_the_lengths_of_records_are_told_once(lengths: list[int], sentence: str):
    offsets = np.cumsum([0, *lengths])
    records = SyntheticRecords(("town",), (), offsets, np.zeros(offsets[-1], np.int32))
    assert lengths_told(records) == sentence
