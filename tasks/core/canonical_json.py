"""JSON of one spelling, and its hash: what the ledger's chain and the names of releases are made of."""

import hashlib
import json


def canonical(body: object) -> str:
    r"""JSON of one spelling: sorted keys, no spaces, ASCII, no NaN.

    >>> print(canonical({"town": "Besançon", "age": 34}))
    {"age":34,"town":"Besan\u00e7on"}
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_of(text: str) -> str:
    """Hexadecimal SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
