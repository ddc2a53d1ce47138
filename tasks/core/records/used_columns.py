"""Which columns of a file a schema uses: schema and header in, positions out, or what is wrong."""

from collections.abc import Sequence

from tasks.core.errors import InputError
from tasks.core.records.columns import Column, Schema
from tasks.core.records.value_texts import MIXED
from tasks.core.tables.header import Headers, InputFile


def column_positions(source: InputFile, schema: Schema) -> tuple[list[int], int | None]:
    """Where the schema's columns, and its subject id, are in the file.

    Raises:
        InputError: a declared column is not in the file, or one of those that are used has no name.
    """
    headers = source.headers
    wanted = [column.name for column in schema.columns]
    wanted += [schema.subject_id] if schema.subject_id is not None else []
    if len(wanted) > 1 and len(headers.names) == 1 and not source.is_parquet:
        raise InputError(
            f"The input must have the {len(wanted)} declared columns, but its header is a single column when "
            f"split at {source.delimiter!r}: give the right delimiter (sensitive_microdata_delimiter)."
        )
    places = headers.places(wanted)
    return places[: len(schema.columns)], None if schema.subject_id is None else places[-1]


def require_flat(headers: Headers, positions: list[int], columns: tuple[Column, ...]) -> None:
    """Refuse Parquet types that are not a value or a list of values.

    Raises:
        InputError: a declared column is a struct, a map or a union, or a list in a column that is
            not declared multi-valued.
    """
    problems = []
    for position, column in zip(positions, columns, strict=True):
        kind = headers.types[position] if headers.types is not None else ""
        if kind.startswith(f"struct<{MIXED}"):
            continue
        if "struct<" in kind or "map<" in kind or "union<" in kind or kind.count("list") > 1:
            problems.append(
                f"Column {column.name!r} must hold values or lists of values, but is nested: flatten it."
            )
        elif "list<" in kind and not column.is_multi_valued:
            problems.append(f"Column {column.name!r} holds lists: declare it in multi_value_columns.")
    if problems:
        raise InputError(problems)


def require_distinct_headers(columns: Sequence[Column], values: Sequence[Sequence[str]]) -> None:
    """Refuse a table two of whose attributes would be published under one header.

    Args:
        columns: of the schema.
        values: for each column those that the table holds.

    Raises:
        InputError: naming the multi-valued columns, and no item.
    """
    owner: dict[str, str] = {column.name: column.name for column in columns if not column.is_multi_valued}
    colliding: dict[str, None] = {}
    for column, held in zip(columns, values, strict=True):
        if column.is_multi_valued:
            for value in held:
                header = f"{column.name}_{value}"
                if owner.setdefault(header, column.name) != column.name:
                    colliding[column.name] = None
    if colliding:
        raise InputError(
            [
                f"An item of the multi-valued column {name!r} would be published under the same header as "
                "another column (its own header, '_' and the item): rename one of the columns."
                for name in colliding
            ]
        )
