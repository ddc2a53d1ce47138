"""Synthetic records as coded records, so that they are counted by the same functions as any table."""

import numpy as np

from tasks.core.evaluation import kernels
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import AnySynthetic


def code_synthetic(records: AnySynthetic, schema: Schema) -> CodedRecords:
    """Code the records: declared domains in declared order, other values in code-point order.

    A column has as many slots as the schema's cap or as its fullest record needs, whichever is more:
    synthesis draws items one by one and knows no cap.
    """
    number = len(schema.columns)
    held: list[set[str]] = [set() for _ in range(number)]
    texts = [a.value if a.item is None else a.item for a in records.attributes]
    for attribute, text in zip(records.attributes, texts, strict=True):
        held[attribute.column].add(text)
    values = tuple(ordered_values(column, own) for column, own in zip(schema.columns, held, strict=True))
    code_of = [{value: code for code, value in enumerate(own, start=1)} for own in values]
    columns = np.array([attribute.column for attribute in records.attributes], np.int64)
    codes = np.array([code_of[c][text] for c, text in zip(columns.tolist(), texts, strict=True)], np.int64)
    most = np.array([column.max_items for column in schema.columns], np.int64)
    for part in records.parts():
        kernels.most_items(part.offsets, part.attribute_ids, columns, most)
    first = np.cumsum(most) - most
    kind = code_type(max(map(len, values), default=0))
    filled = []
    for part in records.parts():
        own = np.zeros((int(most.sum()), part.number_of_records), kind)
        kernels.fill_slots((part.offsets, part.attribute_ids), columns, codes, first, own)
        filled.append(own)
    slots = filled[0] if len(filled) == 1 else np.concatenate(filled, axis=1)
    slot_columns = tuple(np.repeat(np.arange(number), most).tolist())
    narrow = (
        own.astype(code_type(len(values[column])), copy=False)
        for own, column in zip(slots, slot_columns, strict=True)
    )
    return CodedRecords(schema, tuple(narrow), slot_columns, values, records.number_of_records)


def ordered_values(column: Column, held: set[str]) -> tuple[str, ...]:
    """A column's dictionary: the declared domain in its order, then what else is held by code point."""
    declared = column.domain or ()
    return (*declared, *sorted(held - set(declared)))
