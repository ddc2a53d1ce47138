"""Whether two tables have the same records, in whatever order: a key and records go in, a digest comes out.

Each record is hashed alone, by a keyed BLAKE2b of 256 bits, and hashes are added up modulo 2^256:
MSet-Add-Hash (Clarke, Devadas, van Dijk, Gassend and Suh, ASIACRYPT 2003) without its nonce, as digests stay
where the key is. Whoever has the key can search for two tables of one digest, by generalised birthdays.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import partial

import numpy as np

from tasks.core.arrays import Bytes
from tasks.core.records.coded import CodedRecords
from tasks.core.records.table import RecordTable

_BYTES = 32
_MODULUS = 1 << 8 * _BYTES
_ROWS_AT_ONCE = 1 << 16


def hash_records(records: CodedRecords, key: bytes) -> int:
    """The sum of the hashes of all records, by their codes and tags, modulo 2^256."""
    # Sums of 32 bits of each hash: fewer than 2^32 records cannot overflow them.
    sums = np.zeros(_BYTES // 4, np.uint64)
    for rows in _rows(records):
        texts = rows.view(f"V{rows.shape[1]}").ravel().tolist() if rows.shape[1] else [b""] * len(rows)
        hashes = b"".join(hashlib.blake2b(row, key=key, digest_size=_BYTES).digest() for row in texts)
        sums += np.frombuffer(hashes, "<u4").reshape(-1, len(sums)).sum(axis=0, dtype=np.uint64)
    return sum(int(part) << 32 * place for place, part in enumerate(sums)) % _MODULUS


def _rows(records: CodedRecords) -> Iterator[Bytes]:
    """The bytes of each record, some records at a time: a code takes as many whatever its array's type."""
    columns = [(codes, "<u4") for codes in records.slots]
    columns += [] if records.tags is None else [(records.tags, "<u8")]
    for start in range(0, records.number_of_records, _ROWS_AT_ONCE):
        end = min(start + _ROWS_AT_ONCE, records.number_of_records)
        own = [
            codes[start:end].astype(kind).view(np.uint8).reshape(end - start, -1) for codes, kind in columns
        ]
        yield np.hstack([np.empty((end - start, 0), np.uint8), *own])


def content_digest(table: RecordTable, key: bytes) -> str:
    """A digest of the measured columns of all records, whatever their order or parts, of values and schema.

    Args:
        key: a secret of up to 64 bytes.
    """
    facts = table.facts.measured
    total = sum(table.each("content", partial(_hash_measured, key=key))) % _MODULUS
    content = [
        facts.schema.to_json(),
        facts.slot_columns,
        facts.values,
        facts.number_of_records,
        f"{total:x}",
    ]
    return hashlib.blake2b(json.dumps(content).encode(), key=key, digest_size=_BYTES).hexdigest()


def _hash_measured(records: CodedRecords, key: bytes) -> int:
    return hash_records(records.measured, key)
