"""A configuration file in, a `RunConfiguration` out, or every problem at once, in the file's own keys.

The file is SDS's: flat JSON with the same keys, the same meaning (section S7), and a few of ours beside them.
This is the one place that knows both shapes. A key of another regime or mode than the chosen one is accepted,
as SDS's files carry several; it is left out of the model and named in its ``unused_keys``.
"""

import codecs
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tasks.configuration.model import LARGEST_RESOLUTION, REGIMES, Input, Report, Resources, RunConfiguration
from tasks.configuration.protections import (
    PRIVATE_KEYS,
    SECTION_KEYS,
    DifferentialPrivacy,
    KAnonymity,
    ProtectionSettings,
    SynDiffix,
    Thresholds,
)
from tasks.configuration.sections import keys_of
from tasks.configuration.synthesis import FLAT_MODES, MODE_KEYS, MODES, SYNDIFFIX, keys_of_other_modes
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, no_such_file, show_path
from tasks.core.metadata.release_facts import Publication
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
    ("synthesis",): FLAT_MODES,
    ("resources",): (Resources,),
    ("report",): (Report,),
    ("publication",): (Publication,),
}


def _places_of_keys(section: str = "") -> dict[str, tuple[str, ...]]:
    return {
        key: (*place, field)
        for place, kinds in _NESTED.items()
        for kind in kinds
        for key, field in keys_of(kind, section).items()
        if place or (field,) not in _NESTED
    }


#: Flat key -> place in the model. `privacy` has keys of its own below.
PLACES = _places_of_keys() | {"synthesis_mode": ("synthesis", "mode")}
#: Keys of the `privacy` section -> place in the model.
PRIVACY_PLACES = _places_of_keys("privacy")
#: Objects with keys of their own, and what chooses among them.
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
    "float_type": "must be a number",
    "bool_type": "must be true or false",
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


def _sentences_of(error: ValidationError, privacy: Collection[str]) -> list[str]:
    """Pydantic's findings under the names that the file uses, with what was given where that is short."""
    sentences = []
    for detail in _meant_details(error.errors(include_url=False)):
        place, names = _place_of(detail), _names_of_places(detail, privacy)
        known = [n for n in range(len(place), 0, -1) if place[:n] in names]
        name = names[place[: known[0]]] if known else ".".join(place)
        given, is_listed = _given_instead(detail, name, place in names), place[:2] in _COLUMN_LISTS
        if detail["type"] == "missing" and place == ("protection", "epsilon"):
            sentences.append("noise_epsilon (or privacy.epsilon) is required under differential privacy.")
        elif detail["type"] == "missing" and isinstance(detail["loc"][-1], int):
            sentences.append(f"{name} must be a list of more items than it has.")
        elif detail["type"] == "missing":
            inner = [part for part in place[known[0] :] if not part.isdigit()] if known else []
            sentences.append(f"{'.'.join((name, *inner))} is required.")
        elif is_listed and detail["type"] == "literal_error":
            sentences.append(f"{name} {_requirement(detail)} or a list of lists of columns{given}.")
        elif is_listed and detail["type"] == "tuple_type":
            sentences.append(f"{name} must be a list of lists of columns{given}.")
        elif is_listed and detail["type"] == "too_long":
            sentences.append(f"{name}: each list must have at most {detail['ctx']['max_length']} item(s).")
        else:
            words = f"{_requirement(detail)}{given}"
            words = words if words.endswith("?") else f"{words}."
            separator = " " if words.startswith("must") else ": "
            sentences.append(f"{name}{separator}{words}" if name else words)
    return list(dict.fromkeys(sentences))


def _given_instead(detail: ErrorDetails, name: str, is_whole: bool) -> str:
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
    return f", not {article} {kind}" if kind and kind not in _requirement(detail) else ""


def _names_of_places(detail: ErrorDetails, privacy: Collection[str]) -> dict[tuple[str, ...], str]:
    mode = next((part for part in detail["loc"] if part in MODES), None)
    others = keys_of_other_modes(str(mode)) if mode else frozenset[str]()
    names = {place: key for key, place in PLACES.items() if key not in others}
    for key, place in PRIVACY_PLACES.items():
        if key in privacy or place not in names:
            names[place] = f"privacy.{key}"
    return names | {("protection", key): f"{SYNDIFFIX}.{key}" for key in SECTION_KEYS}


def _place_of(detail: ErrorDetails) -> tuple[str, ...]:
    parts = map(str, detail["loc"])
    return tuple(p for p in parts if not (p in _TAGS or p[:1].isupper() or "[" in p))


