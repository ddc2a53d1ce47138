"""The payload of a release of counts and records: all that is released goes in, its page's data come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Ranges
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.cells import ColumnCells, cells_of_all_columns
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.payload.block import Block
from tasks.core.navigation.payload.codes import record_codes
from tasks.core.navigation.payload.columns import (
    ShownColumn,
    in_meant_order,
    kind_of_column,
    released_values,
)
from tasks.core.navigation.payload.counts import CountRanges, put_counts
from tasks.core.navigation.payload.layout import layout
from tasks.core.navigation.payload.ranges import ranges_of_lengths
from tasks.core.navigation.payload.tables import put_tables
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords

FORMAT = 1


@dataclass(frozen=True)
class Payload:
    """What the page's program reads. Attributes: meta: as JSON. data: the block, as base64."""

    meta: Json
    data: str


@dataclass(frozen=True)
class Unit:
    """What one record of the table is called. Attributes: one: a single one. many: several."""

    one: str
    many: str


@dataclass(frozen=True)
class Identity:
    """What a release is called.

    Attributes:
        title: of the page.
        prefix: of its files.
        unit: what a record stands for.
        citation: as a line of text, and as BibTeX.
    """

    title: str
    prefix: str
    unit: Unit
    citation: tuple[str, str]


@dataclass(frozen=True)
class Released:
    """All that is released.

    Attributes:
        statement: the content of ``privacy.json``.
        schema: the public schema.
        reported: every reportable combination.
        ranges: of a fitted release, of each length the ranges of its counts; empty otherwise.
        drawn: what was drawn with noise; None under k-anonymity.
        synthetic: the records; None where none were made.
        visuals: SDS's ``report_visuals``.
        pages: SDS's ``report_pages``.
        expected_error: by length, the mean error of counts that only the records answer; None: not known.
    """

    statement: Json
    schema: Schema
    reported: Aggregates
    ranges: Sequence[Ranges] = ()
    drawn: Measurement | WorkloadMeasurement | None = None
    synthetic: SyntheticRecords | None = None
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    expected_error: Mapping[str, float] | None = None


def payload_of_counts(released: Released, identity: Identity) -> Payload:
    """The page's data; equal inputs give equal bytes."""
    block = Block()
    synthetic = released.synthetic or SyntheticRecords(
        released.reported.headers, released.reported.attributes, np.zeros(1, np.int64), np.zeros(0, np.int32)
    )
    codes = record_codes(_columns(released, synthetic), synthetic)
    codes.put_into(block)
    counts = put_counts(block, codes.columns, released.reported, _ranges(released))
    tables: list[Json] = []
    if isinstance(released.drawn, WorkloadMeasurement):
        tables = put_tables(block, codes.columns, released.drawn)
    statement = released.statement
    meta = {
        "format": FORMAT,
        "title": identity.title,
        "dataset": statement["dataset"],
        "vintage": statement["vintage"],
        "prefix": identity.prefix,
        "language": "en",
        "protection": _protection(released),
        "unit": {"one": identity.unit.one, "many": identity.unit.many},
        "records": synthetic.number_of_records,
        "number": _number(released),
        "columns": [column.to_json() for column in codes.columns],
        "reporting_length": released.reported.reporting_length,
        "counts": counts,
        "tables": tables,
        "layout": layout(codes.columns, released.visuals, released.pages),
        "citation": {"text": identity.citation[0], "bibtex": identity.citation[1]},
        "expected_error": released.expected_error,
        **_accuracy(released),
        "buffers": block.index(),
    }
    return Payload(meta, block.text())


def _protection(released: Released) -> str:
    if released.drawn is None:
        return "k_anonymity"
    return "fitted" if isinstance(released.drawn, WorkloadMeasurement) else "lengths"


def _columns(released: Released, synthetic: SyntheticRecords) -> list[ShownColumn]:
    columns, cells = released.schema.columns, _cells(released)
    known = [column.domain or () for column in columns] if cells is None else [each.values for each in cells]
    values = released_values(columns, known, released.reported.attributes, synthetic.attributes)
    found = [_column(column, texts) for column, texts in zip(columns, values, strict=True)]
    if cells is None:
        return found
    measured = len(released.schema.measured.columns)
    return [
        replace(column, has_other=about.has_other, has_absent=about.has_absent)
        if place < measured
        else replace(column, is_decided=True)
        for place, (column, about) in enumerate(zip(found, cells, strict=True))
    ]


def _cells(released: Released) -> Sequence[ColumnCells] | None:
    """The cells of all columns of a fitted release."""
    if not isinstance(released.drawn, WorkloadMeasurement):
        return None
    return cells_of_all_columns(released.schema, released.drawn.cells)


def _column(column: Column, texts: tuple[str, ...]) -> ShownColumn:
    order = in_meant_order(column, texts)
    return ShownColumn(
        name=column.name,
        kind=kind_of_column(column, texts),
        values=texts if order is None else tuple(texts[place] for place in order),
        is_open=column.is_open,
        is_listed=order is not None,
    )


def _ranges(released: Released) -> list[CountRanges]:
    if isinstance(released.drawn, Measurement):
        return ranges_of_lengths(released.drawn, released.reported)
    return [CountRanges.of(each) for each in released.ranges]


def _number(released: Released) -> Json:
    """How many records the table has, as released, and the range of 95 of 100 draws."""
    if released.drawn is None:
        least, k = released.reported.number_of_records, int(released.statement["guarantee"]["resolution"])
        return {"value": least, "low": least, "high": least + k - 1}
    count = released.statement["noisy_count"]
    value, half = released.drawn.number_of_records, count["half_width_95"]
    low, high = (max(round(end), 0) for end in (value - half, value + half))
    return {"value": max(value, 0), "low": low, "high": high, "sd": released.drawn.count_deviation}


def _accuracy(released: Released) -> Json:
    """How far counts are off, in general: their resolution, or their noise by length."""
    if released.drawn is None:
        return {"resolution": int(released.statement["guarantee"]["resolution"])}
    sample: Json = {"sampled_share": float(released.drawn.sampled_share)}
    if isinstance(released.drawn, WorkloadMeasurement):
        return sample
    truncates = released.drawn.parameters.contribution != "schema"
    return sample | {"noise": [_noise(level, truncates) for level in released.statement["levels"]]}


def _noise(level: Json, truncates: bool) -> Json | None:
    """The noise of a length, and from which noisy count on it is published; None where nothing was drawn.

    Args:
        level: of the statement.
        truncates: whether only some combinations of a record are counted, where it holds many.
    """
    if not level["error_bar"]:
        return None
    bar = {key: level["error_bar"][key] for key in ("sd", "half_width_95")}
    return bar | {"threshold": level["threshold"], "truncated": truncates}
