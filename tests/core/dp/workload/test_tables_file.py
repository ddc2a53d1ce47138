"""The file of every noisy count, against the measurement cell by cell."""

import itertools

import numpy as np
import pyarrow.parquet as pq
import pytest

from tasks.core.dp.workload import tables_file
from tasks.core.dp.workload.tables_file import write_noisy_tables
from tests.oracles.workloads import draw, parameters, people


def cells_of(cells, first):
    """(kind, value) of each cell of a column; at length 1 nothing is `other`."""
    found = [("value", value) for value in cells.values]
    found += [("other", None)] * (cells.has_other and not first)
    return found + [("absent", None)] * cells.has_absent


@pytest.mark.parametrize("at_once", [7, 1 << 18])
@pytest.mark.parametrize("number", [0, 600])
def test_every_cell_is_told_as_it_was_drawn(number, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(tables_file, "_AT_ONCE", at_once)
    drawn = draw(people(number, 4), parameters(4.0))
    rows = write_noisy_tables(drawn, tmp_path / "tables.parquet")
    told = pq.read_table(tmp_path / "tables.parquet").to_pylist()
    expected = []
    for place, table in enumerate([*drawn.values, *drawn.tables]):
        columns = [cells_of(drawn.cells[c], place < len(drawn.values)) for c in table.columns]
        assert tuple(map(len, columns)) == table.counts.shape
        names = [drawn.schema.columns[c].name for c in table.columns]
        for at in itertools.product(*map(range, table.counts.shape)):
            cells = [column[code] for column, code in zip(columns, at, strict=True)]
            expected.append(
                {
                    "columns": names,
                    "cells": [kind for kind, _ in cells],
                    "values": [value for _, value in cells],
                    "noisy_count": int(table.counts[at]),
                    "scale": table.scale,
                }
            )
    assert told == expected and rows == len(expected)
    assert sum(np.prod(table.counts.shape) for table in [*drawn.values, *drawn.tables]) == rows
