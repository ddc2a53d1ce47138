"""The arguments of ``marginalia syndiffix``: the reference's own names, each at most once (X1.2).

Those that are SynDiffix's settings follow from the core's declarations, and have their names there. What was
given stands for a configuration's section (`settings_section`). Nothing slow is loaded for the help.
"""

import argparse
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from flows.command.parser import CommandParser, add_option, add_options
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import (
    Clustering,
    Way,
    lists_of,
    named_columns,
    read_clustering,
    read_clusters,
    way_of,
)
from tasks.core.syndiffix.settings import (
    CLUSTERING_KEYS,
    LARGEST_STORED,
    SETTINGS,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    MlClustering,
    Setting,
    SuppressionParameters,
    settings_of,
    unread_keys,
)
from tasks.core.tables.column_names import Encoding
from tasks.messages import say

if TYPE_CHECKING:
    from tasks.core.tables.header import Headers

#: What the salt is kept under where no dataset is named: one for all tables of the command.
DATASET = "command"


class _Once(argparse.Action):
    repeats = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if self.dest in given(namespace) and not self.repeats:
            parser.error(f"{'/'.join(self.option_strings)} is given twice: give it once")
        namespace.given = {**given(namespace), self.dest: option_string}
        setattr(namespace, self.dest, self._held(namespace, values))

    def _held(self, namespace: argparse.Namespace, values: Any) -> object:
        return True if self.nargs == 0 else values


class _Every(_Once):
    repeats = True

    def _held(self, namespace: argparse.Namespace, values: Any) -> object:
        return [*getattr(namespace, self.dest), *values]


def given(options: argparse.Namespace) -> Mapping[str, str]:
    """The options that were given, whatever their value, each as it was spelled."""
    found: Mapping[str, str] = getattr(options, "given", {})
    return found


def spell_option(options: argparse.Namespace, name: str) -> str:
    """An option as it was given, or else by its first name."""
    known = SETTINGS[name].options[0] if name in SETTINGS else f"--{name.replace('_', '-')}"
    return given(options).get(name, known)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_option(parser, "table FILE", "CSV, TSV or Parquet")
    add_option(parser, "result OUTPUT", "the same as --output", nargs="?")
    _add_options(parser)
    wrapper = parser.add_argument_group("the reference's wrapper")
    add_option(wrapper, "--syndiffix_args TEXT", "more options, in one quoted text")
    _add_flag(wrapper, "--dev", "accepted, but has no effect")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.register("action", None, _Once)  # where none is named
    _add_data_options(parser.add_argument_group("data"))
    protection = parser.add_argument_group("protection")
    _add_settings(protection, SuppressionParameters, AnonymizationParameters, BucketizationParameters)
    _add_clustering_options(parser.add_argument_group("clusters"))
    _add_output_options(parser.add_argument_group("output"))


def _add_data_options(group: argparse._ArgumentGroup) -> None:
    columns = (
        "columns to synthesize (default: all but the ids); TYPE is b, i, r, t or s for boolean, integer, "
        "real, timestamp or string, and is inferred if it is left out"
    )
    add_option(group, "--columns NAME:TYPE ...", columns)
    ids = "columns that say whose row it is; without them, each row is taken for a person"
    add_option(group, "--aidcolumns --aid_columns NAME ...", ids, default=[])
    _add_setting(group, SETTINGS["value_safe_columns"])
    marks = {
        "--decimal MARK ...": "mark before decimals: a point (the default) or a comma; COLUMN=MARK for a "
        "single column",
        "--thousands MARK ...": "mark between thousands: . , ' or a space of any kind (default: none, but a "
        "column of type r takes 1,234 for 1234); COLUMN=MARK for a single column",
    }
    add_options(group, marks, default=[])
    formats = (
        "how a column's dates are written, such as visit=%%d/%%m/%%Y; of several formats of one column the "
        "first that fits is taken (default: 2026-12-31, with or without a time and a zone)"
    )
    more: dict[str, Any] = {"dest": "date_formats", "action": _Every, "default": []}
    add_option(group, "--date-format COLUMN=FORMAT ...", formats, **more)
    encoding, encodings = "encoding of a text file (default: utf-8)", get_args(Encoding)
    add_option(group, "--encoding", encoding, choices=encodings, default="utf-8")
    dataset = f"name under which the ledger keeps the salt of all noise (default: {DATASET})"
    add_option(group, "--dataset", dataset, nargs=None, default=DATASET)


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    blob = (
        "build a file that answers questions about any columns later, without the table: then give it as FILE"
    )
    places = {
        "--output -o FILE": "CSV, TSV or Parquet (default: standard output)",
        "--blob OUT.sdxblob.zip": blob,
    }
    add_options(group, places)
    largest = (
        "columns of the blob's largest table: it holds all sets of one, two and three columns, and the "
        "clusters of all columns, with up to N columns each; 2 leaves out sets of more than two "
        f"(default: {LARGEST_STORED})"
    )
    add_option(group, "--blob-largest N", largest, default=LARGEST_STORED)
    _add_flag(group, "--flow", "make a whole release in the folder --output, by a Prefect flow")
    _add_flag(group, "--verbose", "log what is found in the data: sensitive, for you alone")
    debug = (
        "write trees, buckets and all rows as JSON to --output, instead of the table: as sensitive as the "
        "table that is read"
    )
    _add_flag(group, "--debug", debug)


