"""The digest that names a release: all public settings that decide how its table is read or what is drawn.

Names are made of JSON of one spelling, and so is the ledger's chain.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass

from tasks.core.aggregates.protection import AnonymityParameters
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Schema

#: Of the regimes; a workload's and SynDiffix's are JSON values as they are.
Parameters = DpParameters | AnonymityParameters | Mapping[str, object]


def configuration_digest(
    schema: Schema, parameters: Parameters, reading: Mapping[str, object] | None = None
) -> str:
    """SHA-256 of all that decides how a table is read and what is drawn.

    A whole number and the same number written as a fraction (1 and 1.0) are one.

    Args:
        reading: what else the configuration says of the reading, JSON values; None and empty are the same.
    """
    named = {"schema": schema, "parameters": parameters, "reading": dict(reading or {})}
    return sha256_of(canonical(_plain(named)))


def canonical(body: object) -> str:
    r"""JSON of one spelling: sorted keys, no spaces, ASCII, no NaN.

    >>> print(canonical({"town": "Besançon", "age": 34}))
    {"age":34,"town":"Besan\u00e7on"}
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_of(text: str) -> str:
    """Hexadecimal SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    """JSON in one spelling: numbers as text of a float where that is exact, keys as text."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    if isinstance(value, int | float):
        return {"number": repr(float(value) + 0.0)}
    if is_dataclass(value) and not isinstance(value, type):
        held = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: _plain(inner) for field, inner in held if not _says_nothing(field, inner)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(canonical(_plain(inner)) for inner in value)
    raise TypeError(
        f"The configuration that names a release must be JSON; it holds a {type(value).__name__}."
    )


def _says_nothing(field: "Field[object]", value: object) -> bool:
    """Whether a field has its default, and that is nothing: one that is added later then changes no name.

    A default that is a number or a word is named, as a later version may have another one.
    """
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default is not MISSING and value == default and _is_nothing(default)


def _is_nothing(value: object) -> bool:
    if is_dataclass(value) and not isinstance(value, type):
        return all(_says_nothing(field, getattr(value, field.name)) for field in fields(value))
    return value is None or value is False or value in ("", (), {})
