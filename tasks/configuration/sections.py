"""Sections of a configuration: what all its models share, keys of their fields, what is asked of utility."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from tasks.core.hints import did_you_mean
from tasks.core.records.columns import Schema
from tasks.core.tables.column_names import matching_name

#: In the metadata of a field that no form asks for: it is internal, without effect on a run, or secret.
NOT_ASKED = "not asked for in a form"


def as_form(schema: dict[str, Any], kind: type[BaseModel]) -> None:
    """Change a model's schema into what a person is shown."""
    schema.pop("additionalProperties", None)
    schema["description"] = " ".join(schema.get("description", "").partition("\n\n")[0].split())
    properties = schema.get("properties", {})
    for name in _not_asked(kind):
        properties.pop(name, None)
    for name, field in ((name, kind.model_fields[name]) for name in properties):
        form_field = properties[name]
        if isinstance(field.default, BaseModel):
            hidden = _not_asked(type(field.default))
            form_field["default"] = to_jsonable_python({k: v for k, v in field.default if k not in hidden})
        if field.title is None:
            form_field["title"] = name.replace("_", " ").capitalize()
        if "const" in form_field:
            form_field["description"] = "Leave this as it is: it says which of the tabs is meant."


def _not_asked(kind: type[BaseModel]) -> list[str]:
    return [name for name, asked in kind.model_fields.items() if NOT_ASKED in asked.metadata]


def tabs(schema: dict[str, Any]) -> None:
    """Make a choice among models tabs.

    Of what pydantic writes (oneOf, with a discriminator), one of Prefect's two forms makes a box for JSON,
    and the other one tabs that fall back to the first.
    """
    schema["anyOf"] = schema.pop("oneOf")
    schema.pop("discriminator", None)


class Model(BaseModel):
    """Frozen, every key known, and written without what has its default.

    A field with a single value tells members of a choice apart, and is always written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=as_form)

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        body: dict[str, Any] = handler(self)
        settings = type(self).model_fields
        return {
            name: value
            for name, value in body.items()
            if _is_tag(settings[name]) or getattr(self, name) != settings[name].default
        }

    def in_full(self) -> dict[str, Any]:
        """Every field as JSON, those with their defaults too: what a name is made of outlives a default."""
        return dict(to_jsonable_python(dict(self)))


def _is_tag(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1


@dataclass(frozen=True)
class Key:
    """Where the flat file gives a field that it does not give under the field's own name."""

    name: str  # in the file; "" of a field that no file gives by a key of its own
    section: str = ""  # of the file that the key is in; "": outside of any


NO_KEY = Key("")
#: On a field of the table that decides neither how it is read nor what is drawn of it.
KEEPS_NAME = "a release keeps its name whatever the value"


def keys_of(kind: type[BaseModel], section: str = "") -> dict[str, str]:
    """The keys of a section of the flat file that a model's fields are given by, each with its field."""
    fields_by_key = {}
    for name, field in kind.model_fields.items():
        for key in [mark for mark in field.metadata if isinstance(mark, Key)] or [Key(name)]:
            if key.name and key.section == section:
                fields_by_key[key.name] = name
    return fields_by_key


PositiveNumber = Annotated[FiniteFloat, Field(gt=0)]


class UtilityRequest(Model):
    """That utility is measured, and the columns that two of its measures are about."""

    target: str | None = Field(None, description="The column to predict.")
    group: str | None = Field(None, description="The column in every set of the k-marginal score.")


def _request(given: object) -> object:
    """``true`` asks for all that needs no column; ``false`` is the same as leaving the key out."""
    if isinstance(given, UtilityRequest) or given is None or given is False:
        return given or None
    if given is True:
        return UtilityRequest()
    if not isinstance(given, dict):
        raise ValueError('must be true, false or an object such as {"target": "income", "group": "region"}')
    known = tuple(UtilityRequest.model_fields)
    for key, column in given.items():
        if key not in known:
            meant = did_you_mean(key, known) or f"give {' or '.join(known)}"
            raise ValueError(f"has no key {key!r}: {meant}")
        if column is not None and not isinstance(column, str):
            raise ValueError(f"must name one column as {key}")
    return UtilityRequest(**given)


OptionalUtility = Annotated[UtilityRequest | None, BeforeValidator(_request)]


def utility_problems(request: UtilityRequest | None, schema: Schema) -> list[str]:
    """What keeps the named columns from being a target and a group, a sentence each."""
    if request is None:
        return []
    columns = {matching_name(column.name): column for column in schema.columns}
    problems = []
    for key, name in (("target", request.target), ("group", request.group)):
        column = None if name is None else columns.get(matching_name(name))
        if name is not None and column is None:
            meant = did_you_mean(name, [column.name for column in schema.columns])
            problems.append(
                f"evaluate_utility.{key} must be a column that is used, and {name!r} is not one: "
                f"{meant or 'correct it.'}"
            )
        elif column is not None and column.is_multi_valued:
            problems.append(
                f"evaluate_utility.{key} must be a column of one value a record, and {name!r} holds several "
                "items: name another."
            )
    return problems
