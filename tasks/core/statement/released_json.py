"""The keys that released JSON may have: a document goes in, nothing or an `InternalError` comes out.

Test P5: every released document is held against a list of keys (``released_keys.toml``),
and a name that could carry something read off the table is refused whoever allowed it.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tasks.core.errors import InternalError

#: Names that can hold a true count, the noise's key or a figure of the raw table (P5, gaps G4 to G15).
_FORBIDDEN = re.compile(
    r"number_of_records|^true_|_true|^raw|sensitive|max_sensitivity|seed|noise_key|expansion|rare|leak|"
    r"duration|elapsed|timestamp|input_(hash|sha256|rows)|proportional_error|truncat"
)
_LISTS = tomllib.loads(Path(__file__).with_name("released_keys.toml").read_text(encoding="utf-8"))
#: By document, as the file names it.
RELEASED_KEYS = {name: frozenset(words.split()) for name, words in _LISTS.items()}
_NAMED_BY_OPERATOR = RELEASED_KEYS.pop("named_by_operator")
#: Everything that may be released.
ALLOWED_KEYS = frozenset().union(*RELEASED_KEYS.values())
#: Names that are forbidden elsewhere are allowed to these two: here they stand for synthetic against
#: reported counts, and for settings.
_EXCUSED = RELEASED_KEYS["evaluation"] | RELEASED_KEYS["configuration"]


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if not (key in _NAMED_BY_OPERATOR and isinstance(inner, dict)):
                yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def check_released_json(document: object, allowed: frozenset[str] = ALLOWED_KEYS) -> None:
    """Refuse a document with a key that is not allowed, or that is forbidden whoever allows it.

    The error names the keys: they are ours, never the table's, so they may be shown.
    """
    keys = set(_keys(document))
    forbidden = {key for key in keys if _FORBIDDEN.search(key)} - _EXCUSED
    bad = sorted(forbidden | (keys - allowed))
    if bad:
        raise InternalError(
            f"A released document may hold only the keys that are allowed; it holds {', '.join(bad)}. "
            "Add a key to the list only after showing that it is public or differentially private."
        )
