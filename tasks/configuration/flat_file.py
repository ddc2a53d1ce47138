"""A configuration file in, a `RunConfiguration` out, or every problem at once, in the file's own keys.

The file is SDS's: flat JSON with the same keys, the same meaning (section S7), and a few of ours beside them.
This is the one place that knows both shapes. A key of another regime or mode than the chosen one is accepted,
as SDS's files carry several; it is left out of the model and named in its ``unused_keys``. First come the
places of keys in the model, then messages, the section ``syndiffix``, and the whole file.
"""

import codecs
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tasks.configuration.model import LARGEST_RESOLUTION, REGIMES, Input, Report, Resources, RunConfiguration
from tasks.configuration.protections.differential_privacy import PRIVATE_KEYS, DifferentialPrivacy, Thresholds
from tasks.configuration.protections.k_anonymity import KAnonymity
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.protections.syndiffix import SECTION_KEYS, SynDiffix
from tasks.configuration.sections import keys_of
from tasks.configuration.synthesis import (
    MODE_KEYS,
    MODES,
    SYNDIFFIX,
    AggregateSeeded,
    Fitted,
    RowSeeded,
    Unseeded,
    ValueSeeded,
    keys_of_other_modes,
)
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, no_such_file, show_path
from tasks.core.metadata.described import Publication
from tasks.core.syndiffix.clusters import clustering_problem, way_of
from tasks.core.syndiffix.reading import ChosenColumn, parse_column
from tasks.core.syndiffix.settings import unread_keys
from tasks.core.tables.header import is_named_as_table
from tasks.core.tables.places import closed_folder_of

_NESTED: dict[tuple[str, ...], tuple[type[BaseModel], ...]] = {
    (): (RunConfiguration,),
    ("input",): (Input,),
    ("protection",): (DifferentialPrivacy,),
    ("protection", "thresholds"): (Thresholds,),
    ("synthesis",): (RowSeeded, Unseeded, ValueSeeded, AggregateSeeded, Fitted),
    ("resources",): (Resources,),
    ("report",): (Report,),
    ("publication",): (Publication,),
}


def _places(section: str = "") -> dict[str, tuple[str, ...]]:
    return {
        key: (*place, field)
        for place, kinds in _NESTED.items()
        for kind in kinds
        for key, field in keys_of(kind, section).items()
        if place or (field,) not in _NESTED
    }


#: Flat key -> place in the model. `privacy` has keys of its own below.
PLACES = _places() | {"synthesis_mode": ("synthesis", "mode")}
#: Keys of the `privacy` section -> place in the model.
PRIVACY_PLACES = _places("privacy")
#: Read by `tasks.configuration.flat_file` itself.
SECTIONS = ("dp_aggregates", "privacy", "syndiffix")


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
    return {key: f"{value:g}" if isinstance(value, float) else value for key, value in context.items()}


#: What makes no sense under SynDiffix, and why.
REFUSED_BY_SYNDIFFIX: dict[str, str] = (
    dict.fromkeys(sorted(PRIVATE_KEYS), "belongs to differential privacy")
    | dict.fromkeys(sorted(frozenset().union(*MODE_KEYS.values())), "belongs to another mode of synthesis")
    | dict.fromkeys(
        ("reporting_length", "reporting_resolution"), "is about reported counts, and SynDiffix reports none"
    )
    | {
        "synthetic_forms": "is about records of attributes, and SynDiffix makes no such records",
        "random_seed": "would make the noise public: all of it follows from the dataset's secret salt",
        "record_limit": "would make several tables of the same people: give the whole table",
        "multi_value_columns": "needs one value a cell: split the column beforehand, or leave it out",
        "max_items": "needs one value a cell: split the column beforehand, or leave it out",
        "sensitive_zeros": "has no effect, as every 0 is a value",
        "domains": "has no effect, as texts are taken as they are: list public columns in value_safe_columns",
    }
)

FoundKeys = dict[tuple[str, ...], Any]


