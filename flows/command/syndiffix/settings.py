"""What the options of ``marginalia syndiffix`` stand for: options in, the core's parameters out."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from flows.command.syndiffix.arguments import given
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.clusters import Clusters
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    ClusteringOptions,
    ClusteringStrategy,
    DefaultClustering,
    FlatteningInterval,
    MlClustering,
    NoClustering,
    SingleClustering,
    SuppressionParameters,
    choose_strategy,
    with_ids,
)
from tasks.core.tables.number_format import DECIMALS, EVERY_COLUMN, THOUSANDS, canonical_thousands
from tasks.progress import say

_NO_SALT = bytes(32)  # while the rest is checked: no salt is made for a command that can't be run
#: The option that stands for a parameter.
_OPTIONS = {
    "low_threshold": "--lcf-low-threshold",
    "layer_sd": "--threshold-sd",
    "low_mean_gap": "--low-mean-gap",
    "layer_noise_sd": "--layer-noise-sd",
    "singularity_low_threshold": "--singularity-low-threshold",
    "range_low_threshold": "--range-low-threshold",
    "precision_limit_row_fraction": "--precision-limit-row-fraction",
    "precision_limit_depth_threshold": "--precision-limit-depth-threshold",
    "sample_size": "--clustering-samplesize",
    "max_weight": "--clustering-maxweight",
    "merge_threshold": "--clustering-thresh-merge",
    "solver_alpha": "--clustering-solver-alpha",
}
#: Ways to ask for clusters that the reference puts in no order, each with those that it excludes.
_EXCLUDED = {
    "ml_target": ("no_clustering", "clusters", "clustering_maincolumn", "clustering_mainfeatures"),
    "no_clustering": ("clusters", "clustering_maincolumn", "clustering_mainfeatures"),
}
#: The options that each strategy is settled by, beside which other ones of clustering have no effect.
_SETTLED_BY: dict[type[ClusteringStrategy], tuple[str, ...]] = {
    SingleClustering: ("no_clustering",),
    NoClustering: ("clustering_maxweight",),
    Clusters: ("clusters",),
    MlClustering: ("ml_target", "clustering_maincolumn", "clustering_mainfeatures", "clustering_maxweight"),
}


@contextmanager
def named_options() -> Iterator[None]:
    """Let problems with parameters begin with the options that are to be mended."""
    problems: list[str] = []
    try:
        yield
    except ParameterError as error:
        options = [_OPTIONS.get(problem.partition(" ")[0]) for problem in error.problems]
        named = zip(options, error.problems, strict=True)
        problems = [f"{option}: {problem}" if option else problem for option, problem in named]
    if problems:
        raise ParameterError(problems)


def anonymization_of(options: argparse.Namespace, salt: bytes = _NO_SALT) -> AnonymizationParameters:
    """How entities are protected. Raises ParameterError."""
    return AnonymizationParameters(
        salt,
        SuppressionParameters(options.lcf_low_threshold, options.threshold_sd, options.low_mean_gap),
        _interval("--outlier-count", options.outlier_count),
        _interval("--top-count", options.top_count),
        options.layer_noise_sd,
    )


def _interval(option: str, bounds: Sequence[int]) -> FlatteningInterval:
    try:
        return FlatteningInterval(*bounds)
    except ParameterError as error:
        raise ParameterError([f"{option}: {problem}" for problem in error.problems]) from None


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

    What the options given can't change is told.

    Raises:
        ParameterError: options that exclude each other, or see `choose_strategy`.
    """
    _require_selected(options, columns)
    _require_one_way(options, columns)
    chosen = _chosen(options, columns)
    _tell_without_effect(options, chosen)
    return chosen


def _chosen(options: argparse.Namespace, columns: Sequence[str]) -> ClusteringStrategy:
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
    target = MlClustering(options.ml_target, options.ml_drop_non_features, options.clustering_maxweight)
    return with_ids(target, columns)


def _require_selected(options: argparse.Namespace, columns: Sequence[str]) -> None:
    """Refuse columns that clusters are asked for by and that are not selected. Raises ParameterError."""
    problems = []
    for option in ("ml_target", "clustering_maincolumn", "clustering_mainfeatures"):
        value = getattr(options, option) or []
        for name in [value] if isinstance(value, str) else value:
            if name not in columns:
                problems.append(
                    f"{_shown(option)} must name selected columns, and {name!r} is none: "
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
    """Refuse ways to ask for clusters of which one would be passed over. Raises ParameterError."""
    for way, others in _EXCLUDED.items():
        for other in others:
            if getattr(options, way) and getattr(options, other):
                raise ParameterError(
                    f"Clusters must be asked for in one way: {_shown(way)} or {_shown(other)}, not both."
                )
    if options.blob is not None and options.no_clustering and len(columns) > options.blob_largest:
        raise ParameterError(
            f"--no-clustering has no effect on a blob whose tables have up to {options.blob_largest} of "
            f"{len(columns)} columns: leave it out, or raise --blob-largest."
        )


def _tell_without_effect(options: argparse.Namespace, chosen: ClusteringStrategy) -> None:
    settled = _SETTLED_BY.get(type(chosen))
    if settled is None:
        return
    clustering = {option for option in given(options) if option.startswith("cluster")}
    if unread := sorted(clustering - set(settled)):
        by = ", ".join(_shown(option) for option in settled if option in given(options))
        say(f"Without effect beside {by}: {', '.join(map(_shown, unread))}.")


def _shown(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def marks_of(options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The marks of numbers as a configuration has them: key to column, or all of them, to mark.

    Raises:
        ParameterError: a mark is none that numbers have, or a column has two.
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
