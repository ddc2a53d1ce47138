"""What makes records linkable: which attributes and columns stand in rare combinations most (sds.md 2.3, 5).

What singles out records goes in (`singling_out`), shares and rankings come out. All of it is sensitive.
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.singling_out import SingledOut
from tasks.core.aggregates.wide_form import attribute
from tasks.core.records.coded import CodedRecords


@dataclass(frozen=True)
class LinkableAttribute:
    """An attribute, and how many of its records it helps to single out.

    Attributes:
        attribute: a value or an item that somebody holds.
        records: that hold it, at least 1.
        rare: of them, those with some rare combination that contains it.
        unique: of them, those with some unique combination that contains it.
    """

    attribute: Attribute
    records: int
    rare: int
    unique: int

    @property
    def rare_pct(self) -> float:
        """0..100."""
        return _percentage(self.rare, self.records)

    @property
    def unique_pct(self) -> float:
        """0..100."""
        return _percentage(self.unique, self.records)


@dataclass(frozen=True)
class LinkableColumn:
    """A column of the table (its items together), and the plain means over its attributes, 0..100.

    Attributes:
        name: the column's.
        attributes: that somebody holds; where there is none, the means are 0.
        rare_pct: mean of its attributes' percentages of records in rare combinations with them.
        unique_pct: the same of unique combinations.
    """

    name: str
    attributes: int
    rare_pct: float
    unique_pct: float


@dataclass(frozen=True)
class Linkability:
    """How linkable a table is at a resolution and a reporting length.

    Attributes:
        attributes: every attribute that is held, the most linkable first.
        columns: every column, the most linkable first.
    """

    attributes: tuple[LinkableAttribute, ...]
    columns: tuple[LinkableColumn, ...]


def _percentage(part: int, whole: int) -> float:
    """0..100, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0


def linkability_of(found: SingledOut, records: CodedRecords) -> Linkability:
    """How linkable a table is, from what singles its records out.

    Equally linkable ones stand by the other percentage, then in the order of texts or of columns.
    """
    of_columns = [_attributes_of(found, records, column) for column in range(len(records.values))]
    columns = [
        LinkableColumn(
            name=records.schema.columns[index].name,
            attributes=len(attributes),
            rare_pct=_mean([each.rare_pct for each in attributes]),
            unique_pct=_mean([each.unique_pct for each in attributes]),
        )
        for index, attributes in enumerate(of_columns)
    ]
    attributes = sorted((each for own in of_columns for each in own), key=lambda each: each.attribute.text)
    return Linkability(
        attributes=tuple(sorted(attributes, key=lambda each: (-each.rare_pct, -each.unique_pct))),
        columns=tuple(sorted(columns, key=lambda each: (-each.rare_pct, -each.unique_pct))),
    )


def _attributes_of(found: SingledOut, records: CodedRecords, column: int) -> list[LinkableAttribute]:
    held, rare, unique = (counts[column].tolist() for counts in (found.held, found.rare, found.unique))
    of = records.schema.columns[column]
    return [
        LinkableAttribute(attribute(of, column, value), held[code], rare[code], unique[code])
        for code, value in enumerate(records.values[column], start=1)
        if held[code]
    ]


def _mean(percentages: list[float]) -> float:
    return float(np.mean(percentages)) if percentages else 0.0
