"""Whether the parameters of a release can be used, before anything is read or drawn.

In: `DpParameters` and public facts of the schema. Out: nothing, or one ParameterError with every problem.
"""

from math import isfinite

from tasks.core.dp.claim_limits import refusals
from tasks.core.dp.conversions import check_claim
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.thresholds import rule_problems
from tasks.core.errors import ParameterError


def check_parameters(parameters: DpParameters, *, all_declared: bool, levels: int) -> None:
    """Raise ParameterError with all that is wrong with a claim, its shares or its thresholds.

    Args:
        parameters: what was asked for.
        all_declared: whether every column's domain is declared.
        levels: R, the number of lengths that are measured.
    """
    problems = [
        *_claim_problems(parameters),
        *_proportion_problems(parameters, levels),
        *_share_problems(parameters, all_declared, levels),
        *rule_problems(parameters.thresholds, levels),
    ]
    if problems:
        raise ParameterError(problems)


def _claim_problems(parameters: DpParameters) -> list[str]:
    problems: list[str] = []
    try:
        check_claim(parameters.epsilon, parameters.delta)
    except ParameterError as error:
        problems += error.problems
    else:
        problems += refusals(parameters.epsilon, parameters.delta)
    factor = parameters.delta_factor
    # Far beyond any use; without an end, a delta computed from a noisy count could be out of range.
    if factor is not None and not 1e-20 <= factor <= 1e20:
        problems.append(f"delta_factor must be a positive number such as 1, not {factor}.")
    return problems


def _proportion_problems(parameters: DpParameters, levels: int) -> list[str]:
    problems: list[str] = []
    proportions = parameters.sigma_proportions
    if levels < 1:
        problems.append("The reporting length must be at least 1.")
    if proportions and len(proportions) < levels:
        problems.append(
            f"sigma_proportions must have one number for each of {levels} lengths, not {len(proportions)}."
        )
    if not all(isfinite(p) and 1e-6 <= p <= 1e6 for p in proportions):
        problems.append("Each of sigma_proportions must be a number from 1e-6 to 1e6.")
    return problems


def _share_problems(parameters: DpParameters, all_declared: bool, levels: int) -> list[str]:
    problems: list[str] = []
    gdp = parameters.accountant == "gdp"
    if not 0 < parameters.count_share < 1:
        problems.append(f"The noisy count's share must be between 0 and 1, not {parameters.count_share}.")
    if gdp and not all_declared and not 1e-12 <= parameters.threshold_delta_share < 1:
        problems.append(
            "An open column needs a threshold_delta_share from 1e-12 to below 1: give one, or declare "
            "every column's domain."
        )
    if parameters.contribution == "schema":
        return problems
    if parameters.contribution != ("profile" if gdp else "percentile"):
        problems.append("contribution: profile goes with the accountant gdp, percentile with zcdp.")
    share = parameters.percentile_share
    if not (share > 0 and (parameters.count_share + levels * share if gdp else share) < 1):
        problems.append(f"A percentile share of {share} leaves nothing for the counts: give less.")
    if not 0 <= parameters.percentile_percentage <= 100:
        problems.append(
            f"percentile_percentage must be from 0 to 100, not {parameters.percentile_percentage}."
        )
    return problems
