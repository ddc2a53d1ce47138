"""Every constant of a draw, as its statement gives it: a measurement in, what was chosen and planned out.

Nominal constants are those of the claim: what is charged. Applied ones are those of the draw: the same, or
with more noise where delta followed from the noisy count (privacy.md, rule 16).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import Plan, applied_delta, for_noisy_count, plan_release, pure_mu, zcdp_rho
from tasks.core.dp.contribution import Bounds, profile_edges, size_candidates
from tasks.core.dp.measurement import Measurement
from tasks.core.errors import InternalError

#: How far constants that are worked out again may lie from those of the draw.
_SAME = 1e-9


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
        found["choices"] = size_candidates(facts.most)
    if applied.profile_sigma is not None:
        scale = float(thresholds.scale(applied.profile_sigma, 1))
        found |= {"sigma": applied.profile_sigma, "sigma_charged": nominal.profile_sigma, "scale": scale}
        found["edges"] = profile_edges(facts).tolist()
    return found
