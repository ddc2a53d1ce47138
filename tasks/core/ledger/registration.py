"""A dataset's caps: what the operator asks for goes in, caps that may stand in the chain come out.

R7 fixes two limits in advance, B^2 for the noise and D for the thresholds. Whoever could move budget
between them after seeing releases would spend along the joint frontier, up to twice the delta that was
promised; so all caps that a dataset ever has lie inside one another, and the widest are the guarantee.
"""

from dataclasses import dataclass

from tasks.core.dp.budget import Caps, caps_of
from tasks.core.errors import ParameterError
from tasks.core.ledger.account import Account


@dataclass(frozen=True)
class Registration:
    """A dataset's registration (R7).

    Attributes:
        dataset: its logical name; next month's refresh of the same people is the same dataset.
        epsilon_cap, delta_cap: what all its releases together may cost.
        threshold_delta_cap: D, the part of delta_cap that thresholds may use, see
            `budget.default_threshold_delta_cap`.
        population: whose data these are, in words; may be empty.
        unit: ``subject`` or ``row``.
        reason: why it has a budget of its own, where its tables resemble another dataset's; may be empty.
        subject_id: the column that tells subjects apart in the run that asks; its entry is one of its own.
    """

    dataset: str
    epsilon_cap: float
    delta_cap: float
    threshold_delta_cap: float
    population: str = ""
    unit: str = "subject"
    reason: str = ""
    subject_id: str = ""

    def as_body(self) -> dict[str, object]:
        """As an entry holds it.

        Raises:
            ParameterError: a cap is out of range, or the unit is unknown.
        """
        if self.unit not in ("subject", "row"):
            raise ParameterError(
                f"A dataset's unit must be subject or row, not '{self.unit}': give one of them."
            )
        body = {"population": self.population, "unit": self.unit} | self._caps().as_body()
        return body | ({"reason": self.reason.strip()} if self.reason.strip() else {})

    def account(self) -> Account:
        """The account that it would open."""
        caps = self._caps()
        return Account(self.dataset, self.unit, self.population, caps, caps, (), (), "")

    def _caps(self) -> Caps:
        return caps_of(self.epsilon_cap, self.delta_cap, self.threshold_delta_cap)


def lowered(
    account: Account, epsilon_cap: float, delta_cap: float, threshold_delta_cap: float | None
) -> Caps:
    """Caps inside those in force. D keeps its share of the delta cap unless it is given; B^2 never rises.

    Raises:
        ParameterError: a cap would rise.
    """
    now = account.caps
    share = min(float(now.threshold_delta), delta_cap * float(now.threshold_delta / now.delta))
    caps = caps_of(epsilon_cap, delta_cap, share if threshold_delta_cap is None else threshold_delta_cap)
    higher = (caps.epsilon > now.epsilon, caps.delta > now.delta, caps.threshold_delta > now.threshold_delta)
    if any(higher):
        raise ParameterError(
            f"Lowered caps of '{account.dataset}' must be at most {_words(now)}. To raise one, add --reason."
        )
    return Caps(caps.epsilon, caps.delta, caps.threshold_delta, min(caps.mu_squared, now.mu_squared))


def raised(account: Account, epsilon_cap: float, delta_cap: float, threshold_delta_cap: float | None) -> Caps:
    """Caps around those in force. D keeps its share of the delta cap unless it is given.

    Raises:
        ParameterError: a cap would fall, or one of B^2 and D would lie above the widest caps that were
            ever in force and the other below.
    """
    now, widest = account.caps, account.guarantee
    share = max(float(now.threshold_delta), delta_cap * float(now.threshold_delta / now.delta))
    caps = caps_of(epsilon_cap, delta_cap, share if threshold_delta_cap is None else threshold_delta_cap)
    lower = (caps.epsilon < now.epsilon, caps.delta < now.delta, caps.threshold_delta < now.threshold_delta)
    if any(lower):
        raise ParameterError(
            f"Raised caps of '{account.dataset}' must be at least {_words(now)}. To lower one, "
            "leave --reason out."
        )
    if not (caps <= widest or widest <= caps):
        raise ParameterError(
            f"Raised caps of '{account.dataset}' must not move budget between the noise and the thresholds: "
            f"the widest caps so far are {_words(widest)}. Raise epsilon, delta and the part for thresholds "
            "together."
        )
    return caps


def _words(caps: Caps) -> str:
    return (
        f"epsilon {float(caps.epsilon)!r}, delta {float(caps.delta)!r} ({float(caps.threshold_delta)!r} of "
        "it for thresholds)"
    )
