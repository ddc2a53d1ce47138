"""Sensitivity of records: how many combinations of each length a record holds (sds.md 2.1)."""

import math

import numpy as np
import numpy.typing as npt

from tasks.core.errors import ParameterError
from tasks.core.records.coded import CodedRecords

Integers = npt.NDArray[np.int64]


def sensitivity_by_length(records: CodedRecords, reporting_length: int) -> Integers:
    """C(w, k) of each record with w attributes.

    Args:
        records: coded records.
        reporting_length: R; 0 or -1: all lengths; beyond the number of slots: as many.

    Returns:
        int64 (R + 1, n): row 0 all lengths together, row k those of length k.

    Raises:
        ParameterError: the length is below -1, or the numbers are beyond 64 bits.
    """
    width = len(records.slots)
    if reporting_length < -1:
        raise ParameterError(f"A reporting length is -1 (all) or at least 1, not {reporting_length}.")
    longest = width if reporting_length in (0, -1) else min(reporting_length, width)
    widths = np.zeros(records.number_of_records, np.int64)
    for codes in records.slots:
        widths += codes > 0
    table = [[math.comb(held, length) for held in range(width + 1)] for length in range(1, longest + 1)]
    totals = [sum(row[held] for row in table) for held in range(width + 1)]
    if totals[-1] > np.iinfo(np.int64).max:
        raise ParameterError(
            f"A record of {width} attributes has more combinations of up to {longest} than can be counted: "
            "set a shorter reporting_length."
        )
    return np.array([totals, *table], np.int64)[:, widths]
