"""A configuration and a contract drafted from a file: ``marginalia check --propose``.

A path goes in; a flat configuration and the text of a contract come out, for the operator to read, change
and accept. This reads values, because it was asked to; nothing in a run calls it, so whatever it finds
decides neither whether a release is drawn nor how.

A list of values is marked ``drafted``, so that its column stays open (privacy.md, rule 11), and holds only
values of `COMMON` cells or more. Edges of bins are round numbers over the range of the file: they become
public when the operator accepts them, and the draft says so. Nothing else in a draft is a number of the data.
"""

import math
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import yaml

from tasks.core.contracts.profile import load_raw, load_values
from tasks.core.errors import MarginaliaError
from tasks.core.queries import connect, query_text
from tasks.core.records.columns import Column, Schema, bin_problems
from tasks.core.records.declared_columns import DEFAULT_MAX_ITEMS
from tasks.core.records.dialect import find_dialect
from tasks.core.records.number_format import PLAIN, THOUSANDS, NumberFormat
from tasks.core.records.reading import Headers, InputFile

#: A value is listed in a draft if at least so many cells hold it.
COMMON = 20
#: A column with more distinct values is not listed, or, where all are numbers, is binned.
_LONGEST_LIST = 50
_FEWEST_BINNED = 25

#: How numbers may be written that are not plain, those with fewer marks first.
_FORMATS = (
    NumberFormat(","),
    NumberFormat(",", "."),
    NumberFormat(".", ","),
    NumberFormat(",", " "),
    NumberFormat(".", " "),
    NumberFormat(".", "'"),
    NumberFormat(",", "'"),
)

_PREAMBLE = """\
# Drafted from the file {name!r}. Read it before you accept it:
# - Lists marked "drafted" were taken from the data (values of {common} cells or more). A drafted list is
#   judged as a rule but is not a public domain. Where you know a column's values without looking at the
#   data, write them down and remove the mark: such a column needs no threshold.
# - Edges of bins are round numbers over the range of the file. Put those that you would have chosen
#   without looking; accepting them makes them public.
# - maxItems is a default, not what the file holds. Nothing here tells how many records there are.
"""