def section_problems(flat: Mapping[str, Any]) -> list[str]:
    """What is wrong with a file's section whatever the mode: its form, its keys, a mode that is left open."""
    if SYNDIFFIX not in flat:
        return []
    section = flat[SYNDIFFIX]
    if not isinstance(section, dict):
        return ['syndiffix must be an object of its own keys, such as {"columns": ["age:i"]}.']
    problems = []
    for key in section:
        if key not in SECTION_KEYS:
            meant = did_you_mean(key, SECTION_KEYS, lambda name: f"{SYNDIFFIX}.{name}")
            problems.append(f"{SYNDIFFIX}.{key} is not a key of the configuration: {meant or 'remove it.'}")
    if "synthesis_mode" not in flat:
        problems.append(
            "synthesis_mode must be given where there is a section syndiffix: give syndiffix, which is not "
            "differentially private, or remove the section."
        )
    return problems


def refused_keys(flat: Mapping[str, Any]) -> list[str]:
    """Keys that SynDiffix can't be given; such as would protect otherwise are never passed over."""
    problems = []
    if flat.get("dp_aggregates") is True:
        problems.append(
            "dp_aggregates must be false, or left out, where synthesis_mode is syndiffix: SynDiffix is not "
            "differentially private."
        )
    for key in flat:
        if key in REFUSED_BY_SYNDIFFIX and _says_something(flat[key]):
            problems.append(
                f"{key} can't be used where synthesis_mode is syndiffix: it {REFUSED_BY_SYNDIFFIX[key]}. "
                "Remove the key."
            )
    if flat.get("contract_mode") == "repair" or _mode_of(flat.get("contract")) == "repair":
        problems.append(
            "contract_mode must be strict where synthesis_mode is syndiffix: SynDiffix takes cells as "
            "they are and repairs none."
        )
    return problems


def _says_something(value: Any) -> bool:
    """Whether a key's value is more than SDS's way to say nothing: an empty list or object, or -1."""
    return value not in ({}, [], -1)


def _mode_of(contract: Any) -> Any:
    return contract.get("mode") if isinstance(contract, dict) else None


def apply_section(section: Any, given: FoundKeys) -> list[str]:
    """Put a section into the model's places beside what is given; return what is wrong with its parts."""
    for place in [place for place in given if place[:1] in (("protection",),)]:
        del given[place]
    _drop_refused(given)
    section = dict(section) if isinstance(section, dict) else {}
    section = {key: value for key, value in section.items() if key in SECTION_KEYS and value is not None}
    problems = _take_columns(section, given)
    _take_ids(given)
    problems += _unread_settings(section)
    for key, value in section.items():
        given["protection", key] = value
    return problems


def _drop_refused(given: FoundKeys) -> None:
    """Refused keys are told of once; the model need not judge their values as well."""
    for key in REFUSED_BY_SYNDIFFIX:
        given.pop(PLACES.get(key, ()), None)


def _take_columns(section: dict[str, Any], given: FoundKeys) -> list[str]:
    """``columns``, as columns to use and their types.

    Each is ``name``, ``name:letter``, or ``{"name": ...}`` of a header that has a colon and no type.
    """
    items = section.pop("columns", None)
    if items is None:
        return []
    if not isinstance(items, list) or not all(isinstance(item, str) or _is_name(item) for item in items):
        return [
            'syndiffix.columns must be a list of texts such as "age:i" or "town", or of {"name": "a:b"} '
            "where a name has a colon and its type is to be inferred."
        ]
    if given.get(("input", "use_columns")):
        return ["use_columns and syndiffix.columns are both given; keep one."]
    problems, columns = [], []
    for item in items:
        try:
            columns.append(parse_column(item) if isinstance(item, str) else ChosenColumn(item["name"]))
        except ParameterError as error:
            problems += [f"syndiffix.columns: {problem}" for problem in error.problems]
    given["input", "use_columns"] = [column.name for column in columns]
    given["protection", "types"] = {column.name: column.letter for column in columns if column.letter}
    return problems


def _is_name(item: Any) -> bool:
    return isinstance(item, dict) and list(item) == ["name"] and isinstance(item["name"], str)


