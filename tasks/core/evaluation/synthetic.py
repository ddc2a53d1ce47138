"""Synthetic records as coded records, so that they are counted by the same functions as any table."""

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.wide_form import as_aggregates
from tasks.core.records.coded import CodedRecords, Codes, code_type
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords


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
    slots: list[Codes] = []
    slot_columns: list[int] = []
    holder = np.repeat(np.arange(records.number_of_records, dtype=np.int32), np.diff(records.offsets))
    for index, column in enumerate(schema.columns):
        code_of = {value: code for code, value in enumerate(values[index], start=1)}
        coding = np.zeros(len(texts), code_type(len(values[index])))
        for place, (attribute, text) in enumerate(zip(records.attributes, texts, strict=True)):
            if attribute.column == index:
                coding[place] = code_of[text]
        codes = coding[records.attribute_ids]
        present = np.flatnonzero(codes)
        own = _column_slots(holder[present], codes[present], column.max_items, records.number_of_records)
        slots += own
        slot_columns += [index] * len(own)
    return CodedRecords(schema, tuple(slots), tuple(slot_columns), values, records.number_of_records)


def recounted(records: SyntheticRecords, aggregates: Aggregates, schema: Schema) -> Aggregates:
    """The records' counts over the attributes of the aggregates that they were drawn from."""
    with tempfile.TemporaryDirectory() as folder:
        length = max(aggregates.reporting_length, 1)
        counted = as_aggregates(count_in_memory(coded_synthetic(records, schema), Path(folder), length))
    place = {attribute.text: number for number, attribute in enumerate(aggregates.attributes)}
    # Both lists are in the same order, so the ids of a row stay ascending.
    ids = np.array([place[attribute.text] for attribute in counted.attributes], np.int32)
    return Aggregates(
        aggregates.headers,
        aggregates.attributes,
        counted.number_of_records,
        tuple(ids[rows] for rows in counted.combinations),
        counted.counts,
    )


def ordered_values(column: Column, held: set[str]) -> tuple[str, ...]:
    """A column's dictionary: the declared domain in its order, then what else is held by code point."""
    declared = column.domain or ()
    return (*declared, *sorted(held - set(declared)))


def _column_slots(
    holder: npt.NDArray[np.int32], codes: Codes, least: int, number_of_records: int
) -> list[Codes]:
    """Slots of one column: each record's codes ascending from the first on."""
    if (holder[1:] == holder[:-1]).any():
        order = np.lexsort((codes, holder))
        holder, codes = holder[order], codes[order]
    starts = np.flatnonzero(np.r_[True, holder[1:] != holder[:-1]][: len(holder)])
    place = np.arange(len(holder)) - np.repeat(starts, np.diff(np.r_[starts, len(holder)]))
    slots = []
    for slot in range(max(least, int(place.max(initial=-1)) + 1)):
        filled = np.zeros(number_of_records, codes.dtype)
        filled[holder[place == slot]] = codes[place == slot]
        slots.append(filled)
    return slots
