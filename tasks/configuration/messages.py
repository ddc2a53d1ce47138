"""What is wrong with a configuration, in sentences with the file's own keys; of a seed they say nothing."""

import json
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tasks.configuration.places import PLACES, PRIVACY_PLACES
from tasks.configuration.protections.known import REGIMES
from tasks.configuration.protections.syndiffix import SECTION_KEYS
from tasks.configuration.synthesis import MODES, SYNDIFFIX, keys_of_other_modes

#: What pydantic puts between the keys: the tags of a discriminated union.
_TAGS = {*MODES, *REGIMES}

#: A given text of more characters is not repeated.
_LONGEST_SHOWN = 40
#: Lists of lists of columns.
_COLUMN_LISTS = {("protection", "tables"), ("synthesis", "workload")}

_WORDS = {
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must be a text of at most {max_length} character(s)",
    "string_pattern_mismatch": "must be a safe name of a file: at most 100 letters, digits, spaces, '.', '_' "
    "and '-', the first a letter, a digit or '_'",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "too_short": "each list must have at least {min_length} item(s)",
    "too_long": "must be a list of at most {max_length} item(s)",
    "dict_type": "must be an object",
    "literal_error": "must be {expected}",
}


def error_sentences(error: ValidationError, privacy: Collection[str] = ()) -> list[str]:
    """Pydantic's findings under the names that the file uses, with what was given where that is short.

    Args:
        error: pydantic's.
        privacy: the keys of the file's section `privacy`.
    """
    found = []
    for detail in _of_the_member_meant(error.errors(include_url=False)):
        place, names = _place(detail), _names(detail, privacy)
        name = next(
            (names[place[:n]] for n in range(len(place), 0, -1) if place[:n] in names), ".".join(place)
        )
        instead = _instead(detail, name, place in names)
        if detail["type"] == "missing" and place == ("protection", "epsilon"):
            found.append("noise_epsilon (or privacy.epsilon) is required under differential privacy.")
        elif detail["type"] == "missing" and isinstance(detail["loc"][-1], int):
            found.append(f"{name} must be a list of more items than it has.")
        elif detail["type"] == "missing":
            place = tuple(part for part in place if not part.isdigit())
            inner = next((place[n:] for n in range(len(place), 0, -1) if place[:n] in names), ())
            found.append(f"{'.'.join((name, *inner))} is required.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "literal_error":
            found.append(f"{name} {_words(detail)} or a list of lists of columns{instead}.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "tuple_type":
            found.append(f"{name} must be a list of lists of columns{instead}.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "too_long":
            found.append(f"{name}: each list must have at most {detail['ctx']['max_length']} item(s).")
        else:
            words = f"{_words(detail)}{instead}"
            found.append(_sentence(name, words if words.endswith("?") else f"{words}."))
    return list(dict.fromkeys(found))


def _sentence(name: str, words: str) -> str:
    """A key and what it must be, or a key and a sentence about it; a sentence alone where no key is meant."""
    return f"{name}{' ' if words.startswith('must') else ': '}{words}" if name else words


def _instead(detail: ErrorDetails, name: str, is_whole: bool) -> str:
    """What was given, in a few words; nothing of a seed, which may be a secret, or of texts in a value."""
    given = detail["input"]
    if "seed" in name or detail["type"] in ("value_error", "string_too_short"):
        return ""
    if given is None or isinstance(given, bool | int | float):
        return f", not {json.dumps(given)}"
    if isinstance(given, str) and (is_whole or detail["type"] == "literal_error"):
        return f", not {given!r}" if len(given) <= _LONGEST_SHOWN else ", not a text of so many characters"
    kind = "object" if isinstance(given, dict) else "list" if isinstance(given, list | tuple) else ""
    article = "an" if kind == "object" else "a"
    return f", not {article} {kind}" if kind and kind not in _words(detail) else ""


def _names(detail: ErrorDetails, privacy: Collection[str]) -> dict[tuple[str, ...], str]:
    """Place in the model to the file's key; where modes share a place, the key of the mode it is about."""
    mode = next((part for part in detail["loc"] if part in MODES), None)
    others = keys_of_other_modes(str(mode)) if mode else frozenset[str]()
    names = {place: key for key, place in PLACES.items() if key not in others}
    names |= {
        place: f"privacy.{key}"
        for key, place in PRIVACY_PLACES.items()
        if key in privacy or place not in names
    }
    return names | {("protection", key): f"{SYNDIFFIX}.{key}" for key in SECTION_KEYS}


def _place(detail: ErrorDetails) -> tuple[str, ...]:
    """Where in the model, without the members of unions, which pydantic puts between the keys."""
    parts = map(str, detail["loc"])
    return tuple(p for p in parts if not (p in _TAGS or p[:1].isupper() or "[" in p))


def _of_the_member_meant(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """A key that takes words or a structure is judged as what was given, not as both."""

    def is_worded(detail: ErrorDetails) -> bool:
        return any(str(part).startswith("literal[") for part in detail["loc"])

    words = {_place(d) for d in details if is_worded(d) and isinstance(d["input"], str)}
    return [
        detail
        for detail in details
        if (isinstance(detail["input"], str) if is_worded(detail) else _place(detail) not in words)
    ]


def _words(detail: ErrorDetails) -> str:
    if detail["type"] in _WORDS:
        return _WORDS[detail["type"]].format(**_plain(detail.get("ctx", {})))
    message = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _plain(context: dict[str, Any]) -> dict[str, Any]:
    """Limits as a person writes them."""
    return {key: f"{value:g}" if isinstance(value, float) else value for key, value in context.items()}
