"""How large a claim may be: epsilon, delta and the unit go in, refusals and cautions come out.

A claim that promises nothing is refused; one that promises little is made, and everybody is told: whoever
checks it, whoever runs it, and whoever reads the release. The limits also bound what inexact sampling adds
to delta (`sampling_delta`; privacy.md, rule 20).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.dp.sampling.normal import exact_number, float_above, precision
from tasks.core.figures import plain_up

#: Beyond these a release is refused, and below the last: the noise's own distance from its law would count.
MOST_EPSILON, MOST_DELTA, LEAST_DELTA = 100.0, 1e-3, 1e-20
#: Beyond these, people are warned; with n records also beyond 1 / (10 n).
HIGH_EPSILON, HIGH_DELTA, HIGH_SHARE = 20.0, 1e-5, 0.1

#: Every draw follows its law to 2^-280 in total variation: F is known to `exact_tables.GUARD_BITS` = 320 bits
#: beyond the 64 of a word that it is compared with, which leaves 2^100 for the errors of all integers that a
#: draw may give, the binomial's sums (less than 2^18 terms, each off by less than 2^18) included.
DISTANCE = 2.0**-280
#: Above `sampling_delta` of every release that can be drawn: epsilon is at most 100 and each scale at most
#: 2^17 records, so that the Delta_k add up to less than 2^51.
MOST_SAMPLING_DELTA = 1e-24

_BITS = 256


@dataclass(frozen=True)
class Claim:
    """What a release, or all of them together, is said to promise.

    Attributes:
        epsilon, delta: the guarantee.
        unit: ``subject`` or ``row``.
        least_records: how many records the data contract promises; None: nobody promised any.
    """

    epsilon: float
    delta: float
    unit: str = "subject"
    least_records: int | None = None


def refusals(epsilon: float, delta: float) -> list[str]:
    """Why no release may be made with this claim: a sentence each, none for a claim that is possible."""
    problems = []
    if epsilon > MOST_EPSILON:
        problems.append(
            f"epsilon must be at most {MOST_EPSILON:g}, not {epsilon:g}: beyond it nothing is protected. "
            "Give a number such as 1."
        )
    if not LEAST_DELTA <= delta <= MOST_DELTA:
        problems.append(
            f"delta must be from {LEAST_DELTA:g} to {MOST_DELTA:g}, not {delta:g}: a larger one lets one "
            "person in a thousand be published outright. Give a small constant such as 1e-6."
        )
    return problems


def cautions(claim: Claim) -> list[str]:
    """What whoever checks, runs or reads a release must be told of its claim: a sentence or two each."""
    told = []
    if claim.epsilon > HIGH_EPSILON:
        told.append(
            f"epsilon {claim.epsilon:g} is above {HIGH_EPSILON:g}: whoever knows the rest of the table can "
            f"tell with near certainty whether a {_whom(claim)} is in it. Lower epsilon, or promise nothing."
        )
    if claim.delta > HIGH_DELTA:
        told.append(
            f"delta {claim.delta:g} is above {HIGH_DELTA:g}: with that chance the guarantee fails for a "
            f"{_whom(claim)}, whose values may then be published as they are. Lower delta."
        )
    if claim.least_records is not None and claim.delta * claim.least_records > HIGH_SHARE:
        told.append(
            f"delta {claim.delta:g} is above 1 / (10 x {claim.least_records:,}), by the fewest records that "
            f"the data contract allows: on average each release may then disclose {HIGH_SHARE:g} of a "
            f"{_whom(claim)} or more. Lower delta to {HIGH_SHARE / claim.least_records:.2g}."
        )
    if claim.unit == "row":
        told.append(
            "no subject_id is given: a row is protected, not a person. How many rows one person may have "
            "decides what the guarantee is worth to them; give subject_id unless a row is a person."
        )
    return told


def cap_cautions(epsilon_cap: float, delta_cap: float) -> list[str]:
    """What must be told of the guarantee of all releases together, which is the cap."""
    if epsilon_cap <= HIGH_EPSILON and delta_cap <= MOST_DELTA:
        return []
    return [
        f"all releases together may cost epsilon {plain_up(epsilon_cap)} at delta {plain_up(delta_cap)}: "
        f"above epsilon {HIGH_EPSILON:g} or delta {MOST_DELTA:g} they protect next to nothing. Plan fewer, "
        "or cheaper ones."
    ]


def sampling_delta(epsilon: float, sensitivities: Sequence[int]) -> float:
    """What inexact sampling adds to delta, rounded up (rule 20).

    (1 + e^epsilon) (1 + sum_k (Delta_k + 2)) t: of two neighbouring tables the count differs, at each length
    Delta_k candidates, and what is drawn once: the number of those that pass unheld, and the bound of the
    contributions. All else is drawn alike for both, so its distance cancels.

    Args:
        epsilon: of the claim, at most `MOST_EPSILON`.
        sensitivities: Delta_k of each length that was measured.
    """
    draws = 1 + sum(sensitivity + 2 for sensitivity in sensitivities)
    with precision(_BITS) as mp:
        return float_above((1 + mp.exp(exact_number(epsilon))) * draws * exact_number(DISTANCE))


def _whom(claim: Claim) -> str:
    return "person" if claim.unit == "subject" else "row"
