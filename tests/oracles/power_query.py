"""The part of Power Query's language (M) that a template uses: text in, values out, slow and obvious.

Written from Microsoft's language specification and function reference, and not from the templates. Text is
compared by code points, as M does. A list is a list, a record a dictionary, a table a `Table`, a function a
callable; types are read and passed over.
"""

import csv
import functools
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*)|(?P<name>#"(?:[^"]|"")*"|\#?[A-Za-z_][\w.]*)|(?P<text>"(?:[^"]|"")*")'
    r"|(?P<number>\d+)|(?P<sign>\.\.|=>|<>|<=|>=|[-=<>&+*/(){}\[\],?])"
)
_ESCAPE = re.compile(r"#\(([^)]*)\)")
_NAMED = {"tab": "\t", "cr": "\r", "lf": "\n", "#": "#"}


class MError(Exception):
    """What ``error`` raises: reason and message."""


@dataclass
class Table:
    """A table: names of columns, and rows of cells in their order."""

    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)

    def column(self, name: str) -> list[Any]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class _Scope:
    """Names and what they stand for, worked out when they are first asked for."""

    def __init__(self, outer: "_Scope | None", thunks: Mapping[str, Callable[["_Scope"], Any]]) -> None:
        self._outer, self._thunks, self._known = outer, dict(thunks), {}  # type: ignore[var-annotated]

    def get(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        if name in self._thunks:
            self._known[name] = self._thunks[name](self)
            return self._known[name]
        if self._outer is None:
            raise NameError(name)
        return self._outer.get(name)


def evaluate_section(members: Mapping[str, str], name: str) -> Any:
    """The value of one of several expressions that may name each other."""
    return _Scope(_LIBRARY, {each: read_query(text) for each, text in members.items()}).get(name)


def _text_of(token: str) -> str:
    return _ESCAPE.sub(lambda found: _unescaped(found[1]), token[1:-1].replace('""', '"'))


def _unescaped(inside: str) -> str:
    return "".join(_NAMED.get(part) or chr(int(part, 16)) for part in inside.split(","))


class _Parser:
    """Recursive descent: each method reads one kind of expression and returns a function of a scope."""

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
        self._at = 0

    def whole(self) -> Callable[[_Scope], Any]:
        found = self._expression()
        if self._at < len(self._tokens):
            raise SyntaxError(f"left: {self._tokens[self._at :][:5]}")
        return found

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place][1] if place < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._peek()
        if wanted and token not in wanted:
            raise SyntaxError(f"{wanted} expected, not {self._tokens[self._at : self._at + 5]}")
        self._at += 1
        return token

    def _name(self) -> str:
        token = self._take()
        return _text_of(token[1:]) if token.startswith('#"') else token

    def _field(self) -> str:
        """A field's name, which may hold blanks."""
        words = [self._name()]
        while self._peek() not in ("=", "]"):
            words.append(self._name())
        return " ".join(words)

    def _expression(self) -> Callable[[_Scope], Any]:
        token = self._peek()
        if token == "let":
            return self._let()
        if token == "if":
            return self._if()
        if token == "each":
            self._take()
            body = self._expression()
            return lambda scope: lambda value: body(_Scope(scope, {"_": lambda _: value}))
        if token == "error":
            self._take()
            raised = self._expression()
            return lambda scope: _raise(raised(scope))
        if token == "(" and self._is_function():
            return self._function()
        return self._meta()

    def _let(self) -> Callable[[_Scope], Any]:
        self._take("let")
        parts = {}
        while True:
            name = self._name()
            self._take("=")
            parts[name] = self._expression()
            if self._take(",", "in") == "in":
                break
        body = self._expression()
        return lambda scope: body(_Scope(scope, parts))

    def _if(self) -> Callable[[_Scope], Any]:
        self._take("if")
        condition = self._expression()
        self._take("then")
        yes = self._expression()
        self._take("else")
        no = self._expression()
        return lambda scope: yes(scope) if condition(scope) else no(scope)

    def _is_function(self) -> bool:
        depth, ahead = 0, 0
        while True:
            token = self._peek(ahead)
            depth += {"(": 1, ")": -1}.get(token, 0)
            ahead += 1
            if not depth:
                break
        return self._peek(ahead) == "=>" or (self._peek(ahead), self._peek(ahead + 2)) == ("as", "=>")

    def _function(self) -> Callable[[_Scope], Any]:
        self._take("(")
        names = []
        while self._peek() != ")":
            names.append(self._name())
            if self._peek() == "as":
                self._take()
                self._name()
            if self._peek() == ",":
                self._take()
        self._take(")")
        if self._peek() == "as":
            self._take()
            self._name()
        self._take("=>")
        body = self._expression()

        def made(scope: _Scope) -> Any:
            def call(*values: Any) -> Any:
                given = {name: (lambda _, v=v: v) for name, v in zip(names, values, strict=True)}
                return body(_Scope(scope, given))

            return call

        return made

    def _meta(self) -> Callable[[_Scope], Any]:
        value = self._logical()
        if self._peek() == "meta":
            self._take()
            self._expression()
        return value

    def _logical(self) -> Callable[[_Scope], Any]:
        left = self._comparison()
        while self._peek() in ("and", "or"):
            left = _operation(self._take(), left, self._comparison())
        return left

    def _comparison(self) -> Callable[[_Scope], Any]:
        if self._peek() == "not":
            self._take()
            value = self._comparison()
            return lambda scope: not value(scope)
        left = self._sum()
        while self._peek() in ("=", "<>", "<", ">", "<=", ">="):
            left = _operation(self._take(), left, self._sum())
        return left

    def _sum(self) -> Callable[[_Scope], Any]:
        left = self._primary()
        while self._peek() in ("&", "+", "-"):
            left = _operation(self._take(), left, self._primary())
        return left

    def _primary(self) -> Callable[[_Scope], Any]:
        value = self._atom()
        while self._peek() in ("(", "[", "{"):
            sign = self._take()
            if sign == "(":
                value = _call(value, list(self._items(")")))
            elif sign == "[":
                value = _access(value, self._field())
                self._take("]")
            else:
                value = _item(value, self._expression())
                self._take("}")
        return value

    def _items(self, end: str) -> Iterator[Callable[[_Scope], Any]]:
        while self._peek() != end:
            yield self._expression()
            if self._peek() == ",":
                self._take()
        self._take(end)

    def _atom(self) -> Callable[[_Scope], Any]:
        kind, token = self._tokens[self._at]
        if token == "type":
            self._take()
            self._type()
            return lambda scope: None
        if kind == "text":
            self._take()
            return lambda scope, text=_text_of(token): text  # type: ignore[misc]
        if kind == "number":
            self._take()
            return lambda scope, number=int(token): number  # type: ignore[misc]
        if token == "(":
            self._take()
            value = self._expression()
            self._take(")")
            return value
        if token == "{":
            self._take()
            first = None if self._peek() == "}" else self._expression()
            if first is not None and self._peek() == "..":
                self._take()
                last = self._expression()
                self._take("}")
                return lambda scope: list(range(first(scope), last(scope) + 1))
            if self._peek() == ",":
                self._take()
            items = ([] if first is None else [first]) + list(self._items("}"))
            return lambda scope: [item(scope) for item in items]
        if token == "[":
            return self._bracket()
        return lambda scope, name=self._name(): scope.get(name)  # type: ignore[misc]

    def _type(self) -> None:
        name = self._name()
        if name == "nullable":
            self._type()
        elif name == "table":
            self._take("[")
            depth = 1
            while depth:
                depth += {"[": 1, "]": -1}.get(self._take(), 0)

    def _bracket(self) -> Callable[[_Scope], Any]:
        """A record, or a field of ``_``."""
        self._take("[")
        fields = {}
        while self._peek() != "]":
            name = self._field()
            if self._peek() == "]":
                self._take()
                return _access(lambda scope: scope.get("_"), name)
            self._take("=")
            fields[name] = self._expression()
            if self._peek() == ",":
                self._take()
        self._take("]")
        return lambda scope: {name: value(scope) for name, value in fields.items()}


