"""`privacy.json` worked out again from itself alone, for a grid of all options (tests/oracles/statement.py).

Every number is recomputed or a declared input, and what is recomputed is what the draw used.
"""

import dataclasses
import itertools
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tasks.core.dp.accounting import plan_release
from tasks.core.dp.budget import Charge
from tasks.core.dp.contribution import Bounds
from tasks.core.dp.lengths import spurious_bounded
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.release import draw_lengths
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.dp.thresholds import expected_spurious
from tasks.core.ledger.account import Registration
from tasks.core.ledger.ledger import Ledger
from tasks.core.ledger.names import ReleaseName
from tasks.core.ledger.sqlite import SqliteStore
from tasks.core.records.table import RecordTable
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.sensitive.hand_over import account_facts
from tests.oracles.stated import (
    SCHEMAS,
    lowered_ledger,
    records_of,
    require_wrong_numbers_are_noticed,
    stated_after_charge,
)
from tests.oracles.statement import Statement, differences

MODES = (("gdp", "schema"), ("gdp", "profile"), ("zcdp", "schema"), ("zcdp", "percentile"))
THRESHOLDS = (
    ReleaseThresholds(),
    ReleaseThresholds("adaptive", {2: 0.3, 3: 1.0}, 0.7),
    ReleaseThresholds("fixed", {2: 4.5}, 0.0),
    ReleaseThresholds("spurious", {3: 1.0}, 0.01),
)
#: Other settings, taken by turns.
MORE: tuple[dict[str, Any], ...] = (
    {"reporting_length": 3},
    {"reporting_length": 2, "sigma_proportions": (1.0, 0.5), "count_share": 0.05},
    {"reporting_length": 1, "threshold_delta_share": 0.5},
    {"reporting_length": 3, "record_limit": 150, "percentile_percentage": 60, "percentile_share": 0.05},
    {"reporting_length": 3, "sigma_proportions": (1.0, 2.0, 0.3), "delta": 1e-4},
)


def grid() -> Iterator[Any]:
    """All of mode, schema, delta_factor and threshold; the other settings by turns."""
    every = itertools.product(MODES, SCHEMAS, (None, 1e4, 0.01), THRESHOLDS)
    for number, ((accountant, contribution), schema, factor, thresholds) in enumerate(every):
        settings = {"epsilon": (8.0, 3.0)[number % 2], "delta": 1e-5} | MORE[number % len(MORE)]
        settings |= {"accountant": accountant, "contribution": contribution, "delta_factor": factor}
        parameters = DpParameters(**settings, thresholds=thresholds)
        name = f"{accountant}-{contribution}-{schema}-{factor}-{thresholds.kind}-{number}"
        # One in five meets each two options; the rest is for the slow suite.
        marks = [pytest.mark.slow] if number % 5 else []
        yield pytest.param(schema, parameters, number % 3 > 0, id=name.replace(" ", "_"), marks=marks)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return lowered_ledger(tmp_path_factory.mktemp("ledger"))


def stated(
    ledger: Ledger, schema: str, parameters: DpParameters, subject: bool
) -> tuple[Measurement, dict[str, Any]]:
    """A draw, charged, and its statement as a reader gets it."""
    records = records_of(schema, subject)
    length = min(parameters.reporting_length, records.schema.width)
    declared = not any(column.is_open for column in records.schema.columns)
    parameters = dataclasses.replace(
        parameters,
        reporting_length=length,
        threshold_delta_share=0.0 if declared else parameters.threshold_delta_share,
    )
    planned = plan_release(parameters, all_declared=declared, levels=length)
    charge = Charge.planned(parameters, planned.mu_squared, planned.threshold_delta)
    drawn = draw_lengths(
        RecordTable.in_memory(records), parameters, SeededStream(3), before_first_word=lambda: None
    )
    drawn = dataclasses.replace(drawn, private=True)
    return drawn, stated_after_charge(ledger, charge, drawn, RunChoices(least_records=100))


