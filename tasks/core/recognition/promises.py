"""What nearly every cell of a column keeps to, and a contract may promise: no empty cell, nothing below 0.

A recognised column and its cells go in; the column comes out, its treatment with what may be promised. Cells
are read as a run reads them. As of everything in a draft, a few of them decide nothing.
"""

from dataclasses import replace

import duckdb

from tasks.core.arrays import Flags
from tasks.core.recognition.cells import FEW, SeenColumn
from tasks.core.recognition.edges import PERCENTS, TENTHS
from tasks.core.recognition.treatment import Recognised, Treatment
from tasks.core.records.cells import code_texts, numbers_of_texts


def with_promises(found: Recognised, cells: SeenColumn, connection: duckdb.DuckDBPyConnection) -> Recognised:
    """The column with what nearly every cell of it keeps to."""
    treatment = found.treatment
    if not treatment.is_used or treatment.delimiter is not None or not cells.distinct:
        return found
    treatment = _within_limits(treatment, cells, connection)
    empty = cells.rows - int(cells.held[_has_value(treatment, cells, connection)].sum())
    return replace(found, treatment=replace(treatment, is_required=empty < _few(cells)))


def _few(cells: SeenColumn) -> int:
    """So many cells are a few; of a small table one in twenty."""
    return max(1, min(FEW, cells.rows // 20))


def _within_limits(
    treatment: Treatment, cells: SeenColumn, connection: duckdb.DuckDBPyConnection
) -> Treatment:
    """With a minimum where bins begin at 0, and a maximum where they end with the whole of a share."""
    if treatment.bins is None:
        return treatment
    read = cells.read(connection, treatment.reading)
    numbers = numbers_of_texts(connection, list(read.texts), treatment.number_format)
    first, last = treatment.bins[0], treatment.bins[-1]
    is_least = first == 0 and int(read.held[numbers < first].sum()) < _few(cells)
    is_most = treatment.bins in (TENTHS, PERCENTS) and int(read.held[numbers > last].sum()) < _few(cells)
    return replace(treatment, minimum=0 if is_least else None, maximum=last if is_most else None)


def _has_value(treatment: Treatment, cells: SeenColumn, connection: duckdb.DuckDBPyConnection) -> Flags:
    """Of each text whether a record that holds it has a value."""
    return code_texts(cells.texts, treatment.column(cells.name), connection).codes > 0
