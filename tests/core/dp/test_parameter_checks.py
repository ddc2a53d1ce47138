from dataclasses import replace

import pytest

from tasks.core.dp.accounting import plan_release
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.errors import ParameterError

GDP = DpParameters(1.0, 1e-6, 3)


def open_plan(parameters):
    return plan_release(parameters, all_declared=False, levels=parameters.reporting_length)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    "change",
    [
        *({"epsilon": bad} for bad in (0.0, -1.0, NAN, INFINITE, 1e9, 1e-12)),
        *({"delta": bad} for bad in (0.0, 1.0, -1e-6, NAN, INFINITE, 1e-300)),
        *({"count_share": bad} for bad in (0.0, 1.0, NAN)),
        *(
            {"sigma_proportions": bad}
            for bad in ((1, 1), (1, 0, 1), (1, NAN, 1), (1, 1, INFINITE), (1, 1, -1))
        ),
        *({"threshold_delta_share": bad} for bad in (0.0, 1.0, NAN)),
        *({"delta_factor": bad} for bad in (0.0, -1.0, NAN, INFINITE)),
        {"contribution": "percentile"},
        {"contribution": "profile", "percentile_share": 0.33},
        {"contribution": "profile", "percentile_share": 0.0},
        {"contribution": "profile", "percentile_percentage": 101},
        {"accountant": "zcdp", "contribution": "profile"},
        {"accountant": "zcdp", "contribution": "percentile", "percentile_share": 1.0},
        *({"thresholds": ReleaseThresholds("spurious", {3: bad})} for bad in (0.0, 1.1, NAN)),
        *({"thresholds": ReleaseThresholds("adaptive", {2: bad})} for bad in (0.0, 1.1, NAN)),
        *({"thresholds": ReleaseThresholds("fixed", {2: bad})} for bad in (-1.0, NAN, INFINITE)),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_refused(change):
    with pytest.raises(ParameterError):
        open_plan(replace(GDP, **change))


def test_every_problem_is_named_at_once():
    with pytest.raises(ParameterError) as caught:
        open_plan(replace(GDP, epsilon=NAN, delta=2.0, count_share=3.0, sigma_proportions=(1, 0)))
    assert len(caught.value.problems) == 5


def test_a_release_without_a_length_is_refused():
    with pytest.raises(ParameterError, match="at least 1"):
        plan_release(GDP, all_declared=False, levels=0)
