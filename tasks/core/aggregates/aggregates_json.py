"""SDS's aggregated-data JSON (sds.md 2.5): counts in, a file out.

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

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.selections import Pieces, Surroundings
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import AttributeNumbering, wide_headers
from tasks.core.arrays import Ids, Integers
from tasks.core.records.columns import Schema

#: Combinations and their counts, some at a time.
_Parts = Iterable[tuple[Ids, Integers]]

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

    def write(self, ids: Ids, counts: Integers) -> None:
        """Write entries, each with what separates it from the one before."""
        for text in self._pieces.lines(ids, counts, _ENTRY):
            self._file.write(text[self._skipped :])
            self._skipped = 0

    def finish(self) -> None:
        """Write what stands behind the last one."""
        self._file.write(b"\n}}\n")
