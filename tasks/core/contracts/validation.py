"""A raw table judged against its contract: for k-anonymity and for ``contract: strict``.

An input file, its public schema and its contract go in; a verdict for each rule comes out, and apart from
them what was counted, which is for ``sensitive/`` alone. Under differential privacy with contract mode
``repair`` nothing here runs: cells are repaired while they are encoded, and the rules are judged on
released numbers (`tasks.core.statement.contract_verdicts`).
"""

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.rules import ContractRule, Judgement, rules_of
from tasks.core.errors import MarginaliaError
from tasks.core.queries import bound_in, query_text
from tasks.core.records.cells import numbers_of_texts, present
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import column_positions
from tasks.core.records.joining import normalised_ids
from tasks.core.records.value_texts import text_of_values, texts_or_lists
from tasks.core.tables.batches import read_batches
from tasks.core.tables.header import InputFile
from tasks.core.tables.texts import is_list


def judge_table(
    connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema, contract: Contract
) -> Judgement:
    """Judge a table.

    Args:
        schema: of `public_schema.build_schema` with the same contract.

    Raises:
        InputError: the file is not what its dialect says; the message carries no cell.
    """
    failure, rules = "", rules_of(contract, schema)
    try:
        records = _load(connection, source, schema)
        found = connection.execute(query_text("contracts/number_of_cells")).fetchall()
        filled = {column: int(number) for column, number in found}
        numbers = tuple(_number(connection, rule, records, filled, schema) for rule in rules)
        return Judgement(tuple(rules), numbers, records=records, present=filled)
    except duckdb.Error as error:
        failure = type(error).__name__
    # Outside the handler: what DuckDB says of a failure may quote a cell.
    raise MarginaliaError(
        f"The contract must be judged on the whole table, and DuckDB could not do so ({failure}). Free "
        "memory and disk, and run again."
    )


def _load(connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema) -> int:
    """Make the table ``cell_values``; return how many rows there are.

    It has column_id, value and number: of cells, or for items of subjects. Without a column_id: of ids.
    """
    positions, subject = column_positions(source, schema)
    names = list(map(str, positions))
    connection.execute(query_text("contracts/create_cells"))
    rows = 0
    for batch in read_batches(source, positions if subject is None else [*positions, subject]):
        ids = pa.array(np.arange(rows, rows + batch.num_rows)).cast(pa.large_string())
        if subject is not None:
            ids = normalised_ids(text_of_values(connection, batch.column(str(subject))))
            _append(connection, None, ids.dictionary_encode())
            ids = ids.fill_null("")
        for index, (name, column) in enumerate(zip(names, schema.columns, strict=True)):
            _append(connection, index, *_values(connection, batch.column(name), column, ids))
        rows += batch.num_rows
    connection.execute(query_text("contracts/create_cell_values"))
    return rows


def _values(
    connection: duckdb.DuckDBPyConnection, array: pa.Array, column: Column, ids: pa.Array
) -> tuple[pa.DictionaryArray, pa.Array | None]:
    """The values of a batch's cells, read and normalised as they are encoded; of items whose each is."""
    cells = texts_or_lists(connection, array, column.delimiter, column.value_format, column.number_format)
    subjects = None
    if column.delimiter is not None:
        cells = cells if is_list(cells.type) else pc.split_pattern(cells, column.delimiter)
        subjects, cells = ids.take(pc.list_parent_indices(cells)), cells.flatten()
    distinct = cells.dictionary_encode()
    written = distinct.dictionary.to_pylist()
    read = column.reading.read(written)
    # What is no date stays, so that its type can be judged.
    values = [
        present(before if bad else text, column)
        for before, text, bad in zip(written, read.texts, read.unread, strict=True)
    ]
    return pa.DictionaryArray.from_arrays(distinct.indices, pa.array(values, pa.string())), subjects


def _append(
    connection: duckdb.DuckDBPyConnection,
    column_id: int | None,
    values: pa.DictionaryArray,
    subjects: pa.Array | None = None,
) -> None:
    """Append to the table ``cells``. Args: subjects: whose each value is; None: values are counted."""
    texts = values.dictionary
    numbers = np.bincount(values.indices.drop_null(), minlength=len(texts))
    if subjects is not None:
        texts, numbers = texts.take(values.indices), np.ones(len(values), np.int64)
    cells = {
        "column_id": pa.array([column_id] * len(texts), pa.int32()),
        "subject": pa.nulls(len(texts), pa.string()) if subjects is None else subjects,
        "value": texts,
        "number": numbers,
    }
    connection.register("batch", pa.table(cells))
    try:
        connection.execute(query_text("contracts/append_cells"))
    finally:
        connection.unregister("batch")


_QUERIES = {
    "minimum rows": "contracts/number_of_values",
    "type": "contracts/cells_of_another_type",
    "allowed values": "contracts/cells_not_allowed",
    "distinct values": "contracts/number_of_values",
    "items of a subject": "contracts/subjects_over_items",
    "identifiers": "contracts/cells_that_match",
}


def _number(
    connection: duckdb.DuckDBPyConnection,
    rule: ContractRule,
    records: int,
    filled: Mapping[int | None, int],
    schema: Schema,
) -> float:
    """What decides a rule. Args: filled: cells with a value, by column; records with an id, for None."""
    absent = records - filled.get(rule.column_id, 0)
    if rule.kind == "minimum rows" and schema.subject_id is None:
        return float(records)
    if rule.kind == "subject id present":
        return float(absent)
    if rule.kind == "share of empties":
        return 100 * absent / records if records else 0.0
    if rule.kind == "range":
        return _count_outside(connection, rule)
    values = {
        "column_id": rule.column_id,
        "allowed": list(rule.allowed),
        "patterns": list(rule.patterns),
        "most": rule.detail,
        "logical_type": rule.logical_type,
        "value_format": rule.value_format or None,
        "number_pattern": rule.number_pattern,
    }
    text = query_text(_QUERIES[rule.kind])
    row = connection.execute(text, bound_in(text, values)).fetchone()
    return float(row[0]) if row is not None else 0.0


def _count_outside(connection: duckdb.DuckDBPyConnection, rule: ContractRule) -> float:
    query = query_text("contracts/values_with_numbers")
    rows = connection.execute(query, {"column_id": rule.column_id}).fetchall()
    numbers = numbers_of_texts([text for text, _ in rows], rule.number_format)
    outside = np.zeros(len(rows), np.bool_)
    if rule.minimum is not None:
        outside |= numbers < rule.minimum
    if rule.maximum is not None:
        outside |= numbers > rule.maximum
    return float(np.array([cells for _, cells in rows], np.int64)[outside].sum())