@dataclass(frozen=True)
class _Facts:
    """What a column holds, as ``facts_of_column.sql`` says it."""

    distinct_values: int
    cells: int
    numbers: int
    whole: bool
    low: float | None
    high: float | None
    has_zero: bool
    semicolons: int
    bars: int
    common: tuple[str, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether nearly every cell is a number and there are too many to list."""
        return self.distinct_values >= _FEWEST_BINNED and self.numbers >= 0.98 * self.cells

    @property
    def item_delimiter(self) -> str | None:
        """What separates items, where a twentieth of the cells seems to hold several."""
        found = {";": self.semicolons, "|": self.bars}
        likely = max(found, key=lambda delimiter: found[delimiter])
        return likely if self.cells and found[likely] * 20 >= self.cells else None


def propose(
    table: Path | InputFile, *, contract_path: str = "contract.yaml", scratch: Path | None = None
) -> tuple[dict[str, Any], str]:
    """A draft for a CSV, TSV or Parquet file.

    Args:
        table: the file, whose delimiter is then guessed, or the file with its declared dialect.
        contract_path: where the operator will put the contract; the configuration refers to it.
        scratch: folder that DuckDB may spill to.

    Returns:
        A flat configuration (see `tasks.configuration_file`), and the contract's YAML.

    Raises:
        InputError: the file can't be read as a table; the message carries no cell.
    """
    source = table if isinstance(table, InputFile) else find_dialect(table)
    headers = source.headers
    names = [name for name in headers.names if name]
    failure = ""
    with connect(scratch) as connection:
        try:
            schema, facts = _look(connection, source, headers, names)
        except duckdb.Error as error:
            failure = type(error).__name__
    if failure:
        raise MarginaliaError(f"The file could not be looked at: DuckDB ended with {failure}.")
    subject = _subject(schema, facts)
    described = [
        (column, seen) for column, seen in zip(schema.columns, facts, strict=True) if column.name != subject
    ]
    unnamed = len(names) < len(headers.names)
    configuration = _configuration(source, subject, described, contract_path)
    if unnamed:
        configuration["use_columns"] = [name for name in names if name != subject]
    return configuration, _contract(source.path, subject, described)


def _look(
    connection: duckdb.DuckDBPyConnection, source: InputFile, headers: Headers, names: list[str]
) -> tuple[Schema, list[_Facts]]:
    """Every named column, the multi-valued ones found out, and what each holds."""
    kinds = dict(zip(headers.names, headers.types or [""] * len(headers.names), strict=True))
    columns = [
        Column(name, zero_is_value=True, delimiter=";" if "list<" in kinds[name] else None) for name in names
    ]
    load_raw(connection, source, Schema(tuple(columns)))
    load_values(connection, Schema(tuple(columns)), [])
    facts = [_facts(connection, index) for index in range(len(columns))]
    split = [
        column if column.is_multi_valued else replace(column, delimiter=seen.item_delimiter)
        for column, seen in zip(columns, facts, strict=True)
    ]
    if split != columns:
        load_values(connection, Schema(tuple(split)), [])
        facts = [_facts(connection, index) for index in range(len(split))]
    found = [
        (column, seen) if column.is_multi_valued else _with_marks(connection, index, column, seen)
        for index, (column, seen) in enumerate(zip(split, facts, strict=True))
    ]
    return Schema(tuple(column for column, _ in found)), [seen for _, seen in found]


def _with_marks(
    connection: duckdb.DuckDBPyConnection, index: int, column: Column, seen: _Facts
) -> tuple[Column, _Facts]:
    """A column whose cells are numbers with other marks, if they are; else as it is."""
    for number_format in () if seen.is_numeric else _FORMATS:
        read = _facts(connection, index, number_format)
        if read.is_numeric:
            return replace(column, number_format=number_format), read
    return column, seen


def _facts(
    connection: duckdb.DuckDBPyConnection, column_id: int, number_format: NumberFormat = PLAIN
) -> _Facts:
    values = {
        "column_id": column_id,
        "number_pattern": number_format.pattern,
        "whole_pattern": number_format.whole_pattern,
        "separators": THOUSANDS[number_format.thousands],
        "decimal": number_format.decimal,
    }
    row = connection.execute(query_text("contracts/facts_of_column"), values).fetchone()
    assert row is not None
    common = connection.execute(
        query_text("contracts/common_values"), {"column_id": column_id, "least": COMMON}
    ).fetchall()
    return _Facts(*(*row, tuple(value for (value,) in common)))


def _subject(schema: Schema, facts: list[_Facts]) -> str | None:
    """The first column that looks like an id: filled, nearly all different, and named like one."""
    single = [
        seen.cells for column, seen in zip(schema.columns, facts, strict=True) if not column.is_multi_valued
    ]
    rows = max(single, default=0)
    for column, seen in zip(schema.columns, facts, strict=True):
        named = re.search(
            r"(^|[^a-z])(id|uuid|key|respondent|person|subject|patient|participant)([^a-z]|$)|[a-z]Id$|ID$",
            column.name if column.name.isupper() else column.name[:1].lower() + column.name[1:],
        )
        different = seen.distinct_values > 1 and seen.distinct_values >= 0.5 * rows
        if named and different and seen.cells == rows and not column.is_multi_valued:
            return column.name
    return None


def _configuration(
    source: InputFile, subject: str | None, described: list[tuple[Column, _Facts]], contract_path: str
) -> dict[str, Any]:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", source.path.stem).strip("_-")[:60] or "table"
    found: dict[str, Any] = {"sensitive_microdata_path": str(source.path)}
    if not source.is_parquet:
        found["sensitive_microdata_delimiter"] = source.delimiter
    if source.encoding != "utf-8":
        found["encoding"] = source.encoding
    if source.header:
        found["sensitive_microdata_header"] = list(source.header)
    if subject is not None:
        found["subject_id"] = subject
    multi_valued = {column.name: column.delimiter for column, _ in described if column.is_multi_valued}
    if multi_valued:
        found["multi_value_columns"] = multi_valued
    return found | {
        "sensitive_zeros": [column.name for column, seen in described if seen.has_zero],
        "contract": contract_path,
        "reporting_length": 3,
        "dp_aggregates": True,
        "noise_epsilon": 1.0,
        "delta": 1e-6,
        "privacy": {"releases": 12},
        "dataset": name,
        "vintage": "1",
        "prefix": name,
        "output_dir": "workspace",
    }


def _contract(path: Path, subject: str | None, described: list[tuple[Column, _Facts]]) -> str:
    table: dict[str, Any] = {"name": path.stem}
    if subject is not None:
        table["customProperties"] = [{"property": "subjectId", "value": subject}]
    table["quality"] = [_own({"rule": "noPersonalIdentifiers"})]
    table["properties"] = [_property(column, seen) for column, seen in described]
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": path.stem,
        "version": "0.1.0",
        "status": "draft",
        "schema": [table],
    }
    body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return _PREAMBLE.format(name=path.name, common=COMMON) + body


def _own(implementation: dict[str, Any]) -> dict[str, Any]:
    return {"type": "custom", "engine": "marginalia", "implementation": implementation}


def _property(column: Column, seen: _Facts) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name}
    custom: list[dict[str, Any]] = []
    if column.is_multi_valued:
        found |= {"logicalType": "array", "logicalTypeOptions": {"maxItems": DEFAULT_MAX_ITEMS}}
        custom.append({"property": "delimiter", "value": column.delimiter})
    elif seen.is_numeric:
        found["logicalType"] = "integer" if seen.whole else "number"
        marks = asdict(column.number_format)
        plain = asdict(PLAIN)
        custom += [{"property": key, "value": mark} for key, mark in marks.items() if mark != plain[key]]
        custom.append({"property": "bins", "value": round_edges(seen.low or 0.0, seen.high or 0.0)})
    listable = column.is_multi_valued or not seen.is_numeric
    if listable and seen.common and seen.distinct_values <= _LONGEST_LIST:
        custom.append({"property": "drafted", "value": True})
        listed = {"validValues": list(seen.common)}
        found["quality"] = [{"metric": "invalidValues", "mustBe": 0, "arguments": listed}]
    if custom:
        found["customProperties"] = custom
    return found


def round_edges(low: float, high: float) -> list[float | int]:
    """Five to a dozen edges at a round distance (1, 2 or 5 times a power of ten) that cover a range."""
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = 0.0, 1.0
    span = max(high - low, abs(high) * 1e-6, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / 10))
    step = next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= 10)
    first, last = math.floor(low / step), math.ceil(high / step)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    edges = [round(place * step, digits) for place in range(first, max(last, first + 1) + 1)]
    if bin_problems(tuple(edges)):
        edges = [0.0, 1.0]
    return [int(edge) if edge == int(edge) and abs(edge) < 1e15 else edge for edge in edges]
