"""The ``syndiffix`` section of the flat file: into the model's places, or what is wrong with it."""

from collections.abc import Mapping
from typing import Any

from tasks.configuration.places import PLACES
from tasks.configuration.protections.differential_privacy import PRIVATE_KEYS
from tasks.configuration.protections.syndiffix import SECTION_KEYS
from tasks.configuration.synthesis import MODE_KEYS, SYNDIFFIX
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import clustering_problem, way_of
from tasks.core.syndiffix.reading import ChosenColumn, parse_column
from tasks.core.syndiffix.settings import unread_keys

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
    problems += _without_effect(section)
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
    """Whether it is a name that stands by itself."""
    return isinstance(item, dict) and list(item) == ["name"] and isinstance(item["name"], str)


def _take_ids(given: FoundKeys) -> None:
    """``subject_id`` as one column, or a list of them: each says in its own way whose row it is."""
    ids = given.get(("input", "subject_id"))
    if isinstance(ids, list) and ids:
        given["input", "subject_id"] = ids[0]
        given["protection", "further_ids"] = ids[1:]


def _without_effect(section: dict[str, Any]) -> list[str]:
    """Name what the way of clustering does not read."""
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
