"""Constraints: what holds between columns of a record, in the forms that a schema carries.

A data contract declares them. Columns are places in the schema, values are texts as the outputs spell them,
and the empty text is absence. Nothing here was read off a table (W22).
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

#: What the values of an ordering are.
OrderedScale = Literal["number", "moment", "time"]


@dataclass(frozen=True)
class Condition:
    """What one column of an impossible combination holds.

    Attributes:
        values: any of these; the empty text is absence.
        excluded: whether instead any value is meant but these. Absence is no value.
    """

    column: int
    values: tuple[str, ...]
    excluded: bool = False

    def holds(self, text: str) -> bool:
        """Whether a cell with this text meets it.

        >>> Condition(0, ("male",)).holds("male"), Condition(0, ("male",), excluded=True).holds("")
        (True, False)
        """
        return text != "" and text not in self.values if self.excluded else text in self.values


@dataclass(frozen=True)
class ImpossibleCombination:
    """Conditions that no record meets all of.

    Attributes:
        conditions: in the contract's order of columns.
        repair: what the last column becomes in a record that meets all; None: its `other`, or absent.
    """

    conditions: tuple[Condition, ...]
    repair: str | None = None
    kind: Literal["impossible_combination"] = "impossible_combination"

    @property
    def combinations(self) -> "tuple[ImpossibleCombination, ...]":
        """Itself alone; other constraints are several of these."""
        return (self,)


@dataclass(frozen=True)
class Ordering:
    """Two columns whose values stand in an order, wherever a record has both.

    Attributes:
        strict: whether they must differ.
        repair: as in `ImpossibleCombination`.
    """

    columns: tuple[int, int]
    strict: bool
    scale: OrderedScale
    later: int
    repair: str | None = None
    kind: Literal["ordering"] = "ordering"


@dataclass(frozen=True)
class Derivation:
    """A column that another one decides. It is neither counted nor measured.

    Attributes:
        column: the decided one; such columns are the last ones of a schema, each behind what decides it.
        values: pairs of a value of that and the value that follows; absence is the empty text, on both sides.
        otherwise: what follows from all else.
    """

    column: int
    decided_by: int
    values: tuple[tuple[str, str], ...]
    otherwise: str = ""
    kind: Literal["derivation"] = "derivation"

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(self.values)

    def text(self, of_other: str) -> str:
        """What follows from a text of the other column.

        >>> Derivation(1, 0, (("Lyon", "south"),), "elsewhere").text("Lille")
        'elsewhere'
        """
        return self._known.get(of_other, self.otherwise)


@dataclass(frozen=True)
class EmptyTogether:
    """Columns that are all empty or all filled in every record: a value and its date."""

    columns: tuple[int, ...]
    kind: Literal["empty_together"] = "empty_together"

    @property
    def combinations(self) -> tuple[ImpossibleCombination, ...]:
        first, *others = self.columns
        empty = {column: Condition(column, ("",)) for column in self.columns}
        filled = {column: Condition(column, (), excluded=True) for column in self.columns}
        return tuple(
            ImpossibleCombination(pair)
            for other in others
            for pair in ((filled[first], empty[other]), (empty[first], filled[other]))
        )


@dataclass(frozen=True)
class ExactlyOne:
    """Columns of which exactly one holds a value in every record: a choice, written as a column for each.

    Attributes:
        others: of each column all else that it may hold; absence is the empty text.
    """

    columns: tuple[int, ...]
    value: str
    others: tuple[tuple[str, ...], ...]
    kind: Literal["exactly_one"] = "exactly_one"

    @property
    def combinations(self) -> tuple[ImpossibleCombination, ...]:
        """The same: no two columns hold it, nor do none. Each is repaired by what it leaves possible."""
        held = [Condition(column, (self.value,)) for column in self.columns]
        instead = dict(zip(self.columns, self.others, strict=True))
        pairs = (
            ImpossibleCombination(pair, next(filter(None, instead[pair[1].column]), None))
            for pair in itertools.combinations(held, 2)
        )
        none = tuple(Condition(column, others) for column, others in instead.items())
        return (*pairs, ImpossibleCombination(none, self.value))


Constraint = ImpossibleCombination | Ordering | Derivation | EmptyTogether | ExactlyOne
