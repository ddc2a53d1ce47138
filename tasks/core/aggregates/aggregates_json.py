"""SDS's aggregated-data JSON (sds.md 2.5): counts in, a file out, and back.

The keys are SDS's, so that what reads its files reads ours. What its files give away is left out: which
records hold a combination, how many combinations each record holds, and in a protected file the true
number of records and every value that is not reported.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Aggregates, Attribute, AttributeIds
from tasks.core.aggregates.selections import Pieces, Surroundings
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import AttributeNumbering, in_order, wide_headers
from tasks.core.arrays import Integers
from tasks.core.errors import InputError
from tasks.core.records.columns import Schema

#: Combinations and their counts, some at a time.
_Parts = Iterable[tuple[AttributeIds, Integers]]

_ENTRY = Surroundings(b',\n"', b'":{"count":', b',"contained_in_records":[]}')


@dataclass(frozen=True)
class _About:
    """What the file tells beside the counts; ``protected``: the number of records is a protected one."""

    schema: Schema
    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    number_of_records: int
    reporting_length: int
    protected: bool

    def fields(self) -> dict[str, Any]:
        """Every field but the counts."""
        items = {
            attribute.header: {
                "src_header_name": self.schema.columns[attribute.column].name,
                "attribute_name": attribute.item,
                "delimiter": self.schema.columns[attribute.column].delimiter,
            }
            for attribute in self.attributes
            if attribute.item is not None
        }
        return {
            "headers": list(self.headers),
            "multi_value_column_metadata_map": items,
            "number_of_records": self.number_of_records,
            "protected_number_of_records": self.number_of_records if self.protected else None,
            "records_sensitivity_by_len": [[] for _ in range(self.reporting_length + 1)],
            "reporting_length": self.reporting_length,
        }

    def pieces(self) -> Pieces:
        """Each attribute as ``<columnIndex>:<value>``, the index that of its header."""
        index = {header: place for place, header in enumerate(self.headers)}
        texts = [f"{index[attribute.header]}:{attribute.value}" for attribute in self.attributes]
        escaped = (json.dumps(text, ensure_ascii=False)[1:-1] for text in texts)
        return Pieces(tuple(escaped), np.zeros(len(texts), np.bool_))


def write_aggregates_json(aggregates: Aggregates, schema: Schema, path: Path, *, protected: bool) -> None:
    """Write aggregates; equal ones give equal bytes.

    Args:
        aggregates: reportable counts, or true ones.
        schema: the public schema that the attributes' columns are of.
        path: the file to write.
        protected: whether the counts and the number of records are protected: the number then stands
            under both its names; otherwise ``protected_number_of_records`` is null.
    """
    about = _About(
        schema,
        aggregates.headers,
        aggregates.attributes,
        aggregates.number_of_records,
        aggregates.reporting_length,
        protected,
    )
    with path.open("wb") as file:
        entries = _Entries(about, file)
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True):
            entries.write(ids, counts)
        entries.finish()


def write_true_counts_json(
    marginals: Marginals, numbering: AttributeNumbering, parts: _Parts, path: Path
) -> None:
    """Write true counts and the true number of records, a bounded number of them in memory; sensitive.

    Args:
        marginals: what the counts are of, all combinations of each length from 1 on.
        numbering: of the attributes that the ids stand for.
        parts: every combination and its count, in the order of the file.
        path: the file to write.
    """
    facts, longest = marginals.facts, max(marginals.lengths, default=0)
    headers = wide_headers(facts.schema, numbering.attributes)
    about = _About(facts.schema, headers, numbering.attributes, facts.number_of_records, longest, False)
    with path.open("wb") as file:
        entries = _Entries(about, file)
        for ids, counts in parts:
            entries.write(ids, counts)
        entries.finish()


class _Entries:
    """The file's text, part by part."""

    def __init__(self, about: _About, file: BinaryIO) -> None:
        head = json.dumps(about.fields(), ensure_ascii=False, separators=(",", ":"))
        file.write(head.removesuffix("}").encode() + b',"aggregates_count":{')
        self._file, self._pieces = file, about.pieces()
        self._skipped = len(",")

    def write(self, ids: AttributeIds, counts: Integers) -> None:
        """Write entries, each with what separates it from the one before."""
        for text in self._pieces.lines(ids, counts, _ENTRY):
            self._file.write(text[self._skipped :])
            self._skipped = 0

    def finish(self) -> None:
        """Write what stands behind the last one."""
        self._file.write(b"\n}}\n")


