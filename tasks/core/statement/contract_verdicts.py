"""A contract judged after the draw, on released numbers alone (R2): post-processing, so it stops no run.

Where the contract is strict, the raw table was judged before the draw and a broken rule stopped the run. So
every rule has passed: that is said once (`passed_json`), and kept with what was drawn. Otherwise cells that
broke a rule were repaired while they were read: what repair makes true by construction is ``enforced``,
whatever the table held, and only the rest is judged. A limit on the number of distinct values, or a type
that repair does not see to, is judged on *what is released*, and undecided where no value of the column is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time
from math import sqrt
from typing import Literal

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.rules import ContractRule, rules_of
from tasks.core.dp.workload.measurement import DrawnMeasurement
from tasks.core.records.columns import Column, Schema
from tasks.core.sentences import sentences_of

#: ``enforced``: the rule holds because cells or records that broke it were repaired or dropped;
#: ``undecided``: what is released would look the same whether the table kept the rule or broke it.
Verdict = Literal["enforced", "passed", "failed", "undecided"]

_TEXT = sentences_of("all_protections")
#: One-sided quantile of the normal distribution at one in a thousand.
_STANDARD_ERRORS = 3.0902


@dataclass(frozen=True)
class NoisyNumbers:
    """Of a differentially private release, judged by its noisy counts as drawn.

    A promised limit counts as broken only where the noise, and the choice of a sample, would explain the
    released number less than about once in a thousand releases. Where only values were counted, those that
    were suppressed count as empty.
    """

    measurement: DrawnMeasurement

    @property
    def schema(self) -> Schema:
        return self.measurement.schema

    def enough_records(self, least: float) -> Verdict:
        margin = _STANDARD_ERRORS * self.measurement.count_deviation
        return "passed" if self.measurement.number_of_records >= least - margin else "failed"

    def few_empties(self, column: int, limit: float) -> Verdict:
        """Whether at most a share ``limit`` (0..1) of the records has no value in a single-valued column.

        By the noisy counts of the column's values; nobody counted one that another column decides.
        """
        if column >= len(self.schema.measured.columns):
            return "undecided"
        if column in self.measurement.never_empty:
            return "enforced"
        first, empties = self.measurement.length_one, self.measurement.empties_of(column)
        counts = self.measurement.counts_of(column)
        found, part, cells = (int(counts.sum()), 1 - limit, len(counts))
        if empties is not None:
            found, part, cells = -empties, -limit, 1
        least, variance = self._at_least(part)
        variance += cells * first.scale**2 if first is not None else 0.0
        return "passed" if found >= least - _STANDARD_ERRORS * sqrt(variance) else "failed"

    def _at_least(self, part: float) -> tuple[float, float]:
        share, number = float(self.measurement.sampled_share), self.measurement.number_of_records
        deviation = part * share * self.measurement.count_deviation
        by_chance = abs(part) * max(0, number) * share * (1 - share)
        return part * share * number, deviation**2 + by_chance


@dataclass(frozen=True)
class RoundedNumbers:
    """Of a k-anonymous release: a count c stands for c to c + k - 1, so what lies between is undecided."""

    schema: Schema
    aggregates: Aggregates
    resolution: int

    def enough_records(self, least: float) -> Verdict:
        count = self.aggregates.number_of_records
        if count >= least:
            return "passed"
        return "undecided" if count + self.resolution - 1 >= least else "failed"

    def few_empties(self, column: int, limit: float) -> Verdict:
        """Passed where the rounded counts are enough; values that are not reported may make up the rest."""
        present = 0
        if self.aggregates.counts:
            columns = np.array([attribute.column for attribute in self.aggregates.attributes])
            ids = self.aggregates.combinations[0][:, 0]
            present = int(self.aggregates.counts[0][columns[ids] == column].sum()) if len(ids) else 0
        most_records = self.aggregates.number_of_records + self.resolution - 1
        return "passed" if present >= (1 - limit) * most_records else "undecided"


ReleasedNumbers = NoisyNumbers | RoundedNumbers


def contract_json(contract: Contract, numbers: ReleasedNumbers, aggregates: Aggregates) -> Json:
    """The content of ``contract.json``, from what is released.

    Args:
        contract: the table's; only rules on columns of the release's schema are judged.
        aggregates: the release's: whose values are judged.
    """
    values: dict[int | None, list[str]] = {}
    for attribute in aggregates.attributes:
        text = attribute.value if attribute.item is None else attribute.item
        values.setdefault(attribute.column, []).append(text)
    rules = rules_of(contract, numbers.schema)
    verdicts = [(rule.sentence, _verdict(rule, values.get(rule.column_id, []), numbers)) for rule in rules]
    return _body(contract, verdicts, "repair")


def passed_json(contract: Contract, schema: Schema) -> Json:
    """The content of ``contract.json`` of a strict contract, all of whose rules a raw table has passed."""
    return _body(contract, [(rule.sentence, "passed") for rule in rules_of(contract, schema)], "strict")


def _body(contract: Contract, verdicts: list[tuple[str, Verdict]], mode: str) -> Json:
    return {
        "contract": contract.name,
        "version": contract.version,
        "sha256": contract.sha256,
        "mode": mode,
        "sentence": _TEXT.say(f"verdicts.{mode}"),
        "rules": [{"rule": rule, "verdict": verdict} for rule, verdict in verdicts],
    }


def _verdict(rule: ContractRule, values: list[str], numbers: ReleasedNumbers) -> Verdict:
    if rule.kind == "minimum rows":
        return numbers.enough_records(rule.least or 0)
    if rule.column_id is None or _is_enforced(rule, numbers.schema.columns[rule.column_id]):
        # Of the table there is one more rule: records without a subject id are dropped, or stop the run.
        return "enforced"
    if rule.kind == "share of empties":
        return numbers.few_empties(rule.column_id, (rule.most or 0) / 100)
    if not values:
        return "undecided"
    holds: dict[str, Callable[[], bool]] = {
        "type": lambda: all(_parses(rule, value) for value in values),
        "allowed values": lambda: set(values) <= set(rule.allowed),
        "distinct values": lambda: len(values) <= (rule.most or 0),
        "items of a subject": lambda: False,
        "identifiers": lambda: (
            not any(re.search(pattern, value) for pattern in rule.patterns for value in values)
        ),
    }
    return "passed" if holds[rule.kind]() else "failed"


def _is_enforced(rule: ContractRule, column: Column) -> bool:
    """Whether reading the table makes the rule true (see `tasks.core.records.cells`)."""
    if rule.kind == "type":
        return column.bins is not None
    if rule.kind == "range":
        return (column.minimum, column.maximum) == (rule.minimum, rule.maximum)
    if rule.kind == "allowed values":
        return column.domain is not None and set(column.domain) <= set(rule.allowed)
    if rule.kind == "items of a subject":
        return 0 < column.max_items <= int(rule.detail)
    return rule.kind == "identifiers" and set(rule.patterns) <= set(column.forbidden)


def _parses(rule: ContractRule, value: str) -> bool:
    """Whether a released value is of the declared type (as ``cells_of_another_type.sql`` reads it)."""
    value = value.replace("<colon>", ":").replace("<semicolon>", ";")
    if rule.number_pattern is not None:
        return re.fullmatch(rule.number_pattern, value) is not None
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
