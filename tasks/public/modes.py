"""Which function of the core a configured mode of synthesis is, with which arguments and seed.

The modes are imported where one draws: a run that finds its records made does without.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from tasks.core.parts.shards import ShardPlace
from tasks.engine import current_engine
from tasks.public.bundles.bundle import CountsBundle
from tasks.step import Output

if TYPE_CHECKING:
    from tasks.core.synthesis.aggregate_seeded import AggregateSeededParameters
    from tasks.core.synthesis.fitted_to_counts import HeldConstraints
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


@dataclass(frozen=True)
class PublicFacts:
    """What a mode that reads reported counts alone knows beside them.

    Attributes:
        seed: public; None of a mode that reads raw records.
        held: the constraints that fitted records hold, if there are any.
    """

    seed: int | None
    resolution: int
    held: "HeldConstraints | None"


def write_from_counts(
    reported: Aggregates,
    synthesis: AnySynthesis,
    public: PublicFacts,
    threads: int,
    progress: ShareDone,
    folder: Path,
    place: ShardPlace,
) -> None:
    """Draw by a mode that reads reported counts alone, into an empty folder."""
    from tasks.core.synthesis import aggregate_seeded, fitted_to_counts

    seed = public.seed
    if isinstance(synthesis, AggregateSeeded) and seed is not None:
        parameters = aggregate_parameters(synthesis)
        aggregate_seeded.write_aggregate_seeded(
            reported, parameters, seed, folder, place, threads=threads, progress=progress
        )
    elif isinstance(synthesis, Fitted) and seed is not None:
        fitted_to_counts.write_fitted_to_counts(
            reported,
            fitted_to_counts.Missing.of_rounding(public.resolution),
            seed,
            folder,
            place,
            held=public.held,
            number=synthesis.target_number_of_records,
            threads=threads,
            progress=progress,
        )
    else:
        raise InternalError(f"{synthesis.mode} does not draw from reported counts.")


#: Records are made in shards where there are more than these, each of at most as many. The number follows
#: from no engine: a release that is built again from its measurement, on whatever machines, has the same
#: records.
_SHARD_RECORDS: Final = 1 << 21


def shard_place(into: Output) -> ShardPlace:
    """Where a step makes records; shards of them go at its end."""
    engine = current_engine()
    return ShardPlace(_SHARD_RECORDS, engine.public_store(into.run), into.key, engine.workers)


def aggregate_parameters(synthesis: AggregateSeeded) -> "AggregateSeededParameters":
    from tasks.core.synthesis import aggregate_seeded

    return aggregate_seeded.AggregateSeededParameters(
        use_synthetic_counts=synthesis.use_synthetic_counts,
        weight_selection_percentile=synthesis.weight_selection_percentile,
        aggregate_counts_scale_factor=synthesis.counts_scale_factor,
        target_number_of_records=synthesis.target_number_of_records,
    )


def public_seed(bundle: CountsBundle, synthesis: AnySynthesis) -> int | None:
    """The seed of a mode that reads a release alone: the configured one, else the bundle's; None of others.

    A bundle's follows from its rounded counts and a secret, or from the noise that was drawn: a rebuild has
    it again.
    """
    if synthesis.reads_records:
        return None
    if synthesis.random_seed is not None:
        return synthesis.random_seed.get_secret_value()
    return bundle.synthesis_seed()
