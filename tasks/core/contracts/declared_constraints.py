"""Constraints as a contract writes them, checked against its own columns; each fault with its place.

A value that a constraint names is a text or a range. A range is written as bins are: ``<18``, ``>=65``,
``[18,30)``. It stands for the bins that lie in it, whose edges it must keep to, or for the declared numbers
in it.

What hangs on the schema of a release, as whether anything is left that can be, is looked at in
`constraints`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from tasks.core.contracts import odcs
from tasks.core.contracts.contract import (
    ContractColumn,
    FunctionalDependency,
    OneOf,
    StructuralZero,
    ValueOrdering,
)
from tasks.core.contracts.odcs import CustomProperty, ElementPath, Problems
from tasks.core.hints import did_you_mean
from tasks.core.records.columns import Column, bin_problems, declared_values
from tasks.core.records.constraints import OrderedScale
from tasks.core.records.rulebook import Ends, ends_of_values
from tasks.core.tables.column_names import column_name, matching_name, output_spelling
from tasks.core.tables.number_format import NumberFormat

#: Of the values that a column has, so many are named.
_SHOWN = 8
_NUMBER = r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?|[+-]?inf)"
_HALF = re.compile(rf"(<=|<|>=|>)\s*{_NUMBER}")
_WHOLE = re.compile(rf"([\[(])\s*{_NUMBER}\s*,\s*{_NUMBER}\s*([\])])")


@dataclass(frozen=True)
class NamedValues:
    """What was named.

    Attributes:
        values: texts as the column has them; the empty one is absence.
        problems: what is wrong with what was named, one sentence each.
    """

    values: tuple[str, ...]
    problems: tuple[str, ...] = ()


def named_values(texts: Sequence[str], column: Column, *, is_numeric: bool) -> NamedValues:
    """The values that texts of a contract name.

    >>> age = Column("age", domain=declared_values(None, (0, 18, 65)), bins=(0, 18, 65))
    >>> named_values(["<18"], age, is_numeric=True).values
    ('<0', '[0,18)')

    Args:
        texts: normalised; the empty one is absence.
        column: of the schema; an open one may have any value.
        is_numeric: whether the column is declared to hold numbers, so that ranges are meant.
    """
    values: dict[str, None] = {}
    problems: list[str] = []
    strange: list[str] = []
    for text in texts:
        if text == "" or text in (column.domain or ()):
            values[text] = None
            continue
        ends = _range(text) if is_numeric or column.bins is not None else None
        if ends is not None and column.is_open:
            problems.append(f"the range {text!r} of {column.name!r} needs declared bins or values.")
        elif ends is not None:
            found = _inside(ends, column)
            problems += _range_problems(text, ends, column, found)
            values |= dict.fromkeys(found)
        elif column.is_open:
            values[text] = None
        else:
            strange.append(text)
    if strange:
        problems.append(_not_there(strange, column))
    return NamedValues(tuple(values), tuple(problems))


def _not_there(strange: list[str], column: Column) -> str:
    listed, known = ", ".join(map(repr, sorted(strange))), column.domain or ()
    meant = did_you_mean(strange[0], known, repr)
    if not meant:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        ranges = ", and ranges between its edges" if column.bins is not None else ""
        meant = f"it has {', '.join(map(repr, known[:_SHOWN]))}{more}{ranges}."
    return f"{column.name!r} does not have the value{'s' if len(strange) > 1 else ''} {listed}; {meant}"


def _range(text: str) -> Ends | None:
    try:
        if half := _HALF.fullmatch(text):
            at = float(half[2])
            if half[1].startswith("<"):
                return (float("-inf"), 0), (at, 0 if half[1] == "<=" else -1)
            return (at, 0 if half[1] == ">=" else 1), (float("inf"), 0)
        if whole := _WHOLE.fullmatch(text):
            low, high = float(whole[2]), float(whole[3])
            return (low, 0 if whole[1] == "[" else 1), (high, 0 if whole[4] == "]" else -1)
    except ValueError:
        return None
    return None


def _inside(ends: Ends, column: Column) -> list[str]:
    return [
        value
        for value, (low, high) in ends_of_values(column, "number").items()
        if ends[0] <= low and high <= ends[1]
    ]


def _range_problems(text: str, ends: Ends, column: Column, found: list[str]) -> list[str]:
    edges = column.bins
    inner = [at for at, _ in ends if at not in (float("-inf"), float("inf"))]
    if edges is not None and any(at not in edges for at in inner):
        known = ", ".join(format(edge, ".15g") for edge in edges)
        return [f"the range {text!r} of {column.name!r} must begin and end at edges of its bins: {known}."]
    return [] if found else [f"the range {text!r} of {column.name!r} holds none of its values."]


#: What the values of a logical type are compared as.
SCALES: dict[str, OrderedScale] = {
    "integer": "number",
    "number": "number",
    "date": "moment",
    "timestamp": "moment",
    "time": "time",
}


class OtherValues(odcs.StandardPart):
    """Any value but these."""

    excluded: tuple[str, ...] = Field(alias="not")


def _require_values(body: object) -> object:
    """Refuse what is neither a list of values nor ``{not: [...]}``, in one sentence for both."""
    listed = body["not"] if isinstance(body, dict) and {*body} == {"not"} else body
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise ValueError(
            "must be a list of values, such as [retired], or {not: [retired]} for all values but these"
        )
    if body == []:
        raise ValueError(
            'must list a value: "" is an empty cell, and {not: []} in place of the list any value'
        )
    return body


ZeroValues = Annotated[tuple[str, ...] | OtherValues, BeforeValidator(_require_values)]


class Dependency(odcs.StandardPart):
    """One functional dependency as written."""

    determinants: tuple[str, ...] = Field(alias="from", min_length=1)
    dependent: str = Field(alias="to")
    values: dict[str, str] | None = None
    otherwise: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_one_column(cls, body: object) -> object:
        if isinstance(body, dict) and isinstance(body.get("from"), str):
            return body | {"from": [body["from"]]}
        return body


class OrderedColumns(odcs.StandardPart):
    """Columns in order as written."""

    columns: tuple[str, ...] = Field(min_length=2)
    strict: bool = False


ColumnNames = Annotated[tuple[str, ...], Field(min_length=2)]


class OneOfColumns(odcs.StandardPart):
    """Columns of which exactly one holds a value, as written."""

    columns: ColumnNames
    value: Annotated[str, Field(min_length=1)] = "1"


class KnownColumns:
    """The columns that a contract describes, and where its faults are noted."""

    def __init__(
        self, columns: Sequence[ContractColumn], properties: tuple[CustomProperty, ...], problems: Problems
    ) -> None:
        """Args: columns: described so far. properties: of the table, for places. problems: of the file."""
        self._columns = {matching_name(column.name): column for column in columns}
        self._properties = properties
        self._problems = problems

    def place(self, name: str, index: int) -> ElementPath:
        """Where an entry of a property of the table stands."""
        found = next(at for at, item in enumerate(self._properties) if item.property == name)
        return ("schema", 0, "customProperties", found, "value", index)

    def fault(self, place: ElementPath, text: str) -> None:
        self._problems.add(place, text)

    def column(self, name: str, place: ElementPath) -> ContractColumn | None:
        """The described column of a name; a fault where there is none."""
        column = self._columns.get(matching_name(name))
        ids = [item.value for item in self._properties if item.property == "subjectId"]
        if column is None and matching_name(name) in (matching_name(str(each)) for each in ids):
            self.fault(place, f"{name!r} is the id; constraints are about the other columns.")
        elif column is None:
            meant = did_you_mean(matching_name(name), self._columns, repr)
            self.fault(place, f"the contract describes no column {name!r}{'; ' + meant if meant else '.'}")
        return column

    def group(self, names: Sequence[str], place: ElementPath) -> tuple[str, ...]:
        """The described columns of a group without an order; a fault for each that can't stand in it."""
        columns = [self.column(column_name(name), place) for name in names]
        if len({*map(matching_name, map(column_name, names))}) < len(names):
            self.fault(place, "a column can't stand twice in one entry.")
        return tuple(column.name for column in columns if column)

    def values(self, texts: Sequence[str], column: ContractColumn, place: ElementPath) -> tuple[str, ...]:
        """Texts that name values of a column, as they should be kept; a fault for each that names none."""
        listed = tuple(map(output_spelling, texts))
        if column.values is None and column.bins is None:  # perhaps a configuration declares them
            return listed
        known = _as_declared(column)
        for problem in named_values(listed, known, is_numeric=column.is_numeric).problems:
            self.fault(place, problem)
        return listed


