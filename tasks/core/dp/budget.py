"""Budget arithmetic: caps, charges and what was spent go in, yes or no and what is left come out.

Every number is a decimal that errs towards privacy: charges and sums are rounded up, caps and what is
left down, at sixty digits. Admission (R7): the sum of mu^2 stays at most B^2 and
1 - prod(1 - delta_t) at most D, two limits fixed in advance. Spending along the joint frontier of
(epsilon, delta) instead would give up to twice the delta that was promised.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache

from tasks.core.dp.accounting import float_up, gdp_epsilon, gdp_mu, plan_release
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.workload.parameters import WorkloadParameters, budget_of
from tasks.core.errors import InternalError, ParameterError
from tasks.core.records.columns import Schema

UP = Context(prec=60, rounding=ROUND_CEILING)
DOWN = Context(prec=60, rounding=ROUND_FLOOR)
_SHORT = Context(prec=17, rounding=ROUND_FLOOR)

#: `remaining_runs` counts no further than this.
MOST_RUNS = 10_000

#: D as a share of delta_cap where no release says otherwise: `DpParameters.threshold_delta_share`'s default.
DEFAULT_THRESHOLD_SHARE = 0.1

#: The noise is planned from mu (1 - 1e-9) (R9), the charge is the whole mu^2; the rest is rounding.
_LEAST_PLANNED, _MOST_PLANNED = 1 - Decimal("3e-9"), 1 + Decimal("1e-12")


def decimal_up(value: float) -> Decimal:
    """A decimal of at most 17 digits that is no less: the shortest that reads back as it, if it serves.

    >>> decimal_up(0.5), decimal_up(0.1)  # the float 0.1 is a little more than a tenth
    (Decimal('0.5'), Decimal('0.10000000000000001'))
    """
    shortest = Decimal(repr(float(value)))
    return (
        shortest
        if shortest >= Decimal(value)
        else Context(prec=17, rounding=ROUND_CEILING).plus(Decimal(value))
    )


@cache
def mu_squared(epsilon: Decimal, delta: Decimal, threshold_delta: Decimal) -> Decimal:
    """The square of gdp_mu(epsilon, (delta - delta_t) / (1 - delta_t)) at 17 digits, rounded down.

    Source: R7, D2. The square itself is exact.
    """
    rest = (Fraction(delta) - Fraction(threshold_delta)) / (1 - Fraction(threshold_delta))
    mu = _SHORT.plus(Decimal(gdp_mu(Fraction(epsilon), rest)))
    return DOWN.multiply(mu, mu)


@dataclass(frozen=True)
class Charge:
    """What one release costs, nominal (R9): as planned, never what the noise turned out to be.

    Attributes:
        mu_squared: as planned. ``gdp``: gdp_mu^2 of the claim; ``zcdp``: R8's sum.
        threshold_delta: delta_t, as planned; 0 where no threshold stands on it.
        epsilon, delta: the claim; under R16 delta is delta_max.
        engine: `DpParameters.engine`; only ``aes`` can be charged.
    """

    mu_squared: float
    threshold_delta: float
    epsilon: float
    delta: float
    accountant: str = "gdp"
    engine: str = "aes"

    @classmethod
    def planned(cls, parameters: DpParameters, mu_squared: float, threshold_delta: float) -> "Charge":
        return cls(
            mu_squared,
            threshold_delta,
            parameters.epsilon,
            parameters.delta,
            parameters.accountant,
            parameters.engine,
        )

    @property
    def threshold_delta_exact(self) -> Decimal:
        """delta_t as recorded."""
        return decimal_up(self.threshold_delta)

    @property
    def mu_squared_exact(self) -> Decimal:
        """mu^2 as recorded.

        Under ``gdp`` it is worked out from the claim exactly as a cap is, so that it is the whole
        nominal mu^2, and a cap of one release's own (epsilon, delta) admits that release to the last
        digit.

        Raises:
            InternalError: the plan's charge is not that of its claim.
        """
        planned = decimal_up(self.mu_squared)
        if self.accountant != "gdp":
            return planned
        nominal = mu_squared(decimal_up(self.epsilon), decimal_up(self.delta), self.threshold_delta_exact)
        if not _LEAST_PLANNED * nominal <= planned <= _MOST_PLANNED * nominal:
            raise InternalError("The planned charge of a release must be the mu^2 of its epsilon and delta.")
        return nominal


#: Of a draw by lengths (SDS's), or by a workload, for records that are fitted.
AnyParameters = DpParameters | WorkloadParameters


def nominal_charge(parameters: AnyParameters, schema: Schema) -> Charge:
    """What a release costs, fixed before the draw (R9)."""
    if isinstance(parameters, WorkloadParameters):
        mu_squared, threshold_delta = budget_of(parameters, all_declared=schema.all_declared)
        return Charge(float_up(mu_squared), threshold_delta, parameters.epsilon, parameters.delta)
    planned = plan_release(parameters, all_declared=schema.all_declared, levels=parameters.reporting_length)
    return Charge.planned(parameters, planned.mu_squared, planned.threshold_delta)


@dataclass(frozen=True)
class Caps:
    """What all releases of a dataset together may cost.

    Attributes:
        epsilon, delta: the guarantee.
        threshold_delta: D, the part of delta that thresholds may use.
        mu_squared: B^2.
    """

    epsilon: Decimal
    delta: Decimal
    threshold_delta: Decimal
    mu_squared: Decimal

    def __le__(self, other: "Caps") -> bool:
        return self.mu_squared <= other.mu_squared and self.threshold_delta <= other.threshold_delta

    def as_body(self) -> dict[str, object]:
        return {
            "epsilon_cap": str(self.epsilon),
            "delta_cap": str(self.delta),
            "threshold_delta_cap": str(self.threshold_delta),
            "mu2_cap": str(self.mu_squared),
        }

    @classmethod
    def of(cls, body: Mapping[str, object]) -> "Caps":
        names = ("epsilon_cap", "delta_cap", "threshold_delta_cap", "mu2_cap")
        return cls(*(Decimal(str(body[name])) for name in names))


def caps_of(epsilon_cap: float, delta_cap: float, threshold_delta_cap: float) -> Caps:
    """Caps with their B^2.

    Raises:
        ParameterError: epsilon_cap is not positive and finite, delta_cap not between 0 and 1, or D not
            between 0 and delta_cap.
    """
    problems = []
    if not (math.isfinite(epsilon_cap) and epsilon_cap > 0):
        problems.append(
            f"A dataset's epsilon cap must be positive and finite, not {epsilon_cap}: give one such as 1."
        )
    if not 0 < delta_cap < 1:
        problems.append(
            f"A dataset's delta cap must be between 0 and 1, not {delta_cap}: give one such as 1e-6."
        )
    elif not 0 <= threshold_delta_cap < delta_cap:
        problems.append(
            f"The part of a dataset's delta cap that thresholds may use must be at least 0 and below the "
            f"cap {delta_cap}; it is {threshold_delta_cap}."
        )
    if problems:
        raise ParameterError(problems)
    epsilon, delta, threshold_delta = (decimal_up(x) for x in (epsilon_cap, delta_cap, threshold_delta_cap))
    return Caps(epsilon, delta, threshold_delta, mu_squared(epsilon, delta, threshold_delta))


def default_threshold_delta_cap(delta_cap: float, charge: Charge | None = None) -> float:
    """D where nobody chose one: the share of delta_cap that the first release's thresholds take of its delta.

    Releases like the first then run out of mu^2 and of delta_t at about the same time: n releases at
    delta under delta_cap = n * delta always find their delta_t. Where every domain is declared it is 0,
    which leaves the most for the noise; a later release with an open column needs raised caps.
    """
    if charge is None:
        return DEFAULT_THRESHOLD_SHARE * delta_cap
    if delta_cap == charge.delta:
        return charge.threshold_delta
    return min(charge.threshold_delta / charge.delta * delta_cap, math.nextafter(delta_cap, 0))


@dataclass(frozen=True)
class Spent:
    """What a set of charges adds up to.

    Attributes:
        mu_squared: their sum, rounded up.
        clean: prod(1 - delta_t), rounded down.
    """

    mu_squared: Decimal = Decimal(0)
    clean: Decimal = Decimal(1)

    @property
    def threshold_delta(self) -> Decimal:
        """1 - prod(1 - delta_t), rounded up."""
        return UP.subtract(Decimal(1), self.clean)

    def plus(self, mu_squared: Decimal, threshold_delta: Decimal) -> "Spent":
        """With one more charge."""
        rest = DOWN.subtract(Decimal(1), threshold_delta)
        return Spent(UP.add(self.mu_squared, mu_squared), DOWN.multiply(self.clean, rest))

    def within(self, caps: Caps) -> bool:
        """R7."""
        return self.mu_squared <= caps.mu_squared and self.threshold_delta <= caps.threshold_delta

    def epsilon(self, delta: Decimal) -> float:
        """The epsilon of it all at this delta, rounded up; infinite where delta_t alone is more."""
        if self.mu_squared == 0 and self.threshold_delta <= delta:
            return 0.0
        rest = (Fraction(delta) - Fraction(self.threshold_delta)) / Fraction(self.clean)
        if rest <= 0:
            return math.inf
        return gdp_epsilon(Fraction(self.mu_squared.sqrt(UP).next_plus(UP)), rest)


def sum_of(charges: Iterable[tuple[Decimal, Decimal]]) -> Spent:
    """Charges (mu^2, delta_t) together.

    >>> two = sum_of([(Decimal("0.04"), Decimal("1e-7"))] * 2)
    >>> two.mu_squared, two.threshold_delta  # chances that nothing goes wrong are multiplied
    (Decimal('0.08'), Decimal('1.9999999E-7'))
    """
    spent = Spent()
    for charge in charges:
        spent = spent.plus(*charge)
    return spent


def caps_for(charge: Charge, releases: int) -> Caps:
    """Caps that so many releases of one charge use up: what they cost together by the accountant.

    delta is the sum of theirs, D what their thresholds take of it, epsilon what is then left to be. One
    release's caps are its own claim where that admits it (under ``zcdp`` its mu^2 is that of a larger one).

    Raises:
        ParameterError: their deltas add up to 1 or more.
    """
    spent = sum_of([(charge.mu_squared_exact, charge.threshold_delta_exact)] * releases)
    delta, threshold_delta = releases * charge.delta, float_up(spent.threshold_delta)
    if delta >= 1:
        raise ParameterError(
            f"{releases} releases with delta {charge.delta:g} each would have a delta of 1 or more together: "
            "plan fewer of them (privacy.releases), or give a smaller delta."
        )
    if releases == 1 and spent.within(own := caps_of(charge.epsilon, delta, threshold_delta)):
        return own
    # A hair more than they cost, as the caps' own mu^2 is rounded down.
    return caps_of(spent.epsilon(decimal_up(delta)) * (1 + 1e-9), delta, threshold_delta)


def runs_left(caps: Caps, spent: Spent, mu_squared: Decimal, threshold_delta: Decimal) -> int:
    """How many more such charges are admitted, at most `MOST_RUNS`.

    >>> caps = caps_of(epsilon_cap=1.0, delta_cap=1e-6, threshold_delta_cap=0.0)
    >>> runs_left(caps, Spent(), DOWN.divide(caps.mu_squared, Decimal(4)), Decimal(0))
    4
    """
    for runs in range(MOST_RUNS):
        spent = spent.plus(mu_squared, threshold_delta)
        if not spent.within(caps):
            return runs
    return MOST_RUNS