def read_aggregates_json(path: Path) -> Aggregates:
    """The aggregates of a file in SDS's format, ours or SDS's own.

    The number of records is the protected one where the file holds it. A column's index is its place
    among the columns that the file tells of: a multi-valued column without an item in it is none.

    Raises:
        InputError: the file is not of that format.
    """
    try:
        with path.open(encoding="utf-8") as file:
            body = json.load(file, object_hook=_without_records)
        protected = body["protected_number_of_records"]
        records = int(body["number_of_records"] if protected is None else protected)
        wide = _wide_columns(body["headers"], body["multi_value_column_metadata_map"])
        attributes, levels = _parsed(body["aggregates_count"], wide, int(body["reporting_length"]))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise InputError(
            "An aggregated-data file must be a JSON object with SDS's keys, its counts an object from column "
            "indexes and values, such as '0:x;2:y', to counts."
        ) from None
    return Aggregates(
        headers=tuple(body["headers"]),
        attributes=attributes,
        number_of_records=records,
        combinations=tuple(ids for ids, _ in levels),
        counts=tuple(counts for _, counts in levels),
    )


def _without_records(body: dict[str, Any]) -> Any:
    """A combination's count alone, so that who holds it is forgotten while the file is read."""
    return body["count"] if "contained_in_records" in body else body


@dataclass(frozen=True)
class _WideColumn:
    """A header, the index of the column that it is of, and its item."""

    header: str
    column: int
    item: str | None


def _wide_columns(headers: list[str], items: dict[str, dict[str, str]]) -> list[_WideColumn]:
    """Neighbouring headers with one source are of one column (sds.md 1.4)."""
    found: list[_WideColumn] = []
    column, before = -1, None
    for header in headers:
        item = items.get(header)
        source = None if item is None else item["src_header_name"]
        column += source is None or source != before
        found.append(_WideColumn(header, column, None if item is None else item["attribute_name"]))
        before = source
    return found


def _parsed(
    stored: dict[str, int], wide: list[_WideColumn], longest: int
) -> tuple[tuple[Attribute, ...], list[tuple[AttributeIds, Integers]]]:
    """The attributes in order, and combinations and counts of each length."""
    counts = np.fromiter(stored.values(), np.int64, len(stored))
    pieces = pc.split_pattern(pa.array(list(stored), pa.large_string()), ";")
    starts = pieces.offsets.to_numpy()
    coded = pieces.flatten().dictionary_encode()
    attributes = [_attribute(text, wide) for text in coded.dictionary.to_pylist()]
    order = sorted(range(len(attributes)), key=lambda i: (attributes[i].text, attributes[i].column))
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    ids, lengths = numbers[coded.indices.to_numpy()], np.diff(starts)
    if len(lengths) and lengths.max() > longest:
        raise ValueError
    levels = []
    for length in range(1, longest + 1):
        rows = np.flatnonzero(lengths == length)
        own = np.sort(ids[starts[rows][:, None] + np.arange(length)], axis=1)
        levels.append(in_order([(own, counts[rows])], length, len(order)))
    return tuple(attributes[i] for i in order), levels


def _attribute(text: str, wide: list[_WideColumn]) -> Attribute:
    index, between, value = text.partition(":")
    if not between or not index.isdecimal():
        raise ValueError
    of = wide[int(index)]
    return Attribute(of.header, value, of.column, of.item)
