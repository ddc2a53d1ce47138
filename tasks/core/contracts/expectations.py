"""A contract's rules as Great Expectations over a profile: the only place that knows it.

Rules and a `Profile` go in, verdicts come out. Two tiny frames are judged instead of the table: the
number that decides each rule, and values of columns with a list. Results are ``BOOLEAN_ONLY``: any other
format carries values or exact counts. Great Expectations takes seconds to import, so it is imported here,
when a contract is really judged.
"""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from tasks.core.contracts.profile import Profile
from tasks.core.contracts.rules import Rule


def judge(rules: list[Rule], profile: Profile) -> list[bool]:
    """Whether each rule holds, in the rules' order."""
    if not rules:
        return []
    with _quiet():
        import great_expectations as gx

        context: Any = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        listed = [rule.kind == "allowed values" for rule in rules]
        numbers = pd.DataFrame({"rule": range(len(rules)), "number": profile.numbers})
        values = pd.DataFrame(
            [(index, value) for index, found in enumerate(profile.some_values) for value in found],
            columns=["rule", "value"],
        )
        verdicts = dict.fromkeys(range(len(rules)), False)
        for name, frame, chosen in (("numbers", numbers, False), ("values", values, True)):
            expected = [_expectation(i, rule) for i, rule in enumerate(rules) if listed[i] is chosen]
            if expected:
                verdicts |= _validated(context, name, frame, expected)
    return [verdicts[index] for index in range(len(rules))]


def _expectation(index: int, rule: Rule) -> Any:
    """One rule compiled; its number travels in ``meta``."""
    from great_expectations import expectations

    gxe: Any = expectations

    about: dict[str, Any] = {
        "row_condition": f"rule == {index}",
        "condition_parser": "pandas",
        "meta": {"rule": index},
    }
    if rule.kind == "allowed values":
        return gxe.ExpectColumnValuesToBeInSet(column="value", value_set=list(rule.allowed), **about)
    return gxe.ExpectColumnValuesToBeBetween(
        column="number", min_value=rule.least, max_value=rule.most, **about
    )


def _validated(context: Any, name: str, frame: pd.DataFrame, expected: list[Any]) -> dict[int, bool]:
    import great_expectations as gx

    asset = context.data_sources.add_pandas(name).add_dataframe_asset(name)
    batch = asset.add_batch_definition_whole_dataframe(name).get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(name=name, expectations=expected)
    outcome = batch.validate(suite, result_format="BOOLEAN_ONLY")
    return {item.expectation_config.meta["rule"]: item.success is True for item in outcome.results}


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither Great Expectations nor what it imports writes anything, or calls anywhere."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logger = logging.getLogger("great_expectations")
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        logger.propagate = propagate
