"""A contract judged after the draw, on released numbers alone (privacy.md, rule 2).

A contract, a measurement and its aggregates go in; a verdict for each rule comes out. This is
post-processing: it reads nothing else, so verdicts may be published, and none of them stops a run.

The measurement is noisy, so a promised limit counts as broken only where the noise would explain the
released number less than about once in a thousand releases. Combinations below a threshold are not
released: for an open column the number of distinct values is therefore a lower bound of the table's, and
its share of empties holds suppressed values too; a verdict says whether *what is released* keeps to the
rule. Rules about single cells hold by construction, since the cells were repaired: they are judged all
the same, on the released values.
"""

import re
from collections.abc import Callable
from datetime import datetime, time
from math import sqrt

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.rules import Rule, RuleResult, result, rules_of
from tasks.core.dp.measurement import Measurement

#: One-sided quantile of the normal distribution at one in a thousand.
_STANDARD_ERRORS = 3.0902

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def judge_released(contract: Contract, measurement: Measurement, aggregates: Aggregates) -> list[RuleResult]:
    """Verdicts on the contract's rules, from what is released.

    Args:
        contract: the table's; only rules on columns of the measurement's schema are judged.
        measurement: whose noisy counts are judged.
        aggregates: the release's, made from this measurement: whose values are judged.
    """
    values: dict[int | None, list[str]] = {}
    for attribute in aggregates.attributes:
        text = attribute.value if attribute.item is None else attribute.item
        values.setdefault(attribute.column, []).append(text)
    rules = rules_of(contract, measurement.schema)
    return [result(rule, _holds(rule, values.get(rule.column_id, []), measurement)) for rule in rules]


def _holds(rule: Rule, values: list[str], measurement: Measurement) -> bool:
    if rule.kind == "subject id present":
        return True  # records without one were dropped before anything was counted
    if rule.kind == "minimum rows":
        margin = _STANDARD_ERRORS * _count_deviation(measurement)
        return measurement.number_of_records >= (rule.least or 0) - margin
    if rule.kind == "share of empties":
        return _few_empties(rule, measurement)
    assert rule.column_id is not None
    column = measurement.schema.columns[rule.column_id]
    judged: dict[str, Callable[[], bool]] = {
        "type": lambda: column.bins is not None or all(_parses(rule, value) for value in values),
        "allowed values": lambda: set(values) <= set(rule.allowed),
        "distinct values": lambda: len(values) <= (rule.most or 0),
        "items of a subject": lambda: column.max_items <= int(rule.detail),
        "identifiers": lambda: (
            not any(re.search(pattern, value) for pattern in rule.patterns for value in values)
        ),
    }
    return judged[rule.kind]()


def _count_deviation(measurement: Measurement) -> float:
    """Standard deviation of the noisy number of records: a Gaussian's, or a Laplace's of that scale."""
    is_laplace = measurement.parameters.accountant == "zcdp"
    return measurement.count_scale * (sqrt(2) if is_laplace else 1)


def _few_empties(rule: Rule, measurement: Measurement) -> bool:
    """Whether the released counts of one (single-valued) column leave few records without a value."""
    limit = (rule.most or 0) / 100
    level = measurement.levels[0]
    combinations = measurement.schema.combinations(1)
    chosen = np.equal(level.combinations, combinations.index((rule.column_id or 0,)))
    present = int(level.counts[chosen].sum())
    variance = int(chosen.sum()) * level.scale**2 + ((1 - limit) * _count_deviation(measurement)) ** 2
    least = (1 - limit) * measurement.number_of_records
    return present >= least - _STANDARD_ERRORS * sqrt(variance)


def _parses(rule: Rule, value: str) -> bool:
    """Whether a released value is of the declared type (as ``cells_of_another_type.sql`` reads it)."""
    value = value.replace("<colon>", ":").replace("<semicolon>", ";")
    if rule.logical_type == "integer":
        return re.fullmatch(r"[+-]?[0-9]+", value) is not None
    if rule.logical_type == "number":
        return _NUMBER.fullmatch(value) is not None
    if rule.logical_type == "boolean":
        return value.lower() in ("true", "false", "1", "0", "yes", "no")
    try:
        if rule.value_format:
            datetime.strptime(value, rule.value_format)
        elif rule.logical_type == "time":
            time.fromisoformat(value)
        else:
            datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
