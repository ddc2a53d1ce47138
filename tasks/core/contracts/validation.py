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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.rules import ContractRule, RuleResult, result, rules_of
from tasks.core.errors import MarginaliaError
from tasks.core.queries import bound_in, filled_query, identifier, query_text
from tasks.core.records.cell_reading import AS_IT_STANDS
from tasks.core.records.cells import numbers_of_texts
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import column_positions
from tasks.core.records.value_texts import texts_or_lists
from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile
from tasks.core.tables.texts import is_list

#: A column with more different numbers than this is better binned.
MOST_UNBINNED_NUMBERS = 1000

_WHITESPACE = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
#: Trimming by a set of characters is ten times slower than seeing that there is nothing to trim.
_WHITE_EDGE = f"^[{_WHITESPACE}]|[{_WHITESPACE}]$"
_SUBJECT = "subject"


@dataclass(frozen=True)
class Profile:
    """What was counted.

    Attributes:
        numbers: for each rule the number that decides it; see `rules.ContractRule`.
        some_values: for each rule about allowed values as many values as can decide it, those that
            break it first; empty for other rules.
        unbinned: positions in the file, from 1, of open columns with thousands of different numbers.
    """

    numbers: tuple[float, ...]
    some_values: tuple[tuple[str, ...], ...]
    unbinned: tuple[int, ...]

    def counts(self, rules: list[ContractRule]) -> pa.Table:
        """Table (rule, column, number, least, most) for ``sensitive/``, one row a rule."""
        return pa.table(
            {
                "rule": pa.array([rule.sentence for rule in rules], pa.string()),
                "column": pa.array([rule.column for rule in rules], pa.string()),
                "number": pa.array(self.numbers, pa.float64()),
                "least": pa.array([rule.least for rule in rules], pa.float64()),
                "most": pa.array([rule.most for rule in rules], pa.float64()),
            }
        )

    def suggestions(self) -> list[str]:
        """What would serve the release, one sentence a column, by position; read off the data: sensitive."""
        return [
            f"Column {position} of the input holds more than {MOST_UNBINNED_NUMBERS} different numbers, each "
            "a value of its own, and rare values are not reported: public edges in bins would keep more."
            for position in self.unbinned
        ]


def profile(
    connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema, rules: list[ContractRule]
) -> Profile:
    """Read the table and count what the rules ask for.

    Raises:
        InputError: the file is not what its dialect says; the message carries no cell.
    """
    positions = load_raw(connection, source, schema)
    items_over = load_values(connection, schema, rules)
    numbers = tuple(
        items_over[index] if index in items_over else _number(connection, rule, schema)
        for index, rule in enumerate(rules)
    )
    some_values = tuple(_some_values(connection, rule) for rule in rules)
    unbinned = connection.execute(
        query_text("contracts/unbinned_numbers"), {"most": MOST_UNBINNED_NUMBERS}
    ).fetchall()
    open_columns = {index for index, column in enumerate(schema.columns) if column.is_open}
    found = tuple(positions[index] + 1 for (index,) in unbinned if index in open_columns)
    return Profile(numbers, some_values, found)


def _cell(index: int) -> str:
    return f"cell_{index}"


def load_raw(connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema) -> list[int]:
    """Make the table ``raw``: ``cell_<i>`` for each column, text or a list of texts, and ``subject``.

    Returns:
        The columns' positions in the file.
    """
    positions, subject = column_positions(source, schema)
    names = {_cell(index): position for index, position in enumerate(positions)}
    if subject is not None:
        names[_SUBJECT] = subject
    described = {_cell(index): column for index, column in enumerate(schema.columns)}
    query = "contracts/create_raw"
    for batch in read_batches(source, list(names.values())):
        arrays = {
            name: _texts(connection, batch.column(str(position)), described.get(name))
            for name, position in names.items()
        }
        _run_on(connection, query, pa.table(arrays))
        query = "contracts/append_raw"
    if query == "contracts/create_raw":
        _run_on(connection, query, pa.table({name: pa.array([], pa.string()) for name in names}))
    return positions


def _texts(connection: duckdb.DuckDBPyConnection, array: pa.Array, column: Column | None) -> pa.Array:
    """Cells as texts or lists of them, read as is declared of the column; None: that of the subject."""
    reading = AS_IT_STANDS if column is None else column.reading
    if reading != AS_IT_STANDS and column is not None:
        return _read_texts(connection, array, column)
    return _given_texts(connection, array, column)


def _given_texts(connection: duckdb.DuckDBPyConnection, array: pa.Array, column: Column | None) -> pa.Array:
    about = column or Column("")
    return texts_or_lists(connection, array, about.delimiter, about.value_format, about.number_format)


