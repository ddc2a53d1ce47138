"""From the standard's document to a `Contract`: what its rules and custom properties mean together.

A parsed document goes in, with the collector of its faults; the contract comes out. A fault is noted at
its place and the rest is still looked at, so that all are reported at once.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, JsonValue

from tasks.core.contracts import odcs
from tasks.core.contracts.contract import Contract, ContractColumn, Forbidden
from tasks.core.contracts.declaration import ColumnProperties, Decimal, Thousands
from tasks.core.contracts.declared_constraints import (
    ColumnNames,
    Dependency,
    KnownColumns,
    OneOfColumns,
    OrderedColumns,
    ZeroValues,
    empty_together,
    exactly_one,
    functional_dependencies,
    structural_zeros,
    value_orderings,
)
from tasks.core.contracts.odcs import CustomProperty, ElementPath, Problems, Property, Quality
from tasks.core.errors import ParameterError
from tasks.core.hints import no_such_file, show_path
from tasks.core.records.columns import bin_problems, domain_problems
from tasks.core.records.dropped import TEXT_KINDS
from tasks.core.tables.column_names import column_name, matching_name, output_spelling


def load_contract(path: Path) -> Contract:
    """The contract in a file.

    Raises:
        ParameterError: every fault found, each with its line and its place in the file.
    """
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ParameterError(no_such_file("The data contract", path)) from None
    except UnicodeDecodeError:
        raise ParameterError(
            f"The data contract {show_path(path)} must be text in UTF-8, and is not: save it so."
        ) from None
    except OSError as error:
        raise ParameterError(
            f"The data contract {show_path(path)} can't be read ({error.strerror}): check its path and "
            "permissions."
        ) from None
    contract = read_contract(text, path.name)
    return contract.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})


def read_contract(text: str, file_name: str = "contract") -> Contract:
    """The contract in a YAML text; ``file_name`` is what its faults are reported under.

    Raises:
        ParameterError: every fault found.
    """
    body, problems = odcs.parse(text, file_name)
    contract = translate(body, problems) if body else None
    if contract is None or problems.found:
        raise ParameterError(problems.found)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return contract.model_copy(update={"sha256": digest})


ExtrasType = TypeVar("ExtrasType", bound=odcs.StandardPart)
_DATED = ("date", "time", "timestamp")


class ColumnExtras(odcs.StandardPart, ColumnProperties):
    """Our custom properties of a column."""

    other: str | None = None
    repair: str | None = None
    value_format: str | None = Field(None, min_length=1)
    seems_to_follow: str | None = Field(None, min_length=1)
    drafted: bool = False


class TableExtras(odcs.StandardPart):
    """Our custom properties of the table."""

    subject_id: str | None = Field(None, min_length=1)
    structural_zeros: tuple[dict[str, ZeroValues], ...] = ()
    functional_dependencies: tuple[Dependency, ...] = ()
    orderings: tuple[OrderedColumns, ...] = ()
    empty_together: tuple[ColumnNames, ...] = ()
    exactly_one: tuple[OneOfColumns, ...] = ()
    decimal: Decimal | None = None
    thousands: Thousands | None = None


def translate(body: dict[str, Any], problems: Problems) -> Contract | None:
    """The contract in a parsed file, or None; faults are noted in ``problems``."""
    document = problems.as_model(odcs.Document, body)
    listed = body.get("schema")
    if not isinstance(listed, list) or not listed:
        return None
    place: ElementPath = ("schema", 0)
    table = problems.as_model(odcs.ContractTable, listed[0], place)
    if table is None:  # its columns have faults of their own
        properties = listed[0].get("properties") if isinstance(listed[0], dict) else None
        _columns(properties if isinstance(properties, list) else [], None, problems)
        return None
    extras = _extras(TableExtras, table.custom_properties, place, problems)
    subject = column_name(extras.subject_id) if extras.subject_id else None
    columns = [_with_marks(column, extras) for column in _columns(table.properties, subject, problems)]
    min_rows, forbidden = table_rules(table.quality, (*place, "quality"), problems)
    known = KnownColumns(columns, table.custom_properties, problems)
    zeros = structural_zeros(extras.structural_zeros, known)
    dependencies = functional_dependencies(extras.functional_dependencies, known)
    orderings = value_orderings(extras.orderings, known)
    if document is None:
        return None
    return Contract(
        id=document.id,
        name=document.name or document.id,
        version=document.version,
        status=document.status,
        table=table.name,
        subject_id=subject,
        columns=tuple(columns),
        min_rows=min_rows,
        forbidden=forbidden,
        structural_zeros=zeros,
        functional_dependencies=dependencies,
        orderings=orderings,
        empty_together=empty_together(extras.empty_together, known),
        exactly_one=exactly_one(extras.exactly_one, known),
    )


def _columns(properties: Sequence[Any], subject: str | None, problems: Problems) -> list[ContractColumn]:
    columns: list[ContractColumn] = []
    for index, body in enumerate(properties):
        place: ElementPath = ("schema", 0, "properties", index)
        part = problems.as_model(Property, body, place)
        if part is None:  # others may refer to it by its name
            named = body.get("name") if isinstance(body, dict) else None
            columns += [ContractColumn(name=column_name(named))] if isinstance(named, str) else []
            continue
        column = _column(part, place, problems)
        if any(matching_name(column.name) == matching_name(other.name) for other in columns):
            problems.add((*place, "name"), f"the column {column.name!r} is described twice; keep one.")
        if subject is None or matching_name(column.name) != matching_name(subject):
            columns.append(column)
        elif _makes_promises(column):
            problems.add(place, "the subject id is never published, and carries no rule of its own.")
    return columns


def _with_marks(column: ContractColumn, table: TableExtras) -> ContractColumn:
    return column.model_copy(
        update={
            "decimal": column.decimal or table.decimal,
            "thousands": table.thousands if column.thousands is None else column.thousands,
        }
    )


def _makes_promises(column: ContractColumn) -> bool:
    plain = ContractColumn(
        name=column.name,
        description=column.description,
        logical_type=column.logical_type,
        max_empty_percent=0,
    )
    return column not in (plain, plain.model_copy(update={"max_empty_percent": None}))


def _extras(
    model: type[ExtrasType], properties: tuple[CustomProperty, ...], place: ElementPath, problems: Problems
) -> ExtrasType:
    """Custom properties as a model; a property that we do not know is a fault."""
    names = [item.property for item in properties]
    body: dict[str, JsonValue] = {}
    for index, item in enumerate(properties):
        entry: ElementPath = (*place, "customProperties", index)
        known = sorted(field.alias or name for name, field in model.model_fields.items())
        if item.property not in known:
            problems.add(entry, f"the property must be one of {', '.join(known)}; it is {item.property!r}.")
        elif names.count(item.property) > 1:
            problems.add(entry, f"the property {item.property!r} is given more than once; keep one.")
        elif problems.as_model(model, {item.property: item.value}, (*entry, "value")) is not None:
            body[item.property] = item.value
    return model.model_validate(body)


def _column(part: Property, place: ElementPath, problems: Problems) -> ContractColumn:
    extras = _extras(ColumnExtras, part.custom_properties, place, problems)
    rules = ColumnRules(part, place, problems)
    values = None if rules.values is None else tuple(output_spelling(value) for value in rules.values)
    properties = {name: getattr(extras, name) for name in ColumnProperties.model_fields}
    if "0" in (values or ()):
        properties["zero_is_value"] = True
    column = ContractColumn(
        **properties,
        name=column_name(part.physical_name or part.name),
        description=" ".join(part.description.split()) if isinstance(part.description, str) else "",
        logical_type=part.logical_type,
        values=values,
        drafted=extras.drafted,
        other=None if extras.other is None else output_spelling(extras.other),
        repair=None if extras.repair is None else output_spelling(extras.repair),
        minimum=part.logical_type_options.minimum,
        maximum=part.logical_type_options.maximum,
        max_items=part.logical_type_options.max_items,
        value_format=extras.value_format,
        max_distinct=rules.max_distinct,
        max_empty_percent=0.0 if part.required else rules.max_empty_percent,
        seems_to_follow=extras.seems_to_follow,
        forbidden=tuple(rules.forbidden),
    )
    for problem in _column_problems(column, part):
        problems.add(place, problem)
    return column


def _column_problems(column: ContractColumn, part: Property) -> list[str]:
    is_array = column.logical_type == "array"
    declared = column.domain is not None or column.bins is not None
    checks = [
        (is_array != (column.delimiter is not None), "an array needs a delimiter, and only an array has one"),
        (part.items is not None and not is_array, "only an array has items"),
        (column.max_items is not None and not is_array, "only an array has maxItems"),
        (is_array and column.bins is not None, "an array can't be binned; split it before, or drop the bins"),
        (column.bins is not None and column.values is not None, "bins and validValues can't both be given"),
        (
            column.bins is not None and not column.is_numeric,
            "bins need the logicalType integer or number",
        ),
        (
            not column.is_numeric and (column.minimum is not None or column.maximum is not None),
            "minimum and maximum need the logicalType integer or number",
        ),
        (
            column.value_format is not None and column.logical_type not in _DATED,
            "valueFormat needs the logicalType date, time or timestamp",
        ),
        (
            (column.decimal or column.thousands is not None or column.negative) and not column.is_numeric,
            "decimal, thousands and negative need the logicalType integer or number",
        ),
        (column.drafted and column.values is None, "drafted marks a list of validValues; there is none"),
        (column.other is not None and not declared, "other needs declared validValues or bins"),
        (column.other == "", "other must not be empty"),
        (column.repair == "", "repair must not be empty: without it the cell becomes absent"),
        (column.repair is not None and is_array, "of an array, items that break a constraint are dropped"),
        (
            column.max_distinct is not None and declared,
            "distinctValues is for a column without declared validValues or bins",
        ),
        (
            part.required and any(rule.metric == "nullValues" for rule in part.quality),
            "required already says that nothing is empty; give it or nullValues, not both",
        ),
        (
            is_array and column.max_empty_percent is not None,
            "nullValues and required can't be judged on an array; remove them",
        ),
    ]
    problems = [f"{text}." for found, text in checks if found]
    if column.values is not None:
        problems += domain_problems(column.values)
    if column.bins is not None:
        problems += bin_problems(column.bins)
    return problems


#: Syntax of Python's that RE2 doesn't have, or reads otherwise.
_NOT_RE2 = re.compile(r"\(\?(?!:)|[*+?}]\+")
_NOT_RE2_ESCAPES = re.compile(r"\\[1-9ZuUN]")


def pattern_problem(pattern: str) -> str:
    """Why a pattern can't be used, or nothing.

    >>> [bool(pattern_problem(pattern)) for pattern in ("^[A-Z]{2}[0-9]{6}$", "(?<=id )[0-9]+", "[")]
    [False, True, True]
    """
    try:
        re.compile(pattern)
    except re.error as error:
        return f"must be a regular expression: {error.msg}."
    if _NOT_RE2.search(re.sub(r"\\.", "", pattern)) or _NOT_RE2_ESCAPES.search(pattern):
        return "must not use look-around, back-references, inline flags or possessive repetition."
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid:
        return "must be a regular expression that RE2 takes."
    return ""


class ColumnRules:
    """The quality entries of one column, by what they say.

    Attributes:
        values: the allowed values as written, or None.
        max_distinct, max_empty_percent: the promised limits, or None.
    """

    def __init__(self, part: Property, place: ElementPath, problems: Problems) -> None:
        """Args: place: of the column; faults are noted in ``problems``."""
        self.values: tuple[str, ...] | None = None
        self.max_distinct: int | None = None
        self.max_empty_percent: float | None = None
        self.forbidden: list[Forbidden] = []
        for index, rule in enumerate(part.quality):
            problem = self._read(rule)
            if problem:
                problems.add((*place, "quality", index), problem)

    def _read(self, rule: Quality) -> str:
        if rule.metric == "invalidValues" and rule.implementation is None:
            if rule.arguments is None or rule.must_be != 0:
                return "invalidValues needs arguments.validValues and mustBe 0."
            if self.values is not None:
                return "validValues are given twice; keep one list."
            self.values = rule.arguments.valid_values
            return ""
        if rule.metric == "nullValues" and rule.implementation is None:
            if rule.unit != "percent" or rule.must_be_less_or_equal_to is None:
                return "nullValues needs unit percent and mustBeLessOrEqualTo, 0 to 100."
            self.max_empty_percent = rule.must_be_less_or_equal_to
            return ""
        own = rule.implementation
        if own is None or rule.engine is None or rule.type != "custom" or rule.metric is not None:
            return (
                "a column's rule must have the metric invalidValues or nullValues, or be of type custom "
                "with engine marginalia and an implementation."
            )
        if own.rule == "distinctValues":
            self.max_distinct = own.must_be_less_or_equal_to
            return "" if self.max_distinct else "distinctValues needs mustBeLessOrEqualTo, 1 or more."
        forbidden, problem = _forbidden(own)
        self.forbidden += forbidden
        return problem


def _forbidden(own: odcs.Implementation) -> tuple[list[Forbidden], str]:
    if own.rule == "noPersonalIdentifiers":
        return [Forbidden(name=TEXT_KINDS[kind][0], patterns=TEXT_KINDS[kind][1]) for kind in own.kinds], ""
    if not own.pattern or not own.name:
        return [], "forbiddenPattern needs a name and a pattern."
    problem = pattern_problem(own.pattern)
    return ([] if problem else [Forbidden(name=own.name, patterns=(own.pattern,))]), problem


def table_rules(
    rules: tuple[Quality, ...], place: ElementPath, problems: Problems
) -> tuple[int | None, tuple[Forbidden, ...]]:
    """Least number of rows, and what is searched for in every column."""
    min_rows: int | None = None
    forbidden: list[Forbidden] = []
    for index, rule in enumerate(rules):
        problem = ""
        own = rule.implementation
        if rule.metric == "rowCount" and own is None:
            min_rows = rule.must_be_greater_or_equal_to
            problem = "" if min_rows is not None else "rowCount needs mustBeGreaterOrEqualTo."
        elif own is not None and rule.type == "custom" and rule.engine and own.rule != "distinctValues":
            found, problem = _forbidden(own)
            forbidden += found
        else:
            problem = "a table's rule must be rowCount, noPersonalIdentifiers or forbiddenPattern."
        if problem:
            problems.add((*place, index), problem)
    return min_rows, tuple(forbidden)
