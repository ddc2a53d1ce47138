"""Synthetic records as coded records, so that they are counted by the same functions as any table."""

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.wide_form import in_order
from tasks.core.evaluation import kernels
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords


def code_synthetic(records: SyntheticRecords, schema: Schema) -> CodedRecords:
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
    kernels.most_items(records.offsets, records.attribute_ids, columns, most)
    slots = np.zeros(
        (int(most.sum()), records.number_of_records), code_type(max(map(len, values), default=0))
    )
    first = np.cumsum(most) - most
    kernels.fill_slots((records.offsets, records.attribute_ids), columns, codes, first, slots)
    slot_columns = tuple(np.repeat(np.arange(number), most).tolist())
    narrow = (
        own.astype(code_type(len(values[column])), copy=False)
        for own, column in zip(slots, slot_columns, strict=True)
    )
    return CodedRecords(schema, tuple(narrow), slot_columns, values, records.number_of_records)


def count_synthetic(records: SyntheticRecords, aggregates: Aggregates, schema: Schema) -> Aggregates:
    """The records' counts over the attributes of the aggregates that they were drawn from.

    Attributes that only the records have, by a constraint, come behind those.
    """
    counted = count_in_memory(code_synthetic(records, schema), max(aggregates.reporting_length, 1))
    place = {(a.text, a.column): number for number, a in enumerate(aggregates.attributes)}
    more = [a for a in counted.attributes if (a.text, a.column) not in place]
    place |= {(a.text, a.column): number for number, a in enumerate(more, start=len(place))}
    ids = np.array([place[a.text, a.column] for a in counted.attributes], np.int32)
    levels = [
        # Both lists are in the same order, so the ids of a row stay ascending, unless there are more.
        in_order([(np.sort(ids[rows], axis=1), counts)], length, len(place)) if more else (ids[rows], counts)
        for length, (rows, counts) in enumerate(zip(counted.combinations, counted.counts, strict=True), 1)
    ]
    return Aggregates(
        aggregates.headers,
        (*aggregates.attributes, *more),
        counted.number_of_records,
        tuple(rows for rows, _ in levels),
        tuple(counts for _, counts in levels),
    ).up_to(aggregates.reporting_length)


def ordered_values(column: Column, held: set[str]) -> tuple[str, ...]:
    """A column's dictionary: the declared domain in its order, then what else is held by code point."""
    declared = column.domain or ()
    return (*declared, *sorted(held - set(declared)))
