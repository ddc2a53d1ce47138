"""What is wrong with a configuration, in sentences with the file's own keys; of a seed they say nothing."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tasks.configuration.model import DifferentialPrivacy, Fitted, KAnonymity, RunConfiguration, Thresholds
from tasks.configuration.places import MODES, PLACES, PRIVACY_PLACES, SYNDIFFIX, keys_of_other_modes
from tasks.configuration.sections import CLUSTERING_KEYS, SECTION_KEYS, SynDiffix
from tasks.configuration.syndiffix_parameters import problems as syndiffix_problems

#: What pydantic puts between the keys: the tags of a discriminated union.
_TAGS = {*MODES, "differential_privacy", "k_anonymity"}

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


def sentences(error: ValidationError) -> list[str]:
    """Pydantic's findings under the names that the file uses, with what was given where that is short."""
    found = []
    for detail in _of_the_member_meant(error.errors(include_url=False)):
        place, names = _place(detail), _names(detail)
        name = next(
            (names[place[:n]] for n in range(len(place), 0, -1) if place[:n] in names), ".".join(place)
        )
        instead = _instead(detail, name, place in names)
        if detail["type"] == "missing" and place == ("protection", "epsilon"):
            found.append("noise_epsilon (or privacy.epsilon) is required under differential privacy.")
        elif detail["type"] == "missing" and isinstance(detail["loc"][-1], int):
            found.append(f"{name}: must be a list of more items than it has.")
        elif detail["type"] == "missing":
            place = tuple(part for part in place if not part.isdigit())
            inner = next((place[n:] for n in range(len(place), 0, -1) if place[:n] in names), ())
            found.append(f"{'.'.join((name, *inner))} is required.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "literal_error":
            found.append(f"{name}: {_words(detail)} or a list of lists of columns{instead}.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "tuple_type":
            found.append(f"{name}: must be a list of lists of columns{instead}.")
        elif place[:2] in _COLUMN_LISTS and detail["type"] == "too_long":
            found.append(f"{name}: each list must have at most {detail['ctx']['max_length']} item(s).")
        else:
            words = f"{_words(detail)}{instead}."
            found.append(f"{name}: {words}" if name else words)
    return list(dict.fromkeys(found))


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


def _names(detail: ErrorDetails) -> dict[tuple[str, ...], str]:
    """Place in the model to the file's key; where modes share a place, the key of the mode it is about."""
    mode = next((part for part in detail["loc"] if part in MODES), None)
    others = keys_of_other_modes(str(mode)) if mode else frozenset[str]()
    names = {place: key for key, place in PLACES.items() if key not in others}
    names |= {place: f"privacy.{key}" for key, place in PRIVACY_PLACES.items() if place not in names}
    return names | {("protection", key): f"{SYNDIFFIX}.{key}" for key in SECTION_KEYS}


def others_out_of_range(error: ValidationError, section: Mapping[str, Any]) -> list[str]:
    """What the core refuses of SynDiffix's keys beside those that the error is about."""
    places = map(_place, error.errors(include_url=False))
    wrong = {place[1] for place in places if place[:1] == ("protection",) and len(place) > 1}
    if wrong & CLUSTERING_KEYS["ml"] | wrong & CLUSTERING_KEYS["clusters"]:
        wrong.add("clustering")  # which would be said to lack the wrong key
    try:
        settings = SynDiffix.model_validate({key: section[key] for key in section if key not in wrong})
    except ValidationError:
        return []
    return [f"{SYNDIFFIX}: {problem}" for problem in syndiffix_problems(settings)]


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


def impossible(configuration: RunConfiguration, given: set[str]) -> list[str]:
    """Combinations of keys that can't be meant.

    Args:
        configuration: valid by itself.
        given: keys of the file, those of `privacy` too.
    """
    if isinstance(configuration.protection, SynDiffix):
        return [f"{SYNDIFFIX}: {problem}" for problem in syndiffix_problems(configuration.protection)]
    if isinstance(configuration.protection, KAnonymity):
        return _never_reported(configuration)
    if isinstance(configuration.synthesis, Fitted):
        return _of_fitted(configuration.protection, given)
    return _of_privacy(configuration.protection, configuration.reporting_length, given)


def _of_fitted(protection: DifferentialPrivacy, given: set[str]) -> list[str]:
    """What only a draw by lengths can have: the theorem of fitted synthesis covers none of it."""
    chosen = {
        "privacy.accountant zcdp": protection.accountant != "gdp",
        f"privacy.contribution {protection.contribution}": protection.contribution != "schema"
        and protection.accountant == "gdp",
        "delta_factor": protection.delta_factor is not None,
        "privacy.thresholds": "thresholds" in given,
    }
    return [
        f"{key} can't be had with synthesis_mode fitted (the default): leave it out, or write "
        '"synthesis_mode": "aggregate_seeded".'
        for key, is_chosen in chosen.items()
        if is_chosen
    ]


def _never_reported(configuration: RunConfiguration) -> list[str]:
    limit, resolution = configuration.input.record_limit, configuration.reporting_resolution
    if limit is None or limit >= resolution:
        return []
    return [
        f"record_limit must be at least the reporting_resolution ({resolution}), or no count can be "
        f"reported; it is {limit}."
    ]


def _of_privacy(protection: DifferentialPrivacy, length: int, given: set[str]) -> list[str]:
    problems = []
    if isinstance(protection.sigma_proportions, tuple) and length != -1:
        numbers = len(protection.sigma_proportions)
        if numbers != length:
            problems.append(f"sigma_proportions must have one number a length ({length}); it has {numbers}.")
    if isinstance(protection.thresholds, Thresholds):
        problems += _of_thresholds(protection.thresholds)
    if protection.delta_factor is not None and "delta" not in given:
        problems.append("delta_factor needs delta as well: the public bound that is claimed and charged.")
    if protection.contribution == "percentile" and protection.accountant != "zcdp":
        problems.append(
            "privacy.contribution percentile needs privacy.accountant zcdp; use profile under gdp."
        )
    if protection.contribution == "profile" and protection.accountant != "gdp":
        problems.append(
            "privacy.contribution profile needs privacy.accountant gdp; use percentile under zcdp."
        )
    return problems


def _of_thresholds(thresholds: Thresholds) -> list[str]:
    problems = []
    for key, value in thresholds.values.items():
        if key < 2:
            problems.append(
                f"noise_threshold_values is for lengths from 2; it has {key}. "
                "The threshold of length 1 follows from delta; remove the key."
            )
        if thresholds.kind != "fixed" and not 0 < value <= 1:
            problems.append(f"noise_threshold_values for length {key} must be above 0 and at most 1.")
    return problems