def _as_declared(column: ContractColumn) -> Column:
    bins = column.bins if column.bins is not None and not bin_problems(column.bins) else None
    marks = NumberFormat(column.decimal or ".", column.thousands or "")
    return Column(
        column.name,
        declared_values(column.values or (), bins, column.minimum, column.maximum, column.other),
        bins,
        number_format=marks,
        minimum=column.minimum,
        maximum=column.maximum,
    )


def structural_zeros(
    entries: Sequence[dict[str, ZeroValues]], known: KnownColumns
) -> tuple[StructuralZero, ...]:
    zeros = []
    for index, entry in enumerate(entries):
        place = known.place("structuralZeros", index)
        listed = {
            column_name(name): texts.excluded if isinstance(texts, OtherValues) else texts
            for name, texts in entry.items()
        }
        if len(listed) < 2:
            known.fault(place, "an impossible combination needs two columns or more.")
            continue
        columns = {name: known.column(name, place) for name in listed}
        values = {c.name: known.values(listed[name], c, place) for name, c in columns.items() if c}
        negated = (column_name(name) for name, texts in entry.items() if isinstance(texts, OtherValues))
        excluded = tuple(found.name for found in (columns[name] for name in negated) if found)
        if len(values) == len(listed):
            zeros.append(StructuralZero(values=values, excluded=excluded))
    return tuple(zeros)


