"""The arguments of ``marginalia syndiffix``: the reference's own names, each at most once (X1.2).

Those that are SynDiffix's settings follow from the core's declarations, and have their names there.
"""

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from flows.command.parser import CommandParser
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.settings import (
    LARGEST_STORED,
    SETTINGS,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    MlClustering,
    Setting,
    SuppressionParameters,
    settings_of,
)
from tasks.core.tables.column_names import Encoding

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
    parser.add_argument("table", type=Path, metavar="FILE", help="CSV, TSV or Parquet")
    parser.add_argument("result", type=Path, nargs="?", metavar="OUTPUT", help="the same as --output")
    _add_options(parser)
    wrapper = parser.add_argument_group("the reference's wrapper")
    wrapper.add_argument("--syndiffix_args", metavar="TEXT", help="more options, in one quoted text")
    _add_flag(wrapper, "--dev", help="accepted, but has no effect")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.register("action", None, _Once)  # where none is named
    _add_data_options(parser.add_argument_group("data"))
    protection = parser.add_argument_group("protection")
    _add_settings(protection, SuppressionParameters, AnonymizationParameters, BucketizationParameters)
    _add_clustering_options(parser.add_argument_group("clusters"))
    told = parser.add_argument_group("output")
    _add_places(told)
    _add_flag(told, "--flow", help="make a whole release in the folder --output, by a Prefect flow")
    _add_flag(told, "--verbose", help="log what is found in the data: sensitive, for you alone")
    _add_flag(
        told,
        "--debug",
        help="write trees, buckets and all rows as JSON to --output, instead of the table: as sensitive as "
        "the table that is read",
    )


def _add_data_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--columns",
        nargs="+",
        metavar="NAME:TYPE",
        help="columns to synthesize (default: all but the ids); TYPE is b, i, r, t or s for boolean, "
        "integer, real, timestamp or string, and is inferred if it is left out",
    )
    group.add_argument(
        "--aidcolumns",
        "--aid_columns",
        nargs="+",
        default=[],
        metavar="NAME",
        help="columns that say whose row it is; without them, each row is taken for a person",
    )
    _add_setting(group, SETTINGS["value_safe_columns"])
    _add_marks(group, "--decimal", help="mark before decimals: a point (the default) or a comma")
    _add_marks(
        group,
        "--thousands",
        help="mark between thousands: . , ' or a space of any kind (default: none, but a column of type r "
        "takes 1,234 for 1234)",
    )
    group.add_argument(
        "--date-format",
        dest="date_formats",
        nargs="+",
        action=_Every,
        default=[],
        metavar="COLUMN=FORMAT",
        help="how a column's dates are written, such as visit=%%d/%%m/%%Y; of several formats of one column "
        "the first that fits is taken (default: 2026-12-31, with or without a time and a zone)",
    )
    group.add_argument(
        "--encoding",
        choices=get_args(Encoding),
        default="utf-8",
        help="encoding of a text file (default: utf-8)",
    )
    group.add_argument(
        "--dataset",
        default=DATASET,
        help=f"name under which the ledger keeps the salt of all noise (default: {DATASET})",
    )


def _add_places(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--output",
        "-o",
        type=Path,
        metavar="FILE",
        help="CSV, TSV or Parquet (default: standard output)",
    )
    group.add_argument(
        "--blob",
        type=Path,
        metavar="OUT.sdxblob.zip",
        help="build a file that answers questions about any columns later, without the table: then give it "
        "as FILE",
    )
    group.add_argument(
        "--blob-largest",
        type=int,
        default=LARGEST_STORED,
        metavar="N",
        help="columns of the blob's largest table: it holds all sets of one, two and three columns, and the "
        "clusters of all columns, with up to N columns each; 2 leaves out sets of more than two "
        f"(default: {LARGEST_STORED})",
    )


def _add_clustering_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--clustering",
        metavar="HOW",
        help="which columns are synthesized together: default (found out), one (all), none (each alone), "
        """'{"target": "income"}', or lists of columns such as '[["age", "town"], ["town", "income"]]', """
        "each stitched to those before by the columns that both have",
    )
    _add_flag(group, "--no-clustering", help="the reference's name of --clustering one")
    group.add_argument(
        "--clusters",
        metavar="JSON",
        help="lists of columns in the reference's form, as JSON or its file",
    )
    group.add_argument(
        "--ml-target",
        "--ml_target",
        metavar="NAME",
        help="column to predict: the reference's name of --clustering with a target",
    )
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


def _add_settings(group: "argparse._ArgumentGroup", *kinds: type) -> None:
    for setting in {setting.name: setting for kind in kinds for setting in settings_of(kind)}.values():
        _add_setting(group, setting)


def _add_setting(group: "argparse._ArgumentGroup", setting: Setting) -> None:
    default, told = setting.default, setting.meaning
    if setting.kind in ("whole", "number", "interval"):
        numbers = default if setting.kind == "interval" else (default,)
        told += f" (default: {' '.join(f'{number:g}' for number in numbers)})"
    more = _KINDS[setting.kind]
    group.add_argument(*setting.options, dest=setting.name, default=default, help=told, **more)


def _add_marks(group: "argparse._ArgumentGroup", name: str, help: str) -> None:
    help += "; COLUMN=MARK for a single column"
    group.add_argument(name, nargs="+", default=[], metavar="MARK", help=help)


def _add_flag(group: "argparse._ArgumentGroup", *names: str, help: str) -> None:
    group.add_argument(*names, nargs=0, default=False, help=help)


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
