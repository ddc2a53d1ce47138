"""Constraints between columns: as a contract writes them, and as the schema of a release holds them.

What stands in a contract is checked against the columns that it describes, each fault with its place. Later,
a contract and a schema go in; its columns come out, those that others decide last and with the values that
can follow as their domain, and the constraints over them. What can't be held is refused before anything is
reserved or read (W22).

A value that a constraint names is a text or a range, written as bins are: ``<18``, ``>=65``, ``[18,30)``. A
range stands for the bins or declared numbers in it, and keeps to the edges of bins.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tasks.core.contracts.contract import (
    Contract,
    ContractColumn,
    ContractModel,
    ElementPath,
    FunctionalDependency,
    OneOf,
    StructuralZero,
    ValueOrdering,
)
from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean, list_some
from tasks.core.records.columns import Column, Schema, bin_problems, declared_values
from tasks.core.records.constraint_words import constraint_sentences
from tasks.core.records.constraints import (
    Condition,
    Constraint,
    Derivation,
    EmptyTogether,
    ExactlyOne,
    ImpossibleCombination,
    OrderedScale,
    Ordering,
)
from tasks.core.records.rulebook import Coding, Ends, Rulebook, ends_of_values, slot_ranges
from tasks.core.tables.column_names import column_name, matching_name, output_spelling
from tasks.core.tables.number_format import NumberFormat

#: Of the values that a column has, so many are named.
_SHOWN = 8
_NUMBER = r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?|[+-]?inf)"
_HALF = re.compile(rf"(<=|<|>=|>)\s*{_NUMBER}")
_WHOLE = re.compile(rf"([\[(])\s*{_NUMBER}\s*,\s*{_NUMBER}\s*([\])])")


def named_values(
    texts: Sequence[str], column: Column, *, is_numeric: bool
) -> tuple[tuple[str, ...], list[str]]:
    """The values that texts of a contract name, as the column has them, and what is wrong with the texts.

    >>> age = Column("age", domain=declared_values(None, (0, 18, 65)), bins=(0, 18, 65))
    >>> named_values(["<18"], age, is_numeric=True)
    (('<0', '[0,18)'), [])

    Args:
        texts: normalised; the empty one is absence.
        column: of the schema; an open one may have any value.
        is_numeric: whether the column is declared to hold numbers, so that ranges are meant.
    """
    values: dict[str, None] = {}
    problems: list[str] = []
    unknown: list[str] = []
    for text in texts:
        ends = None
        if text != "" and text not in (column.domain or ()) and (is_numeric or column.bins is not None):
            ends = _range(text)
        if ends is not None and column.is_open:
            problems.append(f"the range {text!r} of {column.name!r} needs declared bins or values.")
        elif ends is not None:
            places = ends_of_values(column, "number").items()
            inside = [value for value, (low, high) in places if ends[0] <= low and high <= ends[1]]
            problems += _range_problems(text, ends, column, inside)
            values |= dict.fromkeys(inside)
        elif text == "" or column.is_open or text in (column.domain or ()):
            values[text] = None
        else:
            unknown.append(text)
    if unknown:
        problems.append(_not_there(unknown, column))
    return tuple(values), problems


def _not_there(unknown: list[str], column: Column) -> str:
    listed, known = ", ".join(map(repr, sorted(unknown))), column.domain or ()
    ranges = ", and ranges between its edges" if column.bins is not None else ""
    meant = did_you_mean(unknown[0], known, repr) or f"it has {list_some(known, _SHOWN)}{ranges}."
    return f"{column.name!r} does not have the value{'s' if len(unknown) > 1 else ''} {listed}; {meant}"


def _range(text: str) -> Ends | None:
    try:
        if half := _HALF.fullmatch(text):
            at = float(half[2])
            if half[1].startswith("<"):
                return (float("-inf"), 0), (at, 0 if half[1] == "<=" else -1)
            return (at, 0 if half[1] == ">=" else 1), (float("inf"), 0)
        if whole := _WHOLE.fullmatch(text):
            low, high = float(whole[2]), float(whole[3])
            return (low, 0 if whole[1] == "[" else 1), (high, 0 if whole[4] == "]" else -1)
    except ValueError:
        return None
    return None


def _range_problems(text: str, ends: Ends, column: Column, inside: list[str]) -> list[str]:
    edges = column.bins
    inner = [at for at, _ in ends if at not in (float("-inf"), float("inf"))]
    if edges is not None and any(at not in edges for at in inner):
        known = ", ".join(format(edge, ".15g") for edge in edges)
        return [f"the range {text!r} of {column.name!r} must begin and end at edges of its bins: {known}."]
    return [] if inside else [f"the range {text!r} of {column.name!r} holds none of its values."]


#: What the values of a logical type are compared as.
SCALES: dict[str, OrderedScale] = {
    "integer": "number",
    "number": "number",
    "date": "moment",
    "timestamp": "moment",
    "time": "time",
}


def _read_values(body: object) -> tuple[tuple[str, ...], bool]:
    """Values, and whether those but them are meant; one sentence refuses what is neither."""
    is_excluded = isinstance(body, dict) and {*body} == {"not"}
    listed = body["not"] if isinstance(body, dict) and is_excluded else body
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise ValueError(
            "must be a list of values, such as [retired], or {not: [retired]} for all values but these"
        )
    if body == []:
        raise ValueError(
            'must list a value: "" is an empty cell, and {not: []} in place of the list any value'
        )
    return tuple(listed), is_excluded


ZeroValues = Annotated[tuple[tuple[str, ...], bool], BeforeValidator(_read_values)]


class Dependency(ContractModel):
    determinants: Annotated[
        tuple[str, ...], BeforeValidator(lambda body: [body] if isinstance(body, str) else body)
    ] = Field(alias="from", min_length=1)
    dependent: str = Field(alias="to")
    values: dict[str, str] | None = None
    otherwise: str | None = None


class DescribedColumns:
    """The columns that a contract describes, and where faults of its constraints are noted.

    Args:
        subject_id: whose row it is; no constraint may name it.
    """

    def __init__(
        self,
        columns: Sequence[ContractColumn],
        subject_id: str | None,
        add_problem: Callable[[ElementPath, str], None],
    ) -> None:
        self._columns = {matching_name(column.name): column for column in columns}
        self._subject_id = subject_id
        self.add_problem = add_problem

    def column(self, name: str, place: ElementPath) -> ContractColumn | None:
        column = self._columns.get(matching_name(name))
        is_subject = self._subject_id is not None and matching_name(name) == matching_name(self._subject_id)
        if column is None and is_subject:
            self.add_problem(place, f"{name!r} is the id; constraints are about the other columns.")
        elif column is None:
            meant = did_you_mean(matching_name(name), self._columns, repr)
            text = f"the contract describes no column {name!r}{'; ' + meant if meant else '.'}"
            self.add_problem(place, text)
        return column

    def group(
        self, names: Sequence[str], place: ElementPath, entry: str = "one entry"
    ) -> list[ContractColumn]:
        """The described columns of names; a fault for each that can't stand in the entry."""
        columns = [self.column(column_name(name), place) for name in names]
        if len({*map(matching_name, map(column_name, names))}) < len(names):
            self.add_problem(place, f"a column can't stand twice in {entry}.")
        return [column for column in columns if column]

    def values(self, texts: Sequence[str], column: ContractColumn, place: ElementPath) -> tuple[str, ...]:
        """Texts that name values of a column, as they should be kept; a fault for each that names none."""
        listed = tuple(map(output_spelling, texts))
        if column.values is None and column.bins is None:  # perhaps a configuration declares them
            return listed
        bins = column.bins if column.bins is not None and not bin_problems(column.bins) else None
        limits = column.minimum, column.maximum
        declared = Column(
            column.name,
            declared_values(column.values or (), bins, *limits, column.other),
            bins,
            number_format=NumberFormat(column.decimal or ".", column.thousands or ""),
            minimum=column.minimum,
            maximum=column.maximum,
        )
        _, problems = named_values(listed, declared, is_numeric=column.is_numeric)
        for problem in problems:
            self.add_problem(place, problem)
        return listed


