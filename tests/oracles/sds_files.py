"""Files of SDS's aggregates as they are read back, SDS's own and ours: a file in, `Aggregates` out."""

import csv
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.interchange import RECORD_COUNT
from tasks.core.aggregates.wide_form import sort_combinations
from tasks.core.arrays import Ids, Integers
from tasks.core.errors import InputError


def read_reportable_tsv(path: Path, headers: Sequence[str] = ()) -> Aggregates:
    """The aggregates of a file in SDS's format, ours or SDS's own, whatever the order of its lines.

    The file tells neither the order of the headers nor which of them are items of one multi-valued
    column: ``headers`` gives the order (otherwise by code point), and every header becomes a column of
    its own.

    Raises:
        InputError: the file is not of that format, or holds a header that ``headers`` does not.
    """
    with path.open(encoding="utf-8", newline="") as file:
        lines = iter(csv.reader(file, delimiter="\t", strict=True))
        number_of_records, rows = _lines_of(lines)
    found = sorted({piece for selections, _ in rows for piece in selections})
    named = {piece.partition(":")[0] for piece in found}
    order = tuple(headers) if headers else tuple(sorted(named))
    if not named <= set(order):
        raise InputError("The aggregates hold a header that is not among those given.")
    columns = {header: index for index, header in enumerate(order)}
    attributes = tuple(
        Attribute(header, value, columns[header])
        for header, _, value in (piece.partition(":") for piece in found)
    )
    ids = {piece: number for number, piece in enumerate(found)}
    combinations, counts = [], []
    for length in range(1, max((len(selections) for selections, _ in rows), default=0) + 1):
        level = sorted((sorted(ids[p] for p in s), count) for s, count in rows if len(s) == length)
        combinations.append(np.array([row for row, _ in level], np.int32).reshape(-1, length))
        counts.append(np.array([count for _, count in level], np.int64))
    return Aggregates(order, attributes, number_of_records, tuple(combinations), tuple(counts))


def _lines_of(lines: Iterator[list[str]]) -> tuple[int, list[tuple[list[str], int]]]:
    """Number of records, and of each combination its pieces and its count."""
    try:
        head = next(lines)
        name, count = next(lines)
        if head[0] != "selections" or name != RECORD_COUNT:
            raise ValueError
        rows = [(selections.split(";"), int(text)) for selections, text in lines]
        if not all(":" in piece for piece in itertools.chain.from_iterable(s for s, _ in rows)):
            raise ValueError
        return int(count), rows
    except (ValueError, StopIteration, IndexError, csv.Error):
        raise InputError(
            "An aggregates file must begin with 'selections' and a count's name, then 'record_count', then "
            "one combination and its count a line."
        ) from None


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
        attributes, levels = _counts_of(body["aggregates_count"], wide, int(body["reporting_length"]))
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
    """Neighbouring headers with one source are of one column (S1.4)."""
    found: list[_WideColumn] = []
    column, before = -1, None
    for header in headers:
        item = items.get(header)
        source = None if item is None else item["src_header_name"]
        column += source is None or source != before
        found.append(_WideColumn(header, column, None if item is None else item["attribute_name"]))
        before = source
    return found


def _counts_of(
    stored: dict[str, int], wide: list[_WideColumn], longest: int
) -> tuple[tuple[Attribute, ...], list[tuple[Ids, Integers]]]:
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
        levels.append(sort_combinations([(own, counts[rows])], length, len(order)))
    return tuple(attributes[i] for i in order), levels


def _attribute(text: str, wide: list[_WideColumn]) -> Attribute:
    index, between, value = text.partition(":")
    if not between or not index.isdecimal():
        raise ValueError
    of = wide[int(index)]
    return Attribute(of.header, value, of.column, of.item)
