"""What quality entries of a contract say of a column or the table, and which say nothing we enforce."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.contracts import odcs
from tasks.core.contracts.contract import Forbidden
from tasks.core.contracts.odcs import ElementPath, Problems, Property, Quality
from tasks.core.records.dropped import TEXT_KINDS

#: Syntax of Python's that RE2 doesn't have, or reads otherwise.
_NOT_RE2 = re.compile(r"\(\?(?!:)|[*+?}]\+")
_NOT_RE2_ESCAPES = re.compile(r"\\[1-9ZuUN]")


def pattern_problem(pattern: str) -> str:
    """Why a pattern can't be used, or nothing.

    >>> [bool(pattern_problem(pattern)) for pattern in ("^[A-Z]{2}[0-9]{6}$", "(?<=id )[0-9]+", "[")]
    [False, True, True]
    """
    try:
        re.compile(pattern)
    except re.error as error:
        return f"must be a regular expression: {error.msg}."
    if _NOT_RE2.search(re.sub(r"\\.", "", pattern)) or _NOT_RE2_ESCAPES.search(pattern):
        return "must not use look-around, back-references, inline flags or possessive repetition."
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid:
        return "must be a regular expression that RE2 takes."
    return ""


class ColumnRules:
    """The quality entries of one column, by what they say.

    Attributes:
        values: the allowed values as written, or None.
        max_distinct, max_empty_percent: the promised limits, or None.
        forbidden: what is searched for in the column.
    """

    def __init__(self, part: Property, place: ElementPath, problems: Problems) -> None:
        """Args: place: of the column; faults are noted in ``problems``."""
        self.values: tuple[str, ...] | None = None
        self.max_distinct: int | None = None
        self.max_empty_percent: float | None = None
        self.forbidden: list[Forbidden] = []
        for index, rule in enumerate(part.quality):
            problem = self._read(rule)
            if problem:
                problems.add((*place, "quality", index), problem)

    def _read(self, rule: Quality) -> str:
        if rule.metric == "invalidValues" and rule.implementation is None:
            if rule.arguments is None or rule.must_be != 0:
                return "invalidValues needs arguments.validValues and mustBe 0."
            if self.values is not None:
                return "validValues are given twice; keep one list."
            self.values = rule.arguments.valid_values
            return ""
        if rule.metric == "nullValues" and rule.implementation is None:
            if rule.unit != "percent" or rule.must_be_less_or_equal_to is None:
                return "nullValues needs unit percent and mustBeLessOrEqualTo, 0 to 100."
            self.max_empty_percent = rule.must_be_less_or_equal_to
            return ""
        own = rule.implementation
        if own is None or rule.engine is None or rule.type != "custom" or rule.metric is not None:
            return (
                "a column's rule must have the metric invalidValues or nullValues, or be of type custom "
                "with engine marginalia and an implementation."
            )
        if own.rule == "distinctValues":
            self.max_distinct = own.must_be_less_or_equal_to
            return "" if self.max_distinct else "distinctValues needs mustBeLessOrEqualTo, 1 or more."
        forbidden, problem = _forbidden(own)
        self.forbidden += forbidden
        return problem


def _forbidden(own: odcs.Implementation) -> tuple[list[Forbidden], str]:
    """The searches that a rule of ours stands for, and what is wrong with it."""
    if own.rule == "noPersonalIdentifiers":
        return [Forbidden(name=TEXT_KINDS[kind][0], patterns=TEXT_KINDS[kind][1]) for kind in own.kinds], ""
    if not own.pattern or not own.name:
        return [], "forbiddenPattern needs a name and a pattern."
    problem = pattern_problem(own.pattern)
    return ([] if problem else [Forbidden(name=own.name, patterns=(own.pattern,))]), problem


def table_rules(
    rules: tuple[Quality, ...], place: ElementPath, problems: Problems
) -> tuple[int | None, tuple[Forbidden, ...]]:
    """Least number of rows, and what is searched for in every column."""
    min_rows: int | None = None
    forbidden: list[Forbidden] = []
    for index, rule in enumerate(rules):
        problem = ""
        own = rule.implementation
        if rule.metric == "rowCount" and own is None:
            min_rows = rule.must_be_greater_or_equal_to
            problem = "" if min_rows is not None else "rowCount needs mustBeGreaterOrEqualTo."
        elif own is not None and rule.type == "custom" and rule.engine and own.rule != "distinctValues":
            found, problem = _forbidden(own)
            forbidden += found
        else:
            problem = "a table's rule must be rowCount, noPersonalIdentifiers or forbiddenPattern."
        if problem:
            problems.add((*place, index), problem)
    return min_rows, tuple(forbidden)
