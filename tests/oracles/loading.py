"""The slow obvious way to load a table: rows of text in, records as lists of values out."""

import hashlib
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema

_MASK = 2**64 - 1


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4, straight from the paper."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x, bits):
        return ((x << bits) | (x >> (64 - bits))) & _MASK

    def rounds(times):
        for _ in range(times):
            v[0] = (v[0] + v[1]) & _MASK
            v[2] = (v[2] + v[3]) & _MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & _MASK
            v[0] = (v[0] + v[3]) & _MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def keyed(secret: bytes, purpose: str, *parts: int | str) -> int:
    """The hash of a text, or of two words, for one purpose."""
    key = hashlib.blake2b(purpose.encode(), key=hashlib.blake2b(secret).digest(), digest_size=16).digest()
    return siphash(
        key, b"".join(p.encode() if isinstance(p, str) else p.to_bytes(8, "little") for p in parts)
    )


@dataclass
class Loaded:
    """Records: for each column the values held, in code order. Values: for each column its codes 1, 2, ..."""

    records: list[list[list[str]]]
    values: list[list[str]]
    tags: list[int]


class MissingId(Exception):
    pass


def value_of(cell: str, column: Column) -> str:
    """A cell's or item's value, or ""."""
    value = cell.strip().replace(";", "<semicolon>").replace(":", "<colon>")
    if value == "" or (value == "0" and not column.zero_is_value and column.bins is None):
        return ""
    if any(re.search(pattern, value) for pattern in column.forbidden):
        return ""
    if column.bins is not None:
        return bin_of(value, column.bins) or column.other or ""
    if column.domain is None or value in column.domain:
        return value
    return column.other or ""


def bin_of(text: str, edges: tuple[float, ...]) -> str:
    """The label of the bin of a number, or ""."""
    number = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    if not re.fullmatch(number + r"|[+-]?(?i:inf|infinity)", text):
        return ""
    x = float(text)
    assert not math.isnan(x)
    if x < edges[0]:
        return f"<{edges[0]:.15g}"
    if x > edges[-1]:
        return f">{edges[-1]:.15g}"
    for low, high in itertools.pairwise(edges[:-1]):
        if low <= x < high:
            return f"[{low:.15g},{high:.15g})"
    return f"[{edges[-2]:.15g},{edges[-1]:.15g}]"


def items_of(cell: str, column: Column) -> set[str]:
    """The values of a cell of any column."""
    if column.delimiter is None:
        raw = [cell]
    else:
        raw = cell.split(column.delimiter) if column.delimiter else list(cell)
    return {value_of(item, column) for item in raw} - {""}


def load(headers: list[str], rows: list[list[str]], schema: Schema, secret: bytes, *, total: bool) -> Loaded:
    """Load a table of text."""
    places = [headers.index(column.name) for column in schema.columns]
    cells = [[items_of(row[p], c) for p, c in zip(places, schema.columns, strict=True)] for row in rows]
    if schema.subject_id is None:
        groups = [(None, [row]) for row in cells]
    else:
        groups = _by_subject([row[headers.index(schema.subject_id)] for row in rows], cells, total)
    union = [[set().union(*held) for held in zip(*group, strict=True)] for _, group in groups]
    seen: Counter[tuple[tuple[str, ...], ...]] = Counter()
    identities, records = [], []
    for (subject, _), record in zip(groups, union, strict=True):
        ordered = [_in_code_order(held, c) for held, c in zip(record, schema.columns, strict=True)]
        content = tuple(map(tuple, ordered))
        if subject is None:
            identities.append(_identity(secret, schema, content, seen[content]))
        else:
            identities.append(keyed(secret, "subject", subject))
        seen[content] += 1
        records.append(ordered)
    kept = [
        [
            _kept(secret, identity, held, c) if c.is_multi_valued else _standing(ranked, place)
            for place, (held, c) in enumerate(zip(record, schema.columns, strict=True))
        ]
        for identity, record, ranked in (
            (identity, record, _ranked(secret, identity, rows_of_one, schema))
            for (_, rows_of_one), identity, record in zip(groups, identities, records, strict=True)
        )
    ]
    values = [
        list(_domain(c)) if c.domain or c.bins else sorted({v for record in kept for v in record[i]})
        for i, c in enumerate(schema.columns)
    ]
    return Loaded(kept, values, [keyed(secret, "tag", identity, 0) for identity in identities])


def _by_subject(ids, cells, total):
    groups: dict[str, list] = {}
    for subject, row in zip(ids, cells, strict=True):
        subject = subject.strip().lower()
        if subject:
            groups.setdefault(subject, []).append(row)
        elif not total:
            raise MissingId
    return list(groups.items())


def _domain(column):
    if column.domain is not None:
        return column.domain
    edges = column.bins
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    return [bin_of(repr(x), edges) for x in (edges[0] - 1, *middles, edges[-1] + 1)]


def _in_code_order(held: set[str], column: Column) -> list[str]:
    order = _domain(column) if column.domain or column.bins else sorted(held)
    return [value for value in order if value in held]


def _ranked(secret, identity, rows, schema):
    """The different rows of one subject in the order in which they stand for it."""
    contents = {
        tuple(tuple(_in_code_order(held, c)) for held, c in zip(row, schema.columns, strict=True))
        for row in rows
    }
    return sorted(contents, key=lambda row: keyed(secret, "row", identity, _content(secret, schema, row)))


def _standing(ranked, place):
    """A single-valued column: the cell of the first row that has one."""
    return next(([*row[place]] for row in ranked if row[place]), [])


def _identity(secret, schema, content, occurrence):
    return keyed(secret, "occurrence", _content(secret, schema, content), occurrence)


def _content(secret, schema, content):
    state = 0
    for held, column in zip(content, schema.columns, strict=True):
        if column.is_multi_valued:
            part = keyed(secret, f"items {column.name}", "\0".join(held))
        else:
            part = keyed(secret, f"value {column.name}", held[0]) if held else 0
        state = keyed(secret, "content", state, part)
    return state


def _kept(secret, identity, held, column):
    cap = column.max_items
    if cap == 0 or len(held) <= cap:
        return held

    def drawn(value):
        return keyed(secret, f"choice {column.name}", identity, keyed(secret, f"value {column.name}", value))

    chosen = sorted(held, key=drawn)[:cap]
    return [value for value in held if value in chosen]


def decode(records: CodedRecords) -> pa.Table:
    """Coded records as text, the items of a column joined by its delimiter in the order of their codes."""
    rows = read_back(records).records
    return pa.table(
        {
            column.name: pa.array(
                [(column.delimiter or "").join(row[i]) or None for row in rows], pa.string()
            )
            for i, column in enumerate(records.schema.columns)
        }
    )


def read_back(records: CodedRecords) -> Loaded:
    """Coded records in the oracle's form; fails where slots are not ascending and filled from the first."""
    result = [[[] for _ in records.schema.columns] for _ in range(records.number_of_records)]
    codes_before = {}
    for codes, column in zip(records.slots, records.slot_columns, strict=True):
        assert len(codes) == records.number_of_records
        for row, code in enumerate(codes.tolist()):
            before = codes_before.get((row, column))
            assert before is None or code == 0 or 0 < before < code
            codes_before[row, column] = code
            if code:
                result[row][column].append(records.values[column][code - 1])
    tags = [] if records.tags is None else records.tags.tolist()
    return Loaded(result, [list(column) for column in records.values], tags)