@pytest.mark.parametrize(("schema", "parameters", "subject"), list(grid()))
def test_every_number_is_recomputed_or_a_declared_input_and_is_what_the_draw_used(
    schema, parameters, subject, ledger
):
    drawn, body = stated(ledger, schema, parameters, subject)
    found = Statement(body).everything()
    assert differences(body, found) == []
    assert body["parameters"]["epsilon"] == drawn.parameters.epsilon
    assert float(found["guarantee.mu_squared"]) == pytest.approx(drawn.mu_squared, rel=1e-9)
    assert float(found["guarantee.delta_threshold"]) == pytest.approx(drawn.threshold_delta, rel=1e-12)
    assert float(found["noisy_count.scale"]) == drawn.count_scale or drawn.parameters.accountant == "zcdp"
    for place, level in enumerate(drawn.levels):
        name = f"levels.{place}."
        assert float(found[name + "sigma"]) == pytest.approx(level.sigma, rel=1e-9)
        assert float(found[name + "scale"]) == level.scale
        assert found[name + "sensitivity"] == level.sensitivity
        assert found[name + "threshold"] == level.threshold
        assert found[name + "candidates"] == level.candidates
    charges = [body["noisy_count"]["mu_squared"]]
    charges += [level["mu_squared"] + level["sensitivity_bound"]["mu_squared"] for level in body["levels"]]
    assert sum(charges) == pytest.approx(body["guarantee"]["mu_squared"], rel=1e-9)


def test_each_number_that_is_wrong_is_noticed(ledger):
    """A thousandth more or less of any number that is not an input is a difference."""
    settings = {"epsilon": 8.0, "delta": 1e-5, "reporting_length": 2, "delta_factor": 1e4}
    for accountant, contribution in (("gdp", "profile"), ("zcdp", "percentile")):
        asked = DpParameters(**settings, accountant=accountant, contribution=contribution)  # type: ignore[arg-type]
        _, body = stated(ledger, "mixed, several items", asked, subject=False)
        require_wrong_numbers_are_noticed(body, Statement)


def test_a_threshold_that_is_raised_for_too_many_candidates_is_recomputed(ledger):
    asked = DpParameters(8.0, 1e-5, 2, thresholds=ReleaseThresholds("fixed", {}, 0.0))
    drawn, body = stated(ledger, "open", asked, subject=True)
    second, candidates = drawn.levels[1], 10**11
    scale = Fraction(second.scale)
    threshold = spurious_bounded(asked.thresholds, Bounds(3, 2, candidates), scale, 9)
    level = dataclasses.replace(
        second,
        candidates=candidates,
        threshold=threshold,
        expected_spurious=expected_spurious(scale, threshold, candidates),
    )
    facts = account_facts(
        ledger.account("people"), ReleaseName("people", body["vintage"], "0" * 64), 0, "this test"
    )
    changed = accounted_statement(dataclasses.replace(drawn, levels=(drawn.levels[0], level)), facts, "abc")
    changed = json.loads(json.dumps(changed))
    found = Statement(changed).everything()
    wrong = [entry for entry in differences(changed, found) if "ledger" not in entry[0]]
    assert threshold > 1 and wrong == []


def test_a_full_account_and_one_after_a_raise_are_recomputed(tmp_path):
    own = Ledger(SqliteStore(tmp_path / "ledger"))
    own.register(Registration("people", 8.2, 1.1e-5, 1.1e-6))
    asked = DpParameters(8.0, 1e-5, 2)
    _, body = stated(own, "open", asked, subject=True)
    assert body["ledger"]["remaining_releases"] == 0 and differences(body, Statement(body).everything()) == []
    own.raise_caps("people", 20.0, 3e-5, reason="a second month")
    _, body = stated(own, "open", dataclasses.replace(asked, epsilon=5.0), subject=True)
    assert body["ledger"]["releases"] == 2 and len(body["ledger"]["charges"]) == 2
    assert differences(body, Statement(body).everything()) == []
