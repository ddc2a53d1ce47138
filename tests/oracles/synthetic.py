"""Synthetic records from plain sets of values, in wide form."""

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords


def synthetic(schema: Schema, table: list[list[set[str]]]) -> SyntheticRecords:
    """Records over the attributes of the table, these in code-point order of their text."""
    held = {(c, v) for record in table for c, values in enumerate(record) for v in values}
    attributes = []
    for c, v in held:
        column = schema.columns[c]
        many = column.is_multi_valued
        header = f"{column.name}_{v}" if many else column.name
        attributes.append(Attribute(header, "1" if many else v, c, v if many else None))
    attributes.sort(key=lambda a: a.text)
    place = {(a.column, a.item or a.value): i for i, a in enumerate(attributes)}
    ids = [sorted(place[c, v] for c, values in enumerate(record) for v in values) for record in table]
    return SyntheticRecords(
        tuple(dict.fromkeys(a.header for a in attributes)),
        tuple(attributes),
        np.cumsum([0, *map(len, ids)]).astype(np.int64),
        np.array([i for own in ids for i in own], np.int32),
    )
