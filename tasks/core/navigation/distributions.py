"""Counts of every column's values: aggregates and synthetic records go in, rows of bars come out.

The order is public: declared bins keep their order, all other values stand by released count, then by text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Flags, Floats
from tasks.core.charts.bars import Bar
from tasks.core.navigation.fidelity import comparable_scale
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis.records import SyntheticRecords

#: How many values of a column are drawn; the page says how many more are released.
SHOWN = 25


@dataclass(frozen=True)
class Distribution:
    """The published values of one column, or of a visual that the configuration names.

    Attributes:
        name: of the column or visual.
        kind: what the column is, in words.
        bars: those that are drawn, each with its released and its synthetic count.
        more: how many published values are not drawn.
    """

    name: str
    kind: str
    bars: tuple[Bar, ...]
    more: int


@dataclass(frozen=True)
class SingleCounts:
    """Counts of single attributes.

    Attributes:
        released: per attribute id of the aggregates; 0 where the attribute has no published count.
        published: whether it has one.
        synthetic: per attribute id, times ``scale``.
        scale: see `comparable_scale`.
    """

    released: Floats
    published: Flags
    synthetic: Floats
    scale: float


def single_counts(aggregates: Aggregates, synthetic: SyntheticRecords) -> SingleCounts:
    """Counts of every attribute in the aggregates and, made comparable, in the synthetic records."""
    size = len(aggregates.attributes)
    released, published = np.zeros(size), np.zeros(size, dtype=np.bool_)
    if aggregates.combinations:
        ids = aggregates.combinations[0][:, 0]
        released[ids], published[ids] = aggregates.counts[0], True
    drawn = np.bincount(synthetic.attribute_ids, minlength=len(synthetic.attributes)).astype(np.float64)
    if synthetic.attributes != aggregates.attributes:
        place = {attribute.text: index for index, attribute in enumerate(synthetic.attributes)}
        held = [place.get(attribute.text) for attribute in aggregates.attributes]
        drawn = np.array([0.0 if index is None else drawn[index] for index in held])
    scale = comparable_scale(float(released[published].sum()), float(drawn[published].sum()))
    return SingleCounts(released, published, drawn * scale, scale)


def lengths_told(synthetic: SyntheticRecords) -> str:
    """How many attributes the synthetic records have, in a sentence; of one record or more."""
    lengths = np.diff(synthetic.offsets)
    low, middle, high = (int(each) for each in np.quantile(lengths, (0.25, 0.5, 0.75), method="inverted_cdf"))
    longest = int(lengths.max())
    if lengths.min() == longest:
        return f"Each synthetic record has {_attributes(longest)}."
    if low == high:
        rest = f"the longest has {longest}" if longest > high else "none has more"
        return f"At least half of the synthetic records have {_attributes(low)}; {rest}."
    return (
        f"Half of the synthetic records have {low} to {high} attributes; the median is {middle}, the longest "
        f"has {longest}."
    )


def _attributes(number: int) -> str:
    return "1 attribute" if number == 1 else f"{number} attributes"


@dataclass(frozen=True)
class Kinds:
    """How columns are described.

    Attributes:
        unit: what holds a column's items: ``subject`` or ``row``.
        open: what the values of an open column are.
        unpublished: the count of a declared value without a published one; None where it is not known.
    """

    unit: str = "subject"
    open: str = "values read from the table that reach the threshold"
    unpublished: float | None = 0


def column_distributions(
    schema: Schema, aggregates: Aggregates, counts: SingleCounts, kinds: Kinds = Kinds()
) -> list[Distribution]:
    """One distribution a column, in file order."""
    by_column: list[dict[str, int]] = [{} for _ in schema.columns]
    others: list[dict[str, float]] = [{} for _ in schema.columns]
    for index, attribute in enumerate(aggregates.attributes):
        value = attribute.value if attribute.item is None else attribute.item
        if counts.published[index]:
            by_column[attribute.column][value] = index
        else:
            others[attribute.column][value] = counts.synthetic[index]
    distributions = []
    for column, held, drawn in zip(schema.columns, by_column, others, strict=True):
        rows = [
            Bar(value, (counts.released[index], counts.synthetic[index])) for value, index in held.items()
        ]
        missing = [value for value in column.domain or () if value not in held]
        rows += [Bar(value, (kinds.unpublished, drawn.get(value, 0))) for value in missing]
        ordered = column.domain if column.bins else None
        bars, more = _drawn(rows, ordered)
        distributions.append(Distribution(column.name, _kind(column, kinds), bars, more))
    return distributions


def _drawn(rows: list[Bar], ordered: Sequence[str] | None) -> tuple[tuple[Bar, ...], int]:
    """The largest rows, in the declared order where there is one; and how many are left out."""
    largest = sorted(rows, key=lambda row: (-(row.values[0] or 0), row.label))[:SHOWN]
    if ordered is not None:
        place = {value: index for index, value in enumerate(ordered)}
        largest.sort(key=lambda row: place.get(row.label, len(place)))
    return tuple(largest), len(rows) - len(largest)


def _kind(column: Column, kinds: Kinds) -> str:
    """What a column is, in words, and what a 0 in it means where the declared values do not say."""
    several = f"several items per {kinds.unit}, " if column.is_multi_valued else ""
    zero = "0 is a value" if column.keeps_zero else "0 is read as empty"
    if column.bins is not None:
        return f"{several}numeric, in {len(column.domain or ())} declared bins; {zero}"
    if column.domain is not None:
        return f"{several}{len(column.domain)} declared values"
    return f"{several}open: {kinds.open}; {zero}"


def visual(name: str, texts: Sequence[str], aggregates: Aggregates, counts: SingleCounts) -> Distribution:
    """A visual of the configuration: chosen attributes, written ``header:value`` (sds.md 6.2)."""
    place = {attribute.text: index for index, attribute in enumerate(aggregates.attributes)}
    rows = [
        Bar(text, (counts.released[place[text]], counts.synthetic[place[text]]))
        for text in texts
        if text in place and counts.published[place[text]]
    ]
    return Distribution(name, "chosen values", tuple(rows[:SHOWN]), max(len(rows) - SHOWN, 0))
