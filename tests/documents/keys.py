"""Tables of a configuration's keys, by the model's fields; `python -m tests.documents.keys` writes them anew.

In docs/configuration.md each stands between a comment that names it and the next comment.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tasks.configuration.flat_file import PLACES, PRIVACY_PLACES
from tasks.configuration.model import RunConfiguration

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
_CLUSTER = ("engine", "dask_address", "workers", "partitions", "shared_storage")
_FITTED = ("workload", "allocation", "target", "max_values", "fitted_target_number_of_records")


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """The models in a type, in its order: one of them, or each of several that a field may hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _models(part)


def _fields(kind: Any, place: tuple[str, ...]) -> Iterator[FieldInfo]:
    for model in _models(kind):
        field = model.model_fields.get(place[0])
        if field is not None:
            yield from [field] if len(place) == 1 else _fields(field.annotation, place[1:])


def _default(field: FieldInfo) -> str:
    """As a file would say it; nothing where leaving out is saying nothing."""
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or isinstance(value, BaseModel) or value in ("", (), {}):
        return ""
    return f"`{json.dumps(value)}`"


def _row(key: str, place: tuple[str, ...]) -> str:
    field = next(_fields(RunConfiguration, place))
    meaning = re.sub(r"(?<=\. )None: |^None: ", "Left out: ", field.description or "")
    meaning = meaning.replace("None: ", "left out: ")
    return f"| `{key}` | {_default(field)} | {meaning} |"


def _name_of(key: str, place: tuple[str, ...]) -> str:
    """The table that a key stands in."""
    if place[0] == "synthesis":
        return "fitted" if key in _FITTED else "synthesis"
    if key in _CLUSTER:
        return "cluster"
    if key in ("reporting_length", "reporting_resolution"):
        return "protection"
    return place[0] if place[0] in ("input", "protection", "publication") else "release"


def tables() -> dict[str, str]:
    """Each table, by name, as Markdown."""
    found: dict[str, list[str]] = {}
    for key, place in PLACES.items():
        if key != "synthesis_mode":  # says which of several models, and is no field of one
            found.setdefault(_name_of(key, place), []).append(_row(key, place))
    found["privacy"] = [_row(key, place) for key, place in PRIVACY_PLACES.items()]
    head = "| key | unless given | meaning |\n|---|---|---|\n"
    return {name: head + "\n".join(rows) for name, rows in found.items()}


def with_tables(document: str) -> str:
    """The document with all tables as they should be."""
    made = tables()
    return re.sub(
        r"(<!-- keys: (\w+) -->\n).*?(\n<!-- end -->)",
        lambda found: found[1] + made[found[2]] + found[3],
        document,
        flags=re.S,
    )


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
