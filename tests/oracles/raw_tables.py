"""Small raw tables: hypothesis strategies, and their counts taken the slow obvious way."""

import itertools
from collections import Counter
from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows, common_rows
from tasks.core.synthesis.tree import DrawnRecords
from tests.oracles.marginals import coded

Combination = frozenset[int]
Table = tuple[Schema, list[list[set[str]]]]

_NAMES = ["B", "A", "C-", "C", "D", "E", "F"]


def schema_of(*multi_valued: bool) -> Schema:
    """A column for each, with no cap on its items where it is multi-valued."""
    return Schema(
        tuple(
            Column(name, delimiter=";" if many else None, max_items=0 if many else 1, zero_is_value=True)
            for name, many in zip(_NAMES, multi_valued, strict=False)
        )
    )


@st.composite
def raw_tables(draw, most_rows=14) -> Table:
    """Records of up to four columns, some multi-valued, with absent values and values ``0``."""
    schema = schema_of(*draw(st.lists(st.sampled_from([False, False, True]), max_size=4)))
    single = st.sampled_from([set(), {"0"}, {"x"}, {"y"}])
    many = st.sets(st.sampled_from(["0", "x", "y", "z"]), max_size=3)
    record = st.tuples(*(many if column.is_multi_valued else single for column in schema.columns))
    return schema, [list(each) for each in draw(st.lists(record, max_size=most_rows))]


def single_valued(text: str) -> Table:
    """Lines of comma-separated cells, a dot for absent."""
    lines = [line.split(",") for line in text.split()]
    records = [[set() if cell == "." else {cell} for cell in line] for line in lines]
    return schema_of(*[False] * len(lines[0])), records


def rows_of(table: Table, resolution: int) -> FrequentRows:
    """The table as the modes that read raw records see it."""
    schema, records = table
    return common_rows(coded(schema, records), resolution)


def true_counts(table: Table, rows: FrequentRows) -> Counter[Combination]:
    """How many records hold each combination, of any length, of the rows' attributes."""
    place = {(a.column, a.value if a.item is None else a.item): i for i, a in enumerate(rows.attributes)}
    counts: Counter[Combination] = Counter()
    for record in table[1]:
        held = [place[c, v] for c, values in enumerate(record) for v in values if (c, v) in place]
        for size in range(1, len(held) + 1):
            counts.update(map(frozenset, itertools.combinations(held, size)))
    return counts


def reported(rows: FrequentRows, counts: Mapping[Combination, int], reporting_length: int) -> Aggregates:
    """Counts rounded down to the resolution, those of 0 left out."""
    levels: list[dict[tuple[int, ...], int]] = [{} for _ in range(reporting_length)]
    for combination, count in counts.items():
        if len(combination) <= reporting_length and count >= rows.resolution:
            levels[len(combination) - 1][tuple(sorted(combination))] = count - count % rows.resolution
    return Aggregates(
        rows.headers,
        rows.attributes,
        rows.number_of_records - rows.number_of_records % rows.resolution,
        tuple(np.array(sorted(level), np.int32).reshape(-1, k) for k, level in enumerate(levels, 1)),
        tuple(np.array([level[c] for c in sorted(level)], np.int64) for level in levels),
    )


def records_of(synthetic: SyntheticRecords) -> list[tuple[int, ...]]:
    """The attributes of each record."""
    bounds = zip(synthetic.offsets, synthetic.offsets[1:], strict=False)
    return [tuple(synthetic.attribute_ids[start:end].tolist()) for start, end in bounds]


def combinations_in(records: list[tuple[int, ...]]) -> Counter[Combination]:
    """How many of the records hold each combination, of any length."""
    found: Counter[Combination] = Counter()
    for record, number in Counter(records).items():
        for size in range(1, len(record) + 1):
            for each in itertools.combinations(record, size):
                found[frozenset(each)] += number
    return found


def check_columns(rows: FrequentRows, records: list[tuple[int, ...]]) -> None:
    """At most one value of a column in a record, which is ascending."""
    for record in set(records):
        assert list(record) == sorted(set(record))
        assert len({int(rows.column_of[i]) for i in record}) == len(record)


def sets_of(rows: FrequentRows) -> list[Combination]:
    """The attributes of each row."""
    return [frozenset(a for a in row if a >= 0) for row in rows.ids.tolist()]


def split(drawn: DrawnRecords) -> list[tuple[int, ...]]:
    """The attributes of each drawn record, ascending."""
    parts = np.split(drawn.attribute_ids, np.cumsum(drawn.sizes)[:-1]) if len(drawn.sizes) else []
    return [tuple(sorted(part.tolist())) for part in parts]
