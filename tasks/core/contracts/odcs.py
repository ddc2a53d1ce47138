"""A data contract in the Open Data Contract Standard 3.1: from a YAML file to a `Contract`.

Scalars are read as the text that stands in the file (``yes``, ``007`` and ``12:30`` stay what they are), and
typed by the model. What the standard has and this project does not enforce is refused, so that nobody relies
on it; purely descriptive sections are accepted and not read. All faults are reported at once.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from tasks.core.contracts.constraints import READERS, Dependency, DescribedColumns, ZeroValues
from tasks.core.contracts.contract import (
    Contract,
    ContractColumn,
    ElementPath,
    Forbidden,
    LogicalType,
    OneOf,
    ValueOrdering,
)
from tasks.core.contracts.declaration import ColumnProperties, Decimal, Thousands
from tasks.core.errors import ParameterError
from tasks.core.hints import no_such_file, show_path
from tasks.core.records.columns import bin_problems, domain_problems
from tasks.core.records.dropped import TEXT_KINDS
from tasks.core.tables.column_names import column_name, matching_name, output_spelling

#: The keys of `TEXT_KINDS`.
IdentifierKind = Literal["email", "telephone", "identityNumber"]
PartType = TypeVar("PartType", bound="StandardPart")


class StandardPart(BaseModel):
    """Frozen, keys in the standard's spelling, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class DescribedElement(StandardPart):
    id: str = ""
    description: Any = None
    tags: tuple[str, ...] = ()
    business_name: str = ""
    authoritative_definitions: Any = None


class CustomProperty(StandardPart):
    property: str
    value: Any
    description: str = ""


class Implementation(StandardPart):
    """A rule of our own, in a quality entry of type ``custom`` and engine ``marginalia``."""

    rule: Literal["distinctValues", "noPersonalIdentifiers", "forbiddenPattern"]
    must_be_less_or_equal_to: int | None = Field(None, ge=1)
    kinds: tuple[IdentifierKind, ...] = get_args(IdentifierKind)
    name: str = ""
    pattern: str = ""


class Arguments(StandardPart):
    valid_values: tuple[str, ...] = Field(min_length=1)


class Quality(StandardPart):
    """One rule: a library metric with an operator, or one of ours."""

    id: str = ""
    name: str = ""
    description: str = ""
    dimension: str = ""
    severity: str = ""
    business_impact: str = ""
    type: Literal["library", "custom"] = "library"
    metric: Literal["rowCount", "nullValues", "invalidValues"] | None = None
    arguments: Arguments | None = None
    unit: Literal["rows", "percent"] = "rows"
    must_be: FiniteFloat | None = None
    must_be_less_or_equal_to: FiniteFloat | None = Field(None, ge=0, le=100)
    must_be_greater_or_equal_to: int | None = Field(None, ge=0)
    engine: Literal["marginalia"] | None = None
    implementation: Implementation | None = None


class Options(StandardPart):
    max_items: int | None = Field(None, ge=1, le=64)
    minimum: FiniteFloat | None = None
    maximum: FiniteFloat | None = None


class Items(StandardPart):
    logical_type: Literal["string"] = "string"


class Property(DescribedElement):
    name: str = Field(min_length=1)
    physical_name: str = ""
    physical_type: str = ""
    logical_type: LogicalType = "string"
    logical_type_options: Options = Options()
    required: bool = False
    classification: str = ""
    critical_data_element: bool = False
    examples: tuple[str, ...] = ()
    items: Items | None = None
    quality: tuple[Quality, ...] = ()
    custom_properties: tuple[CustomProperty, ...] = ()


class ContractTable(DescribedElement):
    """One table; its columns are validated one by one, so that a fault in one hides none in another."""

    name: str = Field(min_length=1)
    physical_name: str = ""
    physical_type: str = ""
    logical_type: Literal["object"] = "object"
    data_granularity_description: str = ""
    properties: tuple[Any, ...] = Field(min_length=1)
    quality: tuple[Quality, ...] = ()
    custom_properties: tuple[CustomProperty, ...] = ()


