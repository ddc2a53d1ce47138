"""The rules of a contract that a table of a given public schema must meet, and what their results say.

A contract and a schema go in; rules come out, always in the same order. What was counted of a raw table to
judge them is for ``sensitive/`` alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from tasks.core.contracts.contract import Contract, ContractColumn
from tasks.core.records.columns import Column, Schema
from tasks.core.tables.number_format import PLAIN, NumberFormat

#: For each kind of rule what it asks, and what is wrong where it is broken, and what to do.
_WORDS = {
    "subject id present": (
        "every record has a subject id",
        "The table has records without a subject id. Give each record its id.",
    ),
    "minimum rows": (
        "at least {records}",
        "The table has fewer than {records}. Complete it, or lower rowCount.",
    ),
    "type": (
        "every value is of type {type}",
        "Column {column!r} has values that are not of type {type}. Correct them, or its logicalType.",
    ),
    "range": (
        "every number is {range}",
        "Column {column!r} has numbers that are not {range}. Correct them, or its minimum and maximum, or "
        "declare other for them.",
    ),
    "allowed values": (
        "every value is one of those listed",
        "Column {column!r} has values outside its declared list. Correct them, add them to the list, or "
        "declare other for them.",
    ),
    "distinct values": (
        "at most {values}",
        "Column {column!r} has more than {values}. Correct them, or raise distinctValues.",
    ),
    "share of empties": (
        "at most {most:.15g} % empty",
        "More than {most:.15g} % of column {column!r} are empty. Fill them, or raise nullValues.",
    ),
    "items of a subject": (
        "at most {items} a subject",
        "Column {column!r} has subjects with more than {items}. Correct them, or raise maxItems.",
    ),
    "identifiers": (
        "nothing that looks like {detail}",
        "Column {column!r} has cells that look like {detail}. Remove them, or leave the column out.",
    ),
}


@dataclass(frozen=True)
class ContractRule:
    """One rule.

    Attributes:
        kind: a key of `_WORDS`.
        column_id: index of the column in the schema; None for a rule of the table.
        least, most: limits of the number that decides, where there are any. For rules about single
            cells it is the number of cells that break the rule, and ``most`` is 0.
        patterns: what no cell may look like, and ``detail`` its name.
        logical_type, value_format, number_format: what each cell must parse as.
    """

    kind: str
    column_id: int | None = None
    column: str | None = None
    least: float | None = None
    most: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    detail: str = ""
    logical_type: str = ""
    value_format: str = ""
    number_format: NumberFormat = PLAIN

    @property
    def number_pattern(self) -> str | None:
        """What a cell that is a number must match in full; None where it need not be one."""
        if self.logical_type == "integer":
            return self.number_format.whole_pattern
        return self.number_format.pattern if self.logical_type == "number" else None

    @property
    def sentence(self) -> str:
        """What is asked, in words; public, as everything that a contract declares."""
        words = self._filled_in(_WORDS[self.kind][0])
        return words if self.column is None else f"{self.column}: {words}"

    @property
    def violation(self) -> str:
        """What is wrong where it is broken, and what to do; the rule's own numbers, none of the data's."""
        return self._filled_in(_WORDS[self.kind][1])

    def _filled_in(self, words: str) -> str:
        low = "" if self.minimum is None else f"at least {self.minimum:.15g}"
        high = "" if self.maximum is None else f"at most {self.maximum:.15g}"
        return words.format(
            column=self.column,
            records=_several(self.least or 0, "record"),
            type=self.logical_type,
            range=" and ".join(filter(None, (low, high))),
            values=_several(self.most or 0, "distinct value"),
            most=self.most or 0,
            items="1 item" if self.detail == "1" else f"{self.detail} items",
            detail=self.detail,
        )


def _several(number: float, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:.15g} {what}s"


@dataclass(frozen=True)
class Judgement:
    """What was counted of a raw table, and what follows for its contract: all of it sensitive.

    Attributes:
        numbers: for each rule the number that decides it; see `ContractRule`.
        records: rows of the table.
        present: by column, cells (of several items: items) with a value; none where the column has none.
    """

    rules: tuple[ContractRule, ...]
    numbers: tuple[float, ...]
    records: int
    present: Mapping[int, int]

    @property
    def verdicts(self) -> list[bool]:
        return [
            (rule.least is None or number >= rule.least) and (rule.most is None or number <= rule.most)
            for rule, number in zip(self.rules, self.numbers, strict=True)
        ]

    @property
    def broken(self) -> list[ContractRule]:
        return [rule for rule, holds in zip(self.rules, self.verdicts, strict=True) if not holds]


def rules_of(contract: Contract, schema: Schema) -> list[ContractRule]:
    rules = []
    if schema.subject_id is not None:
        rules.append(ContractRule("subject id present", most=0))
    if contract.min_rows is not None:
        rules.append(ContractRule("minimum rows", least=contract.min_rows))
    for index, column in enumerate(schema.columns):
        promised = contract.column(column.name)
        if promised is not None:
            rules += _column_rules(index, column, contract, promised)
    return rules


def _column_rules(
    index: int, column: Column, contract: Contract, promised: ContractColumn
) -> Iterator[ContractRule]:
    """Rules of one column. Where ``other`` is declared, no cell is outside the list or of another type."""
    rule = partial(
        ContractRule, column_id=index, column=promised.name, most=0, number_format=column.number_format
    )
    typed = promised.logical_type not in ("string", "array") and column.other is None
    if typed and promised.domain is None:
        yield rule("type", logical_type=promised.logical_type, value_format=promised.value_format or "")
    if (column.minimum is not None or column.maximum is not None) and column.other is None:
        yield rule("range", minimum=column.minimum, maximum=column.maximum)
    allowed = promised.values if promised.drafted or column.bins is not None else column.domain
    if allowed is not None and column.other is None:
        yield rule("allowed values", allowed=allowed)
    if promised.max_distinct is not None:
        yield rule("distinct values", most=promised.max_distinct)
    if promised.max_empty_percent is not None:
        yield rule("share of empties", most=promised.max_empty_percent)
    if promised.max_items is not None:
        yield rule("items of a subject", detail=str(promised.max_items))
    for searched in contract.forbidden_in(promised):
        yield rule("identifiers", patterns=searched.patterns, detail=searched.name)
