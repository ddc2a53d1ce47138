"""Sensitivity of records: the published examples and its own limits."""

import numpy as np
import pytest

from tasks.core.aggregates.sensitivity import sensitivity_by_length
from tasks.core.errors import ParameterError
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tests.oracles.rare import T1_FILE, from_file


@pytest.mark.parametrize("length", [3, 0, -1, 7])
def test_t1_sensitivities_of_the_five_records(tmp_path, length):
    """sds.md T1; all lengths may be asked for in three ways."""
    records, _ = from_file(T1_FILE, tmp_path)
    assert sensitivity_by_length(records, length).T.tolist() == [
        [7, 3, 3, 1], [7, 3, 3, 1], [3, 2, 1, 0], [7, 3, 3, 1], [3, 2, 1, 0],
    ]  # fmt: skip


def test_t3_sensitivities_of_pairs(tmp_path):
    """sds.md T3."""
    records, _ = from_file("A,B,C\na1,b1,c1\na1,b2,c1\na2,,c2\n", tmp_path)
    assert sensitivity_by_length(records, 2)[2].tolist() == [3, 3, 1]


def test_items_are_attributes_of_their_own(tmp_path):
    records, _ = from_file("M,B\nx;y;z,b\n,\n", tmp_path, multi_value_columns={"M": ";"})
    assert sensitivity_by_length(records, 2).tolist() == [[10, 0], [4, 0], [6, 0]]


def test_numbers_beyond_an_integer_are_refused():
    slots = tuple(np.ones(1, np.uint8) for _ in range(70))
    schema = Schema(tuple(Column(f"c{i}") for i in range(70)))
    records = CodedRecords(schema, slots, tuple(range(70)), (("x",),) * 70, 1)
    assert sensitivity_by_length(records, 4)[4].tolist() == [916_895]
    with pytest.raises(ParameterError, match="reporting_length"):
        sensitivity_by_length(records, -1)
    with pytest.raises(ParameterError):
        sensitivity_by_length(records, -2)