class Document(DescribedElement):
    """A whole contract. Sections that say nothing about the values are accepted and not read."""

    api_version: Literal["v3.1.0"]
    kind: Literal["DataContract"]
    id: str = Field(min_length=1)
    name: str = ""
    version: str = Field(min_length=1)
    status: str = Field(min_length=1)
    tables: tuple[Any, ...] = Field(alias="schema", min_length=1, max_length=1)
    tenant: str = ""
    domain: str = ""
    data_product: str = ""
    contract_created_ts: str = ""
    servers: Any = None
    team: Any = None
    roles: Any = None
    support: Any = None
    price: Any = None
    sla_properties: Any = None


class Problems:
    def __init__(self, root: yaml.Node | None, file_name: str) -> None:
        self._root, self._file = root, file_name
        self.found: list[str] = []

    def add(self, place: Sequence[str | int], text: str) -> None:
        """Note a fault at a place such as ``("schema", 0, "name")``."""
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
        node = _node_at(self._root, place)
        line = f", line {node.start_mark.line + 1}" if node is not None else ""
        self.found.append(f"{self._file}{line}: {path + ': ' if path else ''}{text}")

    def as_model(self, model: type[PartType], body: object, place: ElementPath = ()) -> PartType | None:
        """The body as a model, or None with its faults noted under ``place``."""
        try:
            return model.model_validate(body)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_input=False):
                self.add((*place, *detail["loc"]), _sentence(detail["type"], detail["msg"]))
            return None


def _sentence(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "is not a key that a contract may hold here; remove it."
    if kind == "missing":
        return "is required."
    if kind in _FORMS:
        return f"must be {_FORMS[kind]}."
    if kind == "too_short":
        return f"must have {_AT_LEAST.findall(message)[0]} entries or more."
    message = message.removeprefix("Value error, ")
    return message[0].lower() + message[1:] + "."


#: What a value must be, by the kind of fault.
_FORMS = {
    "tuple_type": "a list, such as [one, another]",
    "list_type": "a list, such as [one, another]",
    "dict_type": "a mapping, such as {key: value}",
    "model_type": "a mapping, such as {key: value}",
}
_AT_LEAST = re.compile(r"at least (\d+)")


def parse(text: str, file_name: str) -> tuple[dict[str, Any], Problems]:
    """What a YAML text holds, all scalars as text, and the faults of the YAML itself."""
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
        body = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        problems = Problems(None, file_name)
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        problems.add((), f"must be YAML{line}: {getattr(error, 'problem', '') or 'it is not'}.")
        return {}, problems
    problems = Problems(root, file_name)
    if not isinstance(body, dict):
        problems.add((), "must hold one data contract, a mapping of keys.")
        return {}, problems
    try:
        for place in _repeated_keys(root):
            problems.add(place, "is given twice; keep one.")
    except RecursionError:
        problems.add((), "must not refer to itself.")
        return {}, problems
    return body, problems


def _node_at(node: yaml.Node | None, place: Sequence[str | int]) -> yaml.Node | None:
    for part in place:
        inner: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            inner = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            inner = node.value[part]
        if inner is None:
            return node
        node = inner
    return node


def _repeated_keys(node: yaml.Node | None, place: ElementPath = ()) -> Iterator[ElementPath]:
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value]
        yield from ((*place, key) for key in dict.fromkeys(keys) if keys.count(key) > 1)
        for key, value in node.value:
            yield from _repeated_keys(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _repeated_keys(value, (*place, index))


def load_contract(path: Path) -> Contract:
    """Raises: ParameterError: every fault found, each with its line and its place in the file."""
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
    """The contract in a YAML text. Raises: ParameterError: every fault found, under ``file_name``."""
    body, problems = parse(text, file_name)
    contract = translate(body, problems) if body else None
    if contract is None or problems.found:
        raise ParameterError(problems.found)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return contract.model_copy(update={"sha256": digest})


ExtrasType = TypeVar("ExtrasType", bound=StandardPart)
_DATED = ("date", "time", "timestamp")


class ColumnExtras(StandardPart, ColumnProperties):
    other: str | None = None
    repair: str | None = None
    value_format: str | None = Field(None, min_length=1)
    seems_to_follow: str | None = Field(None, min_length=1)
    drafted: bool = False


class TableExtras(StandardPart):
    subject_id: Annotated[str, Field(min_length=1), AfterValidator(column_name)] | None = None
    structural_zeros: tuple[dict[str, ZeroValues], ...] = ()
    functional_dependencies: tuple[Dependency, ...] = ()
    orderings: tuple[ValueOrdering, ...] = ()
    empty_together: tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...] = ()
    exactly_one: tuple[OneOf, ...] = ()
    decimal: Decimal | None = None
    thousands: Thousands | None = None