def _meant_details(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """A key that takes words or a structure is judged as what was given, not as both."""

    def is_worded(detail: ErrorDetails) -> bool:
        return any(str(part).startswith("literal[") for part in detail["loc"])

    words = {_place_of(d) for d in details if is_worded(d) and isinstance(d["input"], str)}
    return [
        detail
        for detail in details
        if (isinstance(detail["input"], str) if is_worded(detail) else _place_of(detail) not in words)
    ]


def _requirement(detail: ErrorDetails) -> str:
    if detail["type"] in _WORDS:
        context = detail.get("ctx", {})
        figures = {key: f"{v:g}" if isinstance(v, float) else v for key, v in context.items()}
        return _WORDS[detail["type"]].format(**figures)
    message = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


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

#: What a file gives, by its place in the model.
GivenValues = dict[tuple[str, ...], Any]


def _section_problems(flat: Mapping[str, Any]) -> list[str]:
    """What is wrong with a file's section whatever the mode: its form, its keys, a mode that is left open."""
    if SYNDIFFIX not in flat:
        return []
    section = flat[SYNDIFFIX]
    if not isinstance(section, dict):
        return ['syndiffix must be an object of its own keys, such as {"columns": ["age:i"]}.']
    problems = [unknown_key(key, SECTION_KEYS, f"{SYNDIFFIX}.") for key in section if key not in SECTION_KEYS]
    if "synthesis_mode" not in flat:
        problems.append(
            "synthesis_mode must be given where there is a section syndiffix: give syndiffix, which is not "
            "differentially private, or remove the section."
        )
    return problems


def _refused_by_syndiffix(flat: Mapping[str, Any]) -> list[str]:
    """Keys that SynDiffix can't be given; such as would protect otherwise are never passed over."""
    problems = []
    if flat.get("dp_aggregates") is True:
        problems.append(
            "dp_aggregates must be false, or left out, where synthesis_mode is syndiffix: SynDiffix is not "
            "differentially private."
        )
    for key, value in flat.items():
        # An empty list or object, or -1, is SDS's way to say nothing.
        if key in REFUSED_BY_SYNDIFFIX and value not in ({}, [], -1):
            problems.append(
                f"{key} can't be used where synthesis_mode is syndiffix: it {REFUSED_BY_SYNDIFFIX[key]}. "
                "Remove the key."
            )
    contract = flat.get("contract")
    mode = contract.get("mode") if isinstance(contract, dict) else None
    if "repair" in (flat.get("contract_mode"), mode):
        problems.append(
            "contract_mode must be strict where synthesis_mode is syndiffix: SynDiffix takes cells as "
            "they are and repairs none."
        )
    return problems


def _apply_section(section: Any, given: GivenValues) -> list[str]:
    """Put a section into the model's places beside what is given; return what is wrong with its parts."""
    refused = {PLACES.get(key) for key in REFUSED_BY_SYNDIFFIX}  # the model need not judge them as well
    for place in [place for place in given if place[0] == "protection" or place in refused]:
        del given[place]
    section = section if isinstance(section, dict) else {}
    section = {key: value for key, value in section.items() if key in SECTION_KEYS and value is not None}
    problems = _take_columns(section, given)
    ids = given.get(("input", "subject_id"))
    if isinstance(ids, list) and ids:  # each says in its own way whose row it is
        given["input", "subject_id"], given["protection", "further_ids"] = ids[0], ids[1:]
    clustering = section.get("clustering", "default")
    unread = set() if clustering_problem(clustering) else unread_keys(way_of(clustering))
    for key, value in section.items():
        given["protection", key] = value
        if key in unread:
            problems.append(
                f"syndiffix.{key} has no effect where syndiffix.clustering is {way_of(clustering)}: remove "
                "it, or choose another clustering."
            )
    return problems


def _take_columns(section: dict[str, Any], given: GivenValues) -> list[str]:
    """``columns``, as columns to use and their types.

    Each is ``name``, ``name:letter``, or ``{"name": ...}`` of a header that has a colon and no type.
    """
    items = section.pop("columns", None)
    if items is None:
        return []

    def is_column(item: Any) -> bool:
        return isinstance(item["name"] if isinstance(item, dict) and list(item) == ["name"] else item, str)

    if not isinstance(items, list) or not all(map(is_column, items)):
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


#: Keys of SDS that are not taken, and what to do.
_NOT_DONE = {
    "event_column": "events are not counted, only records. Remove it; where a person has several rows, name "
    "the person's column as subject_id.",
}


def read_configuration(path: Path) -> RunConfiguration:
    """Read and check a configuration file. Raises ParameterError with all problems found, a sentence each."""
    flat = read_json(path)
    if "runs" in flat and "base_config" in flat:
        raise ParameterError(f"{path} is a batch file: give it to marginalia batch.")
    return from_flat(flat)


def from_flat(flat: dict[str, Any]) -> RunConfiguration:
    """As `read_configuration`, of a file's dictionary; ``null`` is a key that is left out."""
    flat = {key: value for key, value in flat.items() if value is not None}
    protection, mode, choice_problems = _choose(flat)
    problems = _unknown_keys(flat) + choice_problems
    nested, clashes = _nest(flat, protection, mode)
    problems += clashes
    try:
        # As JSON, so that a text is no number and true is no 1.
        configuration = RunConfiguration.model_validate_json(json.dumps(_as_integers(nested)), strict=True)
    except ValidationError as error:
        # A missing epsilon says nothing new where the regime is not settled.
        known = ("noise_epsilon (or",) if choice_problems else ()
        sentences = _sentences_of(error, _privacy_section(flat))
        problems += [text for text in sentences if not text.startswith(known)]
        raise ParameterError(list(dict.fromkeys(problems))) from None
    keys, length = {*flat, *_privacy_section(flat)}, configuration.reporting_length
    problems += configuration.protection.impossible(keys, length, is_fitted=configuration.is_fitted)
    limit, resolution = configuration.input.record_limit, configuration.reporting_resolution
    if protection is KAnonymity and limit is not None and limit < resolution:
        problems.append(
            f"record_limit must be at least the reporting_resolution ({resolution}), or no count can be "
            f"reported; it is {limit}."
        )
    if problems:
        raise ParameterError(problems)
    return configuration


def read_json(path: Path) -> dict[str, Any]:
    """The one JSON object in a file. Raises ParameterError, also where it is in a closed folder."""
    if place := closed_folder_of(path):  # its keys would be told as unknown ones
        raise ParameterError(
            f"The configuration must be a file of your own, but {path} is in {place}. Give the file that you "
            "wrote."
        )
    problem, body, file, is_table = "", None, f"The configuration file {show_path(path)}", False
    try:
        body = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_without_duplicates)
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
            f"{file} must hold one JSON object, and holds {_JSON_KINDS[type(body)]}: put {{ and }} around it."
        )
    return body


