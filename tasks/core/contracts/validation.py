"""A raw table judged against its contract: for k-anonymity and for ``contract: strict``.

An input file, its public schema and its contract go in; a verdict for each rule comes out, and apart from
them what was counted, which is for ``sensitive/`` alone. Under differential privacy with contract mode
``repair`` nothing here runs: cells are repaired while they are encoded, and the rules are judged after
the draw by `released`.
"""

from dataclasses import dataclass

import duckdb
import pyarrow as pa

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.expectations import judge
from tasks.core.contracts.profile import Profile, profile
from tasks.core.contracts.rules import RuleResult, result, rules_of
from tasks.core.errors import MarginaliaError
from tasks.core.records.columns import Schema
from tasks.core.records.reading import InputFile


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
            f"The table could not be judged against its contract: DuckDB ended with {failure}."
        )
    verdicts = judge(rules, found)
    results = [result(rule, passed) for rule, passed in zip(rules, verdicts, strict=True)]
    return Validation(results, found.counts(rules), found)