def translate(body: dict[str, Any], problems: Problems) -> Contract | None:
    """The contract in a parsed file, or None; faults are noted in ``problems``."""
    document = problems.as_model(Document, body)
    listed = body.get("schema")
    if not isinstance(listed, list) or not listed:
        return None
    place: ElementPath = ("schema", 0)
    table = problems.as_model(ContractTable, listed[0], place)
    if table is None:  # its columns have faults of their own
        properties = listed[0].get("properties") if isinstance(listed[0], dict) else None
        _columns(properties if isinstance(properties, list) else [], TableExtras(), problems)
        return None
    extras = _extras(TableExtras, table.custom_properties, place, problems)
    columns = _columns(table.properties, extras, problems)
    rules = _read_rules(table.quality, (*place, "quality"), problems, _read_table_rule)
    places = {item.property: index for index, item in enumerate(table.custom_properties)}
    known = DescribedColumns(columns, extras.subject_id, problems.add)
    for name, read in READERS.items():
        of_property = (*place, "customProperties", places.get(to_camel(name), 0), "value")
        entries = enumerate(getattr(extras, name))
        found = [read(entry, (*of_property, index), known) for index, entry in entries]
        rules[name] = tuple(filter(None, found))
    if document is None:
        return None
    return Contract(
        id=document.id,
        name=document.name or document.id,
        version=document.version,
        status=document.status,
        table=table.name,
        subject_id=extras.subject_id,
        columns=tuple(columns),
        **rules,
    )


def _columns(properties: Sequence[Any], table: TableExtras, problems: Problems) -> list[ContractColumn]:
    columns: list[ContractColumn] = []
    for index, body in enumerate(properties):
        place: ElementPath = ("schema", 0, "properties", index)
        part = problems.as_model(Property, body, place)
        if part is None:  # others may refer to it by its name
            name = body.get("name") if isinstance(body, dict) else None
            columns += [ContractColumn(name=column_name(name))] if isinstance(name, str) else []
            continue
        column = _column(part, place, problems)
        if any(matching_name(column.name) == matching_name(other.name) for other in columns):
            problems.add((*place, "name"), f"the column {column.name!r} is described twice; keep one.")
        if table.subject_id is None or matching_name(column.name) != matching_name(table.subject_id):
            columns.append(column)
        elif _makes_promises(column):
            problems.add(place, "the subject id is never published, and carries no rule of its own.")
    return [
        column.model_copy(
            update={
                "decimal": column.decimal or table.decimal,
                "thousands": table.thousands if column.thousands is None else column.thousands,
            }
        )
        for column in columns
    ]


def _makes_promises(column: ContractColumn) -> bool:
    kept = column.model_dump(include={"name", "description", "logical_type"})
    return column.model_copy(update={"max_empty_percent": column.max_empty_percent or None}) != (
        ContractColumn(**kept)
    )


def _extras(
    model: type[ExtrasType], properties: tuple[CustomProperty, ...], place: ElementPath, problems: Problems
) -> ExtrasType:
    """Custom properties as a model; a property that we do not know is a fault."""
    names = [item.property for item in properties]
    body: dict[str, JsonValue] = {}
    known = sorted(field.alias or name for name, field in model.model_fields.items())
    for index, item in enumerate(properties):
        entry: ElementPath = (*place, "customProperties", index)
        if item.property not in known:
            problems.add(entry, f"the property must be one of {', '.join(known)}; it is {item.property!r}.")
        elif names.count(item.property) > 1:
            problems.add(entry, f"the property {item.property!r} is given more than once; keep one.")
        elif problems.as_model(model, {item.property: item.value}, (*entry, "value")) is not None:
            body[item.property] = item.value
    return model.model_validate(body)