def _read_texts(connection: duckdb.DuckDBPyConnection, array: pa.Array, column: Column) -> pa.Array:
    """The same, distinct cells alone being read. What is no date stays, so that its type can be judged."""
    array = _given_texts(connection, array, column)
    if column.delimiter is not None and not is_list(array.type):
        array = pc.split_pattern(array, column.delimiter)
    cells = array.flatten() if is_list(array.type) else array
    distinct = cells.dictionary_encode()
    given = distinct.dictionary.to_pylist()
    read = column.reading.read(connection, given)
    kept = [text if bad else found for text, found, bad in zip(given, read.texts, read.unread, strict=True)]
    texts = pa.array(kept, pa.large_string()).take(distinct.indices)
    if not is_list(array.type):
        return texts
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(ends, texts.cast(pa.string()))


def _run_on(connection: duckdb.DuckDBPyConnection, query: str, batch: pa.Table) -> None:
    connection.register("batch", batch)
    try:
        connection.execute(query_text(query))
    finally:
        connection.unregister("batch")


def load_values(
    connection: duckdb.DuckDBPyConnection, schema: Schema, rules: list[ContractRule]
) -> dict[int, float]:
    """Make the table ``cell_values`` from ``raw``: column_id, value, number of cells (of subjects for items).

    Returns:
        For each rule on items, by its place, how many subjects hold too many.
    """
    connection.execute(query_text("contracts/create_value_of_cell"))
    connection.execute(query_text("contracts/create_cell_values"))
    kinds = dict(connection.execute(query_text("contracts/types_of_raw")).fetchall())
    over: dict[int, float] = {}
    for index, column in enumerate(schema.columns):
        values = {
            "column_id": index,
            "whitespace": _WHITESPACE,
            "white_edge": _WHITE_EDGE,
            "zero_is_value": column.keeps_zero,
            "delimiter": column.delimiter,
        }
        cell = identifier(_cell(index))
        if not column.is_multi_valued:
            _execute(connection, filled_query("contracts/values_of_cells", cell=cell), values)
            continue
        subject = identifier(_SUBJECT) if schema.subject_id is not None else "cast(rowid as varchar)"
        items = "raw_cell" if kinds[_cell(index)].endswith("[]") else "string_split(raw_cell, $delimiter)"
        query = filled_query("contracts/create_items", cell=cell, subject=subject, items=items)
        _execute(connection, query, values)
        _execute(connection, query_text("contracts/values_of_items"), values)
        for number, rule in enumerate(rules):
            if rule.kind == "items of a subject" and rule.column_id == index:
                query = query_text("contracts/subjects_over_items")
                over[number] = _execute(connection, query, {"most": int(rule.detail)})
    return over


_QUERIES = {
    "subject id present": "contracts/records_without_subject",
    "type": "contracts/cells_of_another_type",
    "allowed values": "contracts/cells_not_allowed",
    "distinct values": "contracts/number_of_values",
    "share of empties": "contracts/percent_empty",
    "identifiers": "contracts/cells_that_match",
}


def _number(connection: duckdb.DuckDBPyConnection, rule: ContractRule, schema: Schema) -> float:
    values = {
        "column_id": rule.column_id,
        "whitespace": _WHITESPACE,
        "allowed": list(rule.allowed),
        "patterns": list(rule.patterns),
        "logical_type": rule.logical_type,
        "value_format": rule.value_format or None,
        "number_pattern": rule.number_pattern,
    }
    if rule.kind == "range":
        return _numbers_outside(connection, rule)
    if rule.kind == "minimum rows":
        by_subject = schema.subject_id is not None
        query = "contracts/number_of_subjects" if by_subject else "contracts/number_of_rows"
    else:
        query = _QUERIES[rule.kind]
    return _execute(connection, _with_subject(query), values)


def _numbers_outside(connection: duckdb.DuckDBPyConnection, rule: ContractRule) -> float:
    query = query_text("contracts/values_with_numbers")
    found = connection.execute(query, {"column_id": rule.column_id}).fetchall()
    numbers = numbers_of_texts(connection, [text for text, _ in found], rule.number_format)
    outside = np.zeros(len(found), np.bool_)
    if rule.minimum is not None:
        outside |= numbers < rule.minimum
    if rule.maximum is not None:
        outside |= numbers > rule.maximum
    return float(np.array([held for _, held in found], np.int64)[outside].sum())


def _with_subject(query: str) -> str:
    return (
        filled_query(query, subject=identifier(_SUBJECT)) if "${" in query_text(query) else query_text(query)
    )


def _execute(connection: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object]) -> float:
    row = connection.execute(text, bound_in(text, values)).fetchone()
    return float(row[0]) if row is not None else 0.0


def _some_values(connection: duckdb.DuckDBPyConnection, rule: ContractRule) -> tuple[str, ...]:
    """Values that decide a rule: one more than are allowed always holds a value that is not."""
    if rule.kind != "allowed values":
        return ()
    values = {
        "column_id": rule.column_id,
        "allowed": list(rule.allowed),
        "most": len(rule.allowed) + 1,
    }
    rows = connection.execute(query_text("contracts/some_values"), values).fetchall()
    return tuple(value for (value,) in rows)


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