_JSON_KINDS = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"} | {
    type(None): "null"
}


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError([f"The key {key!r} is given twice; keep one." for key in twice])
    return dict(pairs)


def unknown_key(key: str, known: Collection[str], section: str = "") -> str:
    if key in _NOT_DONE:
        return f"{section}{key} is not a key of the configuration: {_NOT_DONE[key]}"
    meant = did_you_mean(key, known, lambda name: section + name)
    return f"{section}{key} is not a key of the configuration: {meant or 'remove it.'}"


def _unknown_keys(flat: dict[str, Any]) -> list[str]:
    known = [*PLACES, *SECTIONS]
    problems = [unknown_key(key, known) for key in flat if key not in known]
    problems += _section_problems(flat)
    if not isinstance(flat.get("privacy", {}), dict):
        return [*problems, 'privacy must be an object of its own keys, such as {"epsilon": 1}.']
    inner = [key for key in _privacy_section(flat) if key not in PRIVACY_PLACES]
    return problems + [unknown_key(key, PRIVACY_PLACES, "privacy.") for key in inner]


def _privacy_section(flat: dict[str, Any]) -> dict[str, Any]:
    section = flat.get("privacy", {})
    if not isinstance(section, dict):
        return {}
    return {key: value for key, value in section.items() if value is not None}


def _choose(flat: dict[str, Any]) -> tuple[type[ProtectionSettings], str, list[str]]:
    """The protection and the mode that a file chooses, or those that let the rest of it be checked."""
    given = flat.get("synthesis_mode")
    # SDS's files name no protection: dp_aggregates tells two apart, and SynDiffix is named as a mode.
    if isinstance(given, str) and given.lower() == SYNDIFFIX:
        return SynDiffix, SYNDIFFIX, _refused_by_syndiffix(flat)
    protection, problems = _choose_protection(flat)
    if given is None and isinstance(flat.get(SYNDIFFIX), dict) and protection is KAnonymity:
        return SynDiffix, SYNDIFFIX, problems  # that the mode must be given is told by itself
    given = given or protection.modes[0]
    mode = given.lower() if isinstance(given, str) else ""
    if mode == "seeded":
        problems.append("synthesis_mode seeded is SDS's old name of row_seeded: write row_seeded.")
    elif mode not in MODES:
        meant = did_you_mean(mode, MODES)
        modes = ", ".join(MODES)
        problems.append(f"synthesis_mode must be one of {modes}{f': {meant}' if meant else '.'}")
    holds = flat.get("aggregate_seeded_hold_resolution") is True
    problems += [f"{refusal}." for refusal in protection.refusals(mode, holds=holds)]
    return protection, mode if mode in protection.modes else "aggregate_seeded", problems


