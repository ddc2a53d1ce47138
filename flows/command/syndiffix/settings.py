"""What the options of ``marginalia syndiffix`` stand for: a configuration's section, and marks of numbers."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flows.command.syndiffix.arguments import given, spell_option
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import (
    Clustering,
    Way,
    clustering_text,
    lists_of,
    named_columns,
    read_clustering,
    read_clusters,
    respell_columns,
    way_of,
)
from tasks.core.syndiffix.settings import CLUSTERING_KEYS, SETTINGS, MlClustering, unread_keys
from tasks.core.tables.header import Headers
from tasks.core.tables.number_format import DECIMALS, EVERY_COLUMN, THOUSANDS, canonical_thousands
from tasks.messages import say

#: Ways to ask for clusters, each with those that it excludes; the reference puts its own in no order.
_EXCLUDED = {
    "clustering": ("ml_target", "no_clustering", "clusters"),
    "ml_target": ("no_clustering", "clusters", "main_column", "main_features"),
    "no_clustering": ("clusters", "main_column", "main_features"),
}
#: The reference's options that settle each way, beside which other ones of clustering have no effect.
_DECIDING_OPTIONS: dict[Way, tuple[str, ...]] = {
    "one": ("no_clustering",),
    "none": ("max_weight",),
    "lists": ("clusters",),
    "target": ("ml_target", "main_column", "main_features", "max_weight"),
}
_CLUSTERING_OPTIONS = frozenset({"no_clustering", "clusters", "ml_target"}).union(*CLUSTERING_KEYS.values())


def settings_section(options: argparse.Namespace, columns: Sequence[str]) -> dict[str, Any]:
    """The settings that the options stand for, by their names in a configuration's section.

    It says which options have no effect, and refuses those that are out of range, exclude each other or name
    other columns.
    """
    problems = [
        f"{spell_option(options, name)} {problem}"
        for name, setting in SETTINGS.items()  # also where another option leaves one without effect
        if (problem := setting.problem(getattr(options, name)))
    ]
    if problems:
        raise ParameterError(problems)
    _require_selected(options, columns)
    _require_one_way(options)
    # Read also where another option leaves them without effect.
    lists = (
        lists_of(read_clusters(options.clusters).require_all(len(columns)), columns)
        if options.clusters
        else None
    )
    clustering = requested_clustering(options) or _reference_clustering(options, lists)
    way = way_of(clustering)
    _require_room(options, way, len(columns))
    _require_effect(options, way) if options.clustering is not None else _tell_ineffective(options, way)
    section = {name: getattr(options, name) for name in SETTINGS if name not in unread_keys(way)}
    return {**section, "clustering": clustering}


def requested_clustering(options: argparse.Namespace) -> Clustering | None:
    """What ``--clustering`` says, or the target that the reference's option names; None without both."""
    if options.clustering is not None:
        return read_clustering(options.clustering)
    return None if options.ml_target is None else {"target": options.ml_target}


def spell_clustering(options: argparse.Namespace, spelled_name: Callable[[str], str]) -> None:
    if options.clustering is not None:
        options.clustering = clustering_text(
            respell_columns(read_clustering(options.clustering), spelled_name)
        )


def _reference_clustering(options: argparse.Namespace, lists: Clustering | None) -> Clustering:
    if options.no_clustering:
        return "one"
    if options.max_weight <= 1:
        return "none"
    if lists is not None:
        return lists
    return {"target": options.main_column} if options.main_features else "default"


def _require_selected(options: argparse.Namespace, columns: Sequence[str]) -> None:
    problems = []
    asked = () if options.clustering is None else tuple(named_columns(read_clustering(options.clustering)))
    names = ("value_safe_columns", "ml_target", "main_column", "main_features", "date_formats")
    named = {
        "clustering": asked,
        **{name: getattr(options, name) or () for name in names},
        **{key: [name for name in marks if name != EVERY_COLUMN] for key, marks in marks_of(options).items()},
    }
    for option, value in named.items():
        for name in dict.fromkeys([value] if isinstance(value, str) else value):
            if name not in columns:
                hint = "leave it out." if name in options.aidcolumns else _column_hint(name, columns)
                problems.append(
                    f"{spell_option(options, option)} must name selected columns, and {name!r} is not one: "
                    f"{hint}"
                )
    # Who named the columns is told by name which is missing; who didn't, by its place (`ListedClusters`).
    if options.columns is not None and options.clustering and not problems:
        is_listed = way_of(read_clustering(options.clustering)) == "lists"
        if missing := [repr(name) for name in columns if is_listed and name not in asked]:
            are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
            problems.append(
                f"{spell_option(options, 'clustering')} must have every selected column in a list, and "
                f"{', '.join(missing)} {are} in none: add {them} to one, or leave {them} out of --columns."
            )
    if problems:
        raise ParameterError(problems)


