"""What ``marginalia check`` prints of a fitted release: what it measures, and what epsilons buy."""

import itertools
import math
from dataclasses import dataclass
from statistics import NormalDist

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import workload_parameters
from tasks.core.dp.workload.expected import ExpectedErrors, expected_errors, planned
from tasks.core.dp.workload.limits import chooses_pairs, number_of_named, pair_score_scale
from tasks.core.dp.workload.parameters import MOST_TABLES, WorkloadParameters
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
from tasks.plan.estimate import OPEN_VALUES

#: What is compared; the configured epsilon joins them.
_EPSILONS = (0.5, 1.0, 2.0, 4.0)
#: All sets of three columns are compared as long as they are not more than these.
_MOST_TRIPLES = 1_000


@dataclass(frozen=True)
class _Offer:
    """One row: what one epsilon and one workload would buy."""

    epsilon: float
    words: str
    errors: ExpectedErrors
    is_configured: bool


def print_fitted(configuration: RunConfiguration, schema: Schema, records: int) -> None:
    """Print it, from public facts alone."""
    parameters, schema = workload_parameters(configuration, schema), schema.measured
    parameters = planned(parameters, schema, max(1, records))
    tables = number_of_named(parameters, schema)
    sets = "1 set of columns" if tables == 1 else f"{tables:,} sets of columns"
    if chooses_pairs(parameters, schema):
        most = f"up to {parameters.most_pairs:,} of {tables:,}"
        sets = f"the pairs of columns that depend on each other most ({most})"
    chosen = (
        f", and the longer sets that the pairs explain least (up to {parameters.longer.most})"
        if parameters.longer.lengths
        else ""
    )
    print(f"\nThe run measures the number of records, every value of each column, {sets}{chosen}.")
    if chooses_pairs(parameters, schema):
        print(_few_pairs(parameters, schema, records))
    print("Below is the mean error of one count, in records and by the noise alone: of a value of one")
    print("column, of a cell of two columns, and of a cell of a measured set of three.\n")
    print("epsilon  workload                 1 column  2 columns  3 columns")
    for offer in _offers(configuration, schema, max(1, records)):
        figures = "  ".join(
            f"{'-' if error is None else format(error, '.1f'):>9}"
            for error in (offer.errors.one, offer.errors.two, offer.errors.three)
        )
        mark = "  <- as configured" if offer.is_configured else ""
        print(f"{offer.epsilon:>7g}  {offer.words:<22}{figures}{mark}")
    guess = f"{OPEN_VALUES} values in each open column, and " if _opened(schema) else ""
    print(f"(These figures assume {records:,} records, {guess}values that are equally frequent.")
    print("With few records most of the budget goes to single values, with many to larger sets. Synthetic")
    print("records are fitted to all that is measured; a set that is not measured follows from the others.)")


def _few_pairs(parameters: WorkloadParameters, schema: Schema, records: int) -> str:
    """That of many columns few pairs are measured, and what to do about it."""
    pairs, scale = schema.number_of_pairs, pair_score_scale(parameters, schema)
    least = math.ceil(scale * NormalDist().inv_cdf(1 - 1 / pairs))
    most = (math.isqrt(8 * parameters.most_pairs + 1) + 1) // 2
    target = "" if parameters.target is None else " The target takes no part in this choice."
    return (
        f"ATTENTION: of {pairs:,} pairs of columns at most {parameters.most_pairs:,} are measured, and "
        "likely few. A pair is measured only if its counts are farther from those of independent columns "
        f"than the noise of {pairs:,} scores: by about {least:,} of {records:,} records. What the columns of "
        "all other pairs have to do with each other is lost, even where one follows from the other."
        f"{target} What helps: up to {most} columns (use_columns), of which all pairs are measured; naming "
        "the sets of columns that matter in workload; a larger epsilon."
    )


def _offers(configuration: RunConfiguration, schema: Schema, records: int) -> list[_Offer]:
    protection, synthesis = configuration.privacy, configuration.fitted
    own = synthesis.workload
    names = [column.name for column in schema.columns]
    workloads: dict[str, str | tuple[tuple[str, ...], ...]] = {_words(own): own}
    if schema.number_of_pairs <= MOST_TABLES:  # more are refused
        workloads["pairs"] = "pairs"
    workloads["auto"] = "auto"
    if 0 < math.comb(len(names), 3) <= _MOST_TRIPLES:  # of a thousand columns they don't fit into memory
        workloads["all sets of three"] = tuple(itertools.combinations(names, 3))
    found = []
    for epsilon in sorted({*_EPSILONS, protection.epsilon}):
        for words, workload in workloads.items():
            asked = configuration.model_copy(
                update={
                    "protection": protection.model_copy(update={"epsilon": epsilon}),
                    "synthesis": synthesis.model_copy(update={"workload": workload}),
                }
            )
            is_configured = (epsilon, words) == (protection.epsilon, _words(own))
            try:
                errors = _errors(workload_parameters(asked, schema), schema, records)
            except ParameterError:
                continue
            found.append(_Offer(epsilon, words, errors, is_configured))
    return found


def _errors(parameters: WorkloadParameters, schema: Schema, records: int) -> ExpectedErrors:
    return expected_errors(parameters, schema, guessed_sizes(schema, OPEN_VALUES), records)


def guessed_sizes(schema: Schema, open_values: int) -> list[int]:
    """Cells of each column, `other` and `absent` among them, if open columns had so many values."""
    return [(open_values if c.domain is None else len(c.domain)) + 1 + c.is_open for c in schema.columns]


def _words(workload: object) -> str:
    return workload if isinstance(workload, str) else "the sets named"


def _opened(schema: Schema) -> bool:
    return any(column.is_open for column in schema.columns)
