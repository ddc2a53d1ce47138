"""Releases for Power BI templates: records of people in, the released files and a template of them out.

And the template as Power BI would load it: its queries and measures run by `power_query` and `dax`.
"""

import csv
import io
import itertools
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Attribute, Ranges
from tasks.core.aggregates.interchange import write_estimates_tsv, write_reportable_tsv
from tasks.core.navigation.power_bi.package import power_bi_template
from tasks.core.navigation.power_bi.showcase import ShowcaseInputs, headers_of
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.assembly import write_wide_tsv
from tasks.core.synthesis.records import SyntheticRecords
from tests.oracles.dax import Loaded, Relationship
from tests.oracles.power_query import Table, evaluate_section

#: A record: column to its value, or to a set of items.
Record = Mapping[str, str | frozenset[str]]
PARTS = ("DataModelSchema", "DiagramLayout", "Report/Layout", "Settings", "Metadata")
ROUNDED = {"dataset": "people", "vintage": "1", "guarantee": {"resolution": 10}}
PRIVATE = {"dataset": "people", "vintage": "1", "guarantee": {"epsilon": 2.0, "delta": 1e-6}}


def parts_of(template: bytes) -> dict[str, Any]:
    """The JSON parts of a template."""
    with zipfile.ZipFile(io.BytesIO(template)) as package:
        return {name: json.loads(package.read(name).decode("utf-16-le")) for name in PARTS}


