"""A configuration file in, a `RunConfiguration` out, or every problem at once.

The file is SDS's: flat JSON with the same keys, the same meaning (S7.1), and a few of ours
beside them. With `tasks.configuration.places` this is the one place that knows both shapes. A key of
another regime or mode than the chosen one is accepted, as SDS's files carry several; it is left out of
the model and named in its ``unused_keys``.
"""

import codecs
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tasks.configuration.messages import error_sentences
from tasks.configuration.model import LARGEST_RESOLUTION, RunConfiguration
from tasks.configuration.places import PLACES, PRIVACY_PLACES, SECTIONS
from tasks.configuration.protections.differential_privacy import PRIVATE_KEYS, DifferentialPrivacy
from tasks.configuration.protections.k_anonymity import KAnonymity
from tasks.configuration.protections.settings import ProtectionSettings
from tasks.configuration.protections.syndiffix import SynDiffix
from tasks.configuration.syndiffix_file import apply_section, refused_keys, section_problems
from tasks.configuration.synthesis import MODES, SYNDIFFIX, keys_of_other_modes
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, located, no_such_file
from tasks.core.tables.header import is_named_as_table
from tasks.core.tables.places import closed_folder_of

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
    problem, body, file, is_table = "", None, f"The configuration file {located(path)}", False
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
    """What a value of JSON is, in words."""
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError([f"The key {key!r} is given twice; keep one." for key in twice])
    return dict(pairs)


def unknown(key: str, known: Collection[str], section: str = "") -> str:
    """That a key is not known, and which one may have been meant."""
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
        mode: of synthesis, in lower case.
        problems: with the choice itself.
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
    """The model's shape, and what is wrong with how keys were combined."""
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
    """Place in the model to value, and keys that are given in both forms with different values."""
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
    """Take the population, which is the dataset's, out of its cap, where it may stand as well."""
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
    """By the ending of its name, without that of compression."""
    return isinstance(path, str) and bool(re.search(r"\.(tsv|tab)(\.gz|\.zst)?$", path, re.IGNORECASE))


def _encoding(given: Any) -> Any:
    """An encoding by our name of it, whichever of its usual names is given."""
    try:
        known = codecs.lookup(given).name if isinstance(given, str) else ""
    except (LookupError, ValueError):
        known = ""
    same = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}
    return same.get(known, known) or given


def _without_effect(flat: dict[str, Any], nested: dict[str, Any], choice: _Choice) -> set[str]:
    """Keys of the chosen regime and mode that still have no effect on this run."""
    keys = {"cache_max_size"} | choice.protection.without_effect(nested["protection"], choice.mode)
    if "oversampling_ratio" not in flat:
        keys.add("oversampling_tries")
    if "contract" not in flat:
        keys.add("contract_mode")
    return keys
