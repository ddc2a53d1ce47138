"""A configuration file in, a `RunConfiguration` out, or every problem at once.

The file is SDS's: flat JSON with the same keys, the same meaning (sds.md section 7), and a few of ours
beside them. This is the one place that knows both shapes.
"""

import difflib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tasks.configuration import RunConfiguration
from tasks.core.errors import ParameterError

#: Flat key -> place in the model. `privacy` has keys of its own below.
PLACES: dict[str, tuple[str, ...]] = {
    "sensitive_microdata_path": ("input", "path"),
    "sensitive_microdata_delimiter": ("input", "delimiter"),
    "subject_id": ("input", "subject_id"),
    "use_columns": ("input", "use_columns"),
    "multi_value_columns": ("input", "multi_value_columns"),
    "max_items": ("input", "max_items"),
    "sensitive_zeros": ("input", "sensitive_zeros"),
    "record_limit": ("input", "record_limit"),
    "bins": ("input", "bins"),
    "domains": ("input", "domains"),
    "contract": ("input", "contract"),
    "contract_mode": ("input", "contract_mode"),
    "dataset": ("dataset",),
    "vintage": ("vintage",),
    "prefix": ("prefix",),
    "output_dir": ("output_dir",),
    "reporting_length": ("reporting_length",),
    "reporting_resolution": ("reporting_resolution",),
    "evaluate_sensitive": ("evaluate_sensitive",),
    "noise_epsilon": ("protection", "epsilon"),
    "delta": ("protection", "delta"),
    "delta_factor": ("protection", "delta_factor"),
    "number_of_records_epsilon_proportion": ("protection", "number_of_records_proportion"),
    "sigma_proportions": ("protection", "sigma_proportions"),
    "percentile_percentage": ("protection", "percentile_percentage"),
    "percentile_epsilon_proportion": ("protection", "percentile_proportion"),
    "noise_threshold_type": ("protection", "thresholds", "kind"),
    "noise_threshold_values": ("protection", "thresholds", "values"),
    "synthesis_mode": ("synthesis", "mode"),
    "use_synthetic_counts": ("synthesis", "use_synthetic_counts"),
    "weight_selection_percentile": ("synthesis", "weight_selection_percentile"),
    "aggregate_seeded_counts_scale_factor": ("synthesis", "counts_scale_factor"),
    "aggregate_seeded_target_number_of_records": ("synthesis", "target_number_of_records"),
    "random_seed": ("synthesis", "random_seed"),
    "parallel_jobs": ("resources", "parallel_jobs"),
    "memory_limit_mb": ("resources", "memory_limit_mb"),
    "cache_max_size": ("resources", "cache_max_size"),
    "report_title": ("report", "title"),
    "report_visuals": ("report", "visuals"),
    "report_pages": ("report", "pages"),
}

#: Keys of the `privacy` section -> place in the model.
PRIVACY_PLACES: dict[str, tuple[str, ...]] = {
    "epsilon": ("protection", "epsilon"),
    "delta": ("protection", "delta"),
    "delta_factor": ("protection", "delta_factor"),
    "accountant": ("protection", "accountant"),
    "contribution": ("protection", "contribution"),
    "thresholds": ("protection", "thresholds"),
    "threshold_delta_share": ("protection", "threshold_delta_share"),
    "cap": ("protection", "cap"),
}

#: Read here, but of the modes and the regime that do not exist yet or need no place in the model.
_ELSEWHERE = ("dp_aggregates", "oversampling_ratio", "oversampling_tries", "privacy")

#: SDS writes "no value" as null; its templates also write these.
_SDS_MODES = ("row_seeded", "value_seeded", "unseeded", "aggregate_seeded")


def read_configuration(path: Path) -> RunConfiguration:
    """Read and check a configuration file.

    Raises:
        ParameterError: all problems found, one sentence each.
    """
    return from_flat(_read_json(path))


def from_flat(flat: dict[str, Any]) -> RunConfiguration:
    """The configuration that a flat dictionary describes.

    Raises:
        ParameterError: all problems found, one sentence each.
    """
    flat = {key: value for key, value in flat.items() if value is not None}
    problems = _unknown_keys(flat) + _regime_problems(flat)
    nested, clashes = _nested(flat)
    nested["unused_keys"] = _unused_keys(flat, nested)
    problems += clashes
    try:
        configuration = RunConfiguration.model_validate(nested)
    except ValidationError as error:
        # A missing epsilon says nothing new where the regime is already refused, nor does a refused mode.
        known = ("noise_epsilon (or", "synthesis_mode: ") if problems else ()
        found = [text for text in _sentences(error) if not text.startswith(known)]
        raise ParameterError(problems + found) from None
    problems += _impossible(configuration, flat)
    if problems:
        raise ParameterError(problems)
    return configuration


