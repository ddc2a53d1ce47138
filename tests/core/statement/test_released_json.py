"""P5: the keys of released JSON."""

import inspect
import json

import pytest

from tasks.configuration import model as configuration
from tasks.configuration.model import OF_A_CLUSTER
from tasks.core.errors import InternalError
from tasks.core.statement.differential_privacy.statement import RunChoices
from tasks.core.statement.released_json import RELEASED_KEYS, check_released_json
from tests.oracles.releases import noisy_inputs


@pytest.mark.parametrize(
    "key",
    [
        "number_of_records", "true_count", "count_true", "max_sensitivity", "noise_seed", "seed", "raw_rows",
        "sensitive_count", "expansion_ratio", "rare_by_length", "leakage", "duration_s", "input_sha256",
        "noise_key", "truncation_key", "something_nobody_allowed",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [lambda key: {key: 1}, lambda key: {"levels": [{"scale": {key: 1}}]}])
def test_p5_a_forbidden_key_is_refused_at_any_depth(key, place):
    with pytest.raises(InternalError, match=key):
        check_released_json(place(key))


def test_p5_a_forbidden_name_stays_forbidden_though_a_caller_allows_it():
    with pytest.raises(InternalError, match="true_count"):
        check_released_json({"true_count": 3}, frozenset({"true_count"}))


def test_p5_the_error_holds_no_value():
    with pytest.raises(InternalError) as raised:
        check_released_json({"true_count": "Canary-7"})
    assert "Canary-7" not in str(raised.value)


def test_p5_the_statement_holds_only_statement_keys():
    choices = RunChoices("ab" * 32, ("percentile_percentage",), "ff")
    for unit in ("subject", "row"):
        body = noisy_inputs(choices=choices, unit=unit).statement
        check_released_json(json.loads(json.dumps(body)), RELEASED_KEYS["statement"])


def test_p5_every_setting_of_the_configuration_may_be_released_but_the_machines_paths():
    settings = {
        name
        for _, model in inspect.getmembers(configuration, inspect.isclass)
        if issubclass(model, configuration.Model)
        for name in model.model_fields
    }
    never = {"path", "contract", "unused_keys", *OF_A_CLUSTER} | configuration.NEVER_RELEASED
    assert settings - RELEASED_KEYS["configuration"] <= never


def test_p5_names_that_the_operator_gave_are_not_taken_for_keys():
    check_released_json({"input": {"bins": {"true_income": [0, 1]}, "domains": {"seed": ["oak"]}}})