def _read_zero(
    entry: dict[str, ZeroValues], place: ElementPath, known: DescribedColumns
) -> StructuralZero | None:
    by_name = {column_name(name): listed for name, listed in entry.items()}
    if len(by_name) < 2:
        known.add_problem(place, "an impossible combination needs two columns or more.")
        return None
    values: dict[str, tuple[str, ...]] = {}
    excluded: list[str] = []
    for name, (texts, is_excluded) in by_name.items():
        if column := known.column(name, place):
            excluded += [column.name] * is_excluded
            values[column.name] = known.values(texts, column, place)
    return StructuralZero(values=values, excluded=tuple(excluded)) if len(values) == len(by_name) else None


def _read_dependency(
    entry: Dependency, place: ElementPath, known: DescribedColumns
) -> FunctionalDependency | None:
    names = [column_name(name) for name in (*entry.determinants, entry.dependent)]
    columns = [column for name in names if (column := known.column(name, place))]
    if len(names) > 2:
        known.add_problem(place, "a column follows from one other column; of several, name the one.")
    if names[-1] in names[:-1]:
        known.add_problem(place, "a column can't decide itself.")
    for column in columns:
        if column.delimiter is not None:
            what = "is an array, which decides nothing and isn't decided; name another column."
            known.add_problem(place, f"{column.name!r} {what}")
    if not entry.values:
        known.add_problem(
            place,
            "which value follows from which must be written out in values; read off the table it would "
            "state facts about people in it.",
        )
    if not entry.values or len(names) != 2 or len(columns) < 2:
        return None
    deciding, decided = columns
    pairs = {output_spelling(one): output_spelling(other) for one, other in entry.values.items()}
    if len(pairs) < len(entry.values):
        known.add_problem(place, f"a value of {deciding.name!r} is given twice; keep one.")
    otherwise = output_spelling(entry.otherwise or "")
    known.values(tuple(pairs), deciding, place)
    known.values((*dict.fromkeys((*pairs.values(), otherwise)),), decided, place)
    return FunctionalDependency(
        determinants=(deciding.name,), dependent=decided.name, values=pairs, otherwise=otherwise or None
    )