def functional_dependencies(
    entries: Sequence[Dependency], known: KnownColumns
) -> tuple[FunctionalDependency, ...]:
    """Columns that others decide, with what follows from what."""
    found = []
    for index, entry in enumerate(entries):
        place = known.place("functionalDependencies", index)
        names = [column_name(name) for name in (*entry.determinants, entry.dependent)]
        columns = [known.column(name, place) for name in names]
        if len(names) > 2:
            known.fault(place, "a column follows from one other column; of several, name the one.")
        if names[-1] in names[:-1]:
            known.fault(place, "a column can't decide itself.")
        for column in filter(None, columns):
            if column.delimiter is not None:
                known.fault(
                    place,
                    f"{column.name!r} is an array, which decides nothing and isn't decided; name "
                    "another column.",
                )
        if not entry.values:
            known.fault(
                place,
                "which value follows from which must be written out in values; read off the table it would "
                "state facts about people in it.",
            )
            continue
        if len(names) != 2 or columns[0] is None or columns[1] is None:
            continue
        pairs = {output_spelling(one): output_spelling(other) for one, other in entry.values.items()}
        if len(pairs) < len(entry.values):
            known.fault(place, f"a value of {columns[0].name!r} is given twice; keep one.")
        otherwise = output_spelling(entry.otherwise or "")
        known.values(tuple(pairs), columns[0], place)
        known.values((*dict.fromkeys((*pairs.values(), otherwise)),), columns[1], place)
        found.append(
            FunctionalDependency(
                determinants=(columns[0].name,),
                dependent=columns[1].name,
                values=pairs,
                otherwise=otherwise or None,
            )
        )
    return tuple(found)


def value_orderings(entries: Sequence[OrderedColumns], known: KnownColumns) -> tuple[ValueOrdering, ...]:
    found = []
    for index, entry in enumerate(entries):
        place = known.place("orderings", index)
        names = [column_name(name) for name in entry.columns]
        columns = [known.column(name, place) for name in names]
        if len({*map(matching_name, names)}) < len(names):
            known.fault(place, "a column can't stand twice in an ordering.")
        kinds = {SCALES.get(column.logical_type) for column in columns if column}
        if None in columns:
            continue
        if len(kinds) > 1 or None in kinds:
            known.fault(
                place,
                "columns in order must all be numbers (logicalType integer or number), all dates or "
                "timestamps, or all times; give each its logicalType.",
            )
        found.append(
            ValueOrdering(columns=tuple(column.name for column in columns if column), strict=entry.strict)
        )
    return tuple(found)


def empty_together(entries: Sequence[ColumnNames], known: KnownColumns) -> tuple[tuple[str, ...], ...]:
    return tuple(
        known.group(names, known.place("emptyTogether", index)) for index, names in enumerate(entries)
    )


def exactly_one(entries: Sequence[OneOfColumns], known: KnownColumns) -> tuple[OneOf, ...]:
    found = []
    for index, entry in enumerate(entries):
        place = known.place("exactlyOne", index)
        names = known.group(entry.columns, place)
        for name in names:
            column = known.column(name, place)
            if column and column.delimiter is not None:
                known.fault(place, f"{name!r} is an array; name columns of one value a cell.")
            elif column:
                known.values((entry.value,), column, place)
        if len(names) == len(entry.columns):
            found.append(OneOf(columns=names, value=output_spelling(entry.value)))
    return tuple(found)
