"""Integers and decimals that floats don't tell apart: none merge, and none is made up."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer

VALUES = [
    pa.array([5, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**64 - 2, 2**64 - 1], pa.uint64()),
    pa.array([-(2**63), -(2**63) + 1, -7, 0, 2**62 + 1, 2**62 + 2, None], pa.int64()),
    pa.array([-(10**37), 1 - 10**37, 0, 10**30 + 7], pa.decimal128(38, 0)),
    pa.array([Decimal("1.05"), Decimal("12345678901234567890.01"), Decimal("12345678901234567890.02")]),
]


@pytest.mark.parametrize("value_safe", [False, True])
@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(values.type))
def test_values_that_are_released_come_out_as_they_are(values, value_safe):
    table = pa.table({"number": pa.concat_arrays([values] * 40)})
    safe = frozenset(["number"] if value_safe else [])
    parameters = SynDiffixParameters(AnonymizationParameters(b"sixteen bytes of"), value_safe_columns=safe)
    made = Synthesizer(table, parameters).sample()["number"]
    assert made.type == values.type and set(made.to_pylist()) == set(values.to_pylist())


def test_floats_stay_in_order_and_near_and_those_that_are_exact_stay():
    numbers = [*range(-(2**62), -(2**62) + 40), -3, 9, *range(2**62 - 20, 2**62 + 20)]
    order = np.random.default_rng(1).permutation(len(numbers))
    column = encode_column("c", pa.array([numbers[place] for place in order], pa.int64()))
    floats = column.values[np.argsort(order)]
    assert (np.diff(floats) > 0).all() and floats[40:42].tolist() == [-3, 9]
    assert (np.abs(floats - np.array(numbers, float)) <= 40 * 1024).all()


def test_a_number_that_is_drawn_from_a_range_is_not_somebody_s():
    column = encode_column("c", pa.array([5, 2**60 + 1, 2**60 + 3], pa.int64()))
    drawn = column.decode(column.values, np.zeros(3, bool)).to_pylist()
    assert not set(drawn[1:]) & {2**60 + 1, 2**60 + 3}
