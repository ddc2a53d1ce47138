"""Aggregate-seeded synthesis: (reportable) aggregates in, synthetic records out (sds.md 4.4).

Attributes join a record one by one, drawn by the reported count of what they make with it; no record
holds a combination up to the reporting length that the aggregates don't have. On request the raw records
are asked, too, so that none holds a longer one that fewer of them do than the resolution.
"""

import math
import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import ShareDone
from tasks.core.errors import ParameterError
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.block_kernels import BlockIndex as RowsIndex
from tasks.core.synthesis.holding import held_to, index_of
from tasks.core.synthesis.index import CombinationIndex, build_index
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows
from tasks.core.synthesis.shards import DrawnRecords, Shard

#: Shards where the configuration leaves the number of threads to the machine (``parallel_jobs`` 0): a
#: constant, so that the records don't depend on how many cores there are.
SHARDS_FOR_ALL_CORES = 8
#: The largest sum that weights may reach.
LARGEST_TOTAL = 2**63 - 1
_SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True)
class AggregateSeededParameters:
    """Parameters of the synthesis, all public.

    Attributes:
        weight_selection_percentile: whole percentage 0..100: of the counts of the combinations that a
            candidate makes beyond the reporting length, the percentile that is its weight.
        use_synthetic_counts: whether what was already synthesised is taken off every count.
        aggregate_counts_scale_factor: every count becomes ceil(count * factor) first; > 0.
        target_number_of_records: exactly how many records; None: until no attribute is available.

    Raises:
        ParameterError: a parameter is out of its range.
    """

    weight_selection_percentile: int = 95
    use_synthetic_counts: bool = False
    aggregate_counts_scale_factor: float | None = None
    target_number_of_records: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is out of range, all problems at once."""
        problems = []
        percentile = self.weight_selection_percentile
        if not _is_whole(percentile) or not 0 <= percentile <= 100:
            problems.append(
                f"weight_selection_percentile must be a whole number from 0 to 100, not {percentile}."
            )
        factor = self.aggregate_counts_scale_factor
        if factor is not None and not (math.isfinite(factor) and factor > 0):
            problems.append(f"aggregate_counts_scale_factor must be a finite number above 0, not {factor}.")
        target = self.target_number_of_records
        if target is not None and not (_is_whole(target) and target >= 0):
            problems.append(f"target_number_of_records must be a whole number of at least 0, not {target}.")
        if problems:
            raise ParameterError(problems)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def number_of_shards(parameters: AggregateSeededParameters, threads: int) -> int:
    """How many shards ``parallel_jobs`` means: a matter of the configuration alone.

    Synthetic counts are shared by all records, so a synthesis that uses them is one shard.
    """
    if parameters.use_synthetic_counts:
        return 1
    return threads or SHARDS_FOR_ALL_CORES


def synthesize(
    aggregates: Aggregates,
    parameters: AggregateSeededParameters,
    seed: int,
    *,
    threads: int = 1,
    progress: ShareDone | None = None,
    held: FrequentRows | None = None,
) -> SyntheticRecords:
    """Draw synthetic records by sds.md 4.4, in the published order (sds.md 4.0).

    The same arguments give the same records on any machine. With one shard the law is the sequential
    one exactly; with more each shard has its part of what is available.

    Args:
        aggregates: what may appear, and how often. Combinations without one of their parts are ignored.
        parameters: see `AggregateSeededParameters`.
        seed: any integer; names the random stream.
        threads: SDS's ``parallel_jobs``: 1 is one shard, t is t shards, 0 is 8 shards on all cores.
        progress: told the share that is done, 0 to 1, a few times a second; the last time 1.
        held: the raw records, which at least ``held.resolution`` times must hold all that a synthetic record
            holds; None: only what the aggregates tell is kept.

    Raises:
        ParameterError: threads below 0, or counts too large to be summed in 63 bits.
    """
    if threads < 0:
        raise ParameterError(f"parallel_jobs must be at least 0, not {threads}.")
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    _check_totals(index, aggregates)
    shards = _shards(
        index, parameters, seed, number_of_shards(parameters, threads), index_of(held, aggregates)
    )
    report = progress or (lambda share: None)
    if len(shards) == 1:
        _run_alone(shards[0], report)
    else:
        _run_together(shards, threads or os.cpu_count() or 1, report)
    report(1.0)
    parts = [shard.records() for shard in shards]
    drawn = DrawnRecords(
        np.concatenate([part.sizes for part in parts]), np.concatenate([part.attribute_ids for part in parts])
    )
    return ordered(aggregates.headers, aggregates.attributes, drawn.sizes, drawn.attribute_ids)


def _check_totals(index: CombinationIndex, aggregates: Aggregates) -> None:
    """Refuse counts whose weights could add up to more than a signed 64-bit integer holds."""
    largest = index.counts[: len(aggregates.attributes)].copy()
    start = len(largest)
    for ids in aggregates.combinations[1:]:
        counts = index.counts[start : start + len(ids)]
        for place in range(ids.shape[1]):
            np.maximum.at(largest, ids[:, place], counts)
        start += len(ids)
    if sum(int(count) for count in largest) > LARGEST_TOTAL:
        raise ParameterError(
            "The counts of all attributes add up to more than 2^63: choose a smaller scale factor."
        )


def _shards(
    index: CombinationIndex,
    parameters: AggregateSeededParameters,
    seed: int,
    number: int,
    held: tuple[RowsIndex, int],
) -> list[Shard]:
    """Shards with equal parts of availability and target; the first ones take what is left over.

    All attributes leave over to the same shards, so that rare ones that belong together stay together.
    """
    available = index.counts[: len(index.header_of)]
    target = parameters.target_number_of_records
    # A shard beyond the largest count would have nothing to draw from.
    number = max(1, min(number, int(available.max(initial=0))))
    return [
        Shard(
            index=index,
            percentage=parameters.weight_selection_percentile,
            synthetic_counts=parameters.use_synthetic_counts,
            available=_part(available, shard, number),
            seed=seed,
            number=shard,
            held=held_to(*held),
            target=None if target is None else int(_part(np.array([target]), shard, number)[0]),
        )
        for shard in range(number)
    ]


def _part(amounts: npt.NDArray[np.int64], shard: int, number: int) -> npt.NDArray[np.int64]:
    """A shard's part of amounts that are dealt out evenly from shard 0 on."""
    part: npt.NDArray[np.int64] = amounts // number + (shard < amounts % number)
    return part


def _run_alone(shard: Shard, report: ShareDone) -> None:
    while shard.advance():
        report(shard.done)


def _run_together(shards: list[Shard], workers: int, report: ShareDone) -> None:
    """Run shards on threads; the kernels let go of the interpreter. An interrupt ends the run soon."""
    stopped = False

    def run(shard: Shard) -> None:
        while not stopped and shard.advance():
            pass

    with ThreadPoolExecutor(min(workers, len(shards))) as pool:
        running: set[Future[None]] = {pool.submit(run, shard) for shard in shards}
        try:
            while running:
                done, running = wait(running, timeout=_SECONDS_BETWEEN_REPORTS)
                for finished in done:
                    finished.result()
                report(sum(shard.done for shard in shards) / len(shards))
        finally:
            stopped = True