def _add_clustering_options(group: argparse._ArgumentGroup) -> None:
    clustering = (
        "which columns are synthesized together: default (found out), one (all), none (each alone), "
        """'{"target": "income"}', or lists of columns such as '[["age", "town"], ["town", "income"]]', """
        "each stitched to those before by the columns that both have"
    )
    add_option(group, "--clustering HOW", clustering)
    _add_flag(group, "--no-clustering", "the reference's name of --clustering one")
    reference = {
        "--clusters JSON": "lists of columns in the reference's form, as JSON or its file",
        "--ml-target --ml_target NAME": "column to predict: the reference's name of --clustering with a "
        "target",
    }
    add_options(group, reference)
    _add_settings(group, DefaultClustering, MlClustering)


#: What argparse needs to know of a setting's kind.
_KINDS: dict[str, dict[str, Any]] = {
    "whole": {"type": int, "metavar": "N"},
    "number": {"type": float, "metavar": "N"},
    "interval": {"type": int, "nargs": 2, "metavar": ("LEAST", "MOST")},
    "flag": {"nargs": 0},
    "column": {"metavar": "NAME"},
    "columns": {"nargs": "+", "metavar": "NAME"},
}


def _add_settings(group: argparse._ArgumentGroup, *kinds: type) -> None:
    for setting in {setting.name: setting for kind in kinds for setting in settings_of(kind)}.values():
        _add_setting(group, setting)


def _add_setting(group: argparse._ArgumentGroup, setting: Setting) -> None:
    default, told = setting.default, setting.meaning
    if setting.kind in ("whole", "number", "interval"):
        numbers = default if setting.kind == "interval" else (default,)
        told += f" (default: {' '.join(f'{number:g}' for number in numbers)})"
    more = _KINDS[setting.kind]
    group.add_argument(*setting.options, dest=setting.name, default=default, help=told, **more)


def _add_flag(group: argparse._ArgumentGroup, name: str, help: str) -> None:
    add_option(group, name, help, nargs=0, default=False)


def expand_wrapper_options(options: argparse.Namespace) -> argparse.Namespace:
    """The same with the wrapper's text of further options and its second argument put in their places."""
    if options.syndiffix_args is not None:
        try:
            further = shlex.split(options.syndiffix_args)
        except ValueError:
            raise ParameterError("--syndiffix_args has a quote that is not closed: close it.") from None
        inner = CommandParser(
            "marginalia syndiffix: --syndiffix_args",
            usage="%(prog)s [options]",
            add_help=False,
            allow_abbrev=False,
        )
        _add_options(inner)
        inner.parse_args(further, namespace=options)
    if options.result is not None:
        if options.output is not None:
            raise ParameterError(
                "The output must be named once: give it as OUTPUT or as --output, not as both."
            )
        options.output = options.result
    return options


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
    lists = None
    if options.clusters:  # read also where another option leaves them without effect
        lists = lists_of(read_clusters(options.clusters).require_all(len(columns)), columns)
    clustering = requested_clustering(options) or _reference_clustering(options, lists)
    way = way_of(clustering)
    _require_room(options, way, len(columns))
    _require_effect(options, way)
    section = {name: getattr(options, name) for name in SETTINGS if name not in unread_keys(way)}
    return {**section, "clustering": clustering}


def requested_clustering(options: argparse.Namespace) -> Clustering | None:
    """What ``--clustering`` says, or the target that the reference's option names; None without both."""
    if options.clustering is not None:
        return read_clustering(options.clustering)
    return None if options.ml_target is None else {"target": options.ml_target}


def _reference_clustering(options: argparse.Namespace, lists: Clustering | None) -> Clustering:
    if options.no_clustering:
        return "one"
    if options.max_weight <= 1:
        return "none"
    if lists is not None:
        return lists
    return {"target": options.main_column} if options.main_features else "default"


def _require_selected(options: argparse.Namespace, columns: Sequence[str]) -> None:
    from tasks.core.tables.number_format import EVERY_COLUMN

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
    """Refuse what has no effect beside ``--clustering``; of the reference's options tell it."""
    if options.clustering is not None:
        if unread := [
            spell_option(options, name) for name in sorted(given(options).keys() & unread_keys(way))
        ]:
            has = "has" if len(unread) == 1 else "have"
            raise ParameterError(
                f"{', '.join(unread)} {has} no effect where {spell_option(options, 'clustering')} is {way}: "
                "leave that out, or choose another clustering."
            )
        return
    settled = _DECIDING_OPTIONS.get(way, _CLUSTERING_OPTIONS)
    if unread := sorted((given(options).keys() & _CLUSTERING_OPTIONS) - {*settled, "drop_non_features"}):
        by = ", ".join(spell_option(options, option) for option in settled if option in given(options))
        without = ", ".join(spell_option(options, option) for option in unread)
        say(f"These options have no effect beside {by}: {without}.")


def marks_of(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The marks of numbers as a configuration has them: key to column, or all of them, to mark."""
    from tasks.core.tables.number_format import DECIMALS, EVERY_COLUMN, THOUSANDS, canonical_thousands

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


def date_formats_of(items: Iterable[str], headers: "Headers") -> dict[str, list[str]]:
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