def _column_hint(name: str, columns: Sequence[str]) -> str:
    bare = name.rpartition(":")[0]
    if bare in columns:
        return f"give it without its type, {bare}."
    meant = did_you_mean(name, columns, repr)
    return f"{meant} If not, add it to --columns." if meant else "add it to --columns, or name another."


def _require_one_way(options: argparse.Namespace) -> None:
    for way, others in _EXCLUDED.items():
        for other in others:
            if getattr(options, way) and getattr(options, other):
                raise ParameterError(
                    f"Clusters must be asked for in one way: {spell_option(options, way)} or "
                    f"{spell_option(options, other)}, not both."
                )
    if options.clustering is not None:
        return
    if options.main_features:
        if options.main_column is None:
            raise ParameterError("Main features need a main column: name it with --clustering-maincolumn.")
        MlClustering(options.main_column, main_features=tuple(options.main_features))  # checked, used or not
    if options.drop_non_features and options.ml_target is None:
        raise ParameterError(
            f"{spell_option(options, 'drop_non_features')} needs a target: name the column with --ml-target."
        )


def _require_room(options: argparse.Namespace, way: Way, columns: int) -> None:
    if options.blob is not None and way == "one" and columns > options.blob_largest:
        option = "no_clustering" if options.clustering is None else "clustering"
        raise ParameterError(
            f"{spell_option(options, option)} has no effect on a blob whose tables have up to "
            f"{options.blob_largest} of {columns} columns: leave it out, or raise --blob-largest."
        )


def _require_effect(options: argparse.Namespace, way: Way) -> None:
    if unread := [spell_option(options, name) for name in sorted(given(options).keys() & unread_keys(way))]:
        raise ParameterError(
            f"{', '.join(unread)} {'has' if len(unread) == 1 else 'have'} no effect where "
            f"{spell_option(options, 'clustering')} is {way}: leave that out, or choose another clustering."
        )


def _tell_ineffective(options: argparse.Namespace, way: Way) -> None:
    settled = _DECIDING_OPTIONS.get(way, _CLUSTERING_OPTIONS)
    if unread := sorted((given(options).keys() & _CLUSTERING_OPTIONS) - {*settled, "drop_non_features"}):
        by = ", ".join(spell_option(options, option) for option in settled if option in given(options))
        without = ", ".join(spell_option(options, option) for option in unread)
        say(f"These options have no effect beside {by}: {without}.")


def marks_of(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The marks of numbers as a configuration has them: key to column, or all of them, to mark."""
    found: dict[str, dict[str, str]] = {}
    for key, known in (("decimal", DECIMALS), ("thousands", tuple(THOUSANDS))):
        marks: dict[str, str] = {}
        for item in getattr(options, key):
            column, equals, mark = item.rpartition("=")
            mark = str(canonical_thousands(mark)) if key == "thousands" else mark
            if mark not in known or (equals and not column):
                raise ParameterError(
                    f"--{key} must be {' or '.join(map(repr, known))}, or COLUMN= and one of these, but is "
                    f"{item!r}: correct it."
                )
            if marks.setdefault(column or EVERY_COLUMN, mark) != mark:
                raise ParameterError(f"--{key} gives one column two marks: keep one.")
        found[key] = marks
    return found


def date_formats_of(items: Iterable[str], headers: Headers) -> dict[str, list[str]]:
    """How dates are written, as a configuration has it: header to formats."""
    found: dict[str, list[str]] = {}
    problems = []
    for item in items:
        signs = [place for place, sign in enumerate(item) if sign == "="]
        # Names and formats may have equals signs too: the longest name that there is.
        named = [place for place in signs if headers.find(item[:place]) is not None]
        if named:
            name = headers.texts[headers.find(item[: named[-1]]) or 0]
            found.setdefault(name, []).append(item[named[-1] + 1 :])
        elif signs:
            name = item[: signs[0]]
            meant = did_you_mean(name, headers.texts, repr)
            problems.append(
                f"--date-format names the column {name!r}, which the input does not have: "
                f"{meant or 'correct its name.'}"
            )
        else:
            problems.append(
                "--date-format must be COLUMN= and a format, such as visit=%d/%m/%Y, but is "
                f"{item!r}: correct it."
            )
    if problems:
        raise ParameterError(problems)
    return found