def _take_ids(given: FoundKeys) -> None:
    """``subject_id`` as one column, or a list of them: each says in its own way whose row it is."""
    ids = given.get(("input", "subject_id"))
    if isinstance(ids, list) and ids:
        given["input", "subject_id"] = ids[0]
        given["protection", "further_ids"] = ids[1:]


def _unread_settings(section: dict[str, Any]) -> list[str]:
    chosen = section.get("clustering", "default")
    if clustering_problem(chosen):
        return []  # the model says so
    way = way_of(chosen)
    return [
        f"syndiffix.{key} has no effect where syndiffix.clustering is {way}: remove it, or choose another "
        "clustering."
        for key in section
        if key in unread_keys(way)
    ]


#: Keys of SDS that are not taken, and what to do.
_NOT_DONE = {
    "event_column": "events are not counted, only records. Remove it; where a person has several rows, name "
    "the person's column as subject_id.",
}


def read_configuration(path: Path) -> RunConfiguration:
    """Read and check a configuration file.

    Raises:
        ParameterError: all problems found, one sentence each.
    """
    flat = read_json(path)
    if "runs" in flat and "base_config" in flat:
        raise ParameterError(f"{path} is a batch file: give it to marginalia batch.")
    return from_flat(flat)


def from_flat(flat: dict[str, Any]) -> RunConfiguration:
    """The configuration that a flat dictionary describes; ``null`` is a key that is left out.

    Raises:
        ParameterError: all problems found, one sentence each.
    """
    flat = {key: value for key, value in flat.items() if value is not None}
    choice = _choice(flat)
    problems = _unknown_keys(flat) + choice.problems
    nested, clashes = _nested(flat, choice)
    problems += clashes
    try:
        # As JSON, so that a text is no number and true is no 1.
        configuration = RunConfiguration.model_validate_json(json.dumps(_whole(nested)), strict=True)
    except ValidationError as error:
        # A missing epsilon says nothing new where the regime is not settled.
        known = ("noise_epsilon (or",) if choice.problems else ()
        found = [
            text for text in error_sentences(error, _privacy_section(flat)) if not text.startswith(known)
        ]
        raise ParameterError(list(dict.fromkeys(problems + found))) from None
    problems += configuration.impossible({*flat, *_privacy_section(flat)})
    if problems:
        raise ParameterError(problems)
    return configuration


def read_json(path: Path) -> dict[str, Any]:
    """The one JSON object in a file.

    Raises:
        ParameterError: there is no such file, something else in it, or it is in a closed folder.
    """
    if place := closed_folder_of(path):  # its keys would be told as unknown ones
        raise ParameterError(
            f"The configuration must be a file of your own, but {path} is in {place}. Give the file that you "
            "wrote."
        )
    problem, body, file, is_table = "", None, f"The configuration file {show_path(path)}", False
    try:
        body = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_no_duplicates)
        json.dumps(body, ensure_ascii=False).encode()
    except FileNotFoundError:
        raise ParameterError(no_such_file("The configuration file", path)) from None
    except OSError as error:
        problem = f"can't be read ({error.strerror}): check its path and permissions"
    except json.JSONDecodeError as error:
        problem = f"must be JSON; line {error.lineno}: {error.msg}"
        is_table = is_named_as_table(path) and error.doc.lstrip()[:1] != "{"
    except UnicodeError:
        problem, is_table = "must be text in UTF-8, but is not: save it so", is_named_as_table(path)
    except RecursionError:
        problem = "must be an object of keys, and is nested too deeply to be one: mend its brackets"
    except ValueError:
        problem = "holds a number of too many digits, or its path a zero byte: correct it"
    if is_table:
        problem = (
            f"must be JSON, but this is a table: marginalia init {path} drafts a configuration "
            "and a contract for it"
        )
    if problem:
        raise ParameterError(f"{file} {problem}.")
    if not isinstance(body, dict):
        raise ParameterError(
            f"{file} must hold one JSON object, and holds {_kind(body)}: put {{ and }} around it."
        )
    return body