def _read_ordering(entry: ValueOrdering, place: ElementPath, known: DescribedColumns) -> ValueOrdering | None:
    columns = known.group(entry.columns, place, "an ordering")
    if len(columns) < len(entry.columns):
        return None
    kinds = {SCALES.get(column.logical_type) for column in columns}
    if len(kinds) > 1 or None in kinds:
        known.add_problem(
            place,
            "columns in order must all be numbers (logicalType integer or number), all dates or "
            "timestamps, or all times; give each its logicalType.",
        )
    return ValueOrdering(columns=tuple(column.name for column in columns), strict=entry.strict)


def _read_group(entry: tuple[str, ...], place: ElementPath, known: DescribedColumns) -> tuple[str, ...]:
    return tuple(column.name for column in known.group(entry, place))


def _read_choice(entry: OneOf, place: ElementPath, known: DescribedColumns) -> OneOf | None:
    columns = known.group(entry.columns, place)
    for column in columns:
        if column.delimiter is not None:
            known.add_problem(place, f"{column.name!r} is an array; name columns of one value a cell.")
        else:
            known.values((entry.value,), column, place)
    if len(columns) < len(entry.columns):
        return None
    return OneOf(columns=tuple(column.name for column in columns), value=output_spelling(entry.value))


#: How an entry of each property is read: a field of `Contract`.
READERS: dict[str, Callable[[Any, ElementPath, DescribedColumns], object]] = {
    "structural_zeros": _read_zero,
    "functional_dependencies": _read_dependency,
    "orderings": _read_ordering,
    "empty_together": _read_group,
    "exactly_one": _read_choice,
}


