"""SQL text in files: a query's name in, the rows or nothing out.

Values are bound by DuckDB as ``$name``. Identifiers can't be bound: a query that must name
columns holds ``${name}`` in its file, and the caller passes quoted identifiers built here.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

import duckdb
import pyarrow as pa

SQL_ROOT = Path(__file__).resolve().parents[2] / "sql"


class _IdentifierTemplate(Template):
    """``${name}`` is ours to fill; ``$name`` is left for DuckDB to bind."""

    pattern = r"(?P<escaped>(?!))|(?P<named>(?!))|\$\{(?P<braced>[a-z_0-9]+)\}|(?P<invalid>(?!))"  # type: ignore[assignment]


@functools.cache
def query_text(name: str) -> str:
    """Text of ``sql/<name>.sql``."""
    return (SQL_ROOT / f"{name}.sql").read_text(encoding="utf-8")


def filled_query(name: str, **fragments: str) -> str:
    """Text of a query with its ``${...}`` filled by fragments made with `identifier` or `identifiers`."""
    return _IdentifierTemplate(query_text(name)).substitute(fragments)


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def identifiers(names: Sequence[str]) -> str:
    return ", ".join(identifier(name) for name in names)


def bound_in(text: str, values: Mapping[str, object]) -> dict[str, object]:
    """Only those values that the text binds: DuckDB refuses a value it has no place for."""
    used = set(re.findall(r"\$([a-z_][a-z_0-9]*)", text))
    return {name: value for name, value in values.items() if name in used}


@dataclass(frozen=True)
class QueryResources:
    """What a query may use.

    Attributes:
        scratch: an existing folder for what does not fit in memory; None: never spill.
        threads: 0 for all cores.
        memory_limit_mb: megabytes; 0 for DuckDB's own default.
    """

    scratch: Path | None = None
    threads: int = 0
    memory_limit_mb: int = 0

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """An in-memory DuckDB within these resources, which never reaches for the network."""
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if self.threads:
            settings["threads"] = self.threads
        if self.memory_limit_mb:
            settings["memory_limit"] = f"{self.memory_limit_mb}MB"
        settings["temp_directory"] = str(self.scratch) if self.scratch else ""
        with duckdb.connect(config=settings) as connection:
            connection.execute("set enable_progress_bar = false")
            yield connection


def connect() -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    return QueryResources().connect()


def query_over(
    connection: duckdb.DuckDBPyConnection, name: str, values: pa.Array, parameters: Mapping[str, object]
) -> pa.Array:
    """The result of a query over values (its table ``distinct_values``), one each, in their order.

    Raises:
        MemoryError: they need more than DuckDB may use.
        pa.ArrowInvalid: the query failed; the message holds no value.
    """
    failure: Exception | None = None
    try:
        connection.register("distinct_values", pa.table({"value": values}))
        table = connection.sql(query_text(name), params=parameters or None).to_arrow_table()
    except duckdb.OutOfMemoryException:
        failure = MemoryError()
    except duckdb.Error:
        failure = pa.ArrowInvalid("a type that has no text")
    finally:
        connection.unregister("distinct_values")
    if failure is not None:
        raise failure  # outside the handler: DuckDB's own message may hold a value
    return table.column(0).combine_chunks()
