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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import yaml

from tasks.core.contracts.declared_columns import DEFAULT_MAX_ITEMS
from tasks.core.contracts.profile import load_raw, load_values
from tasks.core.contracts.subject_names import NONE, OF_SOMETHING, SOME_ID, WHOSE, likeness
from tasks.core.errors import MarginaliaError
from tasks.core.queries import connect, query_text
from tasks.core.records.columns import Column, Schema, bin_problems
from tasks.core.tables.header import Headers, InputFile, find_dialect
from tasks.core.tables.number_format import PLAIN, THOUSANDS, NumberFormat

#: A value is listed in a draft if at least so many cells hold it.
COMMON = 20
#: A column with more distinct values is not listed, or, where all are numbers, is binned.
_LONGEST_LIST = 50
_FEWEST_BINNED = 25
#: The least share of rows that an id differs in, by how much its name says; the fewest subjects of many rows.
_LEAST_DIFFERENT = {WHOSE: 0.02, SOME_ID: 0.1, OF_SOMETHING: 0.5, NONE: 1.0}
_FEWEST_SUBJECTS = 10
#: Of fewer rows nothing is said by all of them differing.
_FEWEST_TOLD_APART = 100
#: Numbers that surveys use as codes: 99, 998, 9999, 88, -1, -9, -999.
_CODE_NUMBER = "9+[6-9]|8{2,}|7{2,}|-(?:[1-9]|9+[6-9])"
#: Texts that may stand for a missing value, in small letters.
_MISSING_WORDS = {"na", "n/a", "#n/a", "n.a.", "nan", "null", "missing", "?", "-", "--", "."}
#: More different texts beside numbers than this are no codes.
_MOST_CODES = 5

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
# - The mark "drafted" is on lists that were taken from the data (values of {common} cells or more). A run
#   judges such a list as a rule, but does not take it for a public domain. Where you know a column's
#   values without looking at the data, write them down and remove the mark: the column then needs no
#   threshold.
# - Edges of bins are round numbers over the range of the file. Replace them by those that you would have
#   chosen without looking at it. Accepting them makes them public.
# - maxItems is a default and does not follow from the file. Nothing in this draft tells how many records
#   there are.
"""


@dataclass(frozen=True)
class _Facts:
    """What a column holds, as ``facts_of_column.sql`` says it."""

    distinct_values: int
    distinct_numbers: int
    cells: int
    numbers: int
    whole: bool
    low: float | None
    high: float | None
    number_codes: list[str]
    has_zero: bool
    semicolons: int
    bars: int
    common: tuple[str, ...]
    common_texts: tuple[str, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether there are too many numbers to list, and next to nothing else or a few codes."""
        if self.distinct_numbers < _FEWEST_BINNED:
            return False
        others = self.distinct_values - self.distinct_numbers
        return self.numbers >= 0.98 * self.cells or others <= _MOST_CODES

    @property
    def text_for_others(self) -> str | None:
        """What to call cells that are no numbers: their code, if they have one; None: all are numbers."""
        if not self.is_numeric or self.numbers == self.cells:
            return None
        return self.common_texts[0] if len(self.common_texts) == 1 else "not a number"

    def tells_rows_apart(self, rows: int) -> bool:
        """Whether it numbers or names each row by itself, so that nothing of it could be reported."""
        if rows < _FEWEST_TOLD_APART or not self.distinct_values == self.cells == rows:
            return False
        serial = self.whole and (self.high or 0.0) - (self.low or 0.0) < 1.5 * rows
        return serial if self.is_numeric else True

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
        A flat configuration (see `tasks.configuration.flat_file`), and the contract's YAML.

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
        raise MarginaliaError(
            f"A draft needs the whole file, and DuckDB could not read it ({failure}). Repair the file, or "
            "free memory and disk."
        )
    draft = _drafted(schema, facts)
    configuration = _configuration(source, draft.subject, draft.described, contract_path)
    if len(draft.described) + (draft.subject is not None) < len(headers.names):
        configuration["use_columns"] = [column.name for column, _ in draft.described]
    return configuration, _contract(source.path, draft)


@dataclass(frozen=True)
class _Draft:
    """What a draft takes of a table.

    Attributes:
        subject: whose row it is; None where no column says so.
        has_many_rows: whether somebody has several rows.
        described: the columns that are used, each with what it holds.
        left_out: names of those that are not.
    """

    subject: str | None
    has_many_rows: bool
    described: tuple[tuple[Column, _Facts], ...]
    left_out: tuple[str, ...]