#: Stands for a value of an open column that no constraint names; no cell can spell it.
_UNNAMED = "\0"
_READ_AS: dict[OrderedScale, str] = {"number": "numbers", "moment": "dates", "time": "times"}


def filled_columns(schema: Schema, contract: Contract) -> tuple[int, ...]:
    """Columns in which a contract allows no empty cell and names what an impossible one becomes.

    Under differential privacy fitted synthesis counts an empty cell of theirs as that value (W1).
    """
    required = {matching_name(column.name) for column in contract.columns if column.max_empty_percent == 0}
    return tuple(
        place
        for place, column in enumerate(schema.columns)
        if column.other is not None and not column.is_multi_valued and matching_name(column.name) in required
    )


def with_constraints(schema: Schema, contract: Contract, *, fills: bool = True) -> Schema:
    """The schema with all constraints of a contract on columns that it uses; others are left out.

    Args:
        schema: without constraints, as `public_schema.build_schema` makes it.
        fills: whether an empty cell of `filled_columns` is the value that it counts as.

    Raises: ParameterError: every constraint that can't be held, and what it leaves nothing of.
    """
    problems: list[str] = []
    decided = _decided(schema, contract, problems)
    if problems:
        raise ParameterError(problems)
    by_name = {matching_name(column.name): column for column in schema.columns}
    last = [by_name.pop(matching_name(entry.dependent)) for entry in decided]
    found = _Translation(Schema((*by_name.values(), *last), schema.subject_id), contract, decided)
    constrained = found.schema()
    problems = [f"The contract's constraints: {problem}" for problem in found.problems]
    if not problems:
        problems = _nothing_left(constrained, filled_columns(constrained.measured, contract) if fills else ())
    if problems:
        raise ParameterError(problems)
    return constrained


def public_coding(schema: Schema, filled: Collection[int] = ()) -> Coding:
    """Absence and each declared value; of an open column each value that is named, and any other one."""
    texts = []
    for place, column in enumerate(schema.measured.columns):
        known = column.domain if column.domain is not None else (*_named(schema, place), _UNNAMED)
        empty = (column.other or "") if place in filled else ""
        texts.append(((empty,), *((value,) for value in known)))
    width = range(len(texts))
    return Coding(tuple(texts), (0,) * len(texts), slot_ranges(width, len(texts)))


def _decided(schema: Schema, contract: Contract, problems: list[str]) -> list[FunctionalDependency]:
    used = {matching_name(column.name) for column in schema.columns}
    left = [
        entry
        for entry in contract.functional_dependencies
        if {matching_name(entry.determinants[0]), matching_name(entry.dependent)} <= used
    ]
    names = [matching_name(entry.dependent) for entry in left]
    twice = sorted({entry.dependent for entry in left if names.count(matching_name(entry.dependent)) > 1})
    problems += [
        f"The column {name!r} must follow from one other column; it follows twice. Keep one."
        for name in twice
    ]
    ordered: list[FunctionalDependency] = []
    while left:
        open_ends = {matching_name(entry.dependent) for entry in left}
        ready = [entry for entry in left if matching_name(entry.determinants[0]) not in open_ends]
        if not ready:
            listed = ", ".join(repr(entry.dependent) for entry in left)
            problems.append(
                f"Columns must not follow from each other in a circle; {listed} do. Take one back."
            )
            break
        ordered += ready
        left = [entry for entry in left if entry not in ready]
    return ordered


