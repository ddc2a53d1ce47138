"""What Prefect's forms show of a configuration: a model's JSON schema in, the same in a person's words out.

A model itself takes what it always takes. Its schema alone changes: what no person fills in is left out, and
a choice among models becomes tabs. Prefect's server checks parameters by this schema, so it must accept all
that a model writes of itself: no key is forbidden here. The model refuses unknown ones when the run begins.
"""

import re
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

#: In the metadata of a field that no form asks for: it is internal, without effect on a run, or secret.
NOT_ASKED = "not asked for in a form"
#: Design notes that a docstring cites.
_CITED = re.compile(r" ?\([^()]*\b\w+\.md\b[^()]*\)")


def as_form(schema: dict[str, Any], kind: type[BaseModel]) -> None:
    """Change a model's schema into what a person is shown.

    Args:
        schema: of the model, as pydantic made it.
        kind: the model.
    """
    schema.pop("additionalProperties", None)
    text = _CITED.sub("", schema.get("description", "").partition("\n\n")[0])
    schema["description"] = " ".join(text.split())
    properties = schema.get("properties", {})
    for name in _not_asked(kind):
        properties.pop(name, None)
    for name, asked in ((name, kind.model_fields[name]) for name in properties):
        shown = properties[name]
        if isinstance(asked.default, BaseModel):
            hidden = _not_asked(type(asked.default))
            shown["default"] = to_jsonable_python({k: v for k, v in asked.default if k not in hidden})
        if asked.title is None:
            shown["title"] = name.replace("_", " ").capitalize()
        if "const" in shown:
            shown["description"] = "Leave this as it is: it says which of the tabs is meant."


def _not_asked(kind: type[BaseModel]) -> list[str]:
    return [name for name, asked in kind.model_fields.items() if NOT_ASKED in asked.metadata]


def tabs(schema: dict[str, Any]) -> None:
    """Make a choice among models tabs.

    Of what pydantic writes (oneOf, with a discriminator), one of Prefect's two forms makes a box for JSON,
    and the other one tabs that fall back to the first.
    """
    schema["anyOf"] = schema.pop("oneOf")
    schema.pop("discriminator", None)
