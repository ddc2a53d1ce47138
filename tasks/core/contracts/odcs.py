"""The part of the Open Data Contract Standard 3.1 that a data contract is written in.

YAML text goes in; a `Document` comes out, or every fault with its place in the file. Scalars are read as
the text that stands in the file (``yes``, ``007`` and ``12:30`` stay what they are), and typed by the
model: a contract's values are compared with text cells. What the standard has and this project does not
enforce is refused, so that nobody relies on it; purely descriptive sections are accepted and not read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from pydantic.alias_generators import to_camel

LogicalType = Literal["string", "integer", "number", "boolean", "date", "timestamp", "time", "array"]
ElementPath = tuple[str | int, ...]
PartType = TypeVar("PartType", bound="StandardPart")


class StandardPart(BaseModel):
    """Frozen, keys in the standard's spelling, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class DescribedElement(StandardPart):
    """What any element may say of itself for human readers; nothing here is enforced."""

    id: str = ""
    description: Any = None
    tags: tuple[str, ...] = ()
    business_name: str = ""
    authoritative_definitions: Any = None


class CustomProperty(StandardPart):
    """The standard's place for what it has no field for."""

    property: str
    value: Any
    description: str = ""


class Implementation(StandardPart):
    """A rule of our own, in a quality entry of type ``custom`` and engine ``marginalia``."""

    rule: Literal["distinctValues", "noPersonalIdentifiers", "forbiddenPattern"]
    must_be_less_or_equal_to: int | None = Field(None, ge=1)
    kinds: tuple[Literal["email", "telephone", "identityNumber"], ...] = (
        "email",
        "telephone",
        "identityNumber",
    )
    name: str = ""
    pattern: str = ""


class Arguments(StandardPart):
    """Arguments of a library metric."""

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
    """Options of a logical type."""

    max_items: int | None = Field(None, ge=1, le=64)
    minimum: FiniteFloat | None = None
    maximum: FiniteFloat | None = None


class Items(StandardPart):
    """What an array holds."""

    logical_type: Literal["string"] = "string"


class Property(DescribedElement):
    """One column."""

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
    """Faults of one file, each with the line it stands on."""

    def __init__(self, root: yaml.Node | None, file_name: str) -> None:
        """Args: root: the composed file, for the lines. file_name: as shown."""
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