def _read_json(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ParameterError(f"The configuration file {path} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"The configuration file {path} can't be read: {type(error).__name__}."
        ) from None
    try:
        body = json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise ParameterError(
            f"The configuration file {path} must be JSON; line {error.lineno}: {error.msg}."
        ) from None
    if not isinstance(body, dict):
        raise ParameterError(f"The configuration file {path} must hold one JSON object.")
    return body


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError([f"The key {key!r} is given twice; keep one." for key in twice])
    return dict(pairs)


def _unknown_keys(flat: dict[str, Any]) -> list[str]:
    problems = [
        _unknown(key, [*PLACES, *_ELSEWHERE]) for key in flat if key not in PLACES and key not in _ELSEWHERE
    ]
    privacy = flat.get("privacy", {})
    if not isinstance(privacy, dict):
        return [*problems, 'privacy must be an object of its own keys, such as {"epsilon": 1}.']
    return problems + [
        _unknown(key, list(PRIVACY_PLACES), "privacy.") for key in privacy if key not in PRIVACY_PLACES
    ]


def _unknown(key: str, known: list[str], section: str = "") -> str:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {section}{close[0]}?" if close else "remove it."
    return f"{section}{key} is not a key of the configuration: {hint}"


def _regime_problems(flat: dict[str, Any]) -> list[str]:
    problems = []
    mode = str(flat.get("synthesis_mode", "aggregate_seeded")).lower()
    is_dp = flat.get("dp_aggregates", "privacy" in flat)
    if not isinstance(is_dp, bool):
        problems.append("dp_aggregates must be true or false.")
    elif not is_dp:
        problems.append(
            "dp_aggregates must be true: the k-anonymity regime is not available in this version. "
            "Set dp_aggregates to true and give noise_epsilon."
        )
    if mode not in _SDS_MODES:
        problems.append(f"synthesis_mode must be aggregate_seeded; it is {mode!r}.")
    elif mode != "aggregate_seeded":
        problems.append(
            f"synthesis_mode {mode} reads the raw records and can't be released under differential privacy; "
            "use aggregate_seeded, or leave the key out."
        )
    return problems


def _nested(flat: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The model's shape, and keys that are given in both forms with different values."""
    nested: dict[str, Any] = {"protection": {}}
    given: dict[tuple[str, ...], Any] = {}
    problems = []
    privacy = flat.get("privacy", {})
    sections = [
        (flat, PLACES, ""),
        (privacy if isinstance(privacy, dict) else {}, PRIVACY_PLACES, "privacy."),
    ]
    for section, places, label in sections:
        for key, value in section.items():
            if key not in places or value is None:
                continue
            place = places[key]
            if place in given and given[place] != value:
                problems.append(f"{label}{key} and its other spelling are both given and differ; keep one.")
            given[place] = value
    thresholds = given.pop(("protection", "thresholds"), None)
    if thresholds is not None and any(place[:2] == ("protection", "thresholds") for place in given):
        problems.append("privacy.thresholds and noise_threshold_type/values are both given; keep one.")
    elif thresholds is not None:
        given["protection", "thresholds"] = thresholds
    for place, value in given.items():
        inner = nested
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = value
    _apply_defaults(nested)
    return nested, problems


def _apply_defaults(nested: dict[str, Any]) -> None:
    """What SDS's files leave to the program, and -1 where it means "no limit"."""
    nested["dataset_is_named"] = "dataset" in nested
    nested.setdefault("dataset", nested.get("prefix", "my"))
    limit = nested.get("input", {}).get("record_limit")
    if isinstance(limit, int) and limit <= 0:
        del nested["input"]["record_limit"]
    contract = nested.get("input", {}).get("contract")
    if isinstance(contract, dict):
        nested["input"]["contract"] = contract.get("path")
        nested["input"]["contract_mode"] = contract.get("mode", "repair")
    mode = nested.get("synthesis", {}).get("mode")
    if isinstance(mode, str):
        nested["synthesis"]["mode"] = mode.lower()
    accountant = nested["protection"].get("accountant", "gdp")
    if accountant == "zcdp":
        nested["protection"].setdefault("contribution", "percentile")


def _unused_keys(flat: dict[str, Any], nested: dict[str, Any]) -> list[str]:
    """SDS's keys that are given and have no effect on this run."""
    percentiles = {"percentile_percentage", "percentile_epsilon_proportion"}
    by_schema = nested["protection"].get("contribution", "schema") == "schema"
    without_effect = {"cache_max_size"} | (percentiles if by_schema else set())
    return [key for key in flat if key in without_effect]


def _sentences(error: ValidationError) -> list[str]:
    """Pydantic's findings under the names that the file uses, without the values given."""
    names = {place: key for key, place in PLACES.items()}
    names |= {place: f"privacy.{key}" for key, place in PRIVACY_PLACES.items() if place not in names}
    found = []
    for detail in error.errors(include_url=False, include_input=False):
        # Without the names of a union's members, which pydantic puts between the keys.
        place = tuple(str(part) for part in detail["loc"] if not _is_member(str(part)))
        name = next(
            (names[place[:n]] for n in range(len(place), 0, -1) if place[:n] in names), ".".join(place)
        )
        if detail["type"] == "missing" and place == ("protection", "epsilon"):
            found.append("noise_epsilon (or privacy.epsilon) is required under differential privacy.")
        elif detail["type"] == "missing":
            found.append(f"{name} is required.")
        else:
            message = detail["msg"].removeprefix("Value error, ")
            found.append(f"{name}: {message[0].lower()}{message[1:]}.")
    return list(dict.fromkeys(found))


def _is_member(part: str) -> bool:
    return part[:1].isupper() or "[" in part


def _impossible(configuration: RunConfiguration, flat: dict[str, Any]) -> list[str]:
    """Combinations of keys that can't be meant."""
    problems = []
    protection = configuration.protection
    length = configuration.reporting_length
    if isinstance(protection.sigma_proportions, tuple) and length != -1:
        given = len(protection.sigma_proportions)
        if given != length:
            problems.append(f"sigma_proportions must have one number a length ({length}); it has {given}.")
    if not isinstance(protection.thresholds, str):
        for key, value in protection.thresholds.values.items():
            if key < 2:
                problems.append(
                    f"noise_threshold_values is for lengths from 2; it has {key}. "
                    "The threshold of length 1 follows from delta; remove the key."
                )
            if protection.thresholds.kind != "fixed" and not 0 < value <= 1:
                problems.append(f"noise_threshold_values for length {key} must be above 0 and at most 1.")
    if protection.delta_factor is not None and "delta" not in flat and "delta" not in flat.get("privacy", {}):
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