def _drafted(schema: Schema, facts: list[_Facts]) -> _Draft:
    subject, rows = _subject(schema, facts), max((seen.cells for seen in facts), default=0)
    both = list(zip(schema.columns, facts, strict=True))
    others = [each for each in both if each[0].name != subject]
    described = [each for each in others if not each[1].tells_rows_apart(rows)] or others
    return _Draft(
        subject=subject,
        has_many_rows=any(
            seen.distinct_values < seen.cells for column, seen in both if column.name == subject
        ),
        described=tuple(described),
        left_out=tuple(column.name for column, seen in others if (column, seen) not in described),
    )


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
        "code_pattern": _CODE_NUMBER,
        "least": COMMON,
    }
    row = connection.execute(query_text("contracts/facts_of_column"), values).fetchone()
    assert row is not None
    common = connection.execute(
        query_text("contracts/common_values"), {"column_id": column_id, "least": COMMON}
    ).fetchall()
    listed = tuple(value for (value,) in common)
    texts = tuple(value for value in listed if re.fullmatch(number_format.pattern, value) is None)
    return _Facts(*(*row, listed, texts))


def _subject(schema: Schema, facts: list[_Facts]) -> str | None:
    """The column that says most likely whose row it is: by its name, and by how many values it has.

    The id of somebody may stand in many rows. A name that says less must differ from row to row.
    """
    single = [
        seen.cells for column, seen in zip(schema.columns, facts, strict=True) if not column.is_multi_valued
    ]
    rows = max(single, default=0)
    found: dict[int, str] = {}
    for column, seen in zip(schema.columns, facts, strict=True):
        likely = NONE if column.is_multi_valued else likeness(column.name)
        different = seen.distinct_values > 1 and seen.distinct_values >= _LEAST_DIFFERENT[likely] * rows
        several = seen.distinct_values >= min(_FEWEST_SUBJECTS, 0.5 * rows)
        if likely and different and several and seen.cells >= 0.95 * rows:
            found.setdefault(likely, column.name)
    return found[max(found)] if found else None


def _configuration(
    source: InputFile, subject: str | None, described: Sequence[tuple[Column, _Facts]], contract_path: str
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


def _contract(path: Path, draft: _Draft) -> str:
    table: dict[str, Any] = {"name": path.stem}
    if draft.subject is not None:
        table["customProperties"] = [{"property": "subjectId", "value": draft.subject}]
    table["quality"] = [_own({"rule": "noPersonalIdentifiers"})]
    table["properties"] = [_property(column, seen) for column, seen in draft.described]
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": path.stem,
        "version": "0.1.0",
        "status": "draft",
        "schema": [table],
    }
    body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    notes = "".join(f"# - {note}\n" for note in _notes(draft))
    return _PREAMBLE.format(name=path.name, common=COMMON) + notes + body


def _notes(draft: _Draft) -> Iterator[str]:
    """What of a draft to look at twice."""
    if draft.subject is not None:
        yield (
            f"This draft takes {draft.subject!r} to say whose a row is (subjectId).\n"
            "#   Correct that if it names something else, such as a visit."
        )
    if draft.has_many_rows:
        yield (
            "Some subjects have several rows. Under differential privacy one row of each stands for the\n"
            "#   subject. k-anonymity refuses rows of a subject that differ: merge them, or leave subjectId\n"
            "#   and subject_id out, which then protects rows, not people."
        )
    if draft.left_out:
        names = ", ".join(map(repr, draft.left_out))
        yield (
            f"use_columns leaves out {names}.\n"
            "#   Every row has its own value there, so nothing could be reported."
        )
    if any(seen.text_for_others is not None for _, seen in draft.described):
        yield "A cell that is no number becomes the value of 'other'. Without 'other' it counts as empty."
    for column, seen in draft.described:
        words = [repr(value) for value in seen.common if value.casefold() in _MISSING_WORDS]
        if words:
            yield (
                f"In {column.name!r}, {' and '.join(words)} may stand for a missing value.\n"
                "#   This draft takes it for a value like any other. Where a cell should count as "
                "empty, empty\n"
                "#   it in the file and draft anew."
            )
        if seen.is_numeric and not column.is_multi_valued and seen.number_codes:
            codes = " and ".join(seen.number_codes)
            yield (
                f"In {column.name!r} {codes} may stand for something that is no number. Bins put such a\n"
                "#   code below the first edge or above the last one, together with real numbers. Better\n"
                "#   empty such cells in the file and draft anew."
            )


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
        if seen.text_for_others is not None:
            custom.append({"property": "other", "value": seen.text_for_others})
    listable = column.is_multi_valued or not seen.is_numeric
    if listable and seen.common and seen.distinct_values <= _LONGEST_LIST:
        custom.append({"property": "drafted", "value": True})
        listed = {"validValues": list(seen.common)}
        found["quality"] = [{"metric": "invalidValues", "mustBe": 0, "arguments": listed}]
    if custom:
        found["customProperties"] = custom
    return found


def round_edges(low: float, high: float) -> list[float | int]:
    """Five to a dozen edges at a round distance (1, 2 or 5 times a power of ten) that cover a range.

    >>> round_edges(18, 93)
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    """
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
