"""The payload of a release of counts and records: all that is released goes in, its page's data come out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.arrays import Json
from tasks.core.dp.workload.cells import ColumnCells, cells_of_all_columns
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.inputs import Naming, ReportInputs
from tasks.core.navigation.payload.block import Buffers, number_of_page_records
from tasks.core.navigation.payload.columns import (
    ShownColumn,
    describe_columns,
    kind_of_column,
    layout,
    order_by_meaning,
    put_records,
    released_values,
)
from tasks.core.navigation.payload.counts import CountRanges, put_counts, put_tables, ranges_of_lengths
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords

FORMAT = 1


@dataclass(frozen=True)
class Payload:
    """What the page's program reads. Attributes: meta: as JSON. data: the block, as base64."""

    meta: Json
    data: str


def payload_of_counts(inputs: ReportInputs) -> Payload:
    """The page's data; equal inputs give equal bytes."""
    block, reported, drawn = Buffers(), inputs.aggregates, inputs.measurement
    synthetic = inputs.synthetic or no_records(reported)
    cells: Sequence[ColumnCells] | None = None
    ranges: list[CountRanges] = [
        {"low": length.at_least, "high": length.at_most, "estimate": length.least_squares}
        for length in inputs.ranges
    ]
    protection = "k_anonymity"
    if isinstance(drawn, WorkloadMeasurement):
        protection, cells = "fitted", cells_of_all_columns(inputs.schema, drawn.cells)
    elif drawn is not None:
        protection, ranges = "lengths", ranges_of_lengths(drawn, reported)
    columns = shown_columns(inputs.schema, cells, reported.attributes, synthetic.attributes)
    columns = put_records(block, columns, synthetic)
    counts = put_counts(block, columns, reported, ranges)
    return assemble_payload(
        block,
        describe_release(inputs.statement, inputs.naming) | {"protection": protection},
        inputs.naming,
        columns,
        records=synthetic.number_of_records,
        number=_number(inputs),
        counts=counts,
        tables=put_tables(block, columns, drawn) if isinstance(drawn, WorkloadMeasurement) else [],
        accuracy=_accuracy(inputs),
    )


def assemble_payload(
    block: Buffers,
    about: Json,
    naming: Naming,
    columns: Sequence[ShownColumn],
    *,
    records: int,
    number: Json | None,
    counts: list[Json],
    tables: list[Json],
    accuracy: Json,
) -> Payload:
    """What the program reads of a release whose arrays are all in the block.

    Args:
        about: the release's own names, its unit and its protection.
        number: how many records the table has, with its range; None where nothing is said of it.
    """
    meta = {
        **about,
        **number_of_page_records(records),
        "number": number,
        "columns": describe_columns(columns, naming),
        "reporting_length": len(counts),
        "counts": counts,
        "tables": tables,
        "layout": layout(columns, naming),
        **accuracy,
        "buffers": block.index(),
    }
    return Payload(meta, block.text())


def no_records(aggregates: Aggregates) -> SyntheticRecords:
    return SyntheticRecords(
        aggregates.headers, aggregates.attributes, np.zeros(1, np.int64), np.zeros(0, np.int32)
    )


def describe_release(statement: Json, naming: Naming, title: str = "") -> Json:
    unit = naming.unit_of(statement)
    return {
        "format": FORMAT,
        "title": title or naming.title_of(statement),
        "dataset": statement["dataset"],
        "vintage": statement["vintage"],
        "prefix": naming.prefix,
        "unit": {"one": unit.one, "many": unit.many},
        "citation": {"text": naming.citation, "bibtex": naming.bibtex},
    }


def shown_columns(
    schema: Schema, cells: Sequence[ColumnCells] | None, *attributes: Sequence[Attribute]
) -> list[ShownColumn]:
    """The page's columns. Args: cells: of all columns of a fitted release; None of others."""
    known = [column.domain or () for column in schema.columns]
    values = released_values(
        schema.columns, known if cells is None else [each.values for each in cells], *attributes
    )
    found = [_column(column, texts) for column, texts in zip(schema.columns, values, strict=True)]
    if cells is None:
        return found
    measured = len(schema.measured.columns)
    return [
        replace(column, has_other=about.has_other, has_absent=about.has_absent)
        if place < measured
        else replace(column, is_decided=True)
        for place, (column, about) in enumerate(zip(found, cells, strict=True))
    ]


def _column(column: Column, texts: tuple[str, ...]) -> ShownColumn:
    order = order_by_meaning(column, texts)
    return ShownColumn(
        name=column.name,
        kind=kind_of_column(column, texts),
        values=texts if order is None else tuple(texts[place] for place in order),
        is_open=column.is_open,
        is_listed=order is not None,
    )


def _number(inputs: ReportInputs) -> Json:
    """How many records the table has, as released, and the range of 95 of 100 draws."""
    if inputs.measurement is None:
        least, k = inputs.aggregates.number_of_records, int(inputs.statement["guarantee"]["resolution"])
        return {"value": least, "low": least, "high": least + k - 1}
    count = inputs.statement["noisy_count"]
    value, half = inputs.measurement.number_of_records, count["half_width_95"]
    low, high = (max(round(end), 0) for end in (value - half, value + half))
    return {"value": max(value, 0), "low": low, "high": high, "sd": inputs.measurement.count_deviation}


def _accuracy(inputs: ReportInputs) -> Json:
    """How far counts are off, in general: their resolution, or their noise by length."""
    if inputs.measurement is None:
        return {"resolution": int(inputs.statement["guarantee"]["resolution"])}
    sample: Json = {"sampled_share": float(inputs.measurement.sampled_share)}
    if isinstance(inputs.measurement, WorkloadMeasurement):
        return sample
    truncates = inputs.measurement.parameters.contribution != "schema"
    return sample | {"noise": [_noise(level, truncates) for level in inputs.statement["levels"]]}


def _noise(level: Json, truncates: bool) -> Json | None:
    """The noise of a length, and from which noisy count on it is published; None where nothing was drawn."""
    if not level["error_bar"]:
        return None
    bar = {key: level["error_bar"][key] for key in ("sd", "half_width_95")}
    return bar | {"threshold": level["threshold"], "truncated": truncates}
