"""The digest that names a draw: the public configuration that touches what is counted or the noise on it.

Names are made of JSON of one spelling, and so is the ledger's chain.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict

from tasks.core.aggregates.protection import AnonymityParameters
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.cell_reading import AS_IT_STANDS
from tasks.core.records.columns import Schema
from tasks.core.tables.number_format import PLAIN

#: Of the regimes; SynDiffix's are its settings as they are.
Parameters = DpParameters | AnonymityParameters | Mapping[str, object]


def configuration_digest(
    schema: Schema,
    parameters: Parameters,
    preparation: Mapping[str, object] | None = None,
) -> str:
    """SHA-256 of the public configuration that touches what is counted or the noise on it.

    A whole number and the same number written as a fraction (1 and 1.0) are one. A setting that is
    added to `Schema` or `DpParameters` later must be left out here where it has the value that means
    "as before", or releases made before it would be drawn and charged again.

    Args:
        schema: the public schema.
        parameters: the release's parameters, the noise engine included.
        preparation: other public settings that change what is counted (the dialect, the contract's
            cell rules), JSON values; None and empty are the same.
    """
    return sha256_of(
        canonical(
            {
                "schema": _plain(_named(schema)),
                "parameters": _plain(parameters if isinstance(parameters, Mapping) else asdict(parameters)),
                "preparation": _plain(dict(preparation or {})),
            }
        )
    )


def canonical(body: object) -> str:
    r"""JSON of one spelling: sorted keys, no spaces, ASCII, no NaN.

    >>> print(canonical({"town": "Besançon", "age": 34}))
    {"age":34,"town":"Besan\u00e7on"}
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_of(text: str) -> str:
    """Hexadecimal SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


#: Of a column, what was added to it later, and the value that means "as before".
_ADDED: dict[str, object] = {
    "number_format": PLAIN.as_declared(),
    "reading": asdict(AS_IT_STANDS),
    "minimum": None,
    "maximum": None,
    "required": False,
}


def _named(schema: Schema) -> Mapping[str, object]:
    body = asdict(schema)
    del body["keeps_rows_whole"]  # a vintage that was drawn when columns chose for themselves is that vintage
    if not schema.constraints:
        del body["constraints"]
    for column, described in zip(body["columns"], schema.columns, strict=True):
        column["number_format"] = described.number_format.as_declared()
        del column["zero_is_binned"]  # likewise one that was drawn when a 0 in bins was none
        for key, before in _ADDED.items():
            if column[key] == before:
                del column[key]
    return body


def _plain(value: object) -> object:
    """JSON in one spelling: numbers as text of a float where that is exact, keys as text."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    if isinstance(value, int | float):
        return {"number": repr(float(value) + 0.0)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(canonical(_plain(inner)) for inner in value)
    raise TypeError(
        f"The configuration that names a release must be JSON; it holds a {type(value).__name__}."
    )