@functools.cache
def read_query(text: str) -> Callable[[_Scope], Any]:
    """An expression, to its end."""
    return _Parser(text).whole()


def _raise(raised: tuple[str, str]) -> Any:
    raise MError(*raised)


def _call(
    function: Callable[[_Scope], Any], values: list[Callable[[_Scope], Any]]
) -> Callable[[_Scope], Any]:
    return lambda scope: function(scope)(*(value(scope) for value in values))


def _access(value: Callable[[_Scope], Any], name: str) -> Callable[[_Scope], Any]:
    def found(scope: _Scope) -> Any:
        of = value(scope)
        return of.column(name) if isinstance(of, Table) else of[name]

    return found


def _item(value: Callable[[_Scope], Any], place: Callable[[_Scope], Any]) -> Callable[[_Scope], Any]:
    def found(scope: _Scope) -> Any:
        of = value(scope)
        return of.records()[place(scope)] if isinstance(of, Table) else of[place(scope)]

    return found


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "=": lambda a, b: type(a) is type(b) and a == b,
    "<>": lambda a, b: not (type(a) is type(b) and a == b),
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "&": lambda a, b: a + b,
    "+": lambda a, b: None if a is None or b is None else a + b,
    "-": lambda a, b: None if a is None or b is None else a - b,
}


