"""The part of DAX that a template's measures use: a measure and what is selected in, its value out.

Slow and obvious, written from Microsoft's function reference, and not from the templates. As in Power BI,
texts that differ in upper and lower case or in blanks behind them are one, and a filter passes a relationship
from the one side to the many, and back where it is crossed in both directions.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<table>'(?:[^']|'')*')|(?P<column>\[(?:[^\]]|\]\])*\])|(?P<text>\"(?:[^\"]|\"\")*\")"
    r"|(?P<number>-?\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[(){},=<>])"
)
Row = Mapping[str, Any]
#: What a column is filtered to, by table and column; texts as they are compared.
Filters = Mapping[tuple[str, str], frozenset[Any]]


@functools.cache
def compared(value: Any) -> Any:
    """A value as Power BI compares it, or nearly: it tells neither case nor forms of a letter apart."""
    if not isinstance(value, str):
        return value
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold()).rstrip(" ")


@dataclass(frozen=True)
class Relationship:
    """Rows of a table hang on the records by their number."""

    table: str
    both: bool


@dataclass(frozen=True)
class Loaded:
    """A model with its rows.

    Attributes:
        tables: rows by table.
        relationships: to the table ``one``, all by the column ``key``.
        measures: their texts by name.
    """

    tables: Mapping[str, Sequence[Row]]
    relationships: tuple[Relationship, ...]
    measures: Mapping[str, str]
    one: str = "Records"
    key: str = "Record"

    def value(self, measure: str, selected: Mapping[tuple[str, str], Iterable[Any]]) -> Any:
        """A measure where columns are filtered to some values."""
        filters = {column: frozenset(map(compared, values)) for column, values in selected.items()}
        return _Context(self, filters).measure(measure)


@dataclass(frozen=True)
class _Context:
    model: Loaded
    filters: Filters
    variables: Mapping[str, Any] = ()  # type: ignore[assignment]
    row: Row | None = None

    def measure(self, name: str) -> Any:
        return read_measure(self.model.measures[name])(replace(self, variables={}, row=None))

    def rows(self, table: str) -> list[Row]:
        """The rows of a table that the filters leave."""
        model = self.model
        own = self._by_own_filters(table)
        if table == model.one:
            for each in model.relationships:
                if each.both and any(of == each.table for of, _ in self.filters):
                    held = {row[model.key] for row in self._by_own_filters(each.table)}
                    own = [row for row in own if row[model.key] in held]
            return own
        if any(each.table == table for each in model.relationships):
            left = {row[model.key] for row in self.rows(model.one)}
            return [row for row in own if row[model.key] in left]
        return own

    def _by_own_filters(self, table: str) -> list[Row]:
        wanted = {column: values for (of, column), values in self.filters.items() if of == table}
        return [
            row
            for row in self.model.tables[table]
            if all(compared(row[column]) in values for column, values in wanted.items())
        ]


_Expression = Callable[[_Context], Any]


@dataclass(frozen=True)
class _Column:
    table: str
    name: str


class _Parser:
    """Recursive descent; each method returns a function of the context."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise SyntaxError(text[place : place + 40])
            if found.lastgroup != "space":
                self._tokens.append((str(found.lastgroup), found[0]))
            place = found.end()
        self._tokens.append(("end", ""))
        self._at = 0

    def whole(self) -> _Expression:
        found = self._body()
        if self._tokens[self._at][0] != "end":
            raise SyntaxError(f"left: {self._tokens[self._at :][:5]}")
        return found

    def _take(self, wanted: str = "") -> str:
        _, token = self._tokens[self._at]
        if wanted and token != wanted:
            raise SyntaxError(f"{wanted} expected, not {self._tokens[self._at : self._at + 5]}")
        self._at += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._at][1]

    def _body(self) -> _Expression:
        if self._peek() != "VAR":
            return self._comparison()
        variables: list[tuple[str, _Expression]] = []
        while self._peek() == "VAR":
            self._take()
            name = self._take()
            self._take("=")
            variables.append((name, self._comparison()))
        self._take("RETURN")
        result = self._comparison()

        def evaluated(context: _Context) -> Any:
            for name, value in variables:  # once, where they are defined
                context = replace(context, variables={**dict(context.variables), name: value(context)})
            return result(context)

        return evaluated

    def _comparison(self) -> _Expression:
        left = self._atom()
        if self._peek() not in ("=", "<", ">"):
            return left
        sign, right = self._take(), self._atom()
        # A blank is compared as 0, or as the empty text.
        return lambda context: _compare(sign, left(context), right(context))

    def _atom(self) -> _Expression:
        kind, token = self._tokens[self._at]
        self._at += 1
        if kind == "text":
            return lambda _: token[1:-1].replace('""', '"')
        if kind == "number":
            return lambda _: int(token)
        if kind == "table":
            table = token[1:-1].replace("''", "'")
            if self._tokens[self._at][0] == "column":
                column = _Column(table, self._take()[1:-1].replace("]]", "]"))
                return lambda _: column
            return lambda context: context.rows(table)
        if kind == "column":
            name = token[1:-1].replace("]]", "]")
            return lambda context: (
                context.row[name] if context.row and name in context.row else context.measure(name)
            )
        if token == "{":
            return self._table_of_values()
        if token == "NOT":
            value = self._atom()
            return lambda context: not value(context)
        if kind == "name" and self._peek() == "(":
            return self._function(token)
        if kind == "name" and token in ("ASC", "DESC"):
            return lambda _: token
        if kind == "name":
            return lambda context: context.variables[token]
        raise SyntaxError(token)

    def _table_of_values(self) -> _Expression:
        items = [self._comparison()]
        while self._peek() == ",":
            self._take()
            items.append(self._comparison())
        self._take("}")
        return lambda context: [{"Value": item(context)} for item in items]

    def _function(self, name: str) -> _Expression:
        self._take("(")
        arguments = []
        while self._peek() != ")":
            arguments.append(self._comparison())
            if self._peek() == ",":
                self._take()
        self._take(")")
        apply = _FUNCTIONS[name]
        return lambda context: apply(context, *arguments)


