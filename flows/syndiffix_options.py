"""The arguments of ``marginalia syndiffix``: the reference's own names, each at most once (syndiffix.md 1.2).

In: an argument parser, then what it made of a command line. Out: the options of both of the reference's
commands under one set of names, and the parameters they stand for.
"""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.parameters import (
    AnonymizationParameters,
    BucketizationParameters,
    FlatteningInterval,
    SuppressionParameters,
)
from tasks.core.syndiffix.strategies import (
    ClusteringOptions,
    ClusteringStrategy,
    DefaultClustering,
    MlClustering,
    choose_strategy,
    with_ids,
)

#: What the salt is kept under where no dataset is named: one for all tables of the command.
DATASET = "command"
_SUPPRESSION, _FLATTENING = SuppressionParameters(), FlatteningInterval()
_BUCKETS, _CLUSTERING = BucketizationParameters(), DefaultClustering()
_NO_SALT = bytes(32)  # while the rest is checked: no salt is made for a command that can't be run


class _Once(argparse.Action):
    """An option that may be given once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given: frozenset[str] = getattr(namespace, "given", frozenset())
        if self.dest in given:
            parser.error(f"argument {'/'.join(self.option_strings)}: may be given once, and is given twice")
        namespace.given = given | {self.dest}
        setattr(namespace, self.dest, True if self.nargs == 0 else values)


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
    group.add_argument(
        "--aidcolumns",
        "--aid_columns",
        nargs="+",
        action=_Once,
        default=[],
        metavar="NAME",
        help="columns that say whose a row is; without them each row is somebody's own",
    )
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
    group.add_argument(
        "--value-safe-columns",
        nargs="+",
        action=_Once,
        default=[],
        metavar="NAME",
        help="columns whose values are public: only they come out, rare ones among them",
    )
    group.add_argument(
        "--dataset",
        action=_Once,
        default=DATASET,
        help=f"name that the salt of all noise is kept under, with the ledger (default: {DATASET})",
    )


def _add_protection_options(group: "argparse._ArgumentGroup") -> None:
    _add_number(group, int, _SUPPRESSION.low_threshold, "--lcf-low-threshold", "-lcf")
    _add_number(group, float, _SUPPRESSION.layer_sd, "--threshold-sd", "-thresh_sd")
    _add_number(group, float, _SUPPRESSION.low_mean_gap, "--low-mean-gap")
    _add_number(
        group, float, AnonymizationParameters(_NO_SALT).layer_noise_sd, "--layer-noise-sd", "-noise_sd"
    )
    for name in ("--outlier-count", "--top-count"):
        group.add_argument(
            name,
            nargs=2,
            type=int,
            action=_Once,
            default=[_FLATTENING.lower, _FLATTENING.upper],
            metavar=("LEAST", "MOST"),
            help="(default: 2 5)",
        )
    _add_number(group, int, _BUCKETS.singularity_low_threshold, "--singularity-low-threshold", "-sing")
    _add_number(group, int, _BUCKETS.range_low_threshold, "--range-low-threshold", "-range")
    _add_number(group, int, _BUCKETS.precision_limit_row_fraction, "--precision-limit-row-fraction")
    _add_number(group, int, _BUCKETS.precision_limit_depth_threshold, "--precision-limit-depth-threshold")


def _add_clustering_options(group: "argparse._ArgumentGroup") -> None:
    _add_flag(group, "--no-clustering", help="all columns in one cluster")
    group.add_argument("--clusters", action=_Once, metavar="JSON", help="the clusters, as JSON or its file")
    group.add_argument("--clustering-maincolumn", action=_Once, metavar="NAME", help="in every cluster")
    group.add_argument(
        "--clustering-mainfeatures",
        nargs="+",
        action=_Once,
        default=[],
        metavar="NAME",
        help="what predicts the main column, the most important first",
    )
    _add_number(group, int, _CLUSTERING.sample_size, "--clustering-samplesize")
    _add_number(group, float, _CLUSTERING.max_weight, "--clustering-maxweight")
    _add_number(group, float, _CLUSTERING.merge_threshold, "--clustering-thresh-merge")
    _add_number(group, float, _CLUSTERING.solver_alpha, "--clustering-solver-alpha")
    group.add_argument(
        "--ml-target", "--ml_target", action=_Once, metavar="NAME", help="the column to be predicted"
    )
    _add_flag(
        group,
        "--ml-drop-non-features",
        "--ml_features_only",
        help="leave out what does not help to predict it",
    )


def _add_number(group: "argparse._ArgumentGroup", kind: type, default: float, *names: str) -> None:
    group.add_argument(
        *names, type=kind, action=_Once, default=default, metavar="N", help=f"(default: {default:g})"
    )


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
        inner = argparse.ArgumentParser(
            "marginalia syndiffix: --syndiffix_args", add_help=False, allow_abbrev=False
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


def anonymization_of(options: argparse.Namespace, salt: bytes = _NO_SALT) -> AnonymizationParameters:
    """How entities are protected. Raises ParameterError."""
    return AnonymizationParameters(
        salt,
        SuppressionParameters(options.lcf_low_threshold, options.threshold_sd, options.low_mean_gap),
        FlatteningInterval(*options.outlier_count),
        FlatteningInterval(*options.top_count),
        options.layer_noise_sd,
    )


def bucketization_of(options: argparse.Namespace) -> BucketizationParameters:
    """How finely trees divide. Raises ParameterError."""
    return BucketizationParameters(
        options.singularity_low_threshold,
        options.range_low_threshold,
        options.precision_limit_row_fraction,
        options.precision_limit_depth_threshold,
    )


def strategy_of(options: argparse.Namespace, columns: Sequence[str]) -> ClusteringStrategy:
    """Which columns are synthesized together, in the reference's order of precedence.

    Raises:
        ParameterError: options that exclude each other, or see `choose_strategy`.
    """
    chosen = choose_strategy(
        ClusteringOptions(
            no_clustering=options.no_clustering,
            clusters=options.clusters,
            maincolumn=options.clustering_maincolumn,
            mainfeatures=tuple(options.clustering_mainfeatures),
            samplesize=options.clustering_samplesize,
            maxweight=options.clustering_maxweight,
            thresh_merge=options.clustering_thresh_merge,
        ),
        columns,
    )
    # Checked also where another strategy leaves it without use.
    solved = DefaultClustering(solver_alpha=options.clustering_solver_alpha)
    if isinstance(chosen, DefaultClustering):
        chosen = replace(chosen, solver_alpha=solved.solver_alpha)
    if options.ml_target is None:
        if options.ml_drop_non_features:
            raise ParameterError("What helps to predict needs a target: say which column with --ml-target.")
        return chosen
    others = ("no_clustering", "clusters", "clustering_maincolumn", "clustering_mainfeatures")
    for other in others:
        if getattr(options, other):
            name = other.replace("_", "-")
            raise ParameterError(f"Clusters must be asked for in one way: --ml-target or --{name}, not both.")
    target = MlClustering(options.ml_target, options.ml_drop_non_features, options.clustering_maxweight)
    return with_ids(target, columns)