def _choose_protection(flat: dict[str, Any]) -> tuple[type[ProtectionSettings], list[str]]:
    """Differential privacy where the file asks for it; SDS's default is k-anonymity."""
    private_keys = [key for key in flat if key in PRIVATE_KEYS]
    by_answer: dict[bool, type[ProtectionSettings]] = {True: DifferentialPrivacy, False: KAnonymity}
    given = flat.get("dp_aggregates")
    if isinstance(given, bool):
        return by_answer[given], []
    if given is not None:
        return by_answer[bool(private_keys)], ["dp_aggregates must be true or false."]
    if "privacy" in flat or not private_keys:
        return by_answer["privacy" in flat], []
    return DifferentialPrivacy, [
        f"dp_aggregates must say which protection is meant, as {', '.join(private_keys)} belongs to "
        "differential privacy: give true for differential privacy, or false for k-anonymity."
    ]


def _nest(
    flat: dict[str, Any], protection: type[ProtectionSettings], mode: str
) -> tuple[dict[str, Any], list[str]]:
    elsewhere = keys_of_other_modes(mode) | protection.unread
    used = {key: value for key, value in flat.items() if key not in elsewhere}
    given, problems = _given_values(used)
    if protection is SynDiffix:  # whose section says in its own keys what others say of the input
        problems += _apply_section(flat.get(SYNDIFFIX, {}), given)
    nested: dict[str, Any] = {"protection": {}, "synthesis": {}}
    for place, value in given.items():
        inner = nested
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = value
    nested["protection"]["regime"] = protection.model_fields["regime"].default
    nested["synthesis"]["mode"] = mode
    problems += _apply_defaults(nested, protection)
    protection.complete(nested["protection"], mode)
    without_effect = elsewhere | protection.without_effect(nested["protection"], mode)
    without_effect |= {"cache_max_size"}
    without_effect |= set() if "oversampling_ratio" in flat else {"oversampling_tries"}
    without_effect |= set() if "contract" in flat else {"contract_mode"}
    nested["unused_keys"] = [key for key in flat if key in without_effect]
    return nested, problems


def _given_values(flat: dict[str, Any]) -> tuple[GivenValues, list[str]]:
    given: GivenValues = {}
    problems, private = [], _privacy_section(flat)
    places = [(key, PLACES.get(key), value) for key, value in flat.items()]
    places += [(f"privacy.{key}", PRIVACY_PLACES.get(key), value) for key, value in private.items()]
    for key, place, value in places:
        if place is None:
            continue
        if place in given and given[place] != value:
            problems.append(f"{key} and its other spelling are both given and differ; keep one.")
        given[place] = value
    cap = given.get(("protection", "cap"))
    if isinstance(cap, dict) and "population" in cap:
        given["protection", "cap"] = {key: value for key, value in cap.items() if key != "population"}
        if given.setdefault(("protection", "population"), cap["population"]) != cap["population"]:
            problems.append(
                "privacy.population and privacy.cap.population are both given and differ; keep one."
            )
    thresholds = given.pop(("protection", "thresholds"), None)
    if thresholds is not None and any(place[:2] == ("protection", "thresholds") for place in given):
        problems.append("privacy.thresholds and noise_threshold_type/values are both given; keep one.")
    elif thresholds is not None:
        given["protection", "thresholds"] = thresholds
    return given, problems


def _apply_defaults(nested: dict[str, Any], protection: type[ProtectionSettings]) -> list[str]:
    """What SDS's files leave to the program, and -1 where it means "no limit"."""
    nested["dataset_is_named"] = "dataset" in nested
    nested.setdefault("dataset", nested.get("prefix", "my"))
    table = nested.setdefault("input", {})
    limit = table.get("record_limit")
    if isinstance(limit, int) and limit <= 0:
        del table["record_limit"]
    path = table.get("path")
    if isinstance(path, str) and re.search(r"\.(tsv|tab)(\.gz|\.zst)?$", path, re.IGNORECASE):
        table.setdefault("delimiter", "\t")
    resolution = nested.get("reporting_resolution")
    if isinstance(resolution, int | float) and resolution > LARGEST_RESOLUTION:
        nested["reporting_resolution"] = LARGEST_RESOLUTION
    table["encoding"] = _codec_name(table.get("encoding", "utf-8"))
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
        table["contract_mode"] = protection.contract_mode
    if nested.get("on_unchanged") == protection.on_unchanged:  # said outright, it is the same release
        del nested["on_unchanged"]
    return problems


def _as_integers(value: Any) -> Any:
    """The same with whole numbers where a writer made 3.0 of 3."""
    if isinstance(value, dict):
        return {key: _as_integers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_integers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _codec_name(encoding: Any) -> Any:
    try:
        name = codecs.lookup(encoding).name if isinstance(encoding, str) else ""
    except (LookupError, ValueError):
        name = ""
    same = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}
    return same.get(name, name) or encoding
