"""Coded records made to hold the constraints of their schema, before anything is counted (W22).

Records of the measured columns go in; the same records come out, those that broke a constraint repaired,
each by itself, and with the columns that others decide. Nobody is stopped or dropped for a constraint, and
how many were repaired is for ``sensitive/`` alone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tasks.core.arrays import Codes, Ids
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import BROKE_A_CONSTRAINT, DroppedCells, ReportDropped
from tasks.core.records.rulebook import Rulebook, coding_of_values


def repair_records(
    records: CodedRecords,
    schema: Schema,
    report_dropped: ReportDropped | None = None,
    filled: Collection[int] = (),
) -> CodedRecords:
    """Repair records and add the columns that others decide.

    Args:
        records: of ``schema.measured``.
        schema: the whole one.
        report_dropped: told of cells that a repair changed.
        filled: columns in which the draw counts an empty cell as the value for what is outside; here, too.
    """
    if not schema.constraints:
        return records
    instead = {column: schema.columns[column].other or "" for column in filled}
    book = Rulebook(schema, coding_of_values(records.values, records.slot_columns, instead))
    held = np.array(records.slots, np.int32).reshape(len(records.slots), records.number_of_records).T
    repaired = book.repaired(held)
    if report_dropped is not None:
        _tell(records, held, repaired, report_dropped)
    return _with_derived_columns(_coded(records, repaired), schema, instead)


def _tell(records: CodedRecords, held: Ids, repaired: Ids, report_dropped: ReportDropped) -> None:
    """Tell how many values and items of each column are no more."""
    places = np.asarray(records.slot_columns)
    for column, about in enumerate(records.schema.columns):
        before, after = held[:, places == column], repaired[:, places == column]
        gone = (before[:, :, None] != after[:, None, :]).all(axis=2) & (before != 0)
        if gone.any():
            report_dropped(DroppedCells(about.name, BROKE_A_CONSTRAINT, int(gone.sum())))


def _coded(records: CodedRecords, slots: Ids) -> CodedRecords:
    """The records with codes in slots: items ascend and fill the first ones."""
    places = np.asarray(records.slot_columns)
    found: list[Codes] = []
    for column, values in enumerate(records.values):
        codes = slots[:, places == column]
        if codes.shape[1] > 1:
            codes = np.sort(np.where(codes == 0, np.int32(len(values) + 1), codes), axis=1)
            codes[codes > len(values)] = 0
        found.extend(np.ascontiguousarray(codes.T, code_type(len(values))))
    return replace(records, slots=tuple(found))


def _with_derived_columns(records: CodedRecords, schema: Schema, instead: Mapping[int, str]) -> CodedRecords:
    slots, values, slot_columns = list(records.slots), list(records.values), list(records.slot_columns)
    for derivation in schema.derivations:
        domain = schema.columns[derivation.column].domain or ()
        texts = (instead.get(derivation.decided_by, ""), *values[derivation.decided_by])
        table = _codes([derivation.text(text) for text in texts], domain)
        slots.append(table[slots[slot_columns.index(derivation.decided_by)]])
        slot_columns.append(derivation.column)
        values.append(domain)
    return replace(
        records, schema=schema, slots=tuple(slots), slot_columns=tuple(slot_columns), values=tuple(values)
    )


def _codes(texts: Sequence[str], domain: tuple[str, ...]) -> Codes:
    known = {value: code for code, value in enumerate(domain, start=1)}
    return np.array([known.get(text, 0) for text in texts], code_type(len(domain)))
