"""All protections' plans: another one is a file beside these, and a line here."""

from tasks.configuration.model import RunConfiguration
from tasks.plan.protections.differential_privacy import DrawingPlan
from tasks.plan.protections.k_anonymity import RoundingPlan
from tasks.plan.protections.plan import ProtectionPlan
from tasks.plan.protections.syndiffix import TreesPlan

#: By the name of the regime.
PLANS: dict[str, ProtectionPlan] = {
    "differential_privacy": DrawingPlan(),
    "k_anonymity": RoundingPlan(),
    "syndiffix": TreesPlan(),
}


def plan_of(configuration: RunConfiguration) -> ProtectionPlan:
    """The configured protection's."""
    return PLANS[configuration.protection.regime]
