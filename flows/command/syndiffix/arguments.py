"""The arguments of ``marginalia syndiffix``: the reference's own names, each at most once (syndiffix.md 1.2).

In: an argument parser, then what it made of a command line. Out: the options of both of the reference's
commands under one set of names; `settings` says what they stand for.
"""

import argparse
import shlex
from pathlib import Path
from typing import get_args

from flows.command.arguments import CommandParser
from tasks.core.errors import ParameterError
from tasks.core.syndiffix.settings import (
    LARGEST_STORED,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    FlatteningInterval,
    SuppressionParameters,
)
from tasks.core.tables.column_names import Encoding

#: What the salt is kept under where no dataset is named: one for all tables of the command.
DATASET = "command"
_SUPPRESSION, _FLATTENING = SuppressionParameters(), FlatteningInterval()
_BUCKETS, _CLUSTERING = BucketizationParameters(), DefaultClustering()

#: Kind, default, names and meaning of the numbers by which people are protected.
_PROTECTION = (
    (int, _SUPPRESSION.low_threshold, ("--lcf-low-threshold", "-lcf"), "fewer people are never shown"),
    (float, _SUPPRESSION.layer_sd, ("--threshold-sd", "-thresh_sd"), "standard deviation of thresholds"),
    (float, _SUPPRESSION.low_mean_gap, ("--low-mean-gap",), "of these, from the least to the mean threshold"),
    (
        float,
        AnonymizationParameters.layer_noise_sd,
        ("--layer-noise-sd", "-noise_sd"),
        "standard deviation of both noises of a count",
    ),
    (
        *(int, _BUCKETS.singularity_low_threshold, ("--singularity-low-threshold", "-sing")),
        "people that a part of a single value needs to count",
    ),
    (
        *(int, _BUCKETS.range_low_threshold, ("--range-low-threshold", "-range")),
        "people that a part of several values needs to count",
    ),
    (
        *(int, _BUCKETS.precision_limit_row_fraction, ("--precision-limit-row-fraction",)),
        "a deep part of one column is divided from all rows / N on",
    ),
    (
        *(int, _BUCKETS.precision_limit_depth_threshold, ("--precision-limit-depth-threshold",)),
        "a part is deep below this depth",
    ),
)
_INTERVALS = (
    ("--outlier-count", "how many people who have the most rows are flattened"),
    ("--top-count", "how many after them say to what"),
)


class _Once(argparse.Action):
    """An option that may be given once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if self.dest in given(namespace):
            parser.error(f"argument {'/'.join(self.option_strings)}: may be given once, and is given twice")
        namespace.given = given(namespace) | {self.dest}
        setattr(namespace, self.dest, True if self.nargs == 0 else values)


def given(options: argparse.Namespace) -> frozenset[str]:
    """Which options were given, whatever their value."""
    found: frozenset[str] = getattr(options, "given", frozenset())
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare all arguments."""
    parser.add_argument("table", type=Path, metavar="FILE", help="CSV, TSV or Parquet")
    parser.add_argument("result", type=Path, nargs="?", metavar="OUTPUT", help="the same as --output")
    _add_options(parser)
    wrapper = parser.add_argument_group("the reference's wrapper")
    wrapper.add_argument(
        "--syndiffix_args", action=_Once, metavar="TEXT", help="further options, in one text"
    )
    _add_flag(wrapper, "--dev", help="accepted, without effect")


def _add_options(parser: argparse.ArgumentParser) -> None:
    """All but the arguments that only the outer command line has."""
    _add_data_options(parser.add_argument_group("data"))
    _add_protection_options(parser.add_argument_group("protection"))
    _add_clustering_options(parser.add_argument_group("clusters"))
    told = parser.add_argument_group("what is made and told")
    _add_places(told)
    _add_flag(told, "--flow", help="a whole release, by a Prefect flow, in the folder --output")
    _add_flag(told, "--verbose", help="log what is read off the data: sensitive, for you alone")
    _add_flag(
        told,
        "--debug",
        help="write all that was made of the data as JSON to --output, in place of the table: as sensitive "
        "as the table that is read",
    )