def _operation(
    sign: str, left: Callable[[_Scope], Any], right: Callable[[_Scope], Any]
) -> Callable[[_Scope], Any]:
    apply = _OPERATIONS[sign]
    return lambda scope: apply(left(scope), right(scope))


def _csv(content: bytes, options: Mapping[str, Any]) -> Table:
    assert options["Encoding"] == 65001 and options["QuoteStyle"] == "Csv"
    lines = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=options["Delimiter"]))
    width = max(map(len, lines), default=0)
    return Table([f"Column{place + 1}" for place in range(width)], [line for line in lines if line])


def _unpivoted(table: Table, kept: list[str], name: str, value: str) -> Table:
    rows = []
    for record in table.records():
        fixed = [record[each] for each in kept]
        cells = {each: cell for each, cell in record.items() if each not in kept and cell is not None}
        rows += [[*fixed, each, cell] for each, cell in cells.items()]
    return Table([*kept, name, value], rows)


def _selected(table: Table, names: list[str]) -> Table:
    places = [table.columns.index(name) for name in names]
    return Table(list(names), [[row[place] for place in places] for row in table.rows])


def _grouped(table: Table, keys: list[str], made: list[list[Any]]) -> Table:
    groups: dict[tuple[Any, ...], list[list[Any]]] = {}
    for row, record in zip(table.rows, table.records(), strict=True):
        groups.setdefault(tuple(record[key] for key in keys), []).append(row)
    columns = [*keys, *(name for name, *_ in made)]
    return Table(
        columns,
        [
            [*key, *(function(Table(table.columns, rows)) for _, function, *_ in made)]
            for key, rows in groups.items()
        ],
    )


def _first(table: Table, condition: Callable[[Any], bool]) -> Table:
    kept = []
    for row, record in zip(table.rows, table.records(), strict=True):
        if not condition(record):
            break
        kept.append(row)
    return Table(table.columns, kept)


def _joined(left: Table, key: str, right: Table, other: str, kind: str) -> Table:
    assert kind == "Inner" and not set(left.columns) & set(right.columns)
    matches: dict[Any, list[list[Any]]] = {}
    for value, row in zip(right.column(other), right.rows, strict=True):
        matches.setdefault(value, []).append(row)
    pairs = zip(left.column(key), left.rows, strict=True)
    rows = [row + match for value, row in pairs for match in matches.get(value, [])]
    return Table([*left.columns, *right.columns], rows)