def visuals_of(layout: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """The configurations of each page's visuals."""
    return [
        [json.loads(each["config"]) for each in section["visualContainers"]] for section in layout["sections"]
    ]


def load(template: bytes, folder: str, prefix: str) -> Loaded:
    """The model with its rows, as Power BI loads it from a release's folder."""
    model = parts_of(template)["DataModelSchema"]["model"]
    shared = {each["name"]: "\n".join(each["expression"]) for each in model["expressions"]}
    given = {"Folder of the release": folder, "Prefix of its files": prefix}
    shared |= {name: '"' + text.replace('"', '""') + '"' for name, text in given.items()}
    tables = {}
    for table in model["tables"]:
        query = "\n".join(table["partitions"][0]["source"]["expression"])
        found = evaluate_section(shared | {table["name"]: query}, table["name"])
        tables[table["name"]] = _rows(found, table["columns"])
    return Loaded(
        tables,
        tuple(
            Relationship(each["fromTable"], each.get("crossFilteringBehavior") == "bothDirections")
            for each in model["relationships"]
        ),
        {
            each["name"]: "\n".join(each["expression"])
            for table in model["tables"]
            for each in table.get("measures", [])
        },
    )


def _rows(found: Table, columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Under the model's names, each cell of the type that the model says."""
    kinds = {"int64": int, "string": str}
    rows = []
    for record in found.records():
        assert set(record) == {column["sourceColumn"] for column in columns}
        row = {column["name"]: record[column["sourceColumn"]] for column in columns}
        for column in columns:
            value = row[column["name"]]
            assert value is None or type(value) is kinds[column["dataType"]]
        rows.append(row)
    return rows


@dataclass(frozen=True)
class MadeRelease:
    """A release of some people, whose counts are those of other people.

    Attributes:
        records: the synthetic ones, as attributes' texts.
        reported: combinations, as sets of attributes' texts, to what is reported of each.
        inputs: of its template.
    """

    records: list[frozenset[str]]
    reported: dict[frozenset[str], tuple[int | None, int | None, int | None]]
    inputs: ShowcaseInputs


def made_release(
    folder: Path,
    schema: Schema,
    people: Sequence[Record],
    others: Sequence[Record],
    *,
    length: int = 2,
    has_ranges: bool = False,
    **changes: Any,
) -> MadeRelease:
    """Write a release's two files into a folder.

    Args:
        folder: where to.
        schema: the public schema.
        people: the synthetic records.
        others: whom the reported counts are of; every attribute of ``people`` is theirs too.
        length: R.
        has_ranges: whether it is a fitted one.
        changes: of the template's inputs.
    """
    attributes = sorted(
        {each for person in (*people, *others) for each in _attributes(schema, person)},
        key=lambda each: each.text,
    )
    place = {each.text: index for index, each in enumerate(attributes)}
    headers = tuple(
        dict.fromkeys(
            header
            for index, column in enumerate(schema.columns)
            for header in (
                sorted({each.header for each in attributes if each.column == index})
                if column.is_multi_valued
                else [column.name]
            )
        )
    )
    held = [sorted(place[each.text] for each in _attributes(schema, person)) for person in people]
    counted = [
        sorted(place[each.text] for each in _attributes(schema, person)) for person in (*people, *others)
    ]
    levels = [
        Counter(c for ids in counted for c in itertools.combinations(ids, k)) for k in range(1, length + 1)
    ]
    aggregates = Aggregates(
        headers,
        tuple(attributes),
        len(counted),
        tuple(np.array(sorted(level), np.int32).reshape(-1, k) for k, level in enumerate(levels, start=1)),
        tuple(np.array([level[c] for c in sorted(level)], np.int64) for level in levels),
    )
    records = SyntheticRecords(
        headers,
        tuple(attributes),
        np.cumsum([0, *map(len, held)], dtype=np.int64),
        np.array([each for ids in held for each in ids], np.int32),
    )
    write_wide_tsv(records, folder / "p_synthetic_microdata.tsv")
    counts = folder / "p_reportable_aggregates.tsv"
    ranges = [_ranges(level) for level in levels] if has_ranges else []
    if has_ranges:
        write_estimates_tsv(aggregates, ranges, counts)
    else:
        write_reportable_tsv(aggregates, counts)
    given = {"title": "People", "prefix": "p", "statement": ROUNDED, "visuals": {}, "pages": {}}
    inputs = ShowcaseInputs(
        headers=headers_of(headers, attributes, schema),
        schema=schema,
        reporting_length=length,
        has_ranges=has_ranges,
        **(given | changes),
    )
    texts = [each.text for each in attributes]
    return MadeRelease(
        [frozenset(texts[each] for each in ids) for ids in held],
        _reported(texts, levels, ranges, len(counted), inputs.resolution),
        inputs,
    )


def _attributes(schema: Schema, person: Record) -> list[Attribute]:
    found = []
    for index, column in enumerate(schema.columns):
        value = person.get(column.name)
        if isinstance(value, frozenset):
            found += [Attribute(f"{column.name}_{item}", "1", index, item) for item in sorted(value)]
        elif value is not None:
            found.append(Attribute(column.name, value, index))
    return found


def _ranges(level: Mapping[tuple[int, ...], int]) -> Ranges:
    """Noisy tables tell every other combination, and every fourth was drawn itself."""
    counts = np.array([level[c] for c in sorted(level)], np.int64)
    place = np.arange(len(counts))
    noisy = np.where(place % 4 == 0, counts + place - 3, NOT_MEASURED)
    told = np.where(place % 2 == 0, np.maximum(counts + place - 2, 0), NOT_MEASURED)
    return Ranges(noisy, told, np.maximum(counts - 4, 0), counts + 5)


def _reported(
    texts: Sequence[str],
    levels: Sequence[Mapping[tuple[int, ...], int]],
    ranges: Sequence[Ranges],
    number: int,
    resolution: int | None,
) -> dict[frozenset[str], tuple[int | None, int | None, int | None]]:
    """What a reader of the file would say of each combination: its count, at least, at most."""
    if not ranges:
        rest = 0 if resolution is None else resolution - 1
        every = {(): number} | {c: n for level in levels for c, n in level.items()}
        return {
            frozenset(texts[i] for i in c): (n, *((None, None) if resolution is None else (n, n + rest)))
            for c, n in every.items()
        }
    found: dict[frozenset[str], tuple[int | None, int | None, int | None]] = {
        frozenset(): (number, None, None)
    }
    for level, drawn in zip(levels, ranges, strict=True):
        for c, told, low, high in zip(
            sorted(level), drawn.least_squares, drawn.at_least, drawn.at_most, strict=True
        ):
            count = None if told == NOT_MEASURED else int(told)
            found[frozenset(texts[i] for i in c)] = count, int(low), int(high)
    return found


@dataclass(frozen=True)
class Opened:
    """A template that was opened on its release.

    Attributes:
        model: as it was loaded.
        texts: attributes in the order of their numbers, from 1.
        bars: attribute to the table and column of its chart, and its label there.
    """

    model: Loaded
    texts: list[str]
    bars: dict[str, tuple[str, str, str]]

    def select(self, *attributes: str) -> dict[tuple[str, str], list[Any]]:
        """The filters that clicks on these attributes' bars make."""
        return {(table, column): [label] for table, column, label in map(self.bars.__getitem__, attributes)}

    def counts(self, filters: Mapping[tuple[str, str], Iterable[Any]]) -> tuple[Any, Any, Any]:
        """Actual, at least, at most."""
        actual, low, high = (self.model.value(name, filters) for name in ("Actual", "At least", "At most"))
        return actual, low, high


def opened(release: MadeRelease, folder: Path) -> Opened:
    """Open the template of a release that lies in a folder."""
    template = template_of(release)
    model = load(template, str(folder), release.inputs.prefix)
    with (folder / "p_reportable_aggregates.tsv").open(newline="", encoding="utf-8") as file:
        texts = [line[0] for line in csv.reader(file, delimiter="\t")][2:]
    texts = [text for text in texts if ";" not in text]
    tables = parts_of(template)["DataModelSchema"]["model"]["tables"]
    names = {each["sourceColumn"]: each["name"] for each in tables[0]["columns"]}
    of_header = {header.name: header for header in release.inputs.headers}
    bars = {}
    for row in model.tables["Attribute values"]:
        text = texts[row["Number"] - 1]
        header = of_header[text.partition(":")[0]]
        place = (header.column, "Name") if header.item else ("Records", names[f"Column{header.place}"])
        bars[text] = *place, row["Label"]
    return Opened(model, texts, bars)


def template_of(release: MadeRelease) -> bytes:
    """Its template."""
    return power_bi_template(release.inputs)[0]


def estimated(release: MadeRelease, selected: Iterable[str]) -> int | None:
    """How many synthetic records have all of these attributes; None for none, as a chart shows nothing."""
    wanted = set(selected)
    return sum(wanted <= record for record in release.records) or None


def hostile_schema() -> Schema:
    """Columns whose names and values a model, a query or a text could stumble over."""
    return Schema(
        (
            Column("sex"),
            Column("Sex"),
            Column("Record"),
            Column('it\'s [odd] "so" #(lf) $rows'),
            Column("langs", delimiter="|", max_items=3),
            Column("Straße 東京"),
        )
    )
