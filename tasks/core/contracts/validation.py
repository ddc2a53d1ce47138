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
from tasks.core.contracts.rules import MOST_UNBINNED_NUMBERS, ContractRule, Judgement, rules_of
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

_WHITESPACE = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
#: Trimming by a set of characters is ten times slower than seeing that there is nothing to trim.
_WHITE_EDGE = f"^[{_WHITESPACE}]|[{_WHITESPACE}]$"
_SUBJECT = "subject"


def judge_table(
    connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema, contract: Contract
) -> Judgement:
    """Judge a table.

    Args:
        schema: of `public_schema.build_schema` with the same contract.

    Raises:
        InputError: the file is not what its dialect says; the message carries no cell.
    """
    failure = ""
    try:
        return _judge(connection, source, schema, rules_of(contract, schema))
    except duckdb.Error as error:
        failure = type(error).__name__
    # Outside the handler: what DuckDB says of a failure may quote a cell.
    raise MarginaliaError(
        f"The contract must be judged on the whole table, and DuckDB could not do so ({failure}). Free "
        "memory and disk, and run again."
    )


def _judge(
    connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema, rules: list[ContractRule]
) -> Judgement:
    positions = load_raw(connection, source, schema)
    items_over = load_values(connection, schema, rules)
    numbers = tuple(
        items_over[index] if index in items_over else _number(connection, rule, schema)
        for index, rule in enumerate(rules)
    )
    present = connection.execute(query_text("contracts/number_of_cells")).fetchall()
    unbinned = connection.execute(
        query_text("contracts/unbinned_numbers"), {"most": MOST_UNBINNED_NUMBERS}
    ).fetchall()
    return Judgement(
        tuple(rules),
        numbers,
        records=int(_execute(connection, query_text("contracts/number_of_rows"), {})),
        present={index: int(number) for index, number in present},
        unbinned=tuple(positions[index] + 1 for (index,) in unbinned if schema.columns[index].is_open),
    )


def _cell(index: int) -> str:
    return f"cell_{index}"


def load_raw(connection: duckdb.DuckDBPyConnection, source: InputFile, schema: Schema) -> list[int]:
    """Make the table ``raw``: ``cell_<i>`` for each column, text or a list of texts, and ``subject``.

    Returns the columns' positions in the file.
    """
    positions, subject = column_positions(source, schema)
    names = {_cell(index): position for index, position in enumerate(positions)}
    if subject is not None:
        names[_SUBJECT] = subject
    columns = {_cell(index): column for index, column in enumerate(schema.columns)}
    columns[_SUBJECT] = Column("")
    query = "contracts/create_raw"
    for batch in read_batches(source, list(names.values())):
        arrays = {
            name: _texts(connection, batch.column(str(position)), columns[name])
            for name, position in names.items()
        }
        _run_on(connection, query, pa.table(arrays))
        query = "contracts/append_raw"
    if query == "contracts/create_raw":
        _run_on(connection, query, pa.table({name: pa.array([], pa.string()) for name in names}))
    return positions


def _texts(connection: duckdb.DuckDBPyConnection, array: pa.Array, column: Column) -> pa.Array:
    """Cells as texts or lists of them, read as is declared of the column, distinct cells alone being read.

    What is no date stays, so that its type can be judged.
    """
    array = texts_or_lists(connection, array, column.delimiter, column.value_format, column.number_format)
    if column.reading == AS_IT_STANDS:
        return array
    if column.delimiter is not None and not is_list(array.type):
        array = pc.split_pattern(array, column.delimiter)
    cells = array.flatten() if is_list(array.type) else array
    distinct = cells.dictionary_encode()
    written = distinct.dictionary.to_pylist()
    read = column.reading.read(connection, written)
    shown = [
        before if bad else text for before, text, bad in zip(written, read.texts, read.unread, strict=True)
    ]
    texts = pa.array(shown, pa.large_string()).take(distinct.indices)
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

    Returns how many subjects hold too many, for each rule on items, by its place.
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
    if rule.kind == "range":
        return _count_outside(connection, rule)
    values = {
        "column_id": rule.column_id,
        "whitespace": _WHITESPACE,
        "allowed": list(rule.allowed),
        "patterns": list(rule.patterns),
        "logical_type": rule.logical_type,
        "value_format": rule.value_format or None,
        "number_pattern": rule.number_pattern,
    }
    query = "contracts/number_of_rows" if schema.subject_id is None else "contracts/number_of_subjects"
    query = _QUERIES.get(rule.kind, query)
    is_of_subject = "${" in query_text(query)
    text = filled_query(query, subject=identifier(_SUBJECT)) if is_of_subject else query_text(query)
    return _execute(connection, text, values)


def _count_outside(connection: duckdb.DuckDBPyConnection, rule: ContractRule) -> float:
    query = query_text("contracts/values_with_numbers")
    rows = connection.execute(query, {"column_id": rule.column_id}).fetchall()
    numbers = numbers_of_texts(connection, [text for text, _ in rows], rule.number_format)
    outside = np.zeros(len(rows), np.bool_)
    if rule.minimum is not None:
        outside |= numbers < rule.minimum
    if rule.maximum is not None:
        outside |= numbers > rule.maximum
    return float(np.array([cells for _, cells in rows], np.int64)[outside].sum())


def _execute(connection: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object]) -> float:
    row = connection.execute(text, bound_in(text, values)).fetchone()
    return float(row[0]) if row is not None else 0.0
