"""The slow obvious way to count: every record, every combination of its attributes."""

import itertools
from collections import Counter

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import aggregates_of_cells, stored_cells
from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Schema

Attributes = frozenset[tuple[int, str]]


def coded(schema: Schema, records: list[list[set[str]]]) -> CodedRecords:
    """Code records given as one set of values per column (empty: absent), values in code-point order."""
    columns = range(len(schema.columns))
    values = tuple(tuple(sorted(set().union(*(r[c] for r in records)))) for c in columns)
    slot_columns, slots = [], []
    for c in columns:
        held = [sorted(values[c].index(v) + 1 for v in record[c]) for record in records]
        width = schema.columns[c].max_items or max((len(items) for items in held), default=0)
        for slot in range(width):
            codes = [items[slot] if slot < len(items) else 0 for items in held]
            slots.append(np.array(codes, code_type(len(values[c]))))
            slot_columns.append(c)
    return CodedRecords(schema, tuple(slots), tuple(slot_columns), values, len(records))


def count(records: list[list[set[str]]], length: int) -> Counter[Attributes]:
    """How many records hold each combination of (column, value) of exactly this length."""
    counts: Counter[Attributes] = Counter()
    for record in records:
        attributes = [(column, value) for column, values in enumerate(record) for value in values]
        counts.update(frozenset(chosen) for chosen in itertools.combinations(attributes, length))
    return counts


def as_aggregates(marginals: Marginals) -> Aggregates:
    """The exact counts of all lengths 1..R over the attributes that occur, all in memory."""
    levels = (stored_cells(marginals, length) for length in marginals.lengths)
    return aggregates_of_cells(marginals.facts, marginals.facts.number_of_records, levels)


def read_back(aggregates: Aggregates, length: int) -> dict[Attributes, int]:
    """The aggregates of one length in the oracle's form; fails on a repeated combination."""
    ids, counts = aggregates.combinations[length - 1], aggregates.counts[length - 1]
    found: dict[Attributes, int] = {}
    for row, value in zip(ids.tolist(), counts.tolist(), strict=True):
        held = [aggregates.attributes[i] for i in row]
        key = frozenset((a.column, a.item if a.item is not None else a.value) for a in held)
        assert key not in found
        assert len(key) == length
        found[key] = value
    return found


def rows(text: str) -> list[list[set[str]]]:
    """Records of single values: lines of comma-separated cells, empty for absent."""
    return [[{cell} if cell else set() for cell in line.split(",")] for line in text.split()]


#: S10.1.
T1 = rows("a1,b1,c1 a1,b2,c1 a2,,c2 a2,b2,c1 a1,b2,")