def _column(part: Property, place: ElementPath, problems: Problems) -> ContractColumn:
    extras = _extras(ColumnExtras, part.custom_properties, place, problems)
    declared = {name: getattr(extras, name) for name in ColumnExtras.model_fields}
    declared |= _read_rules(part.quality, (*place, "quality"), problems, _read_column_rule)
    for key in ("other", "repair"):
        declared[key] = None if declared[key] is None else output_spelling(declared[key])
    if "0" in (declared.get("values") or ()):
        declared["zero_is_value"] = True
    if part.required:
        declared["max_empty_percent"] = 0.0
    column = ContractColumn(
        **declared,
        name=column_name(part.physical_name or part.name),
        description=" ".join(part.description.split()) if isinstance(part.description, str) else "",
        logical_type=part.logical_type,
        **part.logical_type_options.model_dump(),
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
        (column.bins is not None and not column.is_numeric, "bins need the logicalType integer or number"),
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


def _read_rules(
    quality: tuple[Quality, ...],
    place: ElementPath,
    problems: Problems,
    read: Callable[[Quality, dict[str, Any]], str],
) -> dict[str, Any]:
    """What rules say, by fields of `Contract` or `ContractColumn`.

    Args: read: adds what one says; returns what is wrong with it, or nothing.
    """
    rules: dict[str, Any] = {"forbidden": ()}
    for index, rule in enumerate(quality):
        if problem := read(rule, rules):
            problems.add((*place, index), problem)
    return rules


def _read_column_rule(rule: Quality, rules: dict[str, Any]) -> str:
    own = rule.implementation
    if rule.metric == "invalidValues" and own is None:
        if rule.arguments is None or rule.must_be != 0:
            return "invalidValues needs arguments.validValues and mustBe 0."
        if "values" in rules:
            return "validValues are given twice; keep one list."
        rules["values"] = tuple(map(output_spelling, rule.arguments.valid_values))
        return ""
    if rule.metric == "nullValues" and own is None:
        if rule.unit != "percent" or rule.must_be_less_or_equal_to is None:
            return "nullValues needs unit percent and mustBeLessOrEqualTo, 0 to 100."
        rules["max_empty_percent"] = rule.must_be_less_or_equal_to
        return ""
    if own is None or rule.engine is None or rule.type != "custom" or rule.metric is not None:
        return (
            "a column's rule must have the metric invalidValues or nullValues, or be of type custom "
            "with engine marginalia and an implementation."
        )
    if own.rule == "distinctValues":
        rules["max_distinct"] = own.must_be_less_or_equal_to
        return "" if own.must_be_less_or_equal_to else "distinctValues needs mustBeLessOrEqualTo, 1 or more."
    return _add_forbidden(own, rules)


def _read_table_rule(rule: Quality, rules: dict[str, Any]) -> str:
    own = rule.implementation
    if rule.metric == "rowCount" and own is None:
        rules["min_rows"] = rule.must_be_greater_or_equal_to
        return "" if rules["min_rows"] is not None else "rowCount needs mustBeGreaterOrEqualTo."
    if own is not None and rule.type == "custom" and rule.engine and own.rule != "distinctValues":
        return _add_forbidden(own, rules)
    return "a table's rule must be rowCount, noPersonalIdentifiers or forbiddenPattern."


def _add_forbidden(own: Implementation, rules: dict[str, Any]) -> str:
    """Add what no cell may look like; return what is wrong with the rule, or nothing."""
    if own.rule == "noPersonalIdentifiers":
        kinds = (TEXT_KINDS[kind] for kind in own.kinds)
        rules["forbidden"] += tuple(Forbidden(name=name, patterns=patterns) for name, patterns in kinds)
        return ""
    if not own.pattern or not own.name:
        return "forbiddenPattern needs a name and a pattern."
    if problem := pattern_problem(own.pattern):
        return problem
    rules["forbidden"] += (Forbidden(name=own.name, patterns=(own.pattern,)),)
    return ""
