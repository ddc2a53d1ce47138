"""What the options of ``marginalia syndiffix`` stand for.

In: options. Out: the settings of a configuration's section ``syndiffix``, and the marks of numbers.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any

from flows.command.syndiffix.arguments import given, spelled
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import read_clusters, write_clusters
from tasks.core.syndiffix.settings import CLUSTERING_KEYS, SETTINGS, Clustering, MlClustering
from tasks.core.tables.header import Headers
from tasks.core.tables.number_format import DECIMALS, EVERY_COLUMN, THOUSANDS, canonical_thousands
from tasks.progress import say

#: Ways to ask for clusters that the reference puts in no order, each with those that it excludes.
_EXCLUDED = {
    "target_column": ("no_clustering", "clusters", "main_column", "main_features"),
    "no_clustering": ("clusters", "main_column", "main_features"),
}
#: The options that settle each way of clustering, beside which other ones of clustering have no effect.
_SETTLED_BY: dict[Clustering, tuple[str, ...]] = {
    "single": ("no_clustering",),
    "none": ("max_weight",),
    "clusters": ("clusters",),
    "ml": ("target_column", "main_column", "main_features", "max_weight"),
}
_OF_CLUSTERING = frozenset({"no_clustering"}).union(*CLUSTERING_KEYS.values())


def section_of(options: argparse.Namespace, columns: Sequence[str]) -> dict[str, Any]:
    """The settings that the options stand for, by their names in a configuration's section.

    It says which options have no effect.

    Args:
        options: of the command.
        columns: headers of what is synthesized.

    Raises:
        ParameterError: naming the options that are out of range, exclude each other or name other columns.
    """
    problems = [
        f"{spelled(options, name)} {problem}"
        for name, setting in SETTINGS.items()  # also where another option leaves one without effect
        if (problem := setting.problem(getattr(options, name)))
    ]
    if problems:
        raise ParameterError(problems)
    _require_selected(options, columns)
    _require_one_way(options, columns)
    way, given_clusters = _way(options), {}
    if options.clusters is not None:  # read also where another option leaves them without effect
        clusters = read_clusters(options.clusters).require_all(len(columns))
        given_clusters = {"clusters": json.loads(write_clusters(clusters))}
    _tell_without_effect(options, way)
    unread = _OF_CLUSTERING - CLUSTERING_KEYS[way]
    section = {name: getattr(options, name) for name in SETTINGS if name not in unread}
    section["clustering"] = way
    if way == "clusters":
        section |= given_clusters
    if way == "ml" and options.target_column is None:
        section["target_column"] = options.main_column
    return section


def _way(options: argparse.Namespace) -> Clustering:
    """How columns are divided into clusters, in the reference's order of precedence."""
    if options.target_column is not None:
        return "ml"
    if options.no_clustering:
        return "single"
    if options.max_weight <= 1:
        return "none"
    if options.clusters is not None:
        return "clusters"
    return "ml" if options.main_features else "default"


def _require_selected(options: argparse.Namespace, columns: Sequence[str]) -> None:
    """Refuse columns that clusters are asked for by and that are not selected. Raises ParameterError."""
    problems = []
    for option in ("target_column", "main_column", "main_features"):
        value = getattr(options, option) or ()
        for name in [value] if isinstance(value, str) else value:
            if name not in columns:
                problems.append(
                    f"{spelled(options, option)} must name selected columns, and {name!r} is not one: "
                    f"{_meant(name, columns)}"
                )
    if problems:
        raise ParameterError(problems)


def _meant(name: str, columns: Sequence[str]) -> str:
    bare = name.rpartition(":")[0]
    if bare in columns:
        return f"give it without its type, {bare}."
    meant = did_you_mean(name, columns, repr)
    return f"{meant} If not, add it to --columns." if meant else "add it to --columns, or name another."


def _require_one_way(options: argparse.Namespace, columns: Sequence[str]) -> None:
    """Refuse ways to ask for clusters of which one lacks another or would be passed over."""
    for way, others in _EXCLUDED.items():
        for other in others:
            if getattr(options, way) and getattr(options, other):
                raise ParameterError(
                    f"Clusters must be asked for in one way: {spelled(options, way)} or "
                    f"{spelled(options, other)}, not both."
                )
    if options.main_features:
        if options.main_column is None:
            raise ParameterError("Main features need a main column: name it with --clustering-maincolumn.")
        MlClustering(options.main_column, main_features=tuple(options.main_features))  # checked, used or not
    if options.drop_non_features and options.target_column is None:
        raise ParameterError(
            f"{spelled(options, 'drop_non_features')} needs a target: name the column with --ml-target."
        )
    if options.blob is not None and options.no_clustering and len(columns) > options.blob_largest:
        raise ParameterError(
            f"--no-clustering has no effect on a blob whose tables have up to {options.blob_largest} of "
            f"{len(columns)} columns: leave it out, or raise --blob-largest."
        )


def _tell_without_effect(options: argparse.Namespace, way: Clustering) -> None:
    settled = _SETTLED_BY.get(way, _OF_CLUSTERING)
    if unread := sorted((given(options).keys() & _OF_CLUSTERING) - {*settled, "drop_non_features"}):
        by = ", ".join(spelled(options, option) for option in settled if option in given(options))
        without = ", ".join(spelled(options, option) for option in unread)
        say(f"These options have no effect beside {by}: {without}.")


def marks_of(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The marks of numbers as a configuration has them: key to column, or all of them, to mark.

    Raises:
        ParameterError: numbers have no such mark, or a column has two.
    """
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
    """How dates are written, as a configuration has it: header to formats.

    Args:
        items: ``COLUMN=FORMAT`` each.
        headers: of the input.

    Raises:
        ParameterError: an item has no equals sign, or names no column of the input.
    """
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
