"""The one crossing: coded records in, a differentially private measurement out.

The theorem is T2. Whether it draws is not decided here but by the ledger; what happens here is
the same for every table of the public schema, the empty one included: nothing read off the data stops it
(R2). Noise on a noisy record count first, then length by length: candidates from what the length
before released, exact counts, contributions bounded, one draw of noise a candidate, threshold.

    records ─┬─ how many ───────────────▶ + noise ────────────────────────▶ n
             ├─ values ─────────────────▶ + noise ─▶ threshold (open) ────▶ S_1
             ├─ pairs of S_1 ───────────▶ + noise ─▶ threshold ───────────▶ S_2
             └─ triples, pairs in S_2 ──▶ + noise ─▶ threshold ───────────▶ S_3, and so on
"""

import math
from collections.abc import Callable

from tasks.core.arrays import StageDone
from tasks.core.dp import accounting, thresholds
from tasks.core.dp.accounting import Plan
from tasks.core.dp.budget import AnyParameters
from tasks.core.dp.exact import LengthCounts
from tasks.core.dp.lengths import Draw, Lengths, count_first_length
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.tags import tag_bound
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.measurement import DrawnMeasurement
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import InternalError, ParameterError, ResourceLimit
from tasks.core.records.table import RecordTable

#: A cell's count shares 32 bits with its flag.
_MOST_RECORDS = 2**31 - 1


def draw_measurement(
    table: RecordTable,
    parameters: AnyParameters,
    stream: WordSource,
    *,
    before_first_word: Callable[[], None],
    progress: StageDone | None = None,
) -> DrawnMeasurement:
    """Draw by lengths, or by a workload; see `draw_lengths` and `draw_workload`."""
    if isinstance(parameters, WorkloadParameters):
        return draw_workload(
            table, parameters, stream, before_first_word=before_first_word, progress=progress
        )
    return draw_lengths(table, parameters, stream, before_first_word=before_first_word, progress=progress)


def draw_lengths(
    table: RecordTable,
    parameters: DpParameters,
    stream: WordSource,
    *,
    before_first_word: Callable[[], None],
    progress: StageDone | None = None,
) -> Measurement:
    """Draw a release.

    >>> import numpy as np
    >>> from tasks.core.dp.sampling.stream import SeededStream
    >>> from tasks.core.records.coded import CodedRecords
    >>> from tasks.core.records.columns import Column, Schema
    >>> from tasks.core.records.table import RecordTable
    >>> sex = (np.repeat(np.array([1, 2], np.uint8), [600, 400]),)
    >>> values = ("female", "male")
    >>> people = CodedRecords(Schema((Column("sex", domain=values),)), sex, (0,), (values,), 1000)
    >>> table, parameters = RecordTable.in_memory(people), DpParameters(1.0, 1e-6, 1)
    >>> drawn = draw_lengths(table, parameters, SeededStream(7), before_first_word=lambda: None)
    >>> drawn.number_of_records, drawn.levels[0].counts.tolist()
    (997, [595, 402])
    >>> drawn.private  # whoever knows the seed knows the noise
    False

    Args:
        table: of the public schema, tags included where ``parameters`` samples or drops; in one part or
            several, the same is drawn.
        before_first_word: called exactly once, immediately before the first word of noise is taken; what
            it raises stops the draw with nothing drawn.
        progress: told the step and the share of it that is done; for the operator alone.

    Raises:
        ParameterError: parameters or scales that can't be used, by public facts alone and before
            anything is drawn.
        InternalError: records that don't have the form that the schema says, or the charge exceeded.
    """
    report = progress or (lambda step, share: None)
    return draw(Draw(LengthCounts(table), parameters, stream, before_first_word, report))


def draw(asked: Draw) -> Measurement:
    """As `draw_lengths`, of a `Draw`."""
    records, parameters = asked.records, asked.parameters
    _check(records, parameters)
    schema = records.facts.schema
    levels = max(1, min(parameters.reporting_length, schema.width))
    plan = accounting.plan_release(parameters, all_declared=schema.all_declared, levels=levels)
    _check_plan(plan, parameters, schema.width)
    counted = count_first_length(asked, None) if parameters.record_limit is None else None
    asked.before_first_word()
    number_of_records, count_scale = _noisy_count(records.facts.number_of_records, plan, asked.stream)
    plan = accounting.for_noisy_count(plan, parameters, number_of_records)
    below = tag_bound(parameters.record_limit, number_of_records)
    drawn = Lengths(asked, plan)
    drawn.first(below, *(counted or count_first_length(asked, below)))
    for length in range(2, levels + 1):
        drawn.longer(length)
    return Measurement(
        schema=schema,
        parameters=parameters,
        private=asked.stream.private,
        mu_squared=plan.mu_squared,
        threshold_delta=plan.threshold_delta,
        number_of_records=number_of_records,
        count_scale=count_scale,
        values=drawn.values,
        levels=tuple(drawn.levels),
    )


def _check(records: LengthCounts, parameters: DpParameters) -> None:
    facts = records.facts
    if facts.slot_columns != facts.schema.slot_columns:
        raise InternalError("Coded records must have the slots of the public schema, every cap set.")
    if parameters.needs_tags and not facts.has_tags:
        raise InternalError("A record limit, profile and percentile need a tag for each record.")
    if facts.number_of_records > _MOST_RECORDS:
        raise ResourceLimit("A table can be measured with up to 2^31 - 1 records.")


def _check_plan(plan: Plan, parameters: DpParameters, width: int) -> None:
    """Refuse, while nothing is drawn, what would be refused in the middle of the draw.

    A scale is judged by the largest that it can become.
    """
    if not 0 <= parameters.percentile_percentage <= 100:
        raise ParameterError("The percentile's percentage must be from 0 to 100.")
    for length, sigma in enumerate(plan.sigmas, start=1):
        law = noise.RoundedGaussian(thresholds.scale(sigma, max(1, math.comb(width, length))))
        if length > 1:
            thresholds.level_threshold(parameters.thresholds, length, law.scale, 1, 1)


def _noisy_count(records: int, plan: Plan, stream: WordSource) -> tuple[int, float]:
    """The number of records as drawn, signed, and its noise's scale: nothing is clamped, nothing stops."""
    law: noise.RoundedLaplace | noise.RoundedGaussian
    if plan.count_epsilon is not None:
        law, scale = noise.RoundedLaplace(plan.count_epsilon), 1 / plan.count_epsilon
    elif plan.count_sigma is not None:
        law = noise.RoundedGaussian(thresholds.scale(plan.count_sigma, 1))
        scale = float(law.scale)
    else:
        raise InternalError("The accountant gave the noisy count no budget.")
    return records + int(law.draw(stream, 1)[0]), scale