def _replaced(table: Table, old: Any, new: Any, kind: str, names: list[str]) -> Table:
    assert kind == "whole"
    places = [table.columns.index(name) for name in names]
    rows = [
        [new if place in places and cell == old else cell for place, cell in enumerate(row)]
        for row in table.rows
    ]
    return Table(table.columns, rows)


def _accumulated(items: list[Any], seed: Any, function: Callable[[Any, Any], Any]) -> Any:
    for item in items:
        seed = function(seed, item)
    return seed


def _with_column(table: Table, name: str, made: Callable[[Any], Any], kind: Any = None) -> Table:
    rows = [[*row, made(record)] for row, record in zip(table.rows, table.records(), strict=True)]
    return Table([*table.columns, name], rows)


def _numbered(table: Table, name: str, start: int, step: int, kind: Any = None) -> Table:
    rows = [[*row, start + step * place] for place, row in enumerate(table.rows)]
    return Table([*table.columns, name], rows)


def _where(table: Table, condition: Callable[[Any], bool]) -> Table:
    rows = zip(table.rows, table.records(), strict=True)
    return Table(table.columns, [row for row, record in rows if condition(record)])


def _renamed(table: Table, pairs: list[list[str]]) -> Table:
    names = dict(pairs)
    return Table([names.get(name, name) for name in table.columns], table.rows)


def _record(values: list[Any], names: list[str]) -> dict[str, Any]:
    assert len(set(names)) == len(names), "a record's names are unique"
    return dict(zip(names, values, strict=True))


_LIBRARY = _Scope(
    None,
    {
        name: (lambda _, value=value: value)  # type: ignore[misc]
        for name, value in {
            "null": None,
            "true": True,
            "false": False,
            "Int64.Type": None,
            "QuoteStyle.Csv": "Csv",
            "JoinKind.Inner": "Inner",
            "Replacer.ReplaceValue": "whole",
            "#table": lambda kind, rows: Table(["Header", "Place", "Column", "Item"], rows),
            "Csv.Document": _csv,
            "Error.Record": lambda reason, message: (reason, message),
            "File.Contents": lambda path: Path(path).read_bytes(),
            "List.Accumulate": _accumulated,
            "List.Buffer": lambda items: items,
            "List.Contains": lambda items, item: item in items,
            "List.Max": max,
            "List.Sort": sorted,
            "List.Transform": lambda items, function: [function(item) for item in items],
            "Number.FromText": lambda text, culture: int(text),
            "Record.Field": lambda record, name: record[name],
            "Record.FieldOrDefault": lambda record, name, default: record.get(name, default),
            "Record.FromList": _record,
            "Record.ToList": lambda record: list(record.values()),
            "Table.AddColumn": _with_column,
            "Table.AddIndexColumn": _numbered,
            "Table.Buffer": lambda table: table,
            "Table.FirstN": _first,
            "Table.Group": _grouped,
            "Table.Join": _joined,
            "Table.RenameColumns": _renamed,
            "Table.ReplaceValue": _replaced,
            "Table.RowCount": lambda table: len(table.rows),
            "Table.SelectColumns": _selected,
            "Table.SelectRows": _where,
            "Table.Skip": lambda table, number: Table(table.columns, table.rows[number:]),
            "Table.ToRecords": lambda table: table.records(),
            "Table.UnpivotOtherColumns": _unpivoted,
            "Character.FromNumber": chr,
            "Text.AfterDelimiter": lambda text, sign: text.partition(sign)[2],
            "Text.BeforeDelimiter": lambda text, sign: text.partition(sign)[0],
            "Text.Combine": lambda texts, sign="": sign.join(texts),
            "Text.Contains": lambda text, part: part in text,
            "Text.From": str,
            "Text.Lower": lambda text, culture=None: text.lower(),
            "Text.Split": lambda text, sign: text.split(sign),
            "Text.ToList": list,
            "Text.Trim": lambda text, signs=None: text.strip(None if signs is None else "".join(signs)),
            "Text.TrimEnd": lambda text, signs: text.rstrip("".join(signs)),
        }.items()
    },
)