def _add_data_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--columns",
        nargs="+",
        action=_Once,
        metavar="NAME:TYPE",
        help="columns to synthesize, with b, i, r, t or s for boolean, integer, real, timestamp or string; "
        "without a type it is inferred; left out: all columns but those of ids",
    )
    _add_names(
        group,
        "--aidcolumns",
        "--aid_columns",
        help="columns that say whose a row is; without them each row is somebody's own",
    )
    _add_names(
        group,
        "--value-safe-columns",
        help="columns whose values are public: only they come out, rare ones among them",
    )
    _add_marks(group, "--decimal", help="what numbers have before decimals: a point (the default) or a comma")
    _add_marks(
        group,
        "--thousands",
        help="what numbers have between thousands: . , ' or a space, whichever kind (default: nothing)",
    )
    group.add_argument(
        "--encoding",
        action=_Once,
        choices=get_args(Encoding),
        default="utf-8",
        help="of a text file (default: utf-8)",
    )
    group.add_argument(
        "--dataset",
        action=_Once,
        default=DATASET,
        help=f"name that the salt of all noise is kept under, with the ledger (default: {DATASET})",
    )


def _add_places(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--output",
        "-o",
        type=Path,
        action=_Once,
        metavar="FILE",
        help="CSV, TSV or Parquet (standard output)",
    )
    group.add_argument(
        "--blob",
        type=Path,
        action=_Once,
        metavar="OUT.sdxblob.zip",
        help="build a file from which any columns are answered later, without the table: give it as FILE",
    )
    largest = (
        "columns of the blob's largest table: beside all of one, two and three columns it holds the clusters "
        "of all columns, of up to so many; 2 leaves threes and these out"
    )
    _add_number(group, int, LARGEST_STORED, "--blob-largest", help=largest)


def _add_protection_options(group: "argparse._ArgumentGroup") -> None:
    for kind, default, names, help in _PROTECTION:
        _add_number(group, kind, default, *names, help=help)
    for name, help in _INTERVALS:
        group.add_argument(
            name,
            nargs=2,
            type=int,
            action=_Once,
            default=[_FLATTENING.lower, _FLATTENING.upper],
            metavar=("LEAST", "MOST"),
            help=f"{help} (default: {_FLATTENING.lower} {_FLATTENING.upper})",
        )


def _add_clustering_options(group: "argparse._ArgumentGroup") -> None:
    _add_flag(group, "--no-clustering", help="all columns in one cluster")
    group.add_argument("--clusters", action=_Once, metavar="JSON", help="the clusters, as JSON or its file")
    group.add_argument("--clustering-maincolumn", action=_Once, metavar="NAME", help="in every cluster")
    _add_names(
        group, "--clustering-mainfeatures", help="what predicts the main column, the most important first"
    )
    _add_number(
        group,
        int,
        _CLUSTERING.sample_size,
        "--clustering-samplesize",
        help="rows by which dependence is measured",
    )
    _add_number(
        group,
        float,
        _CLUSTERING.max_weight,
        "--clustering-maxweight",
        help="size of a cluster; up to 1: every column alone",
    )
    _add_number(
        group,
        float,
        _CLUSTERING.merge_threshold,
        "--clustering-thresh-merge",
        help="least dependence by which a column joins others",
    )
    _add_number(
        group,
        float,
        _CLUSTERING.solver_alpha,
        "--clustering-solver-alpha",
        help="how fast the search for clusters cools",
    )
    _add_target_options(group)


def _add_target_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--ml-target", "--ml_target", action=_Once, metavar="NAME", help="the column to be predicted"
    )
    _add_flag(
        group,
        "--ml-drop-non-features",
        "--ml_features_only",
        help="leave out what does not help to predict it",
    )


def _add_names(group: "argparse._ArgumentGroup", *names: str, help: str) -> None:
    group.add_argument(*names, nargs="+", action=_Once, default=[], metavar="NAME", help=help)


def _add_marks(group: "argparse._ArgumentGroup", name: str, help: str) -> None:
    told = f"{help}; COLUMN=MARK for a single column"
    group.add_argument(name, nargs="+", action=_Once, default=[], metavar="MARK", help=told)


def _add_number(group: "argparse._ArgumentGroup", kind: type, default: float, *names: str, help: str) -> None:
    told = f"{help} (default: {default:g})"
    group.add_argument(*names, type=kind, action=_Once, default=default, metavar="N", help=told)


def _add_flag(group: "argparse._ArgumentGroup", *names: str, help: str) -> None:
    group.add_argument(*names, nargs=0, action=_Once, default=False, help=help)


def unfold(options: argparse.Namespace) -> argparse.Namespace:
    """The same with the wrapper's text of further options and its second argument put in their places.

    Raises:
        ParameterError: two outputs, or a text whose quotes don't end.
    """
    if options.syndiffix_args is not None:
        try:
            further = shlex.split(options.syndiffix_args)
        except ValueError:
            raise ParameterError(
                "--syndiffix_args must be a text whose quotes are closed: close the last one."
            ) from None
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
                "The output must be named once, but is there as an argument and as --output."
            )
        options.output = options.result
    return options