class _Translation:
    def __init__(self, schema: Schema, contract: Contract, decided: Sequence[FunctionalDependency]) -> None:
        self.problems: list[str] = []
        self._contract = contract
        self._columns = list(schema.columns)
        self._subject = schema.subject_id
        promised = [contract.column(column.name) for column in self._columns]
        self._promised = [each or ContractColumn(name="") for each in promised]
        self._places = {matching_name(column.name): place for place, column in enumerate(self._columns)}
        described = [matching_name(column.name) for column in contract.columns]
        self._rank = {name: place for place, name in enumerate(described)}
        self._decided = decided

    def schema(self) -> Schema:
        constraints: list[Constraint] = [*map(self._derivation, self._decided)]
        zeros = self._contract.structural_zeros
        constraints += [self._combination(entry) for entry in zeros if self._has(entry.values)]
        for entry in self._contract.orderings:
            names = [name for name in entry.columns if self._has([name])]
            constraints += [self._ordering(entry, *pair) for pair in itertools.combinations(names, 2)]
        for group in self._contract.empty_together:
            columns = tuple(self._place(name) for name in group if self._has([name]))
            if len(columns) > 1:
                constraints.append(EmptyTogether(columns))
        constraints += [
            self._exactly_one(entry) for entry in self._contract.exactly_one if self._has(entry.columns)
        ]
        self._require_order([each for each in constraints if isinstance(each, Ordering)])
        for place in range(len(self._columns)):
            self._repair(place)
        self.problems = list(dict.fromkeys(self.problems))
        return Schema(tuple(self._columns), self._subject, tuple(constraints))

    def _require_order(self, orderings: Sequence[Ordering]) -> None:
        """Note columns that would be below themselves: no record could have all of such a circle."""
        below: dict[tuple[int, int], bool] = {}
        for ordering in orderings:
            below[ordering.columns] = below.get(ordering.columns, False) or ordering.strict
        places = sorted({place for columns in below for place in columns})
        for middle, lower, higher in itertools.product(places, repeat=3):  # Floyd and Warshall
            steps = (lower, middle), (middle, higher)
            if all(step in below for step in steps):
                strict = any(below[step] for step in steps)
                below[lower, higher] = below.get((lower, higher), False) or strict
        circle = [repr(self._columns[place].name) for place in places if below.get((place, place))]
        if circle:
            self.problems.append(
                f"the orderings go in a circle, so that each of {', '.join(circle)} would be below itself; "
                "take one of them back, or leave strict out."
            )

    def _has(self, names: Iterable[str]) -> bool:
        return {*map(matching_name, names)} <= {*self._places}

    def _place(self, name: str) -> int:
        return self._places[matching_name(name)]

    def _values(self, texts: Sequence[str], place: int) -> tuple[str, ...]:
        is_numeric = self._promised[place].is_numeric
        values, problems = named_values(texts, self._columns[place], is_numeric=is_numeric)
        self.problems += problems
        return values

    def _derivation(self, entry: FunctionalDependency) -> Derivation:
        deciding, place = self._place(entry.determinants[0]), self._place(entry.dependent)
        follows = self._values((*entry.values.values(), entry.otherwise or ""), place)
        column = self._columns[place]
        strange = {*entry.values.values(), entry.otherwise or ""} - {*follows, ""}
        if strange and column.domain is not None:
            listed = ", ".join(map(repr, sorted(strange)))
            self.problems.append(
                f"what follows for {column.name!r} must be one value each; {listed} is none."
            )
        if column.domain is None:
            self._columns[place] = replace(column, domain=tuple(value for value in follows if value))
            if not any(follows):
                self.problems.append(f"nothing but absence follows for {column.name!r}; leave it out.")
        pairs: dict[str, str] = {}
        for text, other in entry.values.items():
            for value in self._values((text,), deciding):
                if pairs.setdefault(value, other) != other:
                    self.problems.append(
                        f"two values follow for {column.name!r} from {value!r} of "
                        f"{self._columns[deciding].name!r}; keep one."
                    )
        return Derivation(place, deciding, tuple(pairs.items()), entry.otherwise or "")

    def _combination(self, entry: StructuralZero) -> ImpossibleCombination:
        excluded = {*map(self._place, entry.excluded)}
        held = {self._place(name): texts for name, texts in entry.values.items()}
        conditions = [
            Condition(place, self._values(texts, place), place in excluded)
            for place, texts in sorted(held.items(), key=lambda held: self._order(held[0]))
        ]
        return ImpossibleCombination(tuple(conditions), self._repair(conditions[-1].column))

    def _ordering(self, entry: ValueOrdering, lower: str, higher: str) -> Ordering:
        columns = self._place(lower), self._place(higher)
        later = max(columns, key=self._order)
        scale = SCALES.get(self._promised[columns[0]].logical_type, "number")
        for column in (self._columns[place] for place in columns):
            if column.domain and not ends_of_values(column, scale):
                self.problems.append(
                    f"an ordering needs values of {column.name!r} that can be read as {_READ_AS[scale]}; "
                    "none of those declared can. Give the column a valueFormat such as %d.%m.%Y, or mend "
                    "its values."
                )
        return Ordering(columns, entry.strict, scale, later, self._repair(later))

    def _exactly_one(self, entry: OneOf) -> ExactlyOne:
        places = tuple(map(self._place, entry.columns))
        columns = [self._columns[place] for place in places]
        for column in columns:
            if column.domain is None:
                self.problems.append(
                    f"exactlyOne needs the values of {column.name!r}: declare them (validValues), so that "
                    "one of the columns can hold the value in every record."
                )
            elif entry.value not in column.domain:
                self.problems += named_values([entry.value], column, is_numeric=False)[1]
        others = tuple(
            (*(value for value in column.domain or () if value != entry.value), "") for column in columns
        )
        return ExactlyOne(places, entry.value, others)

    def _order(self, place: int) -> int:
        return self._rank.get(matching_name(self._columns[place].name), place)

    def _repair(self, place: int) -> str | None:
        column, repair = self._columns[place], self._promised[place].repair
        if repair is not None and repair not in (column.domain or ()):
            self.problems.append(
                f"the repair value {repair!r} of {column.name!r} must be one of its declared values"
                + (": it has none; declare them, or leave repair out." if column.domain is None else ".")
            )
        return repair


