"""The exact part of the measuring step, slowly and obviously: sets of Python tuples and loops over them.

A tuple is (columns, codes), both of length k, columns ascending, the items of one column ascending.
"""

import hashlib
import itertools

import numpy as np
from hypothesis import strategies as st

from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema

MASK = 2**64 - 1


def mix(word):
    """splitmix64's output function."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def tuple_in(records, row, slots):
    """The tuple of one record in these slots, or None where one of them is empty."""
    codes = tuple(int(records.slots[slot][row]) for slot in slots)
    return None if 0 in codes else (tuple(records.slot_columns[slot] for slot in slots), codes)


def tuples_of(records, row, length):
    """All k-tuples of one record, in the order of its slots."""
    chosen = itertools.combinations(range(len(records.slots)), length)
    return [found for slots in chosen if (found := tuple_in(records, row, slots)) is not None]


def sub_tuples(found):
    """The immediate sub-tuples."""
    columns, codes = found
    return [
        (columns[:place] + columns[place + 1 :], codes[:place] + codes[place + 1 :])
        for place in range(len(columns))
    ]


def candidates(schema, sizes, survivors, length):
    """Every k-tuple of the schema all of whose (k-1)-subsets are among the survivors."""
    every = set()
    for columns in schema.combinations(length):
        for codes in itertools.product(*(range(1, sizes[column] + 1) for column in columns)):
            pairs = list(itertools.pairwise(zip(columns, codes, strict=True)))
            ascending = all(a[0] != b[0] or a[1] < b[1] for a, b in pairs)
            if ascending and all(part in survivors for part in sub_tuples((columns, codes))):
                every.add((columns, codes))
    return every


def kept_tuples(records, row, length, wanted, limit):
    """What one record counts for: its tuples in ``wanted``, at most ``limit`` of them by its own coins.

    Selection sampling by splitmix64 from the record's tag, 31 bits a coin.
    """
    mine = [found for found in tuples_of(records, row, length) if found in wanted]
    if limit is None or len(mine) <= limit:
        return mine
    state = (int(records.tags[row]) + length * 0xD1B54A32D192ED03) & MASK
    to_drop, kept = len(mine) - limit, []
    for place, found in enumerate(mine):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        if (mix(state) >> 33) * (len(mine) - place) < to_drop << 31:
            to_drop -= 1
        else:
            kept.append(found)
    return kept


def counts_of(records, length, wanted, limit=None):
    """How many records count for each wanted tuple; those that none does for are left out."""
    counts = {}
    for row in range(records.number_of_records):
        for found in kept_tuples(records, row, length, wanted, limit):
            counts[found] = counts.get(found, 0) + 1
    return counts


def tags_of(rows, key=b"key"):
    """A tag a row: a function of the key, the row's content and, of identical rows, a running number."""
    seen, tags = {}, []
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
        digest = hashlib.blake2b(repr((row, seen[row])).encode(), key=key, digest_size=8).digest()
        tags.append(int.from_bytes(digest, "little"))
    return np.array(tags, np.uint64)


def coded(schema, rows, values, tags=None):
    """Coded records of some rows: each a tuple with one set of codes a column."""
    slots = []
    for index, column in enumerate(schema.columns):
        for place in range(column.max_items):
            items = [sorted(row[index]) for row in rows]
            slots.append(np.array([each[place] if place < len(each) else 0 for each in items], np.uint8))
    return CodedRecords(
        schema=schema,
        slots=tuple(slots),
        slot_columns=schema.slot_columns,
        values=values,
        number_of_records=len(rows),
        tags=tags_of([tuple(tuple(sorted(cell)) for cell in row) for row in rows]) if tags is None else tags,
    )


def table(columns, rows):
    """Records of open single-valued columns from rows of text, '' = absent; values by code point."""
    schema = Schema(tuple(Column(name) for name in columns))
    values = tuple(tuple(sorted({row[i] for row in rows} - {""})) for i in range(len(columns)))
    sets = [
        tuple({values[i].index(cell) + 1} if cell else set() for i, cell in enumerate(row)) for row in rows
    ]
    return coded(schema, sets, values)


@st.composite
def schemas(draw, most_columns=4):
    """A small schema and the number of values of each column."""
    columns, sizes = [], []
    for index in range(draw(st.integers(1, most_columns))):
        size = draw(st.integers(0, 3))
        most = draw(st.sampled_from([1, 1, 2, 3]))
        domain = draw(st.booleans())
        columns.append(
            Column(
                f"c{index}",
                domain=tuple(f"v{code}" for code in range(1, size + 1)) if domain else None,
                delimiter=";" if most > 1 else None,
                max_items=most,
            )
        )
        sizes.append(size)
    return Schema(tuple(columns)), sizes


@st.composite
def rows_of(draw, schema, sizes):
    """One record: a set of codes for each column."""
    return tuple(
        frozenset(draw(st.sets(st.integers(1, size), max_size=column.max_items))) if size else frozenset()
        for column, size in zip(schema.columns, sizes, strict=True)
    )


@st.composite
def tables(draw, most_columns=4, most_rows=8):
    """Small records of all shapes: empty, all missing, multi-valued, without values."""
    schema, sizes = draw(schemas(most_columns))
    rows = draw(st.lists(rows_of(schema, sizes), max_size=most_rows))
    return coded(schema, rows, all_values(sizes))


def all_values(sizes):
    """Texts of the codes of each column."""
    return tuple(tuple(f"v{code}" for code in range(1, size + 1)) for size in sizes)
