"""Coded records and synthetic records in, a `TablePair` of the public schema's categories out."""

import math
from collections.abc import Iterable

import numpy as np

from tasks.core.evaluation.synthetic import coded_synthetic
from tasks.core.evaluation.utility.table_pair import Places, TablePair, drawn_rows, table_pair
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column
from tasks.core.synthesis.records import SyntheticRecords

#: Of a column with more items, those that most raw records hold; the others are one feature together.
MOST_ITEMS = 60


def coded_pair(records: CodedRecords, synthetic: SyntheticRecords, most_rows: int) -> TablePair:
    """The two tables by the categories that were counted: declared values, bins, values seen, absence.

    Args:
        records: the raw ones; their schema has at least one column.
        synthetic: the released ones.
        most_rows: of either table; of more so many are drawn.
    """
    sides = (records, coded_synthetic(synthetic, records.schema))
    rows = [drawn_rows(side.number_of_records, most_rows) for side in sides]
    features: list[str] = []
    columns: tuple[list[Places], list[Places]] = ([], [])
    for place, column in enumerate(records.schema.columns):
        values = _in_order(column, (text for side in sides for text in side.values[place]))
        slots = [_slots(side, place, values, own) for side, own in zip(sides, rows, strict=True)]
        names, codes = _items(column.name, values, slots) if column.is_multi_valued else _whole(column, slots)
        features += names
        for side, own in zip(columns, codes, strict=True):
            side.extend(own)
    return table_pair(features, *columns)


def _whole(column: Column, slots: list[list[Places]]) -> tuple[list[str], list[list[Places]]]:
    """The one feature of a column of one value a record."""
    return [column.name], slots


def _slots(side: CodedRecords, place: int, values: dict[str, int], rows: Places) -> list[Places]:
    """The codes in each of a column's slots, in a numbering that both sides share."""
    table = np.array([0, *(values[text] for text in side.values[place])], np.int64)
    pairs = zip(side.slots, side.slot_columns, strict=True)
    found = [table[codes[rows]] for codes, column in pairs if column == place]
    return found or [np.zeros(len(rows), np.int64)]


def _in_order(column: Column, texts: Iterable[str]) -> dict[str, int]:
    """Codes from 1: declared values in their order, then numbers by size, then texts by code point.

    Trees split features between neighbouring codes, so what is near must stand near.
    """
    declared = tuple(column.domain or ())
    further = sorted(set(texts) - set(declared), key=_sort_key)
    return {text: code for code, text in enumerate((*declared, *further), start=1)}


def _sort_key(text: str) -> tuple[bool, float, str]:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return (False, number, text) if math.isfinite(number) else (True, 0.0, text)


def _items(
    name: str, values: dict[str, int], sides: list[list[Places]]
) -> tuple[list[str], list[list[Places]]]:
    """For each item whether a record holds it: 0 or 1."""
    size = len(values) + 1
    held = sum((np.bincount(codes, minlength=size) for codes in sides[0]), np.zeros(size, np.int64))
    ranked = sorted(values.values(), key=lambda code: (-int(held[code]), code))
    own, others = sorted(ranked[:MOST_ITEMS]), ranked[MOST_ITEMS:]
    texts = {code: text for text, code in values.items()}
    groups = [(f"{name}: {texts[code]}", [code]) for code in own]
    if others or not own:  # a column without any item is a feature that no record has
        groups.append((f"{name}: any other", others))
    tables = [np.isin(np.arange(size), codes).astype(np.int64) for _, codes in groups]
    return [label for label, _ in groups], [[_holds(table, slots) for table in tables] for slots in sides]


def _holds(table: Places, slots: list[Places]) -> Places:
    """Whether any slot of a record has a code that the table marks."""
    held: Places = np.stack([table[codes] for codes in slots]).max(axis=0)
    return held
