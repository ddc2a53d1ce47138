"""Every constant of a draw, as its statement gives it: a measurement in, what was chosen and planned out.

Nominal constants are those of the claim: what is charged. Applied ones are those of the draw: the same, or
with more noise where delta followed from the noisy count (privacy.md, rule 16).
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from tasks.core.arrays import Json
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import Plan, applied_delta, for_noisy_count, plan_release, pure_mu, zcdp_rho
from tasks.core.dp.contribution import Bounds, profile_edges
from tasks.core.dp.measurement import Measurement
from tasks.core.errors import InternalError

#: How far constants that are worked out again may lie from those of the draw.
_SAME = 1e-9

#: Which numbers of the statement are not recomputed from others, by where they come from.
INPUTS_BY_LENGTHS: dict[str, list[str]] = {
    "chosen": [
        "columns[].bins[]",
        "columns[].domain_size",
        "columns[].max_items",
        "contract.least_records",
        "group_privacy[].rows",
        "guarantee.attack.false_alarm",
        "guarantee.sampling_exactness.at_most",
        "guarantee.sampling_exactness.distance",
        "levels[].length",
        "parameters.*",
        "sampling.expected_size",
    ],
    "drawn": [
        "columns[].noisy_total.survivors",
        "columns[].noisy_total.value",
        "levels[].candidates",
        "levels[].open.survivors",
        "levels[].sensitivity",
        "levels[].survivors",
        "noisy_count.value",
    ],
    "account": [
        "ledger.charges[].delta_threshold",
        "ledger.charges[].mu_squared",
        "ledger.charges[].releases",
        "ledger.delta_cap",
        "ledger.delta_threshold_cap",
        "ledger.epsilon_cap",
        "ledger.in_force.delta",
        "ledger.in_force.delta_threshold",
        "ledger.in_force.epsilon",
        "ledger.in_force.mu_squared",
    ],
}


@dataclass(frozen=True)
class Constants:
    """The plans of a draw.

    Attributes:
        nominal: of the claim.
        applied: what was drawn with.
        delta: what the applied plan was made of.
    """

    nominal: Plan
    applied: Plan
    delta: float

    @classmethod
    def of(cls, measurement: Measurement) -> "Constants":
        """Worked out again from what was chosen and from the noisy count.

        Raises:
            InternalError: the draw used others.
        """
        parameters, noisy = measurement.parameters, measurement.number_of_records
        declared = not any(column.is_open for column in measurement.schema.columns)
        nominal = plan_release(parameters, all_declared=declared, levels=len(measurement.levels))
        found = cls(nominal, for_noisy_count(nominal, parameters, noisy), applied_delta(parameters, noisy))
        if not all(math.isclose(*pair, rel_tol=_SAME) for pair in found._beside(measurement)):
            raise InternalError("A statement must describe the draw; its constants are not the draw's.")
        return found

    def _beside(self, measurement: Measurement) -> Iterator[tuple[float, float]]:
        """Each constant and what the measurement says of it."""
        yield self.nominal.mu_squared, measurement.mu_squared
        yield self.nominal.threshold_delta, measurement.threshold_delta
        for sigma, level in zip(self.applied.sigmas, measurement.levels, strict=True):
            yield sigma, level.sigma

    def charges(self) -> Iterator[float]:
        """mu^2 of everything that is drawn: they add up to the nominal charge, but for its rounding up."""
        nominal = self.nominal
        yield count_charge(nominal)
        for sigma in nominal.sigmas:
            yield 1 / sigma**2
        yield from [bound_charge(nominal)] * len(nominal.sigmas)


def count_charge(planned: Plan) -> float:
    """mu^2 of the noisy count."""
    return (
        pure_mu(planned.count_epsilon) ** 2 if planned.count_epsilon else 1 / (planned.count_sigma or 1) ** 2
    )


def bound_charge(planned: Plan) -> float:
    """mu^2 of one length's choice of Delta_k; 0 where the schema gives it."""
    if planned.percentile_epsilon is not None:
        return pure_mu(planned.percentile_epsilon) ** 2
    return 0.0 if planned.profile_sigma is None else 1 / planned.profile_sigma**2


def chosen(measurement: Measurement) -> Json:
    """Every parameter of the draw."""
    body = asdict(measurement.parameters)
    levels = len(measurement.levels)
    body["sigma_proportions"] = list(body["sigma_proportions"][:levels]) or [1.0] * levels
    limits = body.pop("thresholds")
    of_length = {str(k): measurement.parameters.thresholds.value(k) for k in range(2, levels + 1)}
    body["thresholds"] = {"kind": limits["kind"], "values": of_length}
    body["expected_size"] = body.pop("record_limit")
    del body["engine"]  # said under noise
    return body


def of_accountant(constants: Constants, measurement: Measurement) -> Json:
    """The accountant's own constants: budgets of what is not a length."""
    nominal, parameters = constants.nominal, measurement.parameters
    if parameters.accountant == "gdp":
        return {}
    assert nominal.count_epsilon is not None, "zcdp gives the count an epsilon"
    rest = parameters.epsilon - nominal.count_epsilon
    return {"epsilon_count": nominal.count_epsilon, "rho": zcdp_rho(rest, parameters.delta)}


def bound(constants: Constants, measurement: Measurement, length: int) -> Json:
    """How Delta_k of one length was set, and what that cost."""
    applied, nominal = constants.applied, constants.nominal
    facts = Bounds(measurement.schema.width, length, measurement.levels[length - 1].candidates)
    found: Json = {"most": facts.most, "mu_squared": bound_charge(nominal)}
    if nominal.percentile_epsilon is not None:
        found |= {"epsilon": applied.percentile_epsilon, "epsilon_charged": nominal.percentile_epsilon}
    if applied.profile_sigma is not None:
        scale = float(thresholds.scale(applied.profile_sigma, 1))
        found |= {"sigma": applied.profile_sigma, "sigma_charged": nominal.profile_sigma, "scale": scale}
        found["edges"] = profile_edges(facts).tolist()
    return found
