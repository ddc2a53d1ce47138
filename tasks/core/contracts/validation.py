"""A raw table judged against its contract: for k-anonymity and for ``contract: strict``.

An input file, its public schema and its contract go in; a verdict for each rule comes out, and apart from
them what was counted, which is for ``sensitive/`` alone. Under differential privacy with contract mode
``repair`` nothing here runs: cells are repaired while they are encoded, and the rules are judged on
released numbers (`tasks.core.statement.contract_verdicts`).

This is the only place that knows Great Expectations. Two tiny frames are judged instead of the table: the
number that decides each rule, and values of columns with a list. Results are ``BOOLEAN_ONLY``: any other
format carries values or exact counts. Great Expectations takes seconds to import, so it is imported when a
contract is judged.
"""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.profile import Profile, profile
from tasks.core.contracts.rules import ContractRule, RuleResult, result, rules_of
from tasks.core.errors import MarginaliaError
from tasks.core.records.columns import Schema
from tasks.core.tables.header import InputFile


def judge(rules: list[ContractRule], profile: Profile) -> list[bool]:
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
                verdicts |= _verdicts(context, name, frame, expected)
    return [verdicts[index] for index in range(len(rules))]


def _expectation(index: int, rule: ContractRule) -> Any:
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


def _verdicts(context: Any, name: str, frame: pd.DataFrame, expected: list[Any]) -> dict[int, bool]:
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


@dataclass(frozen=True)
class Validation:
    """A judged table.

    Attributes:
        results: a verdict for each rule of the contract; no value and no number.
        counts: table (rule, column, number, least, most): sensitive.
        profile: what was counted: sensitive.
    """

    results: list[RuleResult]
    counts: pa.Table
    profile: Profile


def validate(
    connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema, contract: Contract
) -> Validation:
    """Judge a table.

    Args:
        connection: of `queries.connect`; holds the table while it is judged, spilling to its scratch.
        source: the raw table with its declared dialect.
        contract: the table's.
        schema: of `public_schema.build_schema` with the same contract.

    Raises:
        InputError: the file is not what its dialect says.
    """
    rules = rules_of(contract, schema)
    failure = ""
    try:
        found = profile(connection, source, schema, rules)
    except duckdb.Error as error:
        failure = type(error).__name__
    if failure:
        # Outside the handler: what DuckDB says of a failure may quote a cell.
        raise MarginaliaError(
            f"The contract must be judged on the whole table, and DuckDB could not do so ({failure}). Free "
            "memory and disk, and run again."
        )
    verdicts = judge(rules, found)
    results = [result(rule, passed) for rule, passed in zip(rules, verdicts, strict=True)]
    return Validation(results, found.counts(rules), found)