def _kind(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError([f"The key {key!r} is given twice; keep one." for key in twice])
    return dict(pairs)


def unknown(key: str, known: Collection[str], section: str = "") -> str:
    if key in _NOT_DONE:
        return f"{section}{key} is not a key of the configuration: {_NOT_DONE[key]}"
    meant = did_you_mean(key, known, lambda name: section + name)
    return f"{section}{key} is not a key of the configuration: {meant or 'remove it.'}"


def _unknown_keys(flat: dict[str, Any]) -> list[str]:
    known = [*PLACES, *SECTIONS]
    problems = [unknown(key, known) for key in flat if key not in known]
    problems += section_problems(flat)
    if not isinstance(flat.get("privacy", {}), dict):
        return [*problems, 'privacy must be an object of its own keys, such as {"epsilon": 1}.']
    inner = _privacy_section(flat)
    return problems + [unknown(key, PRIVACY_PLACES, "privacy.") for key in inner if key not in PRIVACY_PLACES]


def _privacy_section(flat: dict[str, Any]) -> dict[str, Any]:
    section = flat.get("privacy", {})
    if not isinstance(section, dict):
        return {}
    return {key: value for key, value in section.items() if value is not None}


@dataclass(frozen=True)
class _Choice:
    """The regime and the mode that a file chooses, or those that let the rest of it be checked.

    Attributes:
        protection: whose settings the file gives.
    """

    protection: type[ProtectionSettings]
    mode: str
    problems: list[str]


def _choice(flat: dict[str, Any]) -> _Choice:
    given = flat.get("synthesis_mode")
    # SDS's files name no protection: dp_aggregates tells two apart, and SynDiffix is named as a mode.
    if isinstance(given, str) and given.lower() == SYNDIFFIX:
        return _Choice(SynDiffix, SYNDIFFIX, refused_keys(flat))
    protection, problems = _protection(flat)
    if given is None and isinstance(flat.get(SYNDIFFIX), dict) and protection is KAnonymity:
        return _Choice(SynDiffix, SYNDIFFIX, problems)  # that the mode must be given is told by itself
    given = given or protection.modes[0]
    mode = given.lower() if isinstance(given, str) else ""
    if mode == "seeded":
        problems.append("synthesis_mode seeded is SDS's old name of row_seeded: write row_seeded.")
    elif mode not in MODES:
        meant = did_you_mean(mode, MODES)
        modes = ", ".join(MODES)
        problems.append(f"synthesis_mode must be one of {modes}{f': {meant}' if meant else '.'}")
    holds = flat.get("aggregate_seeded_hold_resolution") is True
    problems += [f"{said}." for said in protection.refused(mode, holds=holds)]
    mode = mode if mode in protection.modes else "aggregate_seeded"
    return _Choice(protection, mode, problems)


def _protection(flat: dict[str, Any]) -> tuple[type[ProtectionSettings], list[str]]:
    """Differential privacy where the file asks for it; SDS's default is k-anonymity."""
    private_keys = [key for key in flat if key in PRIVATE_KEYS]
    named: dict[bool, type[ProtectionSettings]] = {True: DifferentialPrivacy, False: KAnonymity}
    given = flat.get("dp_aggregates")
    if isinstance(given, bool):
        return named[given], []
    if given is not None:
        return named[bool(private_keys)], ["dp_aggregates must be true or false."]
    if "privacy" in flat or not private_keys:
        return named["privacy" in flat], []
    return DifferentialPrivacy, [
        f"dp_aggregates must say which protection is meant, as {', '.join(private_keys)} belongs to "
        "differential privacy: give true for differential privacy, or false for k-anonymity."
    ]


def _nested(flat: dict[str, Any], choice: _Choice) -> tuple[dict[str, Any], list[str]]:
    elsewhere = keys_of_other_modes(choice.mode) | choice.protection.unread
    used = {key: value for key, value in flat.items() if key not in elsewhere}
    given, problems = _given(used)
    if choice.protection is SynDiffix:  # whose section says in its own keys what others say of the input
        problems += apply_section(flat.get(SYNDIFFIX, {}), given)
    nested: dict[str, Any] = {"protection": {}, "synthesis": {}}
    for place, value in given.items():
        inner = nested
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = value
    nested["protection"]["regime"] = choice.protection.model_fields["regime"].default
    nested["synthesis"]["mode"] = choice.mode
    problems += _apply_defaults(nested, choice)
    without_effect = elsewhere | _without_effect(flat, nested, choice)
    nested["unused_keys"] = [key for key in flat if key in without_effect]
    return nested, problems


def _given(flat: dict[str, Any]) -> tuple[dict[tuple[str, ...], Any], list[str]]:
    given: dict[tuple[str, ...], Any] = {}
    problems = []
    for section, places, label in (
        (flat, PLACES, ""),
        (_privacy_section(flat), PRIVACY_PLACES, "privacy."),
    ):
        for key, value in section.items():
            if key not in places:
                continue
            place = places[key]
            if place in given and given[place] != value:
                problems.append(f"{label}{key} and its other spelling are both given and differ; keep one.")
            given[place] = value
    problems += _population(given)
    thresholds = given.pop(("protection", "thresholds"), None)
    if thresholds is not None and any(place[:2] == ("protection", "thresholds") for place in given):
        problems.append("privacy.thresholds and noise_threshold_type/values are both given; keep one.")
    elif thresholds is not None:
        given["protection", "thresholds"] = thresholds
    return given, problems


def _population(given: dict[tuple[str, ...], Any]) -> list[str]:
    cap = given.get(("protection", "cap"))
    if not isinstance(cap, dict) or "population" not in cap:
        return []
    given["protection", "cap"] = {key: value for key, value in cap.items() if key != "population"}
    if given.setdefault(("protection", "population"), cap["population"]) != cap["population"]:
        return ["privacy.population and privacy.cap.population are both given and differ; keep one."]
    return []


def _apply_defaults(nested: dict[str, Any], choice: _Choice) -> list[str]:
    """What SDS's files leave to the program, and -1 where it means "no limit"."""
    nested["dataset_is_named"] = "dataset" in nested
    nested.setdefault("dataset", nested.get("prefix", "my"))
    table = nested.setdefault("input", {})
    limit = table.get("record_limit")
    if isinstance(limit, int) and limit <= 0:
        del table["record_limit"]
    if "delimiter" not in table and _is_tab_separated(table.get("path")):
        table["delimiter"] = "\t"
    resolution = nested.get("reporting_resolution")
    if isinstance(resolution, int | float) and resolution > LARGEST_RESOLUTION:
        nested["reporting_resolution"] = LARGEST_RESOLUTION
    table["encoding"] = _encoding(table.get("encoding", "utf-8"))
    problems = []
    if isinstance(table.get("contract"), dict):
        parts = dict(table["contract"])
        table["contract"] = parts.pop("path", None)
        mode = parts.pop("mode", None)
        if mode is not None and table.setdefault("contract_mode", mode) != mode:
            problems.append("contract.mode and contract_mode are both given and differ; keep one.")
        if parts or not table["contract"]:
            problems.append('contract must be a path, or an object such as {"path": "a.yaml"} with a mode.')
    if table.get("contract_mode") is None:
        # Where a run may stop for a value, a broken contract is better told than repaired in silence.
        table["contract_mode"] = choice.protection.contract_mode
    if nested.get("on_unchanged") == choice.protection.on_unchanged:  # said outright, it is the same release
        del nested["on_unchanged"]
    choice.protection.complete(nested["protection"], choice.mode)
    return problems


def _whole(value: Any) -> Any:
    """The same with whole numbers where a writer made 3.0 of 3."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _is_tab_separated(path: Any) -> bool:
    return isinstance(path, str) and bool(re.search(r"\.(tsv|tab)(\.gz|\.zst)?$", path, re.IGNORECASE))


def _encoding(given: Any) -> Any:
    try:
        known = codecs.lookup(given).name if isinstance(given, str) else ""
    except (LookupError, ValueError):
        known = ""
    same = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}
    return same.get(known, known) or given


def _without_effect(flat: dict[str, Any], nested: dict[str, Any], choice: _Choice) -> set[str]:
    keys = {"cache_max_size"} | choice.protection.without_effect(nested["protection"], choice.mode)
    if "oversampling_ratio" not in flat:
        keys.add("oversampling_tries")
    if "contract" not in flat:
        keys.add("contract_mode")
    return keys
