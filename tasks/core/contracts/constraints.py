"""From a contract's constraints to those of a release's schema, or every reason why they can't be held.

A contract and the columns of a schema go in; the columns come out, those that others decide last and with
the values that can follow as their domain, and the constraints over them. All of it is public, so what can't
be held is refused before anything is reserved or read (W22).
"""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

from tasks.core.contracts.contract import (
    Contract,
    FunctionalDependency,
    OneOf,
    StructuralZero,
    ValueOrdering,
)
from tasks.core.contracts.declared_constraints import SCALES, named_values
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
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
from tasks.core.records.rulebook import Coding, Rulebook, ends_of_values, slot_ranges
from tasks.core.tables.column_names import matching_name

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
    """The schema with all constraints of a contract on columns that it uses.

    A constraint on a column that is not used says nothing of the others, and is left out.

    Args:
        schema: without constraints, as `public_schema.build_schema` makes it.
        fills: whether an empty cell of `filled_columns` is the value that it counts as.

    Raises:
        ParameterError: every constraint that can't be held, and what it leaves nothing of.
    """
    problems: list[str] = []
    decided = _decided(schema, contract, problems)
    if problems:
        raise ParameterError(problems)
    found = _Translation(_with_decided_last(schema, decided), contract, decided)
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


def _with_decided_last(schema: Schema, decided: Sequence[FunctionalDependency]) -> Schema:
    by_name = {matching_name(column.name): column for column in schema.columns}
    last = [by_name.pop(matching_name(entry.dependent)) for entry in decided]
    return Schema((*by_name.values(), *last), schema.subject_id)


class _Translation:
    def __init__(self, schema: Schema, contract: Contract, decided: Sequence[FunctionalDependency]) -> None:
        self.problems: list[str] = []
        self._contract = contract
        self._columns = list(schema.columns)
        self._subject = schema.subject_id
        self._places = {matching_name(column.name): place for place, column in enumerate(self._columns)}
        described = [matching_name(column.name) for column in contract.columns]
        self._rank = {name: place for place, name in enumerate(described)}
        self._decided = decided

    def schema(self) -> Schema:
        constraints: list[Constraint] = [
            *map(self._derivation, self._decided),
            *(
                self._combination(entry)
                for entry in self._contract.structural_zeros
                if self._has(list(entry.values))
            ),
        ]
        for entry in self._contract.orderings:
            names = [name for name in entry.columns if self._has([name])]
            constraints += [
                self._ordering(entry, lower, higher)
                for place, lower in enumerate(names)
                for higher in names[place + 1 :]
            ]
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

    def _has(self, names: Sequence[str]) -> bool:
        return {*map(matching_name, names)} <= {*self._places}

    def _place(self, name: str) -> int:
        return self._places[matching_name(name)]

    def _values(self, texts: Sequence[str], place: int) -> tuple[str, ...]:
        column = self._columns[place]
        promised = self._contract.column(column.name)
        found = named_values(texts, column, is_numeric=promised is not None and promised.is_numeric)
        self.problems += found.problems
        return found.values

    def _derivation(self, entry: FunctionalDependency) -> Derivation:
        """What one column says of another, range by range, and the other with all that may follow."""
        deciding, place = self._place(entry.determinants[0]), self._place(entry.dependent)
        for column in (self._columns[deciding], self._columns[place]):
            if column.is_multi_valued:
                self.problems.append(
                    f"{column.name!r} holds several items, so it decides nothing and isn't "
                    "decided; name another."
                )
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
        excluded = {*map(matching_name, entry.excluded)}
        conditions = [
            Condition(
                self._place(name), self._values(listed, self._place(name)), matching_name(name) in excluded
            )
            for name, listed in entry.values.items()
        ]
        conditions.sort(key=lambda condition: self._order(condition.column))
        return ImpossibleCombination(tuple(conditions), self._repair(conditions[-1].column))

    def _ordering(self, entry: ValueOrdering, lower: str, higher: str) -> Ordering:
        columns = self._place(lower), self._place(higher)
        later = max(columns, key=self._order)
        promised = self._contract.column(lower)
        scale = SCALES[promised.logical_type] if promised is not None else "number"
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
                self.problems += named_values([entry.value], column, is_numeric=False).problems
        others = tuple(
            (*(value for value in column.domain or () if value != entry.value), "") for column in columns
        )
        return ExactlyOne(places, entry.value, others)

    def _order(self, place: int) -> int:
        return self._rank.get(matching_name(self._columns[place].name), place)

    def _repair(self, place: int) -> str | None:
        column = self._columns[place]
        promised = self._contract.column(column.name)
        repair = promised.repair if promised is not None else None
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
