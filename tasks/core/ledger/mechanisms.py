"""The two ways to draw a release: by lengths (SDS's), or by a workload, for records that are fitted.

Parameters of either go in; its charge, or what it drew, comes out. Nobody else needs to know which it is.
"""

from collections.abc import Callable

from tasks.core.arrays import StageDone
from tasks.core.dp import release
from tasks.core.dp.accounting import fraction_above, plan_release
from tasks.core.dp.budget import Charge
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.workload.draw import draw_workload
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.parameters import WorkloadParameters, budget_of
from tasks.core.records.columns import Schema
from tasks.core.records.table import RecordTable

AnyParameters = DpParameters | WorkloadParameters


def nominal_charge(parameters: AnyParameters, schema: Schema) -> Charge:
    """What a release costs, fixed before the draw (R9)."""
    if isinstance(parameters, WorkloadParameters):
        mu_squared, threshold_delta = budget_of(parameters, all_declared=schema.all_declared)
        return Charge(fraction_above(mu_squared), threshold_delta, parameters.epsilon, parameters.delta)
    planned = plan_release(parameters, all_declared=schema.all_declared, levels=parameters.reporting_length)
    return Charge.planned(parameters, planned.mu_squared, planned.threshold_delta)


def draw_measurement(
    table: RecordTable,
    parameters: AnyParameters,
    stream: WordSource,
    *,
    before_first_word: Callable[[], None],
    progress: StageDone | None = None,
) -> Measurement | WorkloadMeasurement:
    """Draw; see `release.draw_lengths` and `draw_workload`, which take the same arguments.

    The table is one part or several: what is drawn is the same.
    """
    if isinstance(parameters, WorkloadParameters):
        return draw_workload(
            table, parameters, stream, before_first_word=before_first_word, progress=progress
        )
    return release.draw_lengths(
        table, parameters, stream, before_first_word=before_first_word, progress=progress
    )
