"""Which function of the core a configured mode of synthesis is, imported where it draws."""

from typing import TYPE_CHECKING

from tasks.configuration.synthesis import (
    AggregateSeeded,
    AnySynthesis,
    ByTrees,
    Fitted,
    RowSeeded,
    Unseeded,
    ValueSeeded,
)
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import ShareDone
from tasks.core.errors import InternalError
from tasks.public.bundles import CountsBundle

if TYPE_CHECKING:
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters
    from tasks.core.synthesis.records import SyntheticRecords
    from tasks.core.synthesis.rows import FrequentRows


def draw_from_rows(
    rows: "FrequentRows",
    reported: Aggregates,
    synthesis: AnySynthesis,
    seed: int,
    threads: int,
    progress: ShareDone,
) -> "SyntheticRecords":
    from tasks.core.synthesis import aggregate_seeded, row_seeded, unseeded, value_seeded

    if isinstance(synthesis, RowSeeded):
        return row_seeded.draw_row_seeded(rows, seed, threads=threads, progress=progress)
    if isinstance(synthesis, Unseeded):
        return unseeded.draw_unseeded(rows, seed, threads=threads, progress=progress)
    if isinstance(synthesis, ValueSeeded):
        ratio = synthesis.oversampling_ratio
        limit = None if ratio is None else value_seeded.Oversampling(ratio, synthesis.oversampling_tries)
        return value_seeded.draw_value_seeded(
            rows, seed, oversampling=limit, reported=reported, threads=threads, progress=progress
        )
    if isinstance(synthesis, ByTrees | Fitted):
        raise InternalError(f"{synthesis.mode} does not draw from rows of attributes.")
    return aggregate_seeded.draw_aggregate_seeded(
        reported, aggregate_parameters(synthesis), seed, threads=threads, progress=progress, held=rows
    )


def aggregate_parameters(synthesis: AggregateSeeded) -> "AggregateSeededParameters":
    from tasks.core.synthesis import aggregate_seeded

    return aggregate_seeded.AggregateSeededParameters(
        use_synthetic_counts=synthesis.use_synthetic_counts,
        weight_selection_percentile=synthesis.weight_selection_percentile,
        aggregate_counts_scale_factor=synthesis.counts_scale_factor,
        target_number_of_records=synthesis.target_number_of_records,
    )


def public_seed(bundle: CountsBundle, synthesis: AnySynthesis) -> int:
    """The seed of a mode that reads a release alone: the configured one, else the bundle's.

    A bundle's follows from its rounded counts and a secret, or from the noise that was drawn: a rebuild has
    it again.
    """
    if synthesis.random_seed is not None:
        return synthesis.random_seed.get_secret_value()
    return bundle.synthesis_seed()