@functools.cache
def read_measure(text: str) -> _Expression:
    """A measure, to its end."""
    return _Parser(text).whole()


def _compare(sign: str, left: Any, right: Any) -> bool:
    empty: Any = "" if isinstance(left, str) or isinstance(right, str) else 0
    a, b = (compared(empty if value is None else value) for value in (left, right))
    return bool({"=": a == b, "<": a < b, ">": a > b}[sign])


def _values(context: _Context, of: _Expression) -> list[Row]:
    """Distinct values of a column under the filters, or distinct rows of a table."""
    found = of(context)
    if not isinstance(found, _Column):
        return list({tuple(map(compared, row.values())): row for row in found}.values())
    rows = context.rows(found.table)
    return list({compared(row[found.name]): {found.name: row[found.name]} for row in rows}.values())


def _only(values: Iterable[Any]) -> Any:
    """The value, where there is one alone."""
    found = {compared(value): value for value in values}
    return next(iter(found.values())) if len(found) == 1 else None


def _direct(context: _Context, of: _Expression) -> list[Row]:
    """The values that a filter on the column itself names, whatever other filters leave."""
    column: _Column = of(context)
    filtered = context.filters.get((column.table, column.name))
    every = {compared(row[column.name]): row[column.name] for row in context.model.tables[column.table]}
    return [{column.name: value} for key, value in every.items() if filtered is None or key in filtered]


def _looked_up(context: _Context, result: _Expression, *arguments: _Expression) -> Any:
    """The result of the rows that match, whatever is filtered; the alternate where there is not one."""
    alternate = arguments[-1](context) if len(arguments) % 2 else None
    wanted = [
        (column(context), value(context))
        for column, value in zip(arguments[0::2], arguments[1::2], strict=False)
    ]
    column: _Column = result(context)
    found = {
        row[column.name]
        for row in context.model.tables[column.table]
        if all(compared(row[each.name]) == compared(value) for each, value in wanted)
    }
    if len(found) > 1 and not len(arguments) % 2:
        raise ValueError("A table of multiple values was supplied where a single value was expected.")
    return found.pop() if len(found) == 1 else alternate


def _calculated(context: _Context, value: _Expression, filters: _Expression) -> Any:
    return value(replace(context, filters={**context.filters, **filters(context)}))


def _treated(context: _Context, rows: _Expression, column: _Expression) -> Filters:
    target: _Column = column(context)
    return {
        (target.table, target.name): frozenset(compared(v) for row in rows(context) for v in row.values())
    }


def _joined(context: _Context, table: _Expression, text: _Expression, *rest: _Expression) -> str:
    def of(row: Row, each: _Expression) -> Any:
        found = each(replace(context, row=row))
        return row[found.name] if isinstance(found, _Column) else found

    rows = table(context)
    if len(rest) > 1:
        rows = sorted(rows, key=lambda row: of(row, rest[1]))
    parts = [of(row, text) for row in rows]
    return (rest[0](context) if rest else "").join("" if part is None else str(part) for part in parts)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "CALCULATE": _calculated,
    "CONCATENATEX": _joined,
    "COUNTROWS": lambda context, table: len(table(context)) or None,
    "DISTINCT": _values,
    "DISTINCTCOUNT": lambda context, column: len(_values(context, column)) or None,
    "FILTER": lambda context, table, condition: [
        row for row in table(context) if condition(replace(context, row=row))
    ],
    "FILTERS": _direct,
    "IF": lambda context, condition, yes, no=lambda _: None: (yes if condition(context) else no)(context),
    "ISBLANK": lambda context, value: value(context) is None,
    "ISEMPTY": lambda context, table: not table(context),
    "ISFILTERED": lambda context, column: (column(context).table, column(context).name) in context.filters,
    "LOOKUPVALUE": _looked_up,
    "SELECTEDVALUE": lambda context, column, alternate=lambda _: None: (
        found
        if (found := _only(v for row in _values(context, column) for v in row.values())) is not None
        else alternate(context)
    ),
    "TREATAS": _treated,
    "VALUES": _values,
}
