"""The measuring kernels, where an oracle on small tables can't see a fault."""

import numpy as np
import numpy.typing as npt
import pytest

from tasks.core.dp import kernels

FULL = (1 << 31) - 1


def cells_about_to_overflow() -> npt.NDArray[np.uint32]:
    """A cube of 2 x 2 whose absent cells hold the most that fits, and whose last cell is a candidate."""
    return np.array([FULL, FULL, FULL, int(kernels.CANDIDATE)], np.uint32)


@pytest.mark.parametrize("with_sensitivity", [False, True])
def test_rule_2_no_number_of_absent_values_makes_a_candidate_of_their_cell(with_sensitivity):
    # C(64, 3) choices of slots reach the cell of three absent items: 51,543 records would set its flag.
    codes = np.array([[0, 1, 0, 1], [0, 0, 1, 1]], np.uint8)
    cells, sensitivity = cells_about_to_overflow(), np.zeros(4, np.uint32)
    slots, offsets, sizes = np.array([[0, 1]]), np.zeros(1, np.int64), np.array([2, 2])
    if with_sensitivity:
        kernels.count_tuples_and_sensitivity(codes, (0, 4), slots, offsets, sizes, cells, sensitivity)
        assert sensitivity.tolist() == [0, 0, 0, 1]
    else:
        kernels.count_tuples(codes, (0, 4), slots, offsets, sizes, cells)
    assert cells.tolist() == [FULL, FULL, FULL, int(kernels.CANDIDATE) + 1]
