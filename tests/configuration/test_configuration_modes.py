"""Regimes and modes in a configuration file: which is meant, which keys it reads, and what is refused."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tasks.configuration.flat_file import from_flat, read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.configuration.protections import PRIVATE_KEYS, DifferentialPrivacy, KAnonymity
from tasks.configuration.synthesis import MODE_KEYS, AggregateSeeded, Fitted, RowSeeded, Unseeded, ValueSeeded
from tests.configuration.files import PLAIN, PRIVATE, problems

CONFIGURATIONS = Path(__file__).resolve().parents[2] / "deployments" / "configurations"
TEMPLATES = sorted((CONFIGURATIONS / "templates").glob("*.json"))

#: A value for every key that differential privacy alone reads.
NOISE = {
    "noise_epsilon": 4.0,
    "delta": 1e-6,
    "delta_factor": 2.0,
    "number_of_records_epsilon_proportion": 0.005,
    "sigma_proportions": [1.0, 0.5, 0.33],
    "percentile_percentage": 99,
    "percentile_epsilon_proportion": 0.01,
    "noise_threshold_type": "adaptive",
    "noise_threshold_values": {"2": 0.1},
}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_each_template_of_sds_is_read_and_has_its_mode(path):
    configuration = read_configuration(path)
    assert configuration.protection.is_drawn_once == (path.stem == "fitted" or path.stem.endswith("_dp"))
    assert configuration.synthesis.mode == path.stem.removesuffix("_dp")
    assert (configuration.reporting_length, configuration.reporting_resolution) == (4, 10)
    assert (configuration.prefix, configuration.input.record_limit) == ("example", None)
    assert configuration.unused_keys == ("cache_max_size",)


def test_there_is_a_template_of_every_mode():
    assert [path.stem for path in TEMPLATES] == sorted([*MODE_KEYS, "aggregate_seeded_dp"])


def test_the_regime_is_k_anonymity_unless_privacy_is_asked_for():
    assert isinstance(from_flat(PLAIN).protection, KAnonymity)
    assert isinstance(from_flat(PLAIN | {"dp_aggregates": False}).protection, KAnonymity)
    assert isinstance(from_flat(PLAIN | {"privacy": {"epsilon": 1}}).protection, DifferentialPrivacy)
    assert isinstance(from_flat(PRIVATE).protection, DifferentialPrivacy)


@pytest.mark.parametrize("key", sorted(PRIVATE_KEYS - {"privacy"}))
def test_a_noise_key_alone_does_not_say_which_protection_is_meant(key):
    text = problems(PLAIN | {key: NOISE[key]})
    assert f"dp_aggregates must say which protection is meant, as {key} belongs" in text
    assert "noise_epsilon (or" not in text


def test_keys_of_privacy_are_unused_where_it_is_switched_off():
    found = from_flat(PLAIN | NOISE | {"dp_aggregates": False, "privacy": {"delta": 1e-6}})
    assert isinstance(found.protection, KAnonymity)
    assert set(found.unused_keys) == {*NOISE, "privacy"}


def test_the_mode_is_row_seeded_as_in_sds_and_fitted_under_privacy():
    assert isinstance(from_flat(PLAIN).synthesis, RowSeeded)
    assert isinstance(from_flat(PRIVATE).synthesis, Fitted)
    assert isinstance(from_flat(PLAIN | {"synthesis_mode": "UnSeeded"}).synthesis, Unseeded)


def test_modes_have_their_own_keys():
    found = from_flat(
        PLAIN | {"synthesis_mode": "value_seeded", "oversampling_ratio": 0.1, "oversampling_tries": 10}
    )
    assert found.synthesis == ValueSeeded(oversampling_ratio=0.1, oversampling_tries=10)
    nothing = {"oversampling_ratio": None, "oversampling_tries": None}
    assert from_flat(PLAIN | {"synthesis_mode": "value_seeded"} | nothing).synthesis == ValueSeeded()
    mode = {"synthesis_mode": "aggregate_seeded", "aggregate_seeded_hold_resolution": True}
    held = from_flat(PLAIN | mode | {"use_synthetic_counts": True}).synthesis
    assert held == AggregateSeeded(hold_resolution=True, use_synthetic_counts=True)


@pytest.mark.parametrize("mode", MODE_KEYS)
def test_keys_of_another_mode_are_unused_whatever_they_hold(mode):
    keys = {key: "nonsense" for other in MODE_KEYS for key in MODE_KEYS[other] if other != mode}
    assert set(from_flat(PLAIN | {"synthesis_mode": mode} | keys).unused_keys) == set(keys)


@pytest.mark.parametrize(
    ("flat", "unused"),
    [
        (
            PRIVATE | {"oversampling_ratio": 0.1, "oversampling_tries": 3},
            ("oversampling_ratio", "oversampling_tries"),
        ),
        (PLAIN | {"synthesis_mode": "value_seeded", "oversampling_tries": 3}, ("oversampling_tries",)),
    ],
    ids=["under privacy", "tries without a ratio"],
)
def test_keys_that_nobody_reads_are_unused(flat, unused):
    assert from_flat(flat).unused_keys == unused


def test_an_unknown_mode_and_an_old_name_are_refused():
    assert "row_seeded" in problems(PLAIN | {"synthesis_mode": "seeded"})
    for value in ("rows", 3, ["row_seeded"]):
        assert "synthesis_mode must be one of row_seeded, unseeded," in problems(
            PLAIN | {"synthesis_mode": value}
        )


@pytest.mark.parametrize("mode", ["row_seeded", "value_seeded", "unseeded"])
def test_t15_modes_that_read_raw_records_are_refused_under_privacy(mode):
    text = problems(PRIVATE | {"synthesis_mode": mode})
    assert text.count("\n") == 0 and "reads the raw records" in text and "aggregate_seeded" in text


def test_t15_holding_the_resolution_is_refused_under_privacy():
    text = problems(PRIVATE | {"aggregate_seeded_hold_resolution": True})
    assert text.count("\n") == 0 and "aggregate_seeded_hold_resolution reads the raw records" in text
    not_held = PRIVATE | {"synthesis_mode": "aggregate_seeded", "aggregate_seeded_hold_resolution": False}
    assert from_flat(not_held).synthesis == AggregateSeeded()
    both = problems(PRIVATE | {"aggregate_seeded_hold_resolution": True, "reporting_length": -2})
    assert both.count("\n") == 1 and "reads the raw records" in both


@pytest.mark.parametrize(
    "synthesis", [{"mode": "row_seeded"}, {"mode": "aggregate_seeded", "hold_resolution": True}]
)
def test_t15_the_model_itself_refuses_raw_modes_under_privacy(synthesis):
    body = from_flat(PRIVATE).model_dump(mode="json") | {"synthesis": synthesis}
    with pytest.raises(ValidationError, match="reads the raw records"):
        RunConfiguration.model_validate(body)


def test_all_lengths_and_further_forms_can_be_asked_for():
    found = from_flat(
        PLAIN | {"reporting_length": -1, "synthetic_forms": ["long", "condensed"], "random_seed": 7}
    )
    assert (found.reporting_length, found.output_forms) == (-1, ("long", "condensed"))
    assert found.synthesis.random_seed is not None
    assert found.synthesis.random_seed.get_secret_value() == 7
    assert "7" not in str(found.model_dump(mode="json")["synthesis"])


def test_a_contract_is_strict_under_k_anonymity_unless_it_is_said_otherwise():
    contract = {"contract": "people.yaml"}
    assert from_flat(PLAIN | contract).input.contract_mode == "strict"
    assert from_flat(PLAIN | contract | {"contract_mode": "repair"}).input.contract_mode == "repair"
    assert (
        from_flat(PLAIN | {"contract": {"path": "a.yaml", "mode": "repair"}}).input.contract_mode == "repair"
    )
    assert from_flat(PRIVATE | contract).input.contract_mode == "repair"
    assert from_flat(PRIVATE | contract | {"contract_mode": "strict"}).input.contract_mode == "strict"
    assert from_flat(PLAIN | {"contract_mode": "strict"}).unused_keys == ("contract_mode",)
    both = {"contract": {"path": "a.yaml", "mode": "repair"}, "contract_mode": "strict"}
    assert "differ" in problems(PLAIN | both)
    assert "contract must be a path" in problems(PLAIN | {"contract": {"file": "a.yaml"}})
