"""The privacy statement, checked line by line as a statistician would: every figure from the claim alone."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.errors import InternalError
from tasks.core.records.columns import Column, Schema
from tasks.core.statement.differential_privacy.statement import (
    RunChoices,
    accounted_statement,
    survival_curve,
)
from tests.oracles.privacy_vectors import GAUSSIAN
from tests.oracles.releases import as_planned, ledger_facts, release

#: R9 takes a hair off mu, so figures agree with the exact solution to a little less than 1e-9.
CLOSE = 1e-8


def level(sigma, sensitivity, scale, threshold=None, length=2, candidates=None, survivors=0, spurious=None):
    return Level(
        sigma=sigma,
        sensitivity=sensitivity,
        scale=scale,
        threshold=threshold,
        candidates=candidates,
        expected_spurious=spurious,
        combinations=np.zeros(survivors, np.uint32),
        codes=np.ones((survivors, length), np.uint32),
        counts=np.full(survivors, 500, np.int64),
        survives=np.ones(survivors, np.bool_),
    )


def solved(vector) -> Measurement:
    """A measurement of one vector by scipy alone, with nothing of ours but the data classes."""
    epsilon, delta, share = float(vector.epsilon), float(vector.delta), float(vector.share)
    fractions = [float(f) for f in vector.fractions.split()]
    sensitivities = [int(s) for s in vector.sensitivities.split()]
    delta_t = share * delta
    delta_g = (delta - delta_t) / (1 - delta_t)

    def excess(mu):
        return (
            norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta_g
        )

    mu = brentq(excess, 1e-3, 10, xtol=1e-15) * (1 - 1e-9)
    sigmas = [1 / (mu * math.sqrt(f)) * (1 + 1e-12) for f in fractions]
    scales = [math.ceil(64 * s * math.sqrt(d)) / 64 for s, d in zip(sigmas, [1, *sensitivities], strict=True)]
    tau = None
    if share:
        z = norm.isf(-math.expm1(math.log1p(-delta_t) / sensitivities[0]))
        tau = math.ceil(1.5 + scales[1] * z + 1e-9)
    drawn = [(sigmas[k], sensitivities[k - 1], scales[k]) for k in range(1, len(scales))]
    return Measurement(
        schema=Schema(
            tuple(Column(f"c{i}", domain=None if share else ("x",)) for i in range(sensitivities[0]))
        ),
        parameters=DpParameters(
            epsilon,
            delta,
            len(drawn),
            threshold_delta_share=share,
            count_share=fractions[0],
            sigma_proportions=tuple(1 / math.sqrt(f) for f in fractions[1:]),
        ),
        private=True,
        mu_squared=mu * mu * (1 + 1e-11),
        threshold_delta=delta_t,
        number_of_records=50_000,
        count_scale=scales[0],
        values=tuple(() for _ in range(sensitivities[0])),
        levels=tuple(
            level(*facts, threshold=tau if k == 0 else None, length=k + 1) for k, facts in enumerate(drawn)
        ),
    )


@pytest.mark.parametrize("vector", GAUSSIAN, ids=[f"T{i}" for i in range(1, len(GAUSSIAN) + 1)])
def test_every_figure_of_the_published_vectors_stands_in_the_statement(vector):
    body = accounted_statement(solved(vector), ledger_facts(), "abc")
    claim = body["guarantee"]
    assert (claim["epsilon"], claim["delta"]) == (float(vector.epsilon), float(vector.delta))
    assert claim["delta_threshold"] == pytest.approx(float(vector.threshold_delta), rel=1e-12)
    assert claim["mu"] == pytest.approx(float(vector.mu), rel=CLOSE)
    sigmas = [float(s) for s in vector.sigmas.split()]
    deviations = [float(d) for d in vector.deviations.split()]
    assert body["noisy_count"]["scale"] == pytest.approx(sigmas[0], abs=1 / 64)
    for found, sigma, deviation, sensitivity in zip(
        body["levels"], sigmas[1:], deviations[1:], vector.sensitivities.split(), strict=True
    ):
        assert found["sigma"] == pytest.approx(sigma, rel=CLOSE)
        assert found["sensitivity"] == int(sensitivity)
        assert 0 <= found["scale"] - deviation <= 1 / 64 + 1e-6
    # The vectors' tau is of s before it is rounded up to 1/64, so ours may be one larger (R10).
    if vector.tau == "none":
        assert body["levels"][0]["threshold"] is None
    else:
        assert body["levels"][0]["threshold"] - int(vector.tau) in (0, 1)


@pytest.mark.parametrize("vector", GAUSSIAN, ids=[f"T{i}" for i in range(1, len(GAUSSIAN) + 1)])
def test_the_statements_own_figures_satisfy_its_own_formulas(vector):
    body = accounted_statement(solved(vector), ledger_facts(), "abc")
    claim = body["guarantee"]
    mu, epsilon = claim["mu"], claim["epsilon"]
    whole = claim["delta_threshold"] + (1 - claim["delta_threshold"]) * claim["delta_noise"]
    assert whole == pytest.approx(claim["delta"], rel=1e-12)
    noise = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert noise == pytest.approx(claim["delta_noise"], rel=1e-6)
    charged = sum(found["mu_squared"] for found in body["levels"]) + body["noisy_count"]["mu_squared"]
    assert charged == pytest.approx(claim["mu_squared"], rel=1e-3)
    carried = sum(found["sensitivity"] / found["scale"] ** 2 for found in body["levels"])
    assert carried + 1 / body["noisy_count"]["scale"] ** 2 <= claim["mu_squared"]


def test_rule_9_noise_that_does_not_cover_its_charge_is_refused():
    right = solved(GAUSSIAN[1])
    with pytest.raises(InternalError, match="cover"):
        accounted_statement(
            dataclasses.replace(right, mu_squared=right.mu_squared * 0.999), ledger_facts(), "abc"
        )


@pytest.mark.parametrize("scale", [0.5, 1.421875, 8.546875, 23.375, 400.0])
def test_error_bars_are_the_least_that_hold_95_of_100_draws(scale):
    body = accounted_statement(one_level(scale), ledger_facts(), "abc")
    bar = body["levels"][0]["error_bar"]
    half = bar["half_width_95"]

    def within(h):
        return norm.cdf((h + 0.5) / scale) - norm.cdf(-(h + 0.5) / scale)

    assert within(half) >= 0.95
    assert half == 0 or within(half - 1) < 0.95
    steps = np.arange(-int(12 * scale) - 5, int(12 * scale) + 6)
    law = norm.cdf((steps + 0.5) / scale) - norm.cdf((steps - 0.5) / scale)
    exact = math.sqrt(float(np.sum(law * steps**2)))
    assert exact * (1 - 1e-12) <= bar["sd"] <= max(exact * 1.25, exact + 0.1)


def one_level(scale, **parameters) -> Measurement:
    """A draw of one length, or more where they are given; its claim is wide enough for any scale."""
    levels = parameters.pop("levels", ()) or (level(scale, 1, scale, threshold=9, length=1),)
    return as_planned(
        Measurement(
            schema=Schema((Column("a"), Column("b"))),
            parameters=DpParameters(90.0, 1e-6, len(levels), **parameters),
            private=True,
            mu_squared=0.0,
            threshold_delta=0.0,
            number_of_records=10,
            count_scale=1.0,
            values=((), ()),
            levels=levels,
        )
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0, 200.0])
def test_the_zcdp_counts_error_bar_is_of_a_rounded_laplace(scale):
    zcdp = dataclasses.replace(one_level(5.0, accountant="zcdp"), count_scale=scale)
    found = accounted_statement(zcdp, ledger_facts(), "abc")["noisy_count"]
    steps = np.arange(1, int(60 * scale) + 60)
    law = np.exp(-(steps - 0.5) / scale) - np.exp(-(steps + 0.5) / scale)
    assert found["law"] == "rounded Laplace"
    assert found["sd"] == pytest.approx(math.sqrt(float(np.sum(law * steps**2))), rel=1e-9)
    outside = math.exp(-(found["half_width_95"] + 0.5) / scale)
    assert outside <= 0.05
    assert found["half_width_95"] == 0 or math.exp(-(found["half_width_95"] - 0.5) / scale) > 0.05


def test_rule_3_suppression_is_stated_only_where_a_release_may_know_it():
    measurement, _, _ = release(600)
    first, second = accounted_statement(measurement, ledger_facts(), "abc")["levels"][:2]
    assert first["candidates"] is None
    assert first["suppressed"]["value"] is None
    assert first["open"]["suppressed"] is None
    assert first["declared"]["domain_size"] == 6 + 4 + 4 + 3
    survivors = len(measurement.levels[1].counts)
    assert second["suppressed"]["value"] == measurement.levels[1].candidates - survivors


def test_rule_22_twelve_releases_of_fifty_thousand_disclose_six_hundredths_of_a_unique():
    base = dataclasses.replace(one_level(5.0), number_of_records=50_000, count_scale=1.0)
    facts = ledger_facts(threshold_delta_spent=1 - (1 - 1e-7) ** 12, releases=12)
    uniques = accounted_statement(base, facts, "abc")["disclosed_uniques"]
    assert uniques["assumed_subjects"] == 50_002
    assert uniques["all_releases"] == pytest.approx(0.06, rel=1e-3)
    assert uniques["per_release"] == pytest.approx(0.005, rel=1e-3)


def test_rule_2_a_strict_contract_is_named_with_its_sentence():
    strict = accounted_statement(one_level(5.0), ledger_facts(), "abc", RunChoices(strict_contract="ab" * 32))
    assert strict["contract"]["sentence"] == (
        "That this release exists shows the raw table satisfied its contract; this is not protected, and the "
        "guarantee holds between tables that both satisfy it."
    )
    assert strict["contract"]["sha256"] == "ab" * 32
    assert "the budget does not pay for them" in strict["contract"]["text"]
    assert not accounted_statement(one_level(5.0), ledger_facts(), "abc")["contract"]["strict"]


def test_declarations_that_were_drafted_from_the_table_are_not_covered():
    drafted = accounted_statement(one_level(5.0), ledger_facts(), "abc", RunChoices(drafted_from_table=True))
    assert drafted["drafted_from_table"] is True
    said = drafted["not_covered"][0]
    assert "drafted by looking at the table itself (drafted_from_table)" in said
    assert "It does not cover the declarations, which may tell of single people" in said
    assert "sets the key to false" in said
    plain = accounted_statement(one_level(5.0), ledger_facts(), "abc")
    assert "drafted_from_table" not in plain and said not in plain["not_covered"]
    assert {k: v for k, v in drafted.items() if k not in _OF_DRAFTS} == {
        k: v for k, v in plain.items() if k not in _OF_DRAFTS
    }


_OF_DRAFTS = ("drafted_from_table", "not_covered", "questions")


def test_all_that_is_declared_is_named_as_public_by_assumption():
    body = accounted_statement(one_level(5.0), ledger_facts(), "abc")
    (said,) = [each for each in body["not_covered"] if "is taken to be public" in each]
    for words in ("which are left out", "values, bins and caps", "encoding", "missing", "taken off"):
        assert words in said
    for words in ("marks of decimals and thousands", "formats of dates", "what cells are cut to"):
        assert words in said


@pytest.mark.parametrize(
    ("asked", "place", "words"),
    [
        ({"record_limit": 1000}, ("sampling", "rule"), "PRF(key, subject) < p 2^64"),
        ({"record_limit": 1000}, ("sampling", "expected_size"), "1000"),
        ({"delta_factor": 2.0}, ("guarantee", "delta_given", "delta_max"), "1e-06"),
        ({}, ("guarantee", "computational"), "computational"),
        ({}, ("levels", 0, "error_bar", "excluded"), "excludes truncation bias"),
        ({}, ("ledger", "scope"), "one ledger per user"),
        ({}, ("not_covered",), "charged to another ledger"),
        ({}, ("not_covered",), "other datasets"),
        ({}, ("public_side_channels",), "exit code 3"),
        ({}, ("unused_keys", 0, "key"), "percentile_percentage"),
        ({}, ("unused_keys", 0, "why"), "unused"),
    ],
)
def test_the_rules_of_a_release_are_stated_in_their_place(asked, place, words):
    """R3, R14, R16, R17, R22, and keys without effect."""
    choices = RunChoices(unused_keys=("percentile_percentage",))
    stated = accounted_statement(
        one_level(5.0, **asked), ledger_facts(scope="one ledger per user"), "abc", choices
    )
    for key in place:
        stated = stated[key]
    assert words in str(stated)


def test_rows_without_a_subject_id_get_the_guarantee_for_several_rows():
    assert accounted_statement(one_level(5.0), ledger_facts(), "abc")["group_privacy"] is None
    body = accounted_statement(one_level(5.0), ledger_facts(unit="row"), "abc")
    assert [entry["rows"] for entry in body["group_privacy"]] == [2, 3, 5, 10]
    assert "one parsed row" in body["guarantee"]["neighbours"]
    assert "several rows" in body["not_covered"][0]


def test_a_test_engines_draw_has_no_guarantee():
    fake = dataclasses.replace(one_level(5.0), private=False)
    assert accounted_statement(fake, ledger_facts(), "abc")["guarantee"] is None


@pytest.mark.parametrize("false_alarm", [0.05])
def test_no_test_beats_the_stated_attack(false_alarm):
    """A newcomer with one unseen value and W known ones, against the likelihood ratio at that level."""
    body = accounted_statement(solved(GAUSSIAN[1]), ledger_facts(), "abc")
    mu, delta_t = float(GAUSSIAN[1].mu), 1e-7
    exact = delta_t + (1 - delta_t) * norm.cdf(norm.ppf(false_alarm) + mu)
    stated = body["guarantee"]["attack"]["power"]
    assert exact <= stated <= exact * (1 + 1e-5)


@pytest.mark.parametrize("kind", ["fixed", "adaptive", "spurious"])
def test_the_rule_of_longer_thresholds_is_written_out(kind):
    levels = (
        level(5.0, 1, 5.0, threshold=9, length=1),
        level(5.0, 1, 5.0, threshold=4, candidates=10, spurious=1.0),
    )
    base = one_level(5.0, thresholds=ReleaseThresholds(kind, default=0.25), levels=levels)
    found = accounted_statement(base, ledger_facts(), "abc")["levels"][1]
    assert "0.25" in found["threshold_rule"]


@pytest.mark.parametrize(("scale", "threshold"), [(23.375, 133), (2.4375, 15)])
def test_the_survival_curve_is_the_tail_of_the_rounded_gaussian(scale, threshold):
    counts = [0, 1, threshold // 2, threshold, 2 * threshold]
    found = survival_curve(scale, threshold, counts)
    assert found == pytest.approx([norm.sf((threshold - 0.5 - c) / scale) for c in counts], rel=1e-9)
    assert survival_curve(scale, None, [0, 5]) == [1.0, 1.0]
