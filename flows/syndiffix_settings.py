"""What the options of ``marginalia syndiffix`` stand for: options in, the core's parameters out."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

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

_NO_SALT = bytes(32)  # while the rest is checked: no salt is made for a command that can't be run
#: Where an option has another name than the parameter that it stands for.
_OPTIONS = {
    "low_threshold": "--lcf-low-threshold",
    "layer_sd": "--threshold-sd",
    "sample_size": "--clustering-samplesize",
    "max_weight": "--clustering-maxweight",
    "merge_threshold": "--clustering-thresh-merge",
    "solver_alpha": "--clustering-solver-alpha",
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
    _require_no_other_way(options)
    target = MlClustering(options.ml_target, options.ml_drop_non_features, options.clustering_maxweight)
    return with_ids(target, columns)


def _require_no_other_way(options: argparse.Namespace) -> None:
    """Refuse a target beside another way to ask for clusters. Raises ParameterError."""
    others = ("no_clustering", "clusters", "clustering_maincolumn", "clustering_mainfeatures")
    for other in others:
        if getattr(options, other):
            name = other.replace("_", "-")
            raise ParameterError(f"Clusters must be asked for in one way: --ml-target or --{name}, not both.")