def _named(schema: Schema, place: int) -> list[str]:
    found: dict[str, None] = {}
    for constraint in schema.constraints:
        if isinstance(constraint, Derivation) and constraint.decided_by == place:
            found |= dict.fromkeys(value for value, _ in constraint.values)
        elif not isinstance(constraint, Ordering | Derivation):
            named = (each for part in constraint.combinations for each in part.conditions)
            found |= dict.fromkeys(
                value for condition in named if condition.column == place for value in condition.values
            )
    return [value for value in found if value]


def _nothing_left(schema: Schema, filled: Collection[int]) -> list[str]:
    coding = public_coding(schema, filled)
    book = Rulebook(schema, coding)
    if book.resorts is None:
        return [_no_record(schema, coding)]
    problems = []
    for place, column in enumerate(schema.measured.columns):
        codes = range(1, len(coding.texts[place]))
        if codes and not any(book.is_possible(place, code) for code in codes):
            problems.append(
                "The contract's constraints must leave each column a value; they leave none to "
                f"{column.name!r}. Take one of them back, or leave the column out."
            )
    return problems


def _no_record(schema: Schema, coding: Coding) -> str:
    constraints, number = schema.constraints, len(schema.derivations)
    while number < len(constraints):
        number += 1
        if Rulebook(replace(schema, constraints=constraints[:number]), coding).resorts is None:
            break
    last = constraint_sentences(schema, is_counted=True)[number - 1]
    told = (
        "The contract's constraints must leave records that hold all of them; they leave none{} With the "
        f"entries before it this one leaves none: {last} Take one of them back{{}}."
    )
    concerned = {place for constraint in constraints for place in _columns_of(constraint)}
    if any(schema.columns[place].is_open for place in concerned):
        opened = " in which open columns are empty, and what is released of an open column is not known yet."
        return told.format(opened, ", or declare the values of the open columns in it")
    return told.format(".", "")


def _columns_of(constraint: Constraint) -> tuple[int, ...]:
    if isinstance(constraint, Derivation):
        return constraint.decided_by, constraint.column
    if not isinstance(constraint, ImpossibleCombination):
        return constraint.columns
    return tuple(condition.column for condition in constraint.conditions)
