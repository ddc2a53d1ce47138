"""How large a claim may be.

A claim that promises nothing is refused; one that promises little is made, and everybody is told: whoever
checks it, whoever runs it, and whoever reads the release.
"""

from collections.abc import Sequence

from tasks.core.dp.sampling.normal import exact_number, float_above, precision
from tasks.core.figures import plain_up
from tasks.core.sentences import sentences_of

_TEXT = sentences_of("differential_privacy")

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


def cautions(epsilon: float, delta: float, unit: str = "subject", least: int | None = None) -> list[str]:
    """What whoever checks, runs or reads a release must be told of its claim: a sentence or two each.

    Args:
        unit: ``subject`` or ``row``.
        least: how many records the data contract promises; None: nobody promised any.
    """
    text, told, said = _TEXT.of(unit), [], f"{delta:g}"
    if epsilon > HIGH_EPSILON:
        told.append(text.say("attention.high_epsilon", epsilon=f"{epsilon:g}", limit=f"{HIGH_EPSILON:g}"))
    if delta > HIGH_DELTA:
        told.append(text.say("attention.high_delta", delta=said, limit=f"{HIGH_DELTA:g}"))
    if least is not None and delta * least > HIGH_SHARE:
        records, share, advised = f"{least:,}", f"{HIGH_SHARE:g}", f"{HIGH_SHARE / least:.2g}"
        told.append(
            text.say("attention.high_delta_of_all", delta=said, records=records, share=share, advised=advised)
        )
    if unit == "row":
        told.append(text.say("attention.rows_protected"))
    return told


def cap_cautions(epsilon_cap: float, delta_cap: float) -> list[str]:
    """What must be told of the guarantee of all releases together, which is the cap."""
    if epsilon_cap <= HIGH_EPSILON and delta_cap <= MOST_DELTA:
        return []
    return [
        _TEXT.say(
            "attention.high_cap",
            epsilon=plain_up(epsilon_cap),
            delta=plain_up(delta_cap),
            epsilon_limit=f"{HIGH_EPSILON:g}",
            delta_limit=f"{MOST_DELTA:g}",
        )
    ]


def sampling_delta(epsilon: float, sensitivities: Sequence[int]) -> float:
    """What inexact sampling adds to delta, rounded up (R20).

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
