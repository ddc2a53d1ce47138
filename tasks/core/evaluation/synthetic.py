"""Synthetic records as coded records, so that they are counted by the same functions as any table."""

import numpy as np
import numpy.typing as npt

from tasks.core.records.coded import CodedRecords, Codes, code_type
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords

Integers = npt.NDArray[np.int64]


def coded_synthetic(records: SyntheticRecords, schema: Schema) -> CodedRecords:
    """Code the records: declared domains in declared order, other values in code-point order.

    A column has as many slots as the schema's cap or as its fullest record needs, whichever is more:
    synthesis draws items one by one and knows no cap.
    """
    held: list[set[str]] = [set() for _ in schema.columns]
    texts = [a.value if a.item is None else a.item for a in records.attributes]
    for attribute, text in zip(records.attributes, texts, strict=True):
        held[attribute.column].add(text)
    values = tuple(ordered_values(column, own) for column, own in zip(schema.columns, held, strict=True))
    code_of = [{value: code for code, value in enumerate(own, start=1)} for own in values]
    columns = np.array([a.column for a in records.attributes], np.int64)
    codes = np.array(
        [code_of[a.column][text] for a, text in zip(records.attributes, texts, strict=True)], np.int64
    )
    cells = _sorted_cells(records, columns, codes)
    slots, slot_columns = _slots(cells, schema, [len(own) for own in values], records.number_of_records)
    return CodedRecords(schema, slots, slot_columns, values, records.number_of_records)


def ordered_values(column: Column, held: set[str]) -> tuple[str, ...]:
    """A column's dictionary: the declared domain in its order, then what else is held by code point."""
    declared = column.domain or ()
    return (*declared, *sorted(held - set(declared)))


def _sorted_cells(records: SyntheticRecords, columns: Integers, codes: Integers) -> tuple[Integers, ...]:
    """Record, column and code of every attribute held, in that order."""
    record = np.repeat(np.arange(records.number_of_records, dtype=np.int64), np.diff(records.offsets))
    column, code = columns[records.attribute_ids], codes[records.attribute_ids]
    order = np.lexsort((code, column, record))
    return record[order], column[order], code[order]


def _slots(
    cells: tuple[Integers, ...], schema: Schema, sizes: list[int], number_of_records: int
) -> tuple[tuple[Codes, ...], tuple[int, ...]]:
    record, column, code = cells
    starts = np.r_[True, (record[1:] != record[:-1]) | (column[1:] != column[:-1])][: len(record)]
    run = np.flatnonzero(starts)
    place = np.arange(len(record)) - run[np.cumsum(starts) - 1]
    slots: list[Codes] = []
    slot_columns: list[int] = []
    for index, about in enumerate(schema.columns):
        own = column == index
        most = int(place[own].max(initial=-1)) + 1
        for slot in range(max(about.max_items, most)):
            here = own & (place == slot)
            filled = np.zeros(number_of_records, code_type(sizes[index]))
            filled[record[here]] = code[here]
            slots.append(filled)
            slot_columns.append(index)
    return tuple(slots), tuple(slot_columns)
